"""The authors' Reddit files: a folder, by name from a web server, and what is refused."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodewise.datasets import load_graph, synthetic_graph
from nodewise.datasets.reddit import read_released, released
from nodewise.graph import Graph, read_graph
from nodewise.graph.differences import differences
from nodewise.ground.errors import DownloadError, GraphError
from tests.datasets.published import as_published, files_below


@pytest.fixture
def small() -> Graph:
    """A graph whose class numbers have gaps, as theirs do."""
    drawn = synthetic_graph(nodes=60, classes=3, mean_degree=4, features=5, seed=1, name="graph2")
    return replace(drawn, class_names=("2", "5", "7"))


def as_released(graph: Graph, name: str) -> dict[str, bytes]:
    """The three files: edges in any order and direction, labels as the class's number."""
    assert graph.y is not None
    pairs = graph.edge_index.T[::-1, ::-1]
    numbers = np.array([int(one) for one in graph.class_names])[graph.y]
    return {
        f"{name}.edgelist": "\n".join([str(graph.num_nodes), *(f"{a} {b}" for a, b in pairs)]).encode() + b"\n",
        f"{name}.x.pkl": pickle.dumps(np.asarray(graph.x, dtype=np.float64), protocol=3),
        f"{name}.y.pkl": pickle.dumps(numbers.astype(np.int64), protocol=3),
    }


def write(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def test_the_case_study_as_released_is_the_graph_that_is_known(data_folder: Path) -> None:
    sample = data_folder.parent / "reference" / "reddit-release"
    if not sample.is_dir():
        pytest.skip("needs a sample of the authors' release")
    found, known = (
        read_released(sample, "reddit1401-graphforvis"),
        read_graph(data_folder / "reddit1401-graphforvis.npz"),
    )
    assert differences(found, known) == []
    assert (found.num_nodes, found.num_edges, found.num_features, found.class_names) == (
        85,
        156,
        300,
        ("2", "3", "5", "7"),
    )


def test_a_folder_and_its_edge_list_are_read(small: Graph, tmp_path: Path) -> None:
    folder = write(tmp_path / "graph2", as_released(small, "graph2"))
    for path in (folder, folder / "graph2.edgelist"):
        assert differences(read_released(path), small) == []
        assert differences(load_graph(path), small) == [] and differences(load_graph(str(path)), small) == []
    assert read_released(folder, "mine").name == "mine"
    (folder / "graph2.x.pkl").unlink()
    assert read_released(folder).x is None


def test_a_copy_of_their_folder_in_the_data_folder_is_found(small: Graph, tmp_path: Path) -> None:
    write(tmp_path / "reddit1401" / "graph2", as_released(small, "graph2"))
    graph = load_graph("reddit2", data_dir=tmp_path)
    assert graph.name == "reddit2" and differences(replace(graph, name="graph2"), small) == []


@pytest.mark.parametrize(("name", "which"), [("reddit2", "graph2"), ("reddit-case-study", "graphforvis")])
def test_it_is_downloaded_by_name_and_kept(
    name: str, which: str, small: Graph, source: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(released, "ADDRESS", f"{source.address}/data/reddit1401")
    as_published(name, small, monkeypatch)
    source.files = {f"data/reddit1401/{which}/{file}": content for file, content in as_released(small, which).items()}
    graph = load_graph(name, data_dir=tmp_path)
    assert differences(replace(graph, name="graph2"), small) == [] and graph.name == name
    assert files_below(tmp_path) == [f"{name}.npz"] and len(source.asked) == 3
    assert load_graph(name, data_dir=tmp_path).equals(graph) and len(source.asked) == 3


@pytest.mark.parametrize("broken", ["gone", "cut", "code"])
def test_a_download_that_fails_leaves_nothing(
    broken: str, small: Graph, source: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(released, "ADDRESS", source.address)
    files = as_released(small, "graph2")
    if broken == "gone":
        del files["graph2.x.pkl"]
    if broken == "code":
        files["graph2.x.pkl"] = b"cposix\nsystem\n(S'touch ran'\ntR."
    source.files = {f"graph2/{file}": content for file, content in files.items()}
    source.cut = {"graph2/graph2.x.pkl"} if broken == "cut" else set()
    with pytest.raises(
        DownloadError, match=r"reddit2 could not be downloaded from the paper's authors .*put reddit2\.npz"
    ):
        load_graph("reddit2", data_dir=tmp_path / "data")
    assert files_below(tmp_path) == []


@pytest.mark.parametrize(
    ("ending", "content", "told"),
    [
        (
            ".x.pkl",
            b"cposix\nsystem\n(S'touch ran'\ntR.",
            "x.pkl is not a pickled array of numbers: it asks for posix.system.*Nothing of it was executed",
        ),
        (".y.pkl", pickle.dumps([1, 2]), "y.pkl is not a pickled array of numbers: it has the instruction EMPTY_LIST"),
        (".y.pkl", pickle.dumps(np.zeros(60)), "holds 60 values of float64, but 60 are needed .labels: whole numbers"),
        (".y.pkl", pickle.dumps(np.zeros(59, dtype=np.int64)), "holds 59 values of int64, but 60 are needed"),
        (
            ".x.pkl",
            pickle.dumps(np.zeros((59, 5))),
            "holds 59 × 5 values of float64, but 60 × any are needed.*belong together",
        ),
        (".x.pkl", b"version https://git-lfs.github.com/spec/v1", "is not a pickled array of numbers"),
        (".edgelist", b"0 1\n1 2\n", "does not begin with the number of nodes, but with '0 1'"),
        (".edgelist", b"60\n0 1\n1 60\n", "line 3 is '1 60': an edge is two node numbers from 0 to 59"),
        (".edgelist", b"60\n0 1 2\n", "line 2 is '0 1 2'"),
        (".edgelist", b"60\n-1 2\n", "line 2 is '-1 2'"),
        (".edgelist", b"60\n" + b"9" * 5000 + b" 2\n", "line 2 is '999"),
        (".edgelist", b"\xff\xfe\n", "does not begin with the number of nodes"),
    ],
)
def test_what_is_no_such_file_is_refused_in_a_sentence(
    ending: str, content: bytes, told: str, small: Graph, tmp_path: Path
) -> None:
    folder = write(tmp_path / "graph2", as_released(small, "graph2") | {f"graph2{ending}": content})
    with pytest.raises(GraphError, match=told):
        read_released(folder)
    assert not (tmp_path / "ran").exists() and not Path("ran").exists()


def test_a_folder_without_such_files_is_told(tmp_path: Path) -> None:
    with pytest.raises(
        GraphError, match="does not hold one graph of the authors' Reddit release: give the folder with NAME.edgelist"
    ):
        read_released(tmp_path)
