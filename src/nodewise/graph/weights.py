"""Weights of edges: what they must be, how those of an edge that is given twice add up, and how they are used.

Only their ratios count: they are used divided by their mean, so that a common factor changes nothing, and weights that
are all equal are the same as none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from nodewise.ground.errors import GraphError

__all__ = ["SMALLEST", "added_weights", "check_weights", "mirrored_once", "relative_weights"]

Weights = npt.NDArray[np.float32]
Edges = npt.NDArray[np.integer[Any]]

SMALLEST = 1e-12
"""What an edge counts at least, as a share of the mean weight: so no node that has an edge loses it to rounding."""


def check_weights(weights: Any, edges: Edges) -> Weights | None:
    """Passes one positive, finite weight for each edge as float32; None where all are equal, which says nothing.

    Args:
        weights: [edge], or None.
        edges: [2, edge], whose weights they are.

    Raises:
        GraphError: if there are more or fewer than edges, or one is 0, negative, not a number or infinite.
    """
    if weights is None:
        return None
    given = np.asarray(weights)
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.shape != (edges.shape[1],):
        raise GraphError(
            f"edge_weight must hold one number for each of the {edges.shape[1]} edges, received the shape"
            f" {list(given.shape)}: give one weight an edge, in the order of the edges, or none at all"
        )
    if given.dtype.kind not in "iuf":
        raise GraphError(
            f"edge_weight must hold numbers, received {given.dtype}: turn them into numbers first, or leave weights out"
        )
    if not given.size:
        return None
    with np.errstate(over="ignore", under="ignore"):
        rounded = given.astype(np.float32)
    good = np.isfinite(rounded) & (rounded > 0)
    if not good.all():
        raise GraphError(_bad(given, edges, int((~good).argmax())))
    return None if (given == given[0]).all() else rounded


def added_weights(weights: Weights, given: Edges, edges: npt.NDArray[np.int64], num_nodes: int) -> Weights:
    """The weights of a graph's edges, those of an edge that is given more than once added up: float32 [edge].

    Args:
        weights: float32 [edge], of the edges as they were given.
        given: [2, edge], in any order and direction, self loops among them.
        edges: the same in the form of `Graph.edge_index`.
        num_nodes: how many nodes.
    """
    ends = given.astype(np.int64)
    proper = ends[0] != ends[1]
    low, high = np.minimum(ends[0], ends[1])[proper], np.maximum(ends[0], ends[1])[proper]
    place = np.searchsorted(edges[0] * num_nodes + edges[1], low * num_nodes + high)
    total = np.zeros(edges.shape[1])
    np.add.at(total, place, weights[proper].astype(np.float64))
    with np.errstate(over="ignore"):
        return total.astype(np.float32)


def mirrored_once(edges: Edges, weights: Any) -> tuple[Edges, Any]:
    """Edges and weights of a source that gives each edge in both directions: each once, where both say the same.

    So the weights stay what they are. Where an edge lacks its reverse, or the two differ, all are left as they are, and
    add up.

    Args:
        edges: [2, edge], in any order.
        weights: [edge].
    """
    up, down = edges[0] < edges[1], edges[0] > edges[1]
    if np.count_nonzero(up) != np.count_nonzero(down):
        return edges, weights
    one, other = edges[:, up], edges[::-1, down]
    first, second = (np.lexsort((some[1], some[0])) for some in (one, other))
    same = np.array_equal(one[:, first], other[:, second]) and np.array_equal(weights[up][first], weights[down][second])
    return (edges[:, ~down], weights[~down]) if same else (edges, weights)


def relative_weights(weights: Weights) -> Weights:
    """Weights divided by their mean, as everything uses them: float32 [edge]."""
    exact = weights.astype(np.float64)
    relative: Weights = np.maximum(exact / exact.mean(), SMALLEST).astype(np.float32)
    return relative


def _bad(given: npt.NDArray[Any], edges: Edges, at: int) -> str:
    value, ends = given[at], f"{at} ({int(edges[0, at])}, {int(edges[1, at])})"
    if np.isfinite(value) and value > 0:
        hint = "float32 cannot hold it: multiply all weights by one factor, which changes nothing else"
    elif value == 0:
        hint = "weights must be positive; leave the edge out if it does not count"
    elif value < 0:
        hint = "weights must be positive; a larger one means that the two ends are more alike"
    else:
        hint = "weights must be positive and finite; give the edge a weight, or leave it out"
    return f"the weight of edge {ends} is {value}: {hint}"
