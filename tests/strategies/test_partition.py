from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.strategies.partition import Partition, communities, joins


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


def as_sets(members: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(members == number).tolist()) for number in set(members.tolist())}


def test_where_no_gains_are_equal_the_communities_are_those_of_networkx() -> None:
    import networkx

    for seed in range(6):
        rng, graph = np.random.default_rng(seed), networkx.gnm_random_graph(90, 90 + 60 * seed, seed=seed)
        for one, other in graph.edges:
            graph[one][other]["weight"] = float(rng.random())
        theirs = networkx.community.greedy_modularity_communities(graph, weight="weight")
        ours = communities(sp.csr_matrix(networkx.to_scipy_sparse_array(graph)), np.zeros(90))
        assert as_sets(ours) == {frozenset(part) for part in theirs}


def test_modularity_is_no_worse_where_gains_are_equal() -> None:
    import networkx

    graph = networkx.karate_club_graph()
    members = communities(sp.csr_matrix(networkx.to_scipy_sparse_array(graph, weight=None)), np.arange(34.0))
    theirs = networkx.community.greedy_modularity_communities(graph, weight=None)
    quality = networkx.community.modularity
    assert quality(graph, as_sets(members), weight=None) > quality(graph, theirs, weight=None) - 0.02


def test_the_pair_with_the_smallest_weighted_distance_joins() -> None:
    # 0 and 1 of one node each, one apart, cost 1/2; 2 and 3 of three nodes, one apart, cost 9/6
    merges = joins(np.array([1.0, 1.0, 3.0, 3.0]), np.array([[0.0], [1.0], [10.0], [11.0]]))
    assert merges.tolist() == [[0, 1], [2, 3], [0, 2]]


def test_distances_count_plain_and_not_squared() -> None:
    # of three nodes and one, two apart, 3/4 · 2; of one and one, 2.5 apart, 1/2 · 2.5: by squares 3 and 3.125
    merges = joins(np.array([3.0, 1.0, 1.0, 1.0]), np.array([[0.0], [2.0], [100.0], [102.5]]))
    assert merges[0].tolist() == [2, 3]


def test_parts_join_as_they_would_if_all_means_were_made_anew() -> None:
    rng = np.random.default_rng(1)
    sizes, centres = rng.integers(1, 9, 25).astype(float), rng.normal(size=(25, 3))
    kept = {number: (sizes[number], centres[number]) for number in range(25)}
    for first, second in joins(sizes, centres):

        def cost(one: int, other: int) -> float:
            (n, c), (m, d) = kept[one], kept[other]
            return float(n * m / (n + m) * np.linalg.norm(c - d))

        pairs = [(one, other) for one in kept for other in kept if one < other]
        assert min(pairs, key=lambda pair: cost(*pair)) == (first, second)
        (n, c), (m, d) = kept[first], kept.pop(second)
        kept[first] = (n + m, (n * c + m * d) / (n + m))


def test_the_smallest_of_many_communities_join_the_nearest_first() -> None:
    x = np.random.default_rng(0).normal(size=(700, 2)).astype(np.float32)
    graph = GraphTensors(Graph.build(np.zeros((2, 0), dtype=np.int64), 700, x=x, y=np.arange(700) % 2))
    partition = Partition.of(graph.unlabelled)
    assert partition.members.max() == 511
    parts = partition.parts(4)
    assert sorted(np.concatenate(parts).tolist()) == list(range(700))
    assert [len(part) for part in parts] == sorted((len(part) for part in parts), reverse=True)
