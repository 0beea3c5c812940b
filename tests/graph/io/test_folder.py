from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from nodewise.graph import Graph, read_graph, write_graph
from nodewise.graph.io.folder import read_folder
from nodewise.ground.errors import GraphError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as a person would make it."""
    (tmp_path / "nodes.csv").write_text("id,label\na,x\nb,y\nc,\n")
    (tmp_path / "edges.csv").write_text("source,target\na,b\n")
    return tmp_path


def test_files_are_plain_tables(tmp_path: Path) -> None:
    graph = Graph.build(
        [[0], [2]], 3, x=sp.csr_matrix([[0, 0.1], [0, 0], [7, 0]]), y=["x", "", "y"], node_names=["a", "b,c", "d"]
    )
    write_graph(graph, tmp_path / "out")
    assert (tmp_path / "out" / "nodes.csv").read_text() == 'id,label\na,x\n"b,c",\nd,y\n'
    assert (tmp_path / "out" / "edges.csv").read_text() == "source,target\na,d\n"
    assert (tmp_path / "out" / "features.csv").read_text() == "node,column,value\na,1,0.1\nd,0,7.0\n"


def test_reads_a_folder_without_graph_json(folder: Path) -> None:
    graph = read_folder(folder)
    assert (graph.name, graph.node_names, graph.class_names, graph.num_edges) == (
        folder.name,
        ("a", "b", "c"),
        ("x", "y"),
        1,
    )


def test_reads_features_of_named_columns(folder: Path) -> None:
    (folder / "features.csv").write_text("node,feature,value\nc,word b,2\na,word a,0.5\n")
    graph = read_folder(folder)
    assert sp.issparse(graph.x)
    assert graph.dense_features().tolist() == [[0.5, 0], [0, 0], [0, 2]]


def test_attributes_may_be_called_id_or_label(tmp_path: Path) -> None:
    graph = Graph.build(
        [[0], [1]], attributes={"label": ["a", "b"], "id": ["", "x"], "attribute:z": ["", ""], "label ": ["1", "2"]}
    )
    write_graph(graph, tmp_path / "out")
    assert read_graph(tmp_path / "out").equals(graph)


def test_what_a_person_adds_to_a_written_folder_is_read(tmp_path: Path) -> None:
    write_graph(Graph.build([[0], [1]], y=["b", "a"], class_names=["b", "a"]), tmp_path / "out")
    with (tmp_path / "out" / "nodes.csv").open("a") as handle:
        handle.write("new,zebra\n")
    graph = read_graph(tmp_path / "out")
    assert graph.node_names == ("0", "1", "new")
    assert graph.class_names == ("b", "a", "zebra")


def test_features_of_a_graph_that_was_there_before_go(tmp_path: Path) -> None:
    write_graph(Graph.build([[0], [1]], x=np.ones((2, 1))), tmp_path / "out")
    write_graph(Graph.build([[0], [1]]), tmp_path / "out")
    assert not (tmp_path / "out" / "features.csv").exists()
    assert read_graph(tmp_path / "out").x is None


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("features.csv", "node,column,value\nz,0,1\n", "line 2: 'z' is no node's id"),
        ("features.csv", "node,column,value\na,0,1\na,1,much\n", "line 3: the value 'much' is no finite number"),
        ("features.csv", "node,column,value\na,0,1\na,0,2\n", "two values for node 0, column 0: keep one"),
        (
            "features.csv",
            "node,w1,w2,w3\na,0,1,1\n",
            "must have three columns.*wide table of numbers belongs into nodes.csv",
        ),
        ("graph.json", "{", r"graph\.json: what it says of the graph cannot be understood"),
        ("graph.json", "[]", r"graph\.json: what it says of the graph cannot be understood"),
        ("graph.json", "\xff", "cannot be read"),
    ],
)
def test_damaged_files_are_refused(folder: Path, file: str, text: str, message: str) -> None:
    (folder / file).write_bytes(text.encode("latin-1"))
    with pytest.raises(GraphError, match=message):
        read_folder(folder)


def test_column_outside_the_features_is_refused(tmp_path: Path) -> None:
    write_graph(Graph.build([[0], [1]], x=np.ones((2, 1))), tmp_path / "out")
    with (tmp_path / "out" / "features.csv").open("a") as handle:
        handle.write("1,5,1.0\n")
    with pytest.raises(GraphError, match="column 5, but there are 1 columns"):
        read_graph(tmp_path / "out")


@pytest.mark.parametrize("missing", ["nodes.csv", "edges.csv"])
def test_missing_files_are_named(folder: Path, missing: str) -> None:
    (folder / missing).unlink()
    with pytest.raises(
        GraphError, match=f"folder without {missing}: a graph as a folder holds nodes.csv and edges.csv"
    ):
        read_graph(folder)
