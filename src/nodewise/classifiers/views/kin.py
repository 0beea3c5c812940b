"""Views of kin: features diffused among the nodes that are nearest to each other, and where a row that was not in the
graph stands in them.

- ``kin``: over the graph of each node's 10 nearest nodes in ``own`` (cosine, both ways);
- ``kin near``: over the given edges and the 10 nearest nodes in ``near``, both sets with the same weight in all;
- ``kin together``: the same with the 10 nearest nodes in all views of the features side by side, these two among them.

The first two diffuse all directions of the features, in a large graph the leading ones, as the last does always. A
graph without edges has the first alone, of the leading directions.
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

__all__ = ["DIRECTIONS", "TOGETHER", "kin_placing", "kin_views", "nearest_together", "placed_by_kin"]

TOGETHER = "kin together"
"""The view of the nodes that are nearest in all views of the features."""

_NOT_BESIDE = ("spectrum", "role", TOGETHER)
"""Views that are none of the features, and the one that is made of all that are."""

_KIN = (0.02, 40)
"""α and the number of steps."""

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
    x = x if plain and len(x) < LARGE else few
    for name, nearest, edges in _kin_of(views, adjacency, plain):
        if name not in views:
            ((_, total),) = diffuse_over(_joined(nearest, edges), few if name == TOGETHER else x, {"kin": _KIN}, kind)
            views[name] = narrow(centred(unit(total)), columns)
        yield name, views[name]


def _kin_of(
    views: Mapping[str, Array], adjacency: sp.csr_matrix, plain: bool
) -> Iterator[tuple[str, Array, sp.csr_matrix | None]]:
    """The views of kin by name, where kin are nearest in each, and the edges that count beside them.

    What is asked for later may be nearest in what was made before.
    """
    edges = adjacency if adjacency.nnz else None
    yield "kin", views["own"], None
    if "near" in views:
        yield "kin near", views["near"], edges
    if plain:
        yield TOGETHER, nearest_together(views, _directions_together(views)), edges


def _side_by_side(views: Mapping[str, Array]) -> Iterator[Array]:
    """The views of the features among all, in blocks of rows: inner products of rows are the mean of theirs.

    [row, column], the leading columns of each.
    """
    names = sorted(set(views) - set(_NOT_BESIDE))
    share = np.float32(len(names) ** -0.5)
    for first in range(0, len(views["own"]), ROWS):
        yield np.concatenate([share * views[name][first : first + ROWS, :WIDTH] for name in names], 1)


def _directions_together(views: Mapping[str, Array]) -> Array:
    """The leading directions of the views of the features side by side: float32 [column, direction]."""
    gram = sum(map(gram_matrix, _side_by_side(views)))
    return np.ascontiguousarray(np.linalg.eigh(gram)[1][:, ::-1][:, :WIDTH], np.float32)


def nearest_together(views: Mapping[str, Array], directions: Array) -> Array:
    """All views of the features side by side in their leading directions: where kin are the nearest for `TOGETHER`."""
    return np.concatenate([product(block, directions) for block in _side_by_side(views)])


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
        start = x if plain and name != TOGETHER and len(x) < LARGE else few
        joined = joined_to_nearest(nearest, NEAREST)
        arrays[f"{name} reach"] = reach_of(nearest, joined, NEAREST)
        if edges is not None:
            weight = _edge_weight(joined, edges)
            arrays[f"{name} ratio"] = np.array([weight], np.float64)
            joined = _with_edges(joined, edges, weight)
        arrays[f"{name} degree"] = np.asarray(joined.sum(1)).ravel().astype(np.float64)
        ((_, total),) = diffuse(symmetric_propagation(joined), start, {"kin": _KIN})
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
    for name, of in (("kin", "own"), ("kin near", "near"), (TOGETHER, TOGETHER)):
        if f"{name} columns" not in a:
            continue
        rows = nearest_together(found, a[DIRECTIONS]) if of == TOGETHER else found[of]
        kin = search(of).joined(rows, NEAREST, a[f"{name} reach"])
        if f"{name} ratio" in a:
            kin = _with_edges(kin, joined, a[f"{name} ratio"][0])
        step = RowPropagation(kin, a[f"{name} degree"])
        found[name] = finished(a, name, unit(step(a[f"{name} nodes"], x @ a[f"{name} directions"], _KIN[0])))
