import dataclasses
import subprocess
import sys

import numpy as np
import pytest

from nodewise.datasets import DatasetInfo, dataset_info, default_features, list_datasets
from nodewise.datasets.registry import as_it_is
from nodewise.graph import Graph, write_graph
from nodewise.graph.features import PAPER_FEATURES
from nodewise.ground.errors import UnknownNameError

PAPER = ["cora", "citeseer", "pubmed", "coauthor-cs", "coauthor-physics", "reddit1", "reddit2", "reddit3", "reddit4", "reddit5"]


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch, tmp_path):
    monkeypatch.setenv("NODEWISE_DATA", str(tmp_path / "none"))


def test_the_paper_comes_first_and_nothing_twice():
    names = list_datasets()
    assert names[:10] == PAPER
    assert len(set(names)) == len(names)
    for wanted in (
        "reddit-case-study",
        "digits",
        "breast-cancer",
        "wine",
        "karate",
        "sbm",
        "sbm-1m",
        "amazon-photo",
        "ogbn-products",
        "roman-empire",
    ):
        assert wanted in names


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("Cora", "cora"),
        ("CS", "coauthor-cs"),
        ("coauthor_physics", "coauthor-physics"),
        ("Roman Empire", "roman-empire"),
        ("reddit1401-graph3", "reddit3"),
        ("chameleon", "chameleon-filtered"),
    ],
)
def test_spellings(spelling, name):
    assert dataset_info(spelling).name == name


WRONG = {"citeser": "citeseer", "pubmd": "pubmed", "coauthor-css": "coauthor-cs", "digit": "digits", "Redit1": "reddit1"}


@pytest.mark.parametrize(("wrong", "meant"), WRONG.items())
def test_misspelt_names(wrong, meant):
    with pytest.raises(UnknownNameError, match=f"unknown data set '{wrong}': did you mean .*'{meant}'"):
        dataset_info(wrong)


def test_graphs_in_the_data_folder_have_names_too(tmp_path):
    np.savez(tmp_path / "Mine.npz", edge_index=[[0, 1], [1, 2]], y=[0, 1, 0])
    (tmp_path / ".hidden.npz").touch()
    np.savez(tmp_path / "cora.npz", edge_index=[[0], [1]])
    assert list_datasets(tmp_path)[-1] == "Mine"
    assert list_datasets(tmp_path).count("cora") == 1
    info = dataset_info("Mine", tmp_path)
    assert (info.nodes, info.edges, info.features, info.classes, info.origin) == (3, 2, 0, 2, "folder")
    with pytest.raises(UnknownNameError, match=r"did you mean 'Mine'|known"):
        dataset_info("Min", tmp_path)


def test_default_features():
    assert [name for name in list_datasets() if default_features(name) == "paper"] == PAPER
    assert sorted(PAPER_FEATURES) == sorted(PAPER)
    assert default_features("reddit1401-graph2") == "paper"
    assert default_features("cora.npz") == "raw"
    assert default_features("anything") == "raw"


def test_records_are_frozen():
    info = dataset_info("cora")
    assert isinstance(info, DatasetInfo)
    with pytest.raises(dataclasses.FrozenInstanceError):
        info.nodes = 1


def test_listing_imports_nothing_heavy(clean_environment):
    code = "import sys; from nodewise.datasets import list_datasets; list_datasets(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=clean_environment).stdout.split()
    assert not {"numpy", "scipy", "sklearn", "torch", "torch_geometric", "networkx"}.intersection(loaded)


def test_sizes_are_those_of_the_file_that_would_be_loaded(tmp_path):
    write_graph(Graph.build([[0, 1], [1, 2]], 4, y=[0, 1, 1, 0], x=np.ones((4, 3))), tmp_path / "reddit1401-graph1.npz")
    info = dataset_info("reddit1", tmp_path)
    assert (info.nodes, info.edges, info.features, info.classes, info.budget) == (4, 2, 3, 2, 50)
    assert dataset_info("reddit2", tmp_path).features == 300  # not here: what was published
    assert as_it_is(dataset_info("reddit1"), tmp_path, largest=10).nodes == 4584
    (tmp_path / "cora.npz").write_bytes(b"PK damaged")
    assert as_it_is(dataset_info("cora"), tmp_path, largest=1000).nodes == 2708
