"""Views of kin: features diffused among the nodes that are nearest to each other, and where a row that was not in the
graph stands in them.

- ``kin``: over the graph of each node's 10 nearest nodes in ``own`` (cosine, both ways);
- ``kin near``: over the given edges and the 10 nearest nodes in ``near``, both sets with the same weight in all;
- ``kin together``: the same with the 10 nearest nodes in all views of the features side by side, these two among them.

The first two diffuse all directions of the features, in a large graph the leading ones, as the last does always. A
graph without edges has the first alone, one of several node types (as ``union``) the first two, of the leading
directions.
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
from nodewise.ground.compute import in_blocks

__all__ = [
    "DIRECTIONS",
    "KIN",
    "SIDE_PARTS",
    "SIDE_ROWS",
    "TOGETHER",
    "kin_placing",
    "kin_views",
    "nearest_together",
    "placed_by_kin",
]

TOGETHER = "kin together"
"""The view of the nodes that are nearest in all views of the features."""

_NOT_BESIDE = ("spectrum", "role", TOGETHER)
"""Views of the edges alone, which are not looked at, and the one that is made of all others."""

_NEAREST_IN = {"kin": "own", "kin near": "near", TOGETHER: TOGETHER}
"""The views of kin by name, and where kin are nearest: in another view, for `TOGETHER` in `nearest_together`."""

KIN = (0.02, 40)
"""α and the number of steps."""

SIDE_ROWS, SIDE_PARTS = 2**12, 16
"""Rows of all views side by side that one core makes at a time, and sums in which their Gram matrices are added up."""

DIRECTIONS = "together"
"""What the leading directions of all views of the features are called among what rows need to be placed."""


def kin_views(
    x: Array, views: dict[str, Array], adjacency: sp.csr_matrix, columns: int, kind: ProductKind, plain: bool
) -> Iterator[tuple[str, Array]]:
    """The views of kin, as they are made.

    Args:
        x: the features.
        views: those of the features that there are, to which these come.
        adjacency: the edges; columns: of a view; kind: how sparse products are made.
        plain: whether the graph has edges of one node type; else the leading directions alone are diffused, and there
            is no `TOGETHER`.
    """
    x = x - mean_row(x)
    few = narrow(x, columns)
    x = x if plain and len(x) < LARGE else few  # a whole copy is not kept where it is not needed
    for name, nearest, edges in _kin_of(views, adjacency, plain):
        if name not in views:
            ((_, total),) = diffuse_over(_joined(nearest, edges), _diffused(name, x, few, plain), {"kin": KIN}, kind)
            views[name] = narrow(centred(unit(total)), columns)
        yield name, views[name]


def _kin_of(
    views: Mapping[str, Array], adjacency: sp.csr_matrix, plain: bool
) -> Iterator[tuple[str, Array, sp.csr_matrix | None]]:
    """The views of kin by name, where kin are nearest in each, and the edges that count beside them.

    For `TOGETHER` that is in all views that there are when it is asked for, the two before it among them.
    """
    edges = adjacency if adjacency.nnz else None
    for name, of in _NEAREST_IN.items():
        if name != TOGETHER and of in views:
            yield name, views[of], None if name == "kin" else edges
        elif name == TOGETHER and plain:
            yield name, nearest_together(views, _directions_together(views)), edges


def _diffused(name: str, x: Array, few: Array, plain: bool) -> Array:
    """What a view diffuses: all directions of the features, or the leading ones."""
    return x if plain and name != TOGETHER and len(x) < LARGE else few


def _side_by_side(views: Mapping[str, Array], first: int, end: int) -> Array:
    """Some rows of the views of the features among all: inner products of rows are the mean of theirs.

    [row, column], the leading columns of each.
    """
    names = sorted(set(views) - set(_NOT_BESIDE))
    share = np.float32(len(names) ** -0.5)
    return np.concatenate([share * views[name][first:end, :WIDTH] for name in names], 1)


def _directions_together(views: Mapping[str, Array]) -> Array:
    """The leading directions of the views of the features side by side: float32 [column, direction]."""
    count, grams = len(views["own"]), list[Any]([0] * SIDE_PARTS)

    def fill(part: int, _: int) -> None:
        starts = range(part * SIDE_ROWS, count, SIDE_PARTS * SIDE_ROWS)
        grams[part] = sum(gram_matrix(_side_by_side(views, first, first + SIDE_ROWS)) for first in starts)

    in_blocks(min(SIDE_PARTS, -(-count // SIDE_ROWS)), 1, fill)  # added up in one order, whatever cores there are
    return np.ascontiguousarray(np.linalg.eigh(sum(grams))[1][:, ::-1][:, :WIDTH], np.float32)


def nearest_together(views: Mapping[str, Array], directions: Array) -> Array:
    """All views of the features side by side in their leading directions: where kin are the nearest for `TOGETHER`."""
    rows = np.empty((len(views["own"]), directions.shape[1]), np.float32)

    def fill(first: int, end: int) -> None:
        rows[first:end] = product(_side_by_side(views, first, end), directions)

    in_blocks(len(rows), SIDE_ROWS, fill)
    return rows


def _joined(view: Array, edges: sp.csr_matrix | None) -> sp.csr_matrix:
    """Each node's kin in a view, and edges, which weigh as much in all."""
    nearest = joined_to_nearest(view, NEAREST)
    return nearest if edges is None else _with_edges(nearest, edges, _edge_weight(nearest, edges))


def _edge_weight(nearest: sp.csr_matrix, edges: sp.csr_matrix) -> np.floating[Any]:
    """What an edge counts beside kin."""
    weight: np.floating[Any] = nearest.sum() / edges.sum()
    return weight


def _with_edges(nearest: sp.csr_matrix, edges: sp.csr_matrix, weight: np.floating[Any]) -> sp.csr_matrix:
    both: sp.csr_matrix = (nearest + edges.astype(np.float32) * weight).tocsr()
    return both


def kin_placing(x: Array, views: Mapping[str, Array], adjacency: sp.csr_matrix) -> dict[str, Array]:
    """What rows need to be placed in the views of kin, as named arrays.

    Args:
        x: the features, less their means; views: where the nodes stand in each; adjacency: the edges.
    """
    few, plain = narrow(x, views["own"].shape[1]), adjacency.nnz > 0
    arrays = {DIRECTIONS: _directions_together(views)} if plain else {}
    for name, nearest, edges in _kin_of(views, adjacency, plain):
        start = _diffused(name, x, few, plain)
        joined = joined_to_nearest(nearest, NEAREST)
        arrays[f"{name} reach"] = reach_of(nearest, joined, NEAREST)
        if edges is not None:
            weight = _edge_weight(joined, edges)
            arrays[f"{name} ratio"] = np.array([weight], np.float64)
            joined = _with_edges(joined, edges, weight)
        arrays[f"{name} degree"] = np.asarray(joined.sum(1)).ravel().astype(np.float64)
        ((_, total),) = diffuse(symmetric_propagation(joined), start, {"kin": KIN})
        directions, nodes = leading_directions(total)
        arrays[f"{name} directions"] = directions if start is x else linear_map(x, start) @ directions
        arrays[f"{name} nodes"] = nodes
        arrays |= ending(name, unit(nodes.copy()), views[name])
    return arrays


def placed_by_kin(
    a: Mapping[str, Array],
    x: Array,
    joined: sp.csr_matrix,
    found: dict[str, Array],
    search: Callable[[str], NodeSearch],
) -> None:
    """Rows in the views of kin, added to those in which they are placed already.

    Args:
        a: what `kin_placing` gave; x: the rows' features, less the nodes' means; joined: to which nodes they are.
        found: the rows in the other views of the features.
        search: gives what finds the nodes that are nearest in a view; for `TOGETHER` in `nearest_together`.
    """
    for name, of in _NEAREST_IN.items():
        if f"{name} columns" not in a:
            continue
        rows = nearest_together(found, a[DIRECTIONS]) if of == TOGETHER else found[of]
        kin = search(of).joined(rows, NEAREST, a[f"{name} reach"])
        if f"{name} ratio" in a:
            kin = _with_edges(kin, joined, a[f"{name} ratio"][0])
        step = RowPropagation(kin, a[f"{name} degree"])
        found[name] = finished(a, name, unit(step(a[f"{name} nodes"], x @ a[f"{name} directions"], KIN[0])))
