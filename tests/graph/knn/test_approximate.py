"""Rows joined to their nearest, exactly and by trees."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nodewise.graph.knn import approximate, neighbours
from nodewise.graph.knn.approximate import approximate_neighbours
from nodewise.graph.knn.neighbours import joined_to_nearest, nearest_neighbours


def rows(count: int, columns: int = 16) -> np.ndarray:
    draws = np.random.default_rng(3)
    return (draws.normal(size=(12, columns))[np.arange(count) % 12] + draws.normal(size=(count, columns))).astype("f4")


def test_rows_are_joined_to_their_nearest_both_ways() -> None:
    angles = np.radians([0.0, 1.0, 3.0, 90.0, 92.0])  # on a circle: the nearest of each is easily told
    view = np.stack([np.cos(angles), np.sin(angles)], 1).astype(np.float32)
    joined = joined_to_nearest(view, 1).toarray()
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


def test_the_number_of_threads_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    view = rows(3000)
    view[1000:1300] = view[0]  # equally near
    found = []
    for threads in ("1", "2"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        found.append(np.stack(approximate_neighbours(view, 10)))
    np.testing.assert_array_equal(*found)


def test_no_more_neighbours_than_there_are_rows() -> None:
    assert joined_to_nearest(rows(4), 10).shape == (4, 4) and joined_to_nearest(rows(1), 10).nnz == 0
    assert joined_to_nearest(np.zeros((5, 3), np.float32), 10).nnz == 0  # nothing in common with anybody


def test_many_rows_are_joined_by_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    view = rows(900)
    whole = joined_to_nearest(view, 10)
    monkeypatch.setattr(neighbours, "EXACT", 100)
    part = joined_to_nearest(view, 10)
    assert (part != part.T).nnz == 0 and part.multiply(whole).sum() > 0.85 * whole.sum()


@pytest.mark.parametrize("count", [1, 1000])
def test_nodes_are_sorted_by_leaf_then_distance_then_number(count: int) -> None:
    draws = np.random.default_rng(5)
    leaf = torch.from_numpy(draws.integers(0, 4, count))
    along = torch.from_numpy(np.round(draws.standard_normal(count), 1).astype("f4"))  # many equals, 0 and -0 among them
    np.testing.assert_array_equal(approximate._by_leaf(leaf, along), np.lexsort((along.numpy(), leaf.numpy())))
