"""Nodes joined to their nearest, exactly and by trees; and features diffused over them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from nodewise.classifiers.views import kin
from nodewise.classifiers.views.construction import make_views
from nodewise.classifiers.views.kin import approximate_neighbours, joined_to_nearest
from nodewise.graph import Graph
from nodewise.graph.knn.neighbours import nearest_neighbours
from nodewise.graph.tensors import GraphTensors


def rows(count: int, columns: int = 16) -> np.ndarray:
    draws = np.random.default_rng(3)
    return (draws.normal(size=(12, columns))[np.arange(count) % 12] + draws.normal(size=(count, columns))).astype("f4")


def test_nodes_are_joined_to_their_nearest_both_ways() -> None:
    angles = np.radians([0.0, 1.0, 3.0, 90.0, 92.0])  # on a circle: the nearest of each is easily told
    view = np.stack([np.cos(angles), np.sin(angles)], 1).astype(np.float32)
    old, kin.NEAREST = kin.NEAREST, 1
    try:
        joined = joined_to_nearest(view).toarray()
    finally:
        kin.NEAREST = old
    expected = np.zeros((5, 5))
    for one, other in ((0, 1), (1, 2), (3, 4)):
        expected[one, other] = expected[other, one] = 1
    np.testing.assert_array_equal(joined, expected)


def test_trees_find_most_of_the_nearest_and_the_same_ones_each_time() -> None:
    view = rows(3000)
    exact = nearest_neighbours(view, 10)
    one, other = approximate_neighbours(view, 10)
    assert np.isin(exact[0] * 3000 + exact[1], one * 3000 + other).mean() > 0.85
    assert (one != other).all() and len(np.unique(one * 3000 + other)) == len(one)
    again = approximate_neighbours(view, 10)
    np.testing.assert_array_equal(again[0], one)
    np.testing.assert_array_equal(again[1], other)


def test_no_more_neighbours_than_there_are_nodes() -> None:
    assert joined_to_nearest(rows(4)).shape == (4, 4) and joined_to_nearest(rows(1)).nnz == 0
    assert joined_to_nearest(np.zeros((5, 3), np.float32)).nnz == 0  # nothing in common with anybody


def test_many_nodes_are_joined_by_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    view = rows(900)
    whole = joined_to_nearest(view)
    monkeypatch.setattr(kin, "EXACT", 100)
    part = joined_to_nearest(view)
    assert (part != part.T).nnz == 0 and part.multiply(whole).sum() > 0.85 * whole.sum()


def test_kin_is_what_its_steps_give() -> None:
    x = rows(60)
    graph = GraphTensors(Graph.build(np.stack([np.arange(59), np.arange(1, 60)]), 60, x=x))
    views = make_views(graph)
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    for name, of in (("kin", "own"), ("kin near", "near")):
        joined = joined_to_nearest(views.columns[:, views.names.index(of)].numpy()).toarray()
        if name == "kin near":
            line = np.eye(60, k=1) + np.eye(60, k=-1)
            joined = joined + line * joined.sum() / line.sum()
        loops = joined + np.eye(60)
        root = loops.sum(1) ** -0.5
        propagation = sp.csr_matrix(root[:, None] * loops * root)
        start = z = unit - unit.mean(0)
        for _ in range(40):
            z = 0.98 * (propagation @ z) + 0.02 * start
        z /= np.linalg.norm(z, axis=1, keepdims=True)
        z -= z.mean(0)
        z /= np.linalg.norm(z, axis=1, keepdims=True)
        made = views.columns[:, views.names.index(name)].double().numpy()
        np.testing.assert_allclose(made @ made.T, z @ z.T, atol=2e-4)
