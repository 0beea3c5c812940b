"""Mistakes with graphs: their names, files, edges, labels, features, weights and relations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import nodewise as nw
from nodewise.graph import NodeType, Relation, RelationalGraph
from tests.mistakes.telling import GRAPH, Mistake, World, is_refused, message

TYPES = (NodeType("paper", 3), NodeType("author", 2))
BY = Relation("by", "paper", "author", [[0, 1, 2], [0, 1, 1]])


def test_something_else_in_place_of_a_name_a_file_or_a_table(tmp_path: Path) -> None:
    policy = nw.load_policy("cora+citeseer")
    for call, said in (
        (lambda: nw.load_graph(GRAPH), "it is loaded already, use it as it is"),
        (lambda: nw.load_graph(3), "a data set's name or a file was expected, received int"),
        (lambda: nw.load_policy(GRAPH), "a policy's name or file was expected, received Graph"),
        (lambda: nw.save_policy(GRAPH, tmp_path / "p.safetensors"), "a policy was expected, received Graph"),
        (lambda: nw.save_policy(tmp_path / "p.safetensors", policy), "a policy was expected, received PosixPath"),
        (
            lambda: nw.Session.create(GRAPH, tmp_path / "job.nodewise"),
            "the file of the session was expected, received Graph",
        ),
        (lambda: nw.Session.open(GRAPH), "the file of a session was expected, received Graph"),
        (lambda: nw.knn_graph("wine"), "a table of numbers [nodes, features] was expected, received str"),
        (lambda: nw.knn_graph(GRAPH), "a table of numbers [nodes, features] was expected, received Graph"),
        (lambda: nw.Graph.from_networkx(GRAPH), "from_networkx takes a networkx graph, received Graph"),
        (
            lambda: nw.Graph.from_pyg(GRAPH),
            "from_pyg takes a torch_geometric.data.Data with one kind of nodes, received Graph",
        ),
        (lambda: nw.Graph.from_dataframe(GRAPH), "a data frame or a dict of columns is needed, received Graph"),
        (lambda: nw.Graph.from_texts("one text"), "received one text, 'one text': give [text, …]"),
        (lambda: nw.compare([], "random"), "no graph was given to compare on"),
        (lambda: nw.compare(GRAPH, []), "give at least one strategy"),
    ):
        assert said in message(call)


def test_class_names_may_be_an_array() -> None:
    graph = nw.Graph.build([[0, 1], [1, 2]], 3, y=np.array([0, 1, 0]), class_names=np.array(["a", "b"]))  # type: ignore[arg-type]
    assert graph.class_names == ("a", "b")


MISTAKES: list[Mistake] = [
    (
        "a data set's name misspelt",
        lambda w: nw.load_graph("karat"),
        ValueError,
        "unknown data set 'karat': did you mean 'karate'? A file needs its endi",
    ),
    (
        "a file that is not there",
        lambda w: nw.load_graph("nowhere.npz"),
        ValueError,
        "there is no file nowhere.npz: check the path",
    ),
    (
        "a folder that is not there",
        lambda w: nw.load_graph("no/such/folder/graph.npz"),
        ValueError,
        "there is no file no/such/folder/graph.npz: check the path",
    ),
    (
        "an ending that nobody reads",
        lambda w: nw.load_graph(w.folder / "graph.xyz"),
        ValueError,
        "cannot be read: the ending '.xyz' is not known. Known forms: .npz (eve",
    ),
    (
        "an empty file",
        lambda w: nw.load_graph(w.folder / "empty.npz"),
        ValueError,
        "is empty (0 bytes): it was probably not written to the end, make or do",
    ),
    (
        "a folder in place of a graph",
        lambda w: nw.load_graph(w.folder),
        ValueError,
        "is a folder without nodes.csv: a graph as a folder holds nodes.csv a",
    ),
    (
        "a number in place of a name",
        lambda w: nw.load_graph(3),
        TypeError,
        "a data set's name or a file was expected, received int: give it as a t",
    ),
    (
        "None in place of a name",
        lambda w: nw.load_graph(None),
        TypeError,
        "a data set's name or a file was expected, received NoneType: give it a",
    ),
    (
        "a preprocessing misspelt",
        lambda w: nw.load_graph("karate", features="unt"),
        ValueError,
        "unknown feature preprocessing 'unt': did you mean 'unit'? Join several",
    ),
    (
        "edges transposed",
        lambda w: nw.Graph.build([[0, 1], [1, 2], [2, 0]], 3),
        ValueError,
        "edge_index must have the shape [2, edges], received [3, 2] — it looks",
    ),
    (
        "edges by names",
        lambda w: nw.Graph.build([["a"], ["b"]], 2),
        ValueError,
        "edge_index must hold integers, received <U1: map node names to indices",
    ),
    (
        "an edge to a node that is not there",
        lambda w: nw.Graph.build([[0], [7]], 3),
        ValueError,
        "edge 0 (0, 7) leads to a node that does not exist: there are 3 nodes,",
    ),
    (
        "a negative node",
        lambda w: nw.Graph.build([[0], [-1]], 3),
        ValueError,
        "edge 0 (0, -1) has a negative end: nodes are numbered from 0",
    ),
    (
        "no nodes",
        lambda w: nw.Graph.build([[], []]),
        ValueError,
        "a graph needs at least one node, received no nodes and no edges: check",
    ),
    (
        "labels for other nodes",
        lambda w: nw.Graph.build([[0], [1]], 3, y=[0, 1]),
        ValueError,
        "y must hold one label for each of the 3 nodes, received the shape [2]:",
    ),
    (
        "labels that are halves",
        lambda w: nw.Graph.build([[0], [1]], 2, y=[0.5, 1]),
        ValueError,
        "labels must be whole numbers or strings, received [0.5]",
    ),
    (
        "labels that are truths",
        lambda w: nw.Graph.build([[0], [1]], 2, y=[True, False]),
        TypeError,
        "labels must be whole numbers or texts, received booleans: give y.astyp",
    ),
    (
        "labels that are bytes",
        lambda w: nw.Graph.build([[0], [1]], 2, y=[b"a", b"b"]),
        TypeError,
        "a class is named by a text or a whole number, got the bytes b'a': deco",
    ),
    (
        "probabilities as labels",
        lambda w: nw.Graph.build([[0], [1]], 3, y=np.full((3, 3), 0.3)),
        ValueError,
        "a matrix of labels must hold 0 and 1",
    ),
    (
        "too few class names",
        lambda w: nw.Graph.build([[0], [1]], 2, y=[0, 5], class_names=["a", "b", "c"][:2][:1]),
        ValueError,
        "label 5 has no class name: there are 1 names, 'a', for ids 0 to 0; add",
    ),
    (
        "a label that is no class name",
        lambda w: nw.Graph.build([[0], [1]], 2, y=["a", "c"], class_names=["a", "b"]),
        ValueError,
        "labels 'c' are not among the class names 'a', 'b': add them or correct",
    ),
    (
        "a label that is nearly a class name",
        lambda w: nw.Graph.build([[0], [1]], 2, y=["alpha", "alpa"], class_names=["alpha", "beta"]),
        ValueError,
        "labels 'alpa' are not among the class names 'alpha', 'beta': add them or correct the labels; did you mean",
    ),
    (
        "two classes of one name",
        lambda w: nw.Graph.build([[0], [1]], 2, y=[0, 1], class_names=["a", "a"]),
        ValueError,
        "the class name 'a' occurs twice: class names must be unique, make them",
    ),
    (
        "two nodes of one name",
        lambda w: nw.Graph.build([[0], [1]], 2, node_names=["a", "a"]),
        ValueError,
        "the node name 'a' occurs twice: node names must be unique, make them s",
    ),
    (
        "features that are not finite",
        lambda w: nw.Graph.build([[0], [1]], 2, x=[[1.0], [np.nan]]),
        ValueError,
        "features must be finite, received nan at node 1, column 0: replace it,",
    ),
    (
        "features of texts",
        lambda w: nw.Graph.build([[0], [1]], 2, x=[["a"], ["b"]]),
        ValueError,
        "x must hold numbers, received <U1: turn texts into numbers first (a te",
    ),
    (
        "features of another number of nodes",
        lambda w: nw.Graph.build([[0], [1]], 2, x=[[1.0]]),
        ValueError,
        "features have 1 rows, but there are 2 nodes: give one row for each nod",
    ),
    (
        "features in one dimension",
        lambda w: nw.Graph.build([[0], [1]], 2, x=[1.0, 2.0]),
        ValueError,
        "features must have the shape [nodes, features], received [2]: reshape",
    ),
    (
        "a frame that is an array",
        lambda w: nw.Graph.from_dataframe(np.zeros((3, 2))),
        TypeError,
        "a data frame or a dict of columns is needed, received ndarray: give pa",
    ),
    (
        "a networkx graph that is none",
        lambda w: nw.Graph.from_networkx([(0, 1)]),
        TypeError,
        "from_networkx takes a networkx graph, received list: give the graph it",
    ),
    (
        "a PyTorch Geometric graph that is none",
        lambda w: nw.Graph.from_pyg({"edge_index": []}),
        TypeError,
        "from_pyg takes a torch_geometric.data.Data with one kind of nodes, rec",
    ),
    (
        "one text in place of a list",
        lambda w: nw.Graph.from_texts("one text"),
        TypeError,
        "texts must be a list with one text for each node, received one text, '",
    ),
    (
        "a CSV that is not there",
        lambda w: nw.Graph.from_csv("nodes.csv", "edges.csv"),
        ValueError,
        "there is no file nodes.csv: check the path",
    ),
    (
        "neighbours of a name",
        lambda w: nw.knn_graph("wine"),
        TypeError,
        "a table of numbers [nodes, features] was expected, received str: give",
    ),
    (
        "more neighbours than rows",
        lambda w: nw.knn_graph([[0.0], [1.0]], k=5),
        ValueError,
        "k must be a whole number from 1 to 1, below the 2 rows, received 5: gi",
    ),
    (
        "no neighbours",
        lambda w: nw.knn_graph([[0.0], [1.0], [2.0]], k=0),
        ValueError,
        "k must be a whole number from 1 to 2, below the 3 rows, received 0: gi",
    ),
    (
        "a metric misspelt",
        lambda w: nw.knn_graph([[0.0], [1.0], [2.0]], k=1, metric="cosin"),
        ValueError,
        "unknown metric 'cosin': did you mean 'cosine'?",
    ),
    (
        "a weight below 0",
        lambda w: nw.Graph.build([[0], [1]], 2, edge_weight=[-1]),
        ValueError,
        "the weight of edge 0 (0, 1) is -1: weights must be positive; a larger",
    ),
    (
        "a weight that is no number",
        lambda w: nw.Graph.build([[0], [1]], 2, edge_weight=[float("nan")]),
        ValueError,
        "the weight of edge 0 (0, 1) is nan: weights must be positive and finit",
    ),
    (
        "weights for other edges",
        lambda w: nw.Graph.build([[0], [1]], 2, edge_weight=[1, 2]),
        ValueError,
        "edge_weight must hold one number for each of the 1 edges, received the",
    ),
    (
        "sets beside single classes",
        lambda w: nw.Graph.build([[0], [1]], 2, y=[["a"], "b"]),
        ValueError,
        "some nodes have sets of classes and others do not, 'b' for example: gi",
    ),
    (
        "a matrix of labels with a two",
        lambda w: nw.Graph.build([[0], [1]], 2, y=np.array([[0, 2], [1, 0]])),
        ValueError,
        "a matrix of labels must hold 0 and 1 (-1 in a whole row: no answer), r",
    ),
    (
        "a labelled type that is not there",
        lambda w: RelationalGraph(TYPES, (BY,), "venue"),
        ValueError,
        "no node type carries the labels: received 'venue', there are 'paper',",
    ),
    (
        "a relation to a node that is not there",
        lambda w: RelationalGraph(TYPES, (Relation("by", "paper", "author", [[0], [9]]),), "paper"),
        ValueError,
        "the relation 'by' leads to node 9 of the type 'author', which has 2 no",
    ),
    (
        "two relations of one name",
        lambda w: RelationalGraph(TYPES, (BY, BY), "paper"),
        ValueError,
        "two relations are called 'by': give each a name of its own",
    ),
    (
        "one type in place of a list",
        lambda w: RelationalGraph(TYPES[0], (BY,), "paper"),
        ValueError,
        "a list of NodeType was expected, received NodeType: give [NodeType(…),",
    ),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake[0])
def test_a_mistake_in_python_is_told(mistake: Mistake, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    is_refused(mistake, world, monkeypatch)
