from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodewise.graph import Graph, structural_features
from nodewise.graph.structural import STRUCTURAL_FEATURES, h_index, pagerank, triangles
from tests.graph.generated import graphs


def column(graph: Graph, name: str) -> np.ndarray:
    return structural_features(graph)[:, STRUCTURAL_FEATURES.index(name)]


@pytest.fixture
def kite() -> Graph:
    """A triangle 0-1-2 with a tail 2-3, and node 4 alone."""
    return Graph.build([[0, 0, 1, 2], [1, 2, 2, 3]], 5)


def test_by_hand(kite: Graph) -> None:
    np.testing.assert_allclose(column(kite, "degree"), np.log10([3, 3, 4, 2, 1]), rtol=1e-6)
    np.testing.assert_allclose(column(kite, "clustering"), [1, 1, 1 / 3, 0, 0], rtol=1e-6)
    np.testing.assert_allclose(column(kite, "core"), np.log10([3, 3, 3, 2, 1]), rtol=1e-6)
    np.testing.assert_allclose(column(kite, "neighbour degree"), np.log10([3.5, 3.5, 1 + 5 / 3, 4, 1]), rtol=1e-6)
    np.testing.assert_allclose(
        column(kite, "neighbour degree, spread"), np.log10([1.5, 1.5, 1 + np.sqrt(2 / 9), 1, 1]), rtol=1e-5
    )
    for bins, nodes in {0: [4], 1: [0, 1, 3], 2: [2], 3: []}.items():
        assert np.flatnonzero(column(kite, f"degree bin {bins}")).tolist() == nodes


def test_columns_are_the_same_for_every_graph(kite: Graph) -> None:
    for graph in (kite, Graph.build(np.zeros((2, 0)), 1), Graph.build([[0] * 70000, range(1, 70001)])):
        found = structural_features(graph)
        assert found.shape == (graph.num_nodes, len(STRUCTURAL_FEATURES))
        assert found.dtype == np.float32
        assert np.isfinite(found).all()
        assert (found[:, 6:].sum(axis=1) == 1).all()


@given(graphs(), st.randoms(use_true_random=False))
def test_order_of_nodes_does_not_matter(graph: Graph, random: object) -> None:
    order = np.arange(graph.num_nodes)
    random.shuffle(order)  # type: ignore[attr-defined]
    other = Graph.build(order[graph.edge_index], graph.num_nodes)
    np.testing.assert_allclose(structural_features(other)[order], structural_features(graph), atol=1e-5)


@pytest.mark.slow
@given(graphs())
def test_against_networkx(graph: Graph) -> None:
    other = nx.Graph()
    other.add_nodes_from(range(graph.num_nodes))
    other.add_edges_from(graph.edge_index.T.tolist())
    nodes = range(graph.num_nodes)
    assert triangles(graph).tolist() == [nx.triangles(other)[v] for v in nodes]
    np.testing.assert_allclose(column(graph, "clustering"), [nx.clustering(other)[v] for v in nodes], rtol=1e-5)
    adjacency = graph.adjacency().astype(np.float64)
    rank = nx.pagerank(other, tol=1e-12, max_iter=1000)
    np.testing.assert_allclose(
        pagerank(adjacency.dot, graph.degree.astype(np.float64), 120, 1e-8), [rank[v] for v in nodes], atol=1e-8
    )
    bound = h_index(adjacency, h_index(adjacency, graph.degree))
    assert all(nx.core_number(other)[v] <= bound[v] <= graph.degree[v] for v in nodes)


def test_blocks_make_no_difference() -> None:
    graph = Graph.build(np.random.default_rng(0).integers(0, 60, (2, 700)), 60)
    whole = triangles(graph)
    assert whole.sum() > 0
    assert np.array_equal(triangles(graph, block=1), whole)
    assert np.array_equal(triangles(graph, block=50), whole)
