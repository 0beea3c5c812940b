"""A networkx graph whose attributes name types and relations becomes a graph of several types, and comes back."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from nodewise.graph import Graph, NodeType, Relation, RelationalGraph
from nodewise.ground.errors import GraphError, WrongTypeError


def library(kind: Any = nx.Graph) -> Any:
    """Two papers of one author and one of another; the second paper cites the first."""
    graph = kind(name="library")
    for paper, topic in (("p1", "pets"), ("p2", "pets"), ("p3", "money")):
        graph.add_node(paper, type="paper", topic=topic, title=f"On {topic}", year=2000)
    for author in ("Ann", "Bo"):
        graph.add_node(author, type="author", x=[1.0, 0.0])
    graph.add_edge("Ann", "p1", relation="writes")
    graph.add_edge(*(("p2", "Ann") if kind is nx.Graph else ("Ann", "p2")), relation="writes")
    graph.add_edge("Bo", "p3", relation="writes")
    graph.add_edge("p2", "p1")
    return graph


def test_attributes_name_types_and_relations() -> None:
    whole = RelationalGraph.from_networkx(library(nx.DiGraph))
    assert (whole.name, whole.labelled, whole.class_names) == ("library", "paper", ("money", "pets"))
    assert whole.y.tolist() == [1, 1, 0]
    papers, authors = whole.types
    assert (papers.names, authors.names) == (("p1", "p2", "p3"), ("Ann", "Bo"))
    assert papers.x is None and authors.x is not None and authors.x.tolist() == [[1, 0], [1, 0]]
    assert list(papers.attributes) == ["title"]
    assert [(one.name, one.source, one.target, one.edge_index.tolist()) for one in whole.relations] == [
        ("paper paper", "paper", "paper", [[1], [0]]),
        ("writes", "author", "paper", [[0, 0, 1], [0, 1, 2]]),
    ]
    assert whole.notes == ("the attributes 'year' of the type 'paper' are no texts and were dropped",)
    assert (0, 1) in set(zip(*whole.to_graph().edge_index.tolist(), strict=True))


def test_undirected_edges_lead_from_the_first_type_and_within_a_type_both_ways() -> None:
    whole = RelationalGraph.from_networkx(library())
    assert [(one.name, one.source, one.target, one.edge_index.tolist()) for one in whole.relations] == [
        ("writes", "paper", "author", [[0, 1, 2], [0, 0, 1]]),
        ("paper paper", "paper", "paper", [[0, 1], [1, 0]]),
    ]


def test_there_and_back_is_the_same_to_the_bit() -> None:
    x = sp.csr_matrix(np.array([[0, 1, 0], [2, 0, 0], [0, 0, 0], [0, 3, 0]], dtype=np.float32))
    papers = NodeType("paper", 4, x, tuple("abcd"), {"title": np.array(list("wxyz"), dtype=object)})
    kinds = (papers, NodeType("author", 2, np.ones((2, 3), np.float32)), NodeType("subject", 1))
    written = Relation("written by", "paper", "author", np.array([[0, 1, 2], [0, 1, 1]]), np.array([1.0, 0.1, 0.3]))
    cites = Relation("cites", "paper", "paper", np.array([[0, 3], [1, 0]]))
    about = Relation("about", "paper", "subject", np.zeros((2, 0), np.int64))
    labels = ["x", "y", None, "x"]
    for y, names in ((labels, ("y", "x", "z")), (None, ())):
        whole = RelationalGraph(kinds, (written, cites, about), "paper", y, names, name="small")
        again = RelationalGraph.from_networkx(whole.to_networkx())
        assert again.equals(whole)
        assert [kind.name for kind in again.types] == ["paper", "author", "subject"]
        for one, other in zip(whole.relations, again.relations, strict=True):
            assert (one.name, one.source, one.target) == (other.name, other.source, other.target)
            np.testing.assert_array_equal(one.edge_index, other.edge_index)
            np.testing.assert_array_equal(one.weight, other.weight)
        assert again.notes == whole.notes


def test_one_name_between_several_types_is_told_apart() -> None:
    graph = library(nx.DiGraph)
    graph.add_node("cats", type="subject")
    graph.add_edge("p1", "cats", relation="writes")
    names = {relation.name for relation in RelationalGraph.from_networkx(graph).relations}
    assert names == {"author writes paper", "paper paper", "paper writes subject"}


def test_what_is_missing_is_told() -> None:
    with pytest.raises(WrongTypeError, match="takes a networkx graph, received list"):
        RelationalGraph.from_networkx([])  # type: ignore[arg-type]
    graph = library()
    graph.add_node("p4")
    with pytest.raises(GraphError, match="the node 'p4' has no attribute 'type'"):
        RelationalGraph.from_networkx(graph)
    graph.nodes["p4"]["type"] = "paper"
    graph.nodes["Ann"]["topic"] = "pets"
    with pytest.raises(GraphError, match="'paper', 'author' have labels, there are 'paper', 'author': say which"):
        RelationalGraph.from_networkx(graph)
    assert RelationalGraph.from_networkx(graph, "author").types[1].names == ("Ann", "Bo")
    graph.edges["p2", "p1"]["weight"] = -1
    with pytest.raises(GraphError, match="weight"):
        RelationalGraph.from_networkx(graph, "paper")
    with pytest.raises(GraphError, match="no node has the attribute 'colour'"):
        RelationalGraph.from_networkx(graph, "paper", label="colour")
    with pytest.raises(GraphError, match="rename it first"):
        RelationalGraph((NodeType("a", 1, attributes={"x": np.array(["t"])}),), (), "a").to_networkx()


def test_weights_of_some_edges_alone_are_told() -> None:
    graph = library(nx.DiGraph)
    graph.edges["Ann", "p1"]["weight"] = 3
    whole = RelationalGraph.from_networkx(graph)
    weights = {relation.name: relation.weight for relation in whole.relations}
    assert weights["paper paper"] is None and np.array_equal(weights["writes"], [3, 1, 1])
    assert "2 edges without a weight counted as 1" in whole.notes


def test_a_plain_reader_says_that_it_drops_the_relations() -> None:
    graph = library()
    for _, held in graph.nodes(data=True):
        held.pop("x", None)
    assert any("'relation'" in note for note in Graph.from_networkx(graph).notes)
