"""What every form must do, how a form is told from a path, and what else stands for a graph."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data, HeteroData

from nodewise.datasets import as_graph
from nodewise.graph import Graph, read_graph, write_graph
from nodewise.graph.differences import differences
from nodewise.ground.errors import GraphError, InputError
from nodewise.ground.files import atomic_file, atomic_folder
from tests.graph.generated import graphs

WHOLE = ("graph.npz", "graph.graphml", "graph")

EDGES = ("graph.edges", "graph.edgelist", "graph.txt", "graph.csv", "graph.tsv")


@pytest.mark.parametrize("form", WHOLE)
@given(graph=graphs())
def test_write_then_read_is_the_identity(tmp_path_factory: pytest.TempPathFactory, form: str, graph: Graph) -> None:
    path = tmp_path_factory.mktemp("forms") / form
    assert write_graph(graph, path) == []
    again = read_graph(path)
    assert differences(graph, again) == []
    assert type(again.x) is type(graph.x)


@pytest.mark.parametrize("form", EDGES)
@given(graph=graphs())
@pytest.mark.slow
def test_edge_lists_keep_edges_and_names(tmp_path_factory: pytest.TempPathFactory, form: str, graph: Graph) -> None:
    path = tmp_path_factory.mktemp("forms") / form
    dropped = write_graph(graph, path)
    again = read_graph(path)
    parts = {"node_names": graph.node_names, "name": "graph", "edge_weight": graph.edge_weight}
    assert again.equals(Graph.build(graph.edge_index, graph.num_nodes, **parts))
    assert len(dropped) == (graph.x is not None) + (graph.y is not None) + bool(graph.class_names) + bool(
        graph.attributes
    )


@given(graph=graphs(), chain=st.lists(st.sampled_from(WHOLE), min_size=2, max_size=4))
@pytest.mark.slow
def test_forms_can_follow_each_other(tmp_path_factory: pytest.TempPathFactory, graph: Graph, chain: list[str]) -> None:
    folder = tmp_path_factory.mktemp("chain")
    now = graph
    for step, form in enumerate(chain):
        (folder / str(step)).mkdir()
        write_graph(now, folder / str(step) / form)
        now = read_graph(folder / str(step) / form)
    assert differences(graph, now) == []


@pytest.mark.parametrize("form", WHOLE[1:] + EDGES)
def test_forms_tell_which_fields_they_drop(tmp_path: Path, form: str) -> None:
    dropped = write_graph(Graph.build([[0], [1]], extra={"mask": np.ones(2)}), tmp_path / form)
    assert any("'mask'" in line for line in dropped)


@pytest.mark.parametrize("path", ["graph.npz", "graph.graphml", "graph.edges"])
def test_a_failed_write_leaves_what_was_there(tmp_path: Path, path: str) -> None:
    before = Graph.build([[0], [1]])
    write_graph(before, tmp_path / path)
    bad = Graph.build([[0], [1]], node_names=["a\0", "b"], extra={"y": np.ones(1)})
    with pytest.raises(GraphError):
        write_graph(bad, tmp_path / path)
    assert read_graph(tmp_path / path).num_edges == 1
    assert [file.name for file in tmp_path.iterdir()] == [path]


def test_a_failed_folder_leaves_what_was_there(tmp_path: Path) -> None:
    write_graph(Graph.build([[0], [1]]), tmp_path / "out")
    with pytest.raises(GraphError, match="NUL"):
        write_graph(Graph.build([[0], [1]], 3, node_names=["a\0", "b", "c"]), tmp_path / "out")
    assert read_graph(tmp_path / "out").num_nodes == 2
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


def test_a_path_to_nodes_or_edges_beside_each_other_is_the_folder(tmp_path: Path) -> None:
    graph = Graph.build([[0], [1]], y=["a", "b"])
    write_graph(graph, tmp_path / "out")
    assert read_graph(tmp_path / "out" / "nodes.csv").equals(graph)
    assert read_graph(tmp_path / "out" / "edges.csv").equals(graph)


def test_home_folder_and_strings_are_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    write_graph(Graph.build([[0], [1]]), "~/graph.NPZ")
    assert read_graph("~/graph.NPZ").num_nodes == 2
    assert (tmp_path / "graph.NPZ").exists()


@pytest.mark.parametrize("name", ["graph.json", "graph.npy", "graph.pkl"])
def test_unknown_endings_name_the_known_ones(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"x")
    with pytest.raises(
        GraphError, match=r"ending '\.\w+' is not known\. Known forms: \.npz .*\.graphml .*\.edges.*a folder"
    ):
        read_graph(tmp_path / name)
    with pytest.raises(GraphError, match="cannot be written"):
        write_graph(Graph.build([[0], [1]]), tmp_path / name)


def test_a_missing_folder_to_write_to_is_told(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match=r"cannot be written: No such file.*check that the folder exists"):
        write_graph(Graph.build([[0], [1]]), tmp_path / "no" / "graph.npz")


@pytest.mark.skipif(os.name == "nt", reason="permissions are of another kind there")
def test_a_file_in_the_way_of_a_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(GraphError, match="cannot be written"):
        write_graph(Graph.build([[0], [1]]), tmp_path / "file")
    assert (tmp_path / "file").read_text() == "x"


def test_atomic_file_appears_only_when_complete(tmp_path: Path) -> None:
    def fail() -> None:
        with atomic_file(tmp_path / "a") as handle:
            handle.write(b"half")
            assert not (tmp_path / "a").exists()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert list(tmp_path.iterdir()) == []
    with atomic_file(tmp_path / "a") as handle:
        handle.write(b"whole")
    assert (tmp_path / "a").read_bytes() == b"whole"


def test_atomic_folder_keeps_other_files(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("keep")
    with atomic_folder(tmp_path / "out") as part:
        (part / "new.txt").write_text("new")
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == ["mine.txt", "new.txt"]
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


GRAPH = Graph.build([[0, 1], [1, 2]], y=["a", "b", ""])


def test_graphs_names_files_and_other_libraries_graphs(tmp_path: Path) -> None:
    write_graph(GRAPH, tmp_path / "mine.npz")
    assert as_graph(GRAPH) is GRAPH
    for one in (tmp_path / "mine.npz", str(tmp_path / "mine.npz")):
        assert as_graph(one).equals(GRAPH)
    assert as_graph("mine", data_dir=tmp_path).num_nodes == 3
    assert as_graph("karate").num_nodes == 34
    assert as_graph(GRAPH.to_pyg()).equals(GRAPH)
    assert as_graph(GRAPH.to_networkx()).equals(GRAPH)
    assert as_graph(nx.DiGraph([(0, 1)])).num_edges == 1


class Frame(SimpleNamespace):
    """Stands for pandas' data frame, which need not be installed."""


Frame.__module__ = "pandas.core.frame"


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        (np.zeros((3, 2)), r"received ndarray of shape \[3, 2\]: make a graph of features with knn_graph\(x\)"),
        (torch.zeros(3, 2), r"received Tensor of shape \[3, 2\]: make a graph of features"),
        (sp.eye(3), r"of shape \[3, 3\]: make a graph of an adjacency matrix with Graph.from_scipy"),
        (HeteroData(), r"no type has labels \(y\)"),
        ([GRAPH], r"received list: give one graph, not a list; texts become one with Graph.from_texts"),
        (None, "received NoneType: give a Graph, a data set's name or a file"),
        (Frame(), r"received Frame: make a graph of a table with Graph.from_dataframe"),
        (7, "received int: give a Graph, a data set's name, a file, a PyTorch Geometric Data or a networkx graph"),
    ],
)
def test_what_is_no_graph_is_refused_with_what_to_do(thing: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        as_graph(thing)


def test_a_data_without_edges_says_so() -> None:
    with pytest.raises(InputError, match="neither edge_index nor adj_t"):
        as_graph(Data(x=torch.ones(2, 1)))
