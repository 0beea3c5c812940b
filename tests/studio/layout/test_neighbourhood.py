"""The neighbourhood: who is shown, what is hidden, and that it is the same and quick at any hub."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodewise.graph import Graph
from nodewise.ground.errors import InputError
from nodewise.studio.layout.neighbourhood import Neighbourhood, Neighbours


def star(leaves: int, extra: int = 0) -> Graph:
    """Node 0 with its leaves, and a path of ``extra`` nodes that goes on from leaf 1."""
    ends = [(0, leaf) for leaf in range(1, leaves + 1)]
    ends += [(1 if step == 0 else leaves + step, leaves + 1 + step) for step in range(extra)]
    return Graph.build(np.array(ends).T, num_nodes=leaves + extra + 1)


def steps(graph: Graph, centre: int) -> list[int]:
    """Steps from the centre to each node, by the plainest search there is."""
    far = [-1] * graph.num_nodes
    far[centre] = 0
    for reach in (1, 2):
        for one, other in [*graph.edge_index.T.tolist(), *graph.edge_index[::-1].T.tolist()]:
            if far[one] == reach - 1 and far[other] < 0:
                far[other] = reach
    return far


def check(graph: Graph, found: Neighbourhood, hops: int, limit: int) -> None:
    """What holds for every neighbourhood."""
    nodes = found.nodes.tolist()
    far = steps(graph, found.centre)
    assert nodes[0] == found.centre and len(set(nodes)) == len(nodes) <= limit
    assert found.hop.tolist() == [far[node] for node in nodes] == sorted(found.hop.tolist())
    assert (
        found.exact
        and found.total == sum(0 <= step <= hops for step in far)
        and found.hidden == found.total - len(nodes)
    )
    assert len(nodes) == min(limit, found.total)
    truth = {frozenset(edge) for edge in graph.edge_index.T.tolist()}
    shown = {frozenset((nodes[one], nodes[other])) for one, other in found.edges.tolist()}
    assert shown == {edge for edge in truth if edge <= set(nodes)} and len(found.edges) == len(shown)
    assert (found.edges[:, 0] < found.edges[:, 1]).all()
    assert np.isfinite(found.x).all() and np.abs(found.x).max() <= 1.0001 and np.abs(found.y).max() <= 1.0001
    assert (found.x[0], found.y[0]) == (0, 0)
    if len(nodes) > 1:
        places = np.stack([found.x, found.y], 1).astype(float)
        apart = np.sqrt(((places[:, None] - places[None]) ** 2).sum(-1)) + np.eye(len(nodes))
        assert apart.min() > 1e-3, "two nodes on one spot"


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    size = draw(st.integers(1, 25))
    ends = draw(st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), max_size=60))
    return Graph.build(np.array(ends or np.empty((0, 2)), np.int64).reshape(-1, 2).T, num_nodes=size)


@given(graphs(), st.data(), st.sampled_from([1, 2]), st.integers(1, 12), st.sets(st.integers(0, 24)))
def test_any_neighbourhood_holds_what_it_says(
    graph: Graph, data: st.DataObject, hops: int, limit: int, some: set[int]
) -> None:
    centre = data.draw(st.integers(0, graph.num_nodes - 1))
    labelled = {node for node in some if node < graph.num_nodes}
    found = Neighbours(graph).around(centre, hops, limit, labelled)
    check(graph, found, hops, limit)
    for hop in (1, 2):
        shown = [node in labelled for node in found.nodes[found.hop == hop].tolist()]
        assert shown == sorted(shown, reverse=True), "labelled ones come first"
        if found.hop.max() == hop and not all(shown):
            left_out = {n for n, far in enumerate(steps(graph, centre)) if far == hop} - set(found.nodes.tolist())
            assert not left_out & labelled, "a labelled one is left out for one that is not"


def test_among_the_unlabelled_the_best_connected_are_shown() -> None:
    graph = star(40, extra=5)  # leaf 1 leads on, so it has two neighbours
    found = Neighbours(graph).around(0, 1, 3, [30])
    assert found.nodes.tolist() == [0, 30, 1] and found.hidden == 38


def test_the_second_hop_shows_who_knows_most_of_the_first() -> None:
    ends = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 5), (3, 5), (1, 6), (6, 7), (6, 8)]
    found = Neighbours(Graph.build(np.array(ends).T)).around(0, 2, 6)
    assert found.nodes.tolist()[-2:] == [5, 6] and found.hop.tolist() == [0, 1, 1, 1, 2, 2] and found.total == 7


def test_it_is_the_same_each_time_and_for_a_mask() -> None:
    graph = star(300, extra=50)
    one, other = (
        Neighbours(graph).around(0, 2, 150, [7, 9]),
        Neighbours(graph).around(0, 2, 150, np.isin(np.arange(351), [7, 9])),
    )
    for name in ("nodes", "hop", "x", "y", "edges"):
        assert np.array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("limit", [10, 150, 400])
def test_a_hub_of_ten_thousand_looks_at_little(limit: int) -> None:
    graph = star(10_000, extra=3)
    found = Neighbours(graph).around(0, 2, limit)
    assert len(found.nodes) == limit and found.total == 10_002 and found.exact
    places = np.hypot(found.x, found.y)
    assert np.median(places) > 0.4, "the leaves spread over the whole disc"


def test_hubs_next_to_hubs_are_told_to_be_more_than_counted() -> None:
    rng = np.random.default_rng(0)
    hubs = [np.stack([np.full(25_000, hub), rng.integers(100, 60_000, 25_000)]) for hub in range(1, 20)]
    graph = Graph.build(np.concatenate([np.array([[0] * 19, range(1, 20)]), *hubs], axis=1), num_nodes=60_000)
    found = Neighbours(graph).around(0, 2, 100)
    assert not found.exact and found.total > 10_000 and len(found.nodes) == 100


def test_a_crowd_is_drawn_with_a_bounded_number_of_lines() -> None:
    size = 200
    ends = np.array([(one, other) for one in range(size) for other in range(one + 1, size)] + [(0, size)])
    found = Neighbours(Graph.build(ends.T)).around(0, 1, 400)
    assert len(found.edges) == 3000
    assert (found.edges[:, 0] == 0).sum() == size, "all edges of the centre are there"


@pytest.mark.parametrize(("centre", "hops", "limit"), [(-1, 1, 10), (5, 1, 10), (0, 0, 10), (0, 3, 10), (0, 1, 0)])
def test_what_cannot_be_shown_is_refused(centre: int, hops: int, limit: int) -> None:
    with pytest.raises(InputError, match=r"no node|hops"):
        Neighbours(star(4)).around(centre, hops, limit)


def test_clusters_among_the_neighbours_lie_apart() -> None:
    """Two cliques that only the centre joins: each node lies nearer to its own."""
    cliques = [[(a, b) for a in range(low, low + 10) for b in range(a + 1, low + 10)] for low in (1, 11)]
    graph = Graph.build(np.array([*[(0, node) for node in range(1, 21)], *cliques[0], *cliques[1]]).T)
    found = Neighbours(graph).around(0)
    where = np.empty((21, 2))
    where[found.nodes] = np.stack([found.x, found.y], 1)
    apart = np.sqrt(((where[1:, None] - where[None, 1:]) ** 2).sum(-1))
    same = np.kron(np.eye(2), np.ones((10, 10))).astype(bool) & ~np.eye(20, dtype=bool)
    other = np.kron(1 - np.eye(2), np.ones((10, 10))).astype(bool)
    assert apart[same].mean() < 0.6 * apart[other].mean()
