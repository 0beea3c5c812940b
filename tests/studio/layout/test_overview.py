"""The map of the whole graph: the same each time, communities together, pieces apart, nothing on one spot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from nodewise.datasets import load_graph
from nodewise.graph import Graph
from nodewise.studio.layout.overview import GraphMap, draw_map
from nodewise.studio.layout.packing import pack
from nodewise.studio.layout.unfolding import separate


def communities(nodes: int, groups: int, degree: int = 8, inside: float = 0.9) -> Graph:
    """Groups whose nodes know mostly each other."""
    rng = np.random.default_rng(0)
    group = np.sort(rng.integers(0, groups, nodes))
    begin = np.searchsorted(group, np.arange(groups + 1))
    one = rng.integers(0, nodes, nodes * degree // 2)
    low, high = begin[group[one]], begin[group[one] + 1]
    other = np.where(rng.random(len(one)) < inside, rng.integers(low, high), rng.integers(0, nodes, len(one)))
    return Graph.build(np.stack([one, other]), num_nodes=nodes, y=group)


def apart(found: GraphMap) -> npt.NDArray[np.float64]:
    where = np.stack([found.x, found.y], 1).astype(float)
    return np.sqrt(((where[:, None] - where[None]) ** 2).sum(-1))


def check(graph: Graph, found: GraphMap, limit: int = 4000) -> None:
    """What holds for every map."""
    assert (
        len(found.nodes) == min(limit, graph.num_nodes) == len(found.x) == len(found.y)
        and found.total == graph.num_nodes
    )
    assert found.sampled == (graph.num_nodes > limit)
    assert (np.diff(found.nodes) > 0).all()
    for along in (found.x, found.y):
        assert np.isfinite(along).all() and np.abs(along).max() <= 1
    truth = {tuple(edge) for edge in graph.edge_index.T.tolist()}
    drawn = [tuple(edge) for edge in found.nodes[found.edges].tolist()]
    assert set(drawn) <= truth and len(set(drawn)) == len(drawn) <= 8000
    if len(found.nodes) > 1:
        distance = apart(found) + 9 * np.eye(len(found.nodes))
        assert distance.min() > 0.05 * np.sqrt(np.pi / len(found.nodes)), "two nodes on one spot"


def own_neighbours(found: GraphMap, group: npt.NDArray[np.int64], count: int = 10) -> float:
    """The share of each node's nearest ones on the map that are of its own group."""
    near = np.argsort(apart(found) + 9 * np.eye(len(found.nodes)), axis=1)[:, :count]
    here = group[found.nodes]
    return float((here[near] == here[:, None]).mean())


@pytest.mark.slow
@pytest.mark.parametrize(("nodes", "limit"), [(400, 4000), (3000, 400), (30_000, 600)])
def test_communities_lie_together_also_where_a_sample_is_shown(nodes: int, limit: int) -> None:
    graph = communities(nodes, 8)
    found = draw_map(graph, limit=limit)
    check(graph, found, limit)
    assert graph.y is not None and own_neighbours(found, graph.y) > 0.8


def test_the_same_graph_has_the_same_map_whatever_is_labelled() -> None:
    graph = communities(300, 4)
    one, other = draw_map(graph), draw_map(graph, labelled=[1, 2, 3])
    for name in ("nodes", "x", "y", "edges"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
    assert not np.array_equal(one.x, draw_map(graph, seed=1).x)


def test_a_sample_keeps_the_labelled_and_the_hubs() -> None:
    rng = np.random.default_rng(1)
    hubs = np.stack([np.repeat(np.arange(5), 200), rng.integers(5, 2000, 1000)])
    graph = Graph.build(np.concatenate([hubs, rng.integers(5, 2000, (2, 2000))], axis=1), num_nodes=2000)
    labelled = list(range(1500, 1550))
    found = draw_map(graph, labelled, limit=200)
    check(graph, found, 200)
    assert set(labelled) <= set(found.nodes.tolist()) and set(range(5)) <= set(found.nodes.tolist())
    crowd = draw_map(graph, range(1000), limit=200)
    kept = set(crowd.nodes.tolist()) & set(range(5, 1000))
    assert 100 <= len(kept) < 195, "half of the map is left to others"


def test_pieces_lie_side_by_side() -> None:
    """Three rings and some single nodes: none lies in the disc of another piece."""
    ends, begin = [], 0
    for size in (40, 20, 12):
        ends += [(begin + step, begin + (step + 1) % size) for step in range(size)]
        begin += size
    graph = Graph.build(np.array(ends).T, num_nodes=begin + 15)
    found = draw_map(graph)
    check(graph, found)
    _, piece = connected_components(graph.adjacency(), directed=False)
    distance = apart(found)
    for number in np.unique(piece):
        mine = piece == number
        if mine.sum() > 1:
            nearest = np.where(np.eye(len(piece), dtype=bool), 9.0, distance)
            own = nearest[np.ix_(mine, mine)].min(axis=1)
            assert (own <= nearest[np.ix_(mine, ~mine)].min(axis=1)).mean() > 0.9
    middle = piece == 0
    assert np.hypot(found.x[middle], found.y[middle]).mean() < np.hypot(found.x[~middle], found.y[~middle]).mean()


@pytest.mark.parametrize("nodes", [1, 2, 3, 5, 50])
def test_graphs_without_edges_and_paths_and_stars_have_maps(nodes: int) -> None:
    rest = np.arange(1, nodes)
    for edges in (np.empty((2, 0), np.int64), np.stack([rest - 1, rest]), np.stack([0 * rest, rest])):
        graph = Graph.build(edges, num_nodes=nodes)
        check(graph, draw_map(graph))
        check(graph, draw_map(graph, limit=3), 3)


@settings(max_examples=20)
@given(st.integers(1, 30), st.lists(st.tuples(st.integers(0, 29), st.integers(0, 29)), max_size=50), st.integers(1, 40))
def test_any_graph_has_a_map(size: int, ends: list[tuple[int, int]], limit: int) -> None:
    inside = [(one % size, other % size) for one, other in ends]
    graph = Graph.build(np.array(inside or np.empty((0, 2)), np.int64).reshape(-1, 2).T, num_nodes=size)
    check(graph, draw_map(graph, limit=limit), limit)


def test_no_more_lines_than_a_page_can_draw() -> None:
    graph = communities(600, 3, degree=60)
    assert graph.num_edges > 8000
    found = draw_map(graph)
    check(graph, found)
    assert len(found.edges) == 8000


def test_packing_leaves_the_largest_in_the_middle_and_scales_by_size() -> None:
    rng = np.random.default_rng(0)
    piece = np.repeat([0, 1, 2, 3], [5, 100, 30, 1])
    position = rng.standard_normal((2, 136)) * np.repeat([1e3, 1e-3, 1, 1], [5, 100, 30, 1])
    packed = pack(position, piece)
    reach = [np.ptp(packed[:, piece == number], axis=1).max() for number in range(3)]
    assert reach[1] > reach[2] > reach[0] > 0
    centres = [packed[:, piece == number].mean(axis=1) for number in range(4)]
    assert np.argmin([np.hypot(*centre) for centre in centres]) == 1


def test_separating_moves_only_what_is_too_close() -> None:
    position = np.array([[0.0, 0.0, 0.0, 5.0], [0.0, 0.0, 0.01, 5.0]])
    moved = separate(position, 0.1)
    far = np.sqrt(((moved[:, :, None] - moved[:, None, :]) ** 2).sum(0)) + 9 * np.eye(4)
    assert far.min() > 0.08 and (moved[:, 3] == 5.0).all()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "least"), [("cora", 0.7), ("citeseer", 0.45), ("pubmed", 0.7)])
def test_classes_of_real_graphs_can_be_seen(data_folder: Path, name: str, least: float) -> None:
    graph = load_graph(name, data_dir=data_folder)
    found = draw_map(graph)
    check(graph, found)
    assert graph.y is not None and own_neighbours(found, graph.y) > least
