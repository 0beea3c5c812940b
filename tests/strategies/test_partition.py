from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.strategies.partition import Partition, communities, ward_merges


def adjacency(nodes: int, *edges: tuple[int, int]) -> sp.csr_matrix:
    row, col = np.array(edges).reshape(-1, 2).T
    return sp.csr_matrix((np.ones(2 * len(row)), (np.r_[row, col], np.r_[col, row])), shape=(nodes, nodes))


TRIANGLES = adjacency(7, (0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (2, 3))
"""Two triangles with an edge between them, and node 6 alone."""


def test_two_triangles_and_a_node_alone_are_three_communities() -> None:
    members = communities(TRIANGLES, np.arange(7.0))
    assert len(set(members[:3])) == len(set(members[3:6])) == 1
    assert len(set(members)) == 3


def test_a_node_with_a_single_neighbour_joins_it() -> None:
    star = adjacency(5, (0, 1), (0, 2), (0, 3), (0, 4))
    assert set(communities(star, np.arange(5.0))) == {0}


def test_the_order_of_the_nodes_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    edges = [tuple(pair) for pair in rng.integers(0, 60, (150, 2)) if pair[0] != pair[1]]
    whole, position = (adjacency(60, *edges) > 0).astype(float), rng.normal(size=60)
    order = rng.permutation(60)
    first, second = communities(whole, position), communities(whole[order][:, order], position[order])
    together = first[:, None] == first
    assert np.array_equal(together[np.ix_(order, order)], second[:, None] == second)


def test_modularity_is_no_worse_than_that_of_joining_one_pair_at_a_time() -> None:
    import networkx

    graph = networkx.karate_club_graph()
    members = communities(sp.csr_matrix(networkx.to_scipy_sparse_array(graph, weight=None)), np.arange(34.0))
    ours = [set(np.flatnonzero(members == number).tolist()) for number in set(members)]
    theirs = networkx.community.greedy_modularity_communities(graph, weight=None)
    quality = networkx.community.modularity
    assert quality(graph, ours, weight=None) > quality(graph, theirs, weight=None) - 0.02


def test_ward_joins_the_pair_that_costs_least() -> None:
    # 0 and 1 of one node each, one apart, cost 1/2; 2 and 3 of three nodes, one apart, cost 9/6; then 200 / 8 · 10²
    merges = ward_merges(np.array([1.0, 1.0, 3.0, 3.0]), np.array([[0.0], [1.0], [10.0], [11.0]]))
    assert merges.tolist() == [[0, 1], [2, 3], [0, 2]]


def test_ward_as_scipy_has_it() -> None:
    from scipy.cluster.hierarchy import cut_tree, ward

    points = np.random.default_rng(1).normal(size=(25, 3))
    partition = Partition(np.arange(25), ward_merges(np.ones(25), points))
    for count in (2, 5, 9):
        number = np.empty(25)
        for part, nodes in enumerate(partition.parts(count)):
            number[nodes] = part
        cut = cut_tree(ward(points), count)[:, 0]
        assert np.array_equal(number[:, None] == number, cut[:, None] == cut)


def test_many_communities_are_joined_before_ward_begins() -> None:
    x = np.random.default_rng(0).normal(size=(700, 2)).astype(np.float32)
    graph = GraphTensors(Graph.build(np.zeros((2, 0), dtype=np.int64), 700, x=x, y=np.arange(700) % 2))
    partition = Partition.of(graph.unlabelled)
    assert partition.members.max() == 511
    parts = partition.parts(4)
    assert sorted(np.concatenate(parts).tolist()) == list(range(700))
    assert [len(part) for part in parts] == sorted((len(part) for part in parts), reverse=True)
