"""Views of kin: features diffused among the nodes that are nearest to each other, and where a row that was not in the
graph stands in them.

- ``kin near``: over the given edges and each node's 10 nearest in ``near`` (cosine, both ways), both sets with the same
  weight in all; all directions of the features, in a large graph the leading ones;
- ``kin together``: the same of the leading directions, with the 10 nearest nodes in near, far, farther, farthest and
  kin near side by side;
- ``kin``, in a graph without edges: of the leading directions, over the 10 nearest nodes in ``own``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from nodewise.classifiers.views.large import diffuse_over
from nodewise.classifiers.views.products import (
    LARGE,
    NEAREST,
    ROWS,
    WIDTH,
    Array,
    ProductKind,
    RowPropagation,
    centred,
    diffuse,
    ending,
    finished,
    gram_matrix,
    leading_directions,
    linear_map,
    mean_row,
    narrow,
    product,
    symmetric_propagation,
    unit,
)
from nodewise.graph.knn.neighbours import joined_to_nearest
from nodewise.graph.knn.rows import NodeSearch, reach_of

__all__ = [
    "DIRECTIONS",
    "TOGETHER",
    "diffused_among_kin",
    "kin_placing",
    "kin_views",
    "nearest_together",
    "placed_by_kin",
    "placing_among_kin",
]

TOGETHER = "kin together"

DIRECTIONS = "together"
"""What the leading directions of all views side by side are called among what rows need to be placed."""

_SIDE_BY_SIDE = ("near", "far", "farther", "farthest", "kin near")

_KIN = (0.02, 40)
"""α and the number of steps."""


def kin_views(
    x: Array, views: dict[str, Array], adjacency: sp.csr_matrix, columns: int, kind: ProductKind
) -> Iterator[tuple[str, Array]]:
    """The views of kin in a graph with edges, as they are made.

    Args:
        x: the features; views: those of features and edges, to which these come.
        adjacency: the edges; columns: of a view; kind: how sparse products are made.
    """
    x = x - mean_row(x)
    few = narrow(x, columns)
    for name, near in _kin_of(views):
        start = few if name == TOGETHER or len(x) >= LARGE else x
        views[name] = diffused_among_kin(near, start, adjacency, columns, kind)
        yield name, views[name]


def _kin_of(views: Mapping[str, Array]) -> Iterator[tuple[str, Array]]:
    """The views of kin by name, and where kin are nearest in each: the second in what the first has become."""
    yield "kin near", views["near"]
    yield TOGETHER, nearest_together(views, _directions_together(views))


def diffused_among_kin(
    near: Array, start: Array, edges: sp.csr_matrix | None, columns: int, kind: ProductKind
) -> Array:
    """The view of what is diffused over the nearest nodes in a view, and over edges where they are given."""
    nearest = joined_to_nearest(near, NEAREST)
    joined = nearest if edges is None else _with_edges(nearest, edges, _edge_weight(nearest, edges))
    ((_, total),) = diffuse_over(joined, start, {"kin": _KIN}, kind)
    return narrow(centred(unit(total)), columns)


def _edge_weight(nearest: sp.csr_matrix, edges: sp.csr_matrix) -> np.floating[Any]:
    """What an edge counts beside kin, so that both have the same weight in all."""
    weight: np.floating[Any] = nearest.sum() / edges.sum()
    return weight


def _with_edges(nearest: sp.csr_matrix, edges: sp.csr_matrix, weight: np.floating[Any]) -> sp.csr_matrix:
    both: sp.csr_matrix = (nearest + edges.astype(np.float32) * weight).tocsr()
    return both


def _side_by_side(views: Mapping[str, Array]) -> Iterator[Array]:
    """Views side by side, in blocks of rows: inner products of rows are the mean of theirs: [row, column].

    The leading columns of each.
    """
    share = np.float32(len(_SIDE_BY_SIDE) ** -0.5)
    for first in range(0, len(views["near"]), ROWS):
        yield np.concatenate([share * views[name][first : first + ROWS, :WIDTH] for name in _SIDE_BY_SIDE], 1)


def _directions_together(views: Mapping[str, Array]) -> Array:
    """The leading directions of views side by side: float32 [column, direction]."""
    gram = sum(map(gram_matrix, _side_by_side(views)))
    return np.ascontiguousarray(np.linalg.eigh(gram)[1][:, ::-1][:, :WIDTH], np.float32)


def nearest_together(views: Mapping[str, Array], directions: Array) -> Array:
    """Views side by side in their leading directions: where kin are the nearest for `TOGETHER`."""
    return np.concatenate([product(block, directions) for block in _side_by_side(views)])


def kin_placing(x: Array, views: Mapping[str, Array], adjacency: sp.csr_matrix) -> dict[str, Array]:
    """What rows need to be placed in the views of kin of a graph with edges, as named arrays.

    Args:
        x: the features, less their means; views: where the nodes stand in each; adjacency: the edges.
    """
    few, arrays = narrow(x, views["near"].shape[1]), {DIRECTIONS: _directions_together(views)}
    for name, near in _kin_of(views):
        start = few if name == TOGETHER or len(x) >= LARGE else x
        arrays |= placing_among_kin(name, near, x, start, views, adjacency)
    return arrays


def placing_among_kin(
    name: str,
    near: Array,
    x: Array,
    start: Array,
    views: Mapping[str, Array],
    edges: sp.csr_matrix | None = None,
) -> dict[str, Array]:
    """What rows need to be placed in one view of kin.

    Args:
        name: of the view; near: where kin are nearest; x: the features, less their means; start: what of them is
            diffused; views: where the nodes stand in each; edges: those that count beside kin.
    """
    joined = joined_to_nearest(near, NEAREST)
    arrays: dict[str, Array] = {f"{name} reach": reach_of(near, joined, NEAREST)}
    if edges is not None:
        weight = _edge_weight(joined, edges)
        arrays[f"{name} ratio"] = np.array([weight], np.float64)
        joined = _with_edges(joined, edges, weight)
    arrays[f"{name} degree"] = np.asarray(joined.sum(1)).ravel().astype(np.float64)
    ((_, total),) = diffuse(symmetric_propagation(joined), start, {"kin": _KIN})
    directions, nodes = leading_directions(total)
    arrays[f"{name} directions"] = directions if start is x else linear_map(x, start) @ directions
    arrays[f"{name} nodes"] = nodes
    return arrays | ending(name, unit(nodes.copy()), views[name])


def placed_by_kin(
    a: Mapping[str, Array],
    x: Array,
    joined: sp.csr_matrix,
    found: dict[str, Array],
    search: Callable[[str], NodeSearch],
) -> None:
    """Rows in the views of kin, added to those in which they are placed already.

    Args:
        a: what was made for placing; x: the rows' features, less the nodes' means; joined: to which nodes they are.
        found: the rows in the other views of the features.
        search: gives what finds the nodes that are nearest in a view; for `TOGETHER` in `nearest_together`.
    """
    for name, of in (("kin", "own"), ("kin near", "near"), (TOGETHER, TOGETHER)):
        if f"{name} columns" not in a:
            continue
        rows = nearest_together(found, a[DIRECTIONS]) if of == TOGETHER else found[of]
        kin = search(of).joined(rows, NEAREST, a[f"{name} reach"])
        if f"{name} ratio" in a:
            kin = _with_edges(kin, joined, a[f"{name} ratio"][0])
        step = RowPropagation(kin, a[f"{name} degree"])
        found[name] = finished(a, name, unit(step(a[f"{name} nodes"], x @ a[f"{name} directions"], _KIN[0])))
