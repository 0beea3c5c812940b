"""What a reader drops of the edges stands in the notes, in the same words whatever the reader; weights stay."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.data import Data, HeteroData

from nodewise.graph import Graph, RelationalGraph, read_graph
from nodewise.graph.relations import DIRECTED_NOTE

ADDED = "1 repeated edge added to the weight of the first (an edge and its reverse are one)"
COUNTED = "1 edge without a weight counted as 1"
DIRECTION = "the direction of the edges was dropped: an edge leads both ways"
REPEATED = "1 repeated edge dropped (an edge and its reverse are one)"
LOOP = "1 self loop dropped"


def kind(names: str) -> str:
    return f"what else the edges hold was dropped: {names}"


def directed() -> nx.MultiDiGraph:
    graph = nx.MultiDiGraph()
    graph.add_edge(0, 1, weight=2.0, kind="a")
    graph.add_edge(1, 2, weight=0.5)
    graph.add_edge(1, 2, weight=0.5)
    graph.add_edge(2, 2)
    return graph


def csv(folder: Path) -> Graph:
    (folder / "nodes.csv").write_text("id\na\nb\nc\n")
    (folder / "edges.csv").write_text("source,target,Weight,kind\na,b,3,x\nb,c,1,\nc,b,1,\nc,c,1,\n")
    return Graph.from_csv(folder / "nodes.csv", folder / "edges.csv")


def csv_folder(folder: Path) -> Graph:
    csv(folder)
    return read_graph(folder)


def csv_without_heading(folder: Path) -> Graph:
    (folder / "nodes.csv").write_text("id\na\nb\nc\n")
    (folder / "edges.csv").write_text("a,b,3\nb,c,1\nc,b,1\nc,c,1\n")
    return Graph.from_csv(folder / "nodes.csv", folder / "edges.csv")


def edge_list(folder: Path) -> Graph:
    (folder / "a.edges").write_text("0 1 3\n1 2 1\n2 1 1\n2 2 1\n")
    return read_graph(folder / "a.edges")


def graphml(folder: Path) -> Graph:
    nx.write_graphml(directed(), folder / "a.graphml")
    return read_graph(folder / "a.graphml")


def networkx(folder: Path) -> Graph:
    return Graph.from_networkx(directed())


def scipy(folder: Path) -> Graph:
    return Graph.from_scipy(sp.csr_matrix([[0, 3.0, 0], [0, 0, 1.0], [0, 1.0, 1.0]]))


def pyg(folder: Path) -> Graph:
    edges = torch.tensor([[0, 1, 2, 2], [1, 2, 1, 2]])
    return Graph.from_pyg(Data(edge_index=edges, edge_weight=torch.rand(4), edge_attr=torch.ones(4, 2), num_nodes=3))


def pyg_matrix(folder: Path) -> Graph:
    matrix = torch.tensor([[0, 3.0, 0], [0, 0, 1.0], [0, 1.0, 1.0]])
    return Graph.from_pyg(Data(adj_t=matrix.to_sparse_csr(), num_nodes=3))


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
@pytest.mark.parametrize(
    ("reader", "dropped"),
    [
        (csv, {ADDED, kind("'kind'")}),
        (csv_folder, {ADDED, kind("'kind'")}),
        (csv_without_heading, {REPEATED, kind("'column 3'")}),
        (edge_list, {ADDED}),
        (graphml, {ADDED, COUNTED, DIRECTED_NOTE, kind("'kind'")}),
        (networkx, {ADDED, COUNTED, DIRECTED_NOTE, kind("'kind'")}),
        (scipy, {ADDED, DIRECTION}),
        (pyg, {ADDED, DIRECTION, kind("'edge_attr'")}),
        (pyg_matrix, {ADDED, DIRECTION}),
    ],
)
def test_every_reader_says_what_it_drops(reader: Callable[[Path], Graph], dropped: set[str], tmp_path: Path) -> None:
    graph = reader(tmp_path)
    assert graph.edge_index.tolist() == [[0, 1], [1, 2]]
    about_edges = {note for note in graph.notes if "edge" in note or "loop" in note}
    assert about_edges == {*dropped, LOOP}
    assert (graph.edge_weight is None) == (ADDED not in dropped)


def test_nothing_is_said_where_nothing_is_dropped(tmp_path: Path) -> None:
    both = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    undirected = sp.csr_matrix(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    graphs = [
        Graph.from_networkx(nx.path_graph(3)),
        Graph.from_pyg(Data(edge_index=both, num_nodes=3)),
        Graph.from_scipy(undirected),
    ]
    nx.write_graphml(nx.path_graph(3), tmp_path / "a.graphml")
    graphs.append(read_graph(tmp_path / "a.graphml"))
    for graph in graphs:
        assert {note for note in graph.notes if "dropped" in note} <= {
            "2 repeated edges dropped (an edge and its reverse are one)"
        }


def typed_networkx(folder: Path) -> RelationalGraph:
    graph = nx.MultiDiGraph()
    graph.add_nodes_from("ab", type="paper", label="x")
    graph.add_node("c", type="author")
    for one in "aab":
        graph.add_edge(one, "c", relation="by", kind="q")
    return RelationalGraph.from_networkx(graph, labelled="paper")


def typed_folder(folder: Path) -> Graph:
    (folder / "nodes-paper.csv").write_text("id,label\na,x\nb,x\n")
    (folder / "nodes-author.csv").write_text("id\nc\n")
    (folder / "edges-by.csv").write_text("paper,author,kind\na,c,q\na,c,q\nb,c,q\n")
    return read_graph(folder)


def hetero(folder: Path) -> RelationalGraph:
    data = HeteroData()
    data["paper"].x, data["paper"].y, data["author"].num_nodes = torch.ones(2, 1), torch.tensor([0, 0]), 1
    data["paper", "by", "author"].edge_index = torch.tensor([[0, 0, 1], [0, 0, 0]])
    data["paper", "by", "author"].kind = torch.ones(3)
    return RelationalGraph.from_pyg(data)


@pytest.mark.parametrize("reader", [typed_networkx, typed_folder, hetero])
def test_readers_of_several_node_types_say_it_in_the_same_words(
    reader: Callable[[Path], RelationalGraph | Graph], tmp_path: Path
) -> None:
    notes = [note.removesuffix(" (relation 'by')") for note in reader(tmp_path).notes]
    assert kind("'kind'") in notes and "1 repeated edge dropped" in notes
    assert not [note for note in notes if "no file of edges" in note or "there are no edges" in note]
