"""Copies of a graph with a fifth of its nodes left out."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from nodewise.datasets import load_graph, synthetic_graph
from nodewise.evaluation import compare, graph_copies
from nodewise.graph import Graph, preprocess
from nodewise.ground.errors import InputError


def named(features: int = 5) -> Graph:
    """A graph whose nodes can be recognised, whatever their number is."""
    base = synthetic_graph(nodes=103, classes=3, mean_degree=6, features=features, seed=3, name="small")
    return Graph.build(
        base.edge_index,
        base.num_nodes,
        x=base.x,
        y=base.y,
        node_names=[f"node {number}" for number in range(103)],
        attributes={"text": [f"text {number}" for number in range(103)]},
        name="small",
    )


def test_ten_copies_lack_another_fifth_each_and_are_always_the_same() -> None:
    graph = named()
    copies = list(graph_copies(graph))
    assert [copy.name for copy in copies] == [f"small copy {number}" for number in range(10)]
    assert {copy.num_nodes for copy in copies} == {103 - 20}
    stay = [frozenset(copy.node_names or ()) for copy in copies]
    assert all(one != other for one, other in combinations(stay, 2))
    assert set().union(*stay) == set(graph.node_names or ()), "nobody is left out of all"
    again = list(graph_copies(graph))
    assert all(one.equals(other) for one, other in zip(copies, again, strict=True))
    assert next(iter(graph_copies(graph, copies=1))).equals(copies[0]), "whatever the number of copies"


def test_who_stays_keeps_names_features_labels_texts_and_edges_among_each_other() -> None:
    graph = named()
    assert graph.node_names is not None and graph.y is not None and graph.x is not None
    edges = {frozenset((graph.node_names[a], graph.node_names[b])) for a, b in graph.edge_index.T}
    for copy in graph_copies(graph, copies=3):
        assert copy.node_names is not None and copy.y is not None and copy.x is not None
        old = [graph.node_names.index(name) for name in copy.node_names]
        assert old == sorted(old)
        assert np.array_equal(copy.y, graph.y[old]) and np.array_equal(copy.x, graph.x[old])
        assert list(copy.attributes["text"]) == [f"text {number}" for number in old]
        assert copy.class_names == graph.class_names
        kept = {frozenset((copy.node_names[a], copy.node_names[b])) for a, b in copy.edge_index.T}
        assert kept == {edge for edge in edges if edge <= set(copy.node_names)}


def test_sparse_and_missing_features_and_what_was_done_to_them() -> None:
    sparse = preprocess(named(), "binary")
    copy = next(graph_copies(sparse))
    assert copy.features == sparse.features and copy.dense_features().shape == (83, 5)
    assert next(graph_copies(named(features=0))).x is None


def test_copies_can_be_compared_on() -> None:
    copies = list(graph_copies(load_graph("wine"), copies=2))
    table = compare(copies, ["random"], budgets=4, runs=2, device="cpu")
    assert table.graphs == ["wine copy 0", "wine copy 1"]


@pytest.mark.parametrize(("copies", "left_out"), [(0, 0.2), (10, 0.0), (10, 1.0)])
def test_shares_that_make_no_sense_are_refused(copies: int, left_out: float) -> None:
    with pytest.raises(InputError, match="at least once, with a share between 0 and 1"):
        graph_copies(named(), copies, left_out)
