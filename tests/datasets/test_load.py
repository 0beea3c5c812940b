"""Graphs by name and path, what is known about names, and default budgets."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from nodewise.datasets import DatasetInfo, dataset_info, default_budget, default_features, list_datasets, load_graph
from nodewise.datasets.folder import find_local
from nodewise.datasets.load import as_it_is
from nodewise.environment import SplitSizes
from nodewise.evaluation import evaluate
from nodewise.graph import Graph, knn_graph, write_graph
from nodewise.graph.graph import PAPER_FEATURES
from nodewise.ground.errors import DownloadError, GraphError, InputError, UnknownNameError

# The figures of the data sets' publishers and of the paper: nodes, edges, features, classes, homophily.
PUBLISHED = {
    "cora": (2708, 5278, 1433, 7, 0.810),
    "citeseer": (3327, 4552, 3703, 6, 0.736),
    "pubmed": (19717, 44324, 500, 3, 0.802),
    "coauthor-cs": (18333, 81894, 6805, 15, 0.808),
    "coauthor-physics": (34493, 247962, 8415, 5, 0.931),
    "reddit-case-study": (85, 156, 300, 4, 0.853),
}


def small(name="mine"):
    return Graph.build([[0, 1, 2], [1, 2, 3]], x=np.eye(4, 3), y=["a", "b", "a", "b"], name=name)


@pytest.mark.parametrize("name", PUBLISHED)
def test_statistics_of_the_papers_complete_graphs(name, data_folder):
    if find_local(data_folder, (name, *dataset_info(name).files)) is None:
        pytest.skip(f"needs {name}.npz in the data folder")
    graph = load_graph(name, data_dir=data_folder)
    nodes, edges, features, classes, homophily = PUBLISHED[name]
    assert (graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes) == (
        nodes,
        edges,
        features,
        classes,
    )
    assert graph.homophily == pytest.approx(homophily, abs=0.0005)
    assert graph.name == name


def test_every_file_of_the_data_folder_has_a_name(data_folder):
    names = list_datasets(data_folder)
    for path in data_folder.glob("*.npz"):
        assert dataset_info(path.stem, data_folder).name in names


def test_local_file_comes_first_under_each_of_its_names(tmp_path):
    write_graph(small("something"), tmp_path / "reddit1401-graph1.npz")
    for name in ("reddit1", "Reddit1", "reddit1401-graph1"):
        graph = load_graph(name, data_dir=tmp_path)
        assert (graph.name, graph.num_edges) == ("reddit1", 3)
    write_graph(knn_graph(np.eye(9) + 1, 2), tmp_path / "reddit1.npz")
    assert load_graph("reddit1", data_dir=tmp_path).num_nodes == 9
    write_graph(small(), tmp_path / "karate.npz")
    assert load_graph("karate", data_dir=tmp_path).num_nodes == 4


def test_any_npz_in_the_data_folder_by_its_name(tmp_path, monkeypatch):
    write_graph(small("inner name"), tmp_path / "My_Graph.npz")
    monkeypatch.setenv("NODEWISE_DATA", str(tmp_path))
    assert load_graph("My_Graph").equals(small("inner name"))


def test_paths_in_every_form(tmp_path, monkeypatch):
    graph = small()
    write_graph(graph, tmp_path / "g.npz")
    write_graph(graph, tmp_path / "folder")
    monkeypatch.chdir(tmp_path)
    for path in ("g.npz", "./g.npz", tmp_path / "g.npz", str(tmp_path / "g.npz"), Path("g.npz")):
        assert load_graph(path).equals(graph)
    assert load_graph("folder").num_edges == 3


def test_name_of_a_data_set_wins_over_a_folder_of_that_name(tmp_path, monkeypatch):
    (tmp_path / "karate").mkdir()
    monkeypatch.chdir(tmp_path)
    assert load_graph("karate", data_dir=tmp_path / "none").num_nodes == 34
    with pytest.raises(GraphError, match="karate"):
        load_graph("./karate")


def test_what_cannot_be_found(tmp_path):
    with pytest.raises(
        UnknownNameError, match=r"did you mean 'cora'.*corra\.npz in the data folder .* is found by its name"
    ):
        load_graph("corra", data_dir=tmp_path)
    with pytest.raises(GraphError, match="there is no file"):
        load_graph("corra.npz", data_dir=tmp_path)
    with pytest.raises(UnknownNameError, match="unknown data set ''"):
        load_graph("", data_dir=tmp_path)
    with pytest.raises(DownloadError, match=r"put acmv9\.npz into the data folder"):
        load_graph("acmv9", data_dir=tmp_path)


def test_damaged_local_file_is_told_and_not_replaced(tmp_path):
    (tmp_path / "cora.npz").write_bytes(b"half a fi")
    with pytest.raises(GraphError, match=r"cora\.npz"):
        load_graph("cora", data_dir=tmp_path)
    assert (tmp_path / "cora.npz").read_bytes() == b"half a fi"


def test_features_by_name(tmp_path):
    x = np.array([[2.0, 0, 0], [0, 3, 0], [0, 0, 4], [0, 0, 0]])
    graph = Graph.build([[0, 1, 2], [1, 2, 3]], x=sp.csr_matrix(x), y=[0, 1, 0, 1], name="coauthor-cs")
    write_graph(graph, tmp_path / "coauthor-cs.npz")
    np.testing.assert_array_equal(load_graph("cs", data_dir=tmp_path).dense_features(), x)
    np.testing.assert_array_equal(load_graph("cs", data_dir=tmp_path, features="paper").dense_features(), x > 0)
    np.testing.assert_array_equal(load_graph("cs", data_dir=tmp_path, features="unit").dense_features(), x > 0)


def test_what_was_done_to_the_features_is_kept_with_the_graph(tmp_path):
    write_graph(small("citeseer"), tmp_path / "citeseer.npz")
    graph = load_graph("citeseer", features="paper", data_dir=tmp_path)
    assert graph.features == "row+center"
    assert load_graph("citeseer", data_dir=tmp_path).features == "raw"
    write_graph(graph, tmp_path / "done.npz")
    for features in ("raw", "row+center"):
        assert load_graph("done", features=features, data_dir=tmp_path).equals(graph)
    with pytest.raises(InputError, match=r"preprocessed already \(row\+center\), so unit can no longer be done"):
        load_graph("done", features="unit", data_dir=tmp_path)


def test_misspelt_features_are_told_before_a_download(tmp_path):
    with pytest.raises(UnknownNameError, match="did you mean 'unit'"):
        load_graph("coauthor-physics", data_dir=tmp_path / "none", features="unti")
    assert not (tmp_path / "none").exists()


PAPER = [
    "cora",
    "citeseer",
    "pubmed",
    "coauthor-cs",
    "coauthor-physics",
    "reddit1",
    "reddit2",
    "reddit3",
    "reddit4",
    "reddit5",
]


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


WRONG = {
    "citeser": "citeseer",
    "pubmd": "pubmed",
    "coauthor-css": "coauthor-cs",
    "digit": "digits",
    "Redit1": "reddit1",
}


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
    assert sorted(PAPER_FEATURES) == sorted([*PAPER, "reddit-case-study"])
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
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=clean_environment
    ).stdout.split()
    assert not {"numpy", "scipy", "sklearn", "torch", "torch_geometric", "networkx"}.intersection(loaded)


def test_sizes_are_those_of_the_file_that_would_be_loaded(tmp_path):
    write_graph(Graph.build([[0, 1], [1, 2]], 4, y=[0, 1, 1, 0], x=np.ones((4, 3))), tmp_path / "reddit1401-graph1.npz")
    info = dataset_info("reddit1", tmp_path)
    assert (info.nodes, info.edges, info.features, info.classes, info.budget) == (4, 2, 3, 2, 50)
    assert dataset_info("reddit2", tmp_path).features == 300  # not here: what was published
    assert as_it_is(dataset_info("reddit1"), tmp_path, largest=10).nodes == 4584
    (tmp_path / "cora.npz").write_bytes(b"PK damaged")
    assert as_it_is(dataset_info("cora"), tmp_path, largest=1000).nodes == 2708


def test_default_budget():
    budgets = {
        name: default_budget(name)
        for name in ("cora", "citeseer", "pubmed", "coauthor-physics", "coauthor-cs", "reddit4", "reddit-case-study")
    }
    assert list(budgets.values()) == [35, 30, 15, 25, 75, 50, 15]
    assert default_budget("digits") == 50
    assert default_budget("wine") == 15


def ring(nodes, classes, name="ring", labelled=None):
    y = [i % classes if i < (labelled or nodes) else -1 for i in range(nodes)]
    return Graph.build([range(nodes), [*range(1, nodes), 0]], nodes, y=y, name=name)


def test_five_a_class_are_at_most_half_the_pool():
    assert default_budget("karate") == default_budget(ring(34, 4)) == 9
    assert default_budget(ring(100, 4)) == 20
    assert default_budget(ring(2250, 200)) == 563
    assert default_budget(ring(2251, 200)) == 375
    assert default_budget(ring(2, 2)) == 1
    assert default_budget(ring(100, 4, labelled=20)) == 20  # a person can label the others
    assert default_budget(ring(100, 4, labelled=20), simulated=True) == 5


@pytest.mark.parametrize("nodes", [4, 7, 34, 2249, 2250, 2251, 5000])
def test_the_pool_is_that_of_the_protocol(nodes):
    sizes = SplitSizes.default(nodes)
    assert default_budget(ring(nodes, 1000 if nodes > 1000 else nodes)) == max(
        1, (nodes - sizes.test - sizes.validation) // 2
    )


def test_every_graph_that_needs_no_network_can_be_evaluated_with_its_default():
    graph = load_graph("karate")
    assert len(evaluate(graph, strategy="random", classifier="gcn", runs=2).micro_f1) == 2


def test_default_budget_of_a_graph(tmp_path):
    assert default_budget(small()) == 1
    assert default_budget(small("cora")) == 1  # somebody's own graph that happens to be called so
    assert default_budget(Graph.build([[0], [1]], 7, y=range(7), name="Cora")) == 35
    assert default_budget(small("reddit1401-graph1")) == 50
    write_graph(small(), tmp_path / "mine.npz")
    assert default_budget(tmp_path / "mine.npz") == 1
    assert default_budget("mine", data_dir=tmp_path) == 1
    with pytest.raises(InputError, match="has no classes.*give one"):
        default_budget(Graph.build([[0], [1]]))
