"""Weights, direction, relations and several classes a node in each form: kept, said to be dropped, or refused; nothing
is dropped without a word.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.data import Data, HeteroData

from nodewise.graph import Graph, NodeType, Relation, RelationalGraph, read_graph, write_graph
from nodewise.graph.differences import differences
from nodewise.graph.label_sets import look_like_sets
from nodewise.ground.errors import GraphError

EDGES = [[0, 1, 2, 0], [1, 2, 3, 3]]
WEIGHTS = [0.5, 2.0, 1.0, 0.1]
SETS = [["a", "b"], [], None, ["b"]]


def relational(**parts: Any) -> RelationalGraph:
    written = Relation("written by", "paper", "author", [[0, 1, 1, 2, 3], [0, 0, 1, 1, 2]], [1.0, 2.0, 0.5, 1.0, 1.0])
    cites = Relation("cites", "paper", "paper", [[1, 2], [0, 0]])
    types = NodeType("paper", 4), NodeType("author", 3, names=("Ann", "Bo", "Cy"))
    return RelationalGraph(types, (written, cites), "paper", **parts)


GRAPHS = {
    "weights": Graph.build(EDGES, 4, y=["a", "b", "a", "b"], edge_weight=WEIGHTS),
    "direction": Graph.build(EDGES, 4, y=["a", "b", "a", "b"], directed=True, edge_weight=WEIGHTS),
    "relations": relational(y=["a", "b", "a", None]).to_graph(),
    "sets": Graph.build(EDGES, 4, y=SETS),
    "relations and sets": relational(y=SETS).to_graph(),
}


def file(name: str) -> Callable[[Graph, Path], tuple[list[str], Graph]]:
    def there_and_back(graph: Graph, folder: Path) -> tuple[list[str], Graph]:
        said = write_graph(graph, folder / name)
        return said, read_graph(folder / name)

    return there_and_back


def turned(there: Callable[[Graph], Any], back: Callable[[Any], Graph]) -> Callable[[Graph, Path], Any]:
    def there_and_back(graph: Graph, folder: Path) -> tuple[list[str], Graph]:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            made = there(graph)
        return [str(one.message) for one in said], back(made)

    return there_and_back


def from_matrix(parts: Any) -> Graph:
    adjacency, x, y = parts
    return Graph.from_scipy(adjacency, x, y, class_names=("a", "b"))


FORMS = {
    "npz": file("graph.npz"),
    "folder": file("graph"),
    "GraphML": file("graph.graphml"),
    "edge list": file("graph.edges"),
    "networkx": turned(lambda graph: graph.to_networkx(), Graph.from_networkx),
    "PyTorch Geometric": turned(lambda graph: graph.to_pyg(), Graph.from_pyg),
    "scipy": turned(lambda graph: graph.to_scipy(), from_matrix),
    "typed networkx": turned(
        lambda graph: RelationalGraph.of(graph).to_networkx(),
        lambda made: RelationalGraph.from_networkx(made).to_graph(),
    ),
    "HeteroData": turned(
        lambda graph: RelationalGraph.of(graph).to_pyg(), lambda made: RelationalGraph.from_pyg(made).to_graph()
    ),
    "pickle": turned(pickle.dumps, pickle.loads),
}
KEPT = {
    "npz": dict.fromkeys(GRAPHS, "keeps"),
    "folder": dict.fromkeys(GRAPHS, "keeps"),
    "GraphML": dict.fromkeys(GRAPHS, "keeps") | {"relations": "relations", "relations and sets": "relations"},
    "edge list": {
        "weights": "labels",
        "direction": "direction",
        "relations": "relations",
        "sets": "labels",
        "relations and sets": "relations",
    },
    "networkx": dict.fromkeys(GRAPHS, "keeps") | {"relations": "relations", "relations and sets": "relations"},
    "PyTorch Geometric": {
        "weights": "keeps",
        "direction": "direction",
        "relations": "relations",
        "sets": "keeps",
        "relations and sets": "relations",
    },
    "typed networkx": dict.fromkeys(GRAPHS, "keeps") | {"weights": "refuses", "sets": "refuses"},
    "pickle": dict.fromkeys(GRAPHS, "keeps"),
}
KEPT |= {"scipy": KEPT["PyTorch Geometric"], "HeteroData": KEPT["typed networkx"]}
"""Form -> graph -> whether all comes back, or nothing is written; else a word of what is said to be dropped."""


@pytest.mark.parametrize("what", GRAPHS)
@pytest.mark.parametrize("form", FORMS)
def test_a_form_keeps_it_or_says_what_it_drops(form: str, what: str, tmp_path: Path) -> None:
    graph, expected = GRAPHS[what], KEPT[form][what]
    if expected == "refuses":
        with pytest.raises(GraphError, match="has one type of nodes and no relations: use it as it is"):
            FORMS[form](graph, tmp_path)
        return
    said, again = FORMS[form](graph, tmp_path)
    if expected == "keeps":
        assert said == [] and differences(graph, again) == []
    else:
        assert any(expected in line for line in said), said
        lost = {"relations": again.relations is None, "direction": again.relations is None}
        assert lost.get(expected, again.y is None and again.y_sets is None)
        assert np.array_equal(again.edge_index, graph.edge_index)
        assert again.edge_weight is not None or graph.edge_weight is None, "the union's weights stay"


def csv(folder: Path) -> tuple[Path, Path]:
    (folder / "n.csv").write_text("id,label\n0,a;b\n1,;\n2,\n3,b\n")
    (folder / "e.csv").write_text("source,target,weight\n0,1,0.5\n1,2,2\n2,3,1\n0,3,0.1\n")
    return folder / "n.csv", folder / "e.csv"


def one_way() -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(4))
    graph.add_weighted_edges_from((a, b, w) for a, b, w in zip(*EDGES, WEIGHTS, strict=True))
    return graph


def read_networkx_graphml(folder: Path) -> Graph:
    nx.write_graphml(one_way(), folder / "a.graphml")
    return read_graph(folder / "a.graphml")


def edge_list(folder: Path, **how: Any) -> Graph:
    (folder / "a.edges").write_text("0 1 0.5\n1 2 2\n2 3 1\n0 3 0.1\n")
    return read_graph(folder / "a.edges", **how)


def data() -> Data:
    return Data(edge_index=torch.tensor(EDGES), edge_weight=torch.tensor(WEIGHTS), num_nodes=4)


def matrix() -> Any:
    return sp.coo_matrix((np.float32(WEIGHTS), EDGES), (4, 4))


def hetero(**parts: Any) -> HeteroData:
    made = HeteroData(**parts)
    made["paper"].num_nodes, made["author"].num_nodes = 4, 3
    made["paper"].y = torch.tensor([[1, 1], [0, 0], [-1, -1], [0, 1]])
    made["paper", "by", "author"].edge_index = torch.tensor([[0, 1, 2, 3], [0, 0, 1, 2]])
    made["paper", "by", "author"].edge_weight = torch.tensor(WEIGHTS)
    return made


DIRECTED_READERS: dict[str, Callable[[Path], Graph]] = {
    "csv, asked": lambda folder: Graph.from_csv(*csv(folder), directed=True),
    "edge list, asked": lambda folder: edge_list(folder, directed=True),
    "GraphML": read_networkx_graphml,
    "networkx": lambda folder: Graph.from_networkx(one_way()),
    "PyTorch Geometric, asked": lambda folder: Graph.from_pyg(data(), directed=True),
    "scipy, asked": lambda folder: Graph.from_scipy(matrix(), directed=True),
}
PLAIN_READERS: dict[str, Callable[[Path], Graph]] = {
    "csv": lambda folder: Graph.from_csv(*csv(folder)),
    "edge list": edge_list,
    "networkx": lambda folder: Graph.from_networkx(one_way().to_undirected()),
    "PyTorch Geometric": lambda folder: Graph.from_pyg(data()),
    "scipy": lambda folder: Graph.from_scipy(matrix()),
}


@pytest.mark.parametrize("reader", DIRECTED_READERS)
def test_readers_keep_weights_and_direction(reader: str, tmp_path: Path) -> None:
    graph = DIRECTED_READERS[reader](tmp_path)
    assert graph.relations is not None and graph.relations.directed
    (way,) = graph.relations.relations
    assert way.weight is not None
    order = np.lexsort(np.array(EDGES)[::-1])
    assert np.array_equal(way.edge_index, np.array(EDGES)[:, order])
    assert np.array_equal(way.weight, np.float32(WEIGHTS)[order])


@pytest.mark.parametrize("reader", PLAIN_READERS)
def test_readers_keep_weights_and_say_that_direction_is_dropped_where_a_source_has_one(
    reader: str, tmp_path: Path
) -> None:
    graph = PLAIN_READERS[reader](tmp_path)
    assert graph.relations is None and graph.edge_weight is not None
    order = np.lexsort(np.array(EDGES)[::-1])
    assert np.allclose(graph.edge_weight, np.array(WEIGHTS)[order])
    one_way_source = reader in ("PyTorch Geometric", "scipy")  # which hold both ways of an edge otherwise
    assert any("the direction of the edges was dropped" in note for note in graph.notes) == one_way_source


@pytest.mark.parametrize("parts", [{}, {"class_names": ["a", "b"]}])
def test_hetero_data_of_strangers_keeps_weights_and_sets(parts: dict[str, Any]) -> None:
    whole = RelationalGraph.from_pyg(hetero(**parts))
    assert whole.y_sets.tolist() == [[1, 1], [0, 0], [-1, -1], [0, 1]]
    assert whole.relations[0].weight is not None and whole.relations[0].weight.tolist() == pytest.approx(WEIGHTS)


def relational_folder(folder: Path, labels: list[str]) -> Path:
    folder.mkdir()
    rows = "".join(f"p{number},{label}\n" for number, label in enumerate(labels))
    (folder / "nodes-paper.csv").write_text(f"id,label\n{rows}")
    (folder / "nodes-author.csv").write_text("id\nAnn\nBo\n")
    edges = "".join(f"p{number},{'Ann' if number % 2 else 'Bo'}\n" for number in range(len(labels)))
    (folder / "edges-written by.csv").write_text(f"paper,author\n{edges}")
    return folder


MARKED = ["a;b", "a", "b", "a;b;c", "", ";", "c", "b;c", "a"]
MARKED_SETS = [[1, 1, 0], [1, 0, 0], [0, 1, 0], [1, 1, 1], [-1, -1, -1], [0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 0, 0]]


def test_labels_of_a_relational_folder_that_look_like_sets_are_noted_and_parted_if_said(tmp_path: Path) -> None:
    folder = relational_folder(tmp_path / "mine", MARKED)
    (note,) = (note for note in read_graph(folder).notes if "look like several classes" in note)
    assert "'a;b'" in note and "separator=';'" in note and "--separator" in note
    graph = read_graph(folder, separator=";")
    assert graph.y is None and graph.y_sets is not None and graph.class_names == ("a", "b", "c")
    assert graph.y_sets.tolist() == MARKED_SETS
    assert graph.relations is not None and not [note for note in graph.notes if "look like" in note]
    write_graph(graph, tmp_path / "again")
    assert differences(graph, read_graph(tmp_path / "again")) == []


def test_all_readers_note_labels_that_look_like_sets(tmp_path: Path) -> None:
    table = tmp_path / "n.csv"
    table.write_text("id,label\n" + "".join(f"{number},{label}\n" for number, label in enumerate(MARKED)))
    (tmp_path / "e.csv").write_text("source,target\n0,1\n1,2\n")
    labels = np.array(MARKED, dtype=object)
    network, typed = nx.path_graph(len(MARKED)), nx.path_graph(len(MARKED))
    nx.set_node_attributes(network, dict(enumerate(MARKED)), "label")
    nx.set_node_attributes(typed, {n: {"label": label, "type": "paper"} for n, label in enumerate(MARKED)})
    nx.write_graphml(network, tmp_path / "a.graphml")
    graphs = [
        Graph.from_csv(table, tmp_path / "e.csv"),
        Graph.build([[0], [1]], y=labels),
        Graph.from_networkx(network),
        RelationalGraph.from_networkx(typed),
        read_graph(tmp_path / "a.graphml"),
        Graph.from_texts([f"text {number}" for number in range(len(MARKED))], list(MARKED), k=1),
    ]
    for graph in graphs:
        assert [note for note in graph.notes if "look like several classes" in note], graph
    parted = Graph.from_csv(table, tmp_path / "e.csv", separator=";")
    (tmp_path / "plain").mkdir()
    table.rename(tmp_path / "plain" / "nodes.csv")
    (tmp_path / "e.csv").rename(tmp_path / "plain" / "edges.csv")
    assert not [note for note in parted.notes if "look like" in note]
    same = read_graph(tmp_path / "plain", separator=";")
    assert same.y_sets is not None and parted.y_sets is not None
    assert (same.y_sets == parted.y_sets).all() and same.class_names == parted.class_names


@pytest.mark.parametrize(
    "labels",
    [
        ["Arts, Crafts", "Health, Beauty", "Arts, Crafts", "Health, Beauty"] * 3,  # no part comes twice
        ["1,5", "2,5", "1,5", "3"] * 3,  # decimal commas
        ["a", "b", "c", "a;b"] * 1,  # once is a slip
        ["red", "green"] * 5,
        [None, "a", "b"],
        [0, 1, 2],
    ],
)
def test_labels_that_are_no_sets_are_not_noted(labels: list[Any]) -> None:
    assert look_like_sets(labels) == []


def test_classes_that_are_named_are_meant_as_they_are() -> None:
    named = sorted({label for label in MARKED if label})
    assert not [note for note in Graph.build([[0], [1]], y=MARKED, class_names=named).notes if "look like" in note]


def test_a_separator_is_refused_where_there_is_nothing_to_part(tmp_path: Path) -> None:
    write_graph(GRAPHS["sets"], tmp_path / "sets.npz")
    write_graph(Graph.build(EDGES, 4), tmp_path / "bare.npz")
    with pytest.raises(GraphError, match="says itself which classes a node has"):
        read_graph(tmp_path / "sets.npz", separator=";")
    with pytest.raises(GraphError, match="has no labels that ';' could part"):
        read_graph(tmp_path / "bare.npz", separator=";")
    with pytest.raises(GraphError, match="separator between classes must be a character"):
        read_graph(relational_folder(tmp_path / "mine", MARKED), separator=" ")


def test_ids_of_a_relation_are_read_as_those_of_plain_edges(tmp_path: Path) -> None:
    """Blanks around them, and the .0 that spreadsheets add to whole numbers, are not part of them."""
    folder = relational_folder(tmp_path / "mine", MARKED)
    (folder / "nodes-author.csv").write_text("id\n1\n2\n")
    (folder / "edges-written by.csv").write_text("paper,author\n p0,1.0\np1 ,2\n")
    graph = read_graph(folder)
    assert graph.relations is not None and graph.relations.relations[0].edge_index.tolist() == [[0, 1], [0, 1]]


def test_types_that_differ_by_case_alone_are_told_apart_by_their_exact_names(tmp_path: Path) -> None:
    folder = relational_folder(tmp_path / "mine", MARKED)
    (folder / "nodes-Author.csv").write_text("id\nJo\n")
    (folder / "edges-read by.csv").write_text("paper,Author\np0,Jo\n")
    record = read_graph(folder).relations
    assert record is not None
    assert {each.name: each.target for each in record.relations} == {"written by": "author", "read by": "Author"}
    (folder / "edges-read by.csv").write_text("paper,AUTHOR\np0,Jo\n")
    with pytest.raises(GraphError, match="not called after the types"):
        read_graph(folder)
