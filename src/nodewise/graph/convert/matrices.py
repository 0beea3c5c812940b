"""Graphs from and to scipy matrices."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.graph.graph import Graph
from nodewise.graph.tables.table import dropped_of_edges
from nodewise.graph.weights import mirrored_once
from nodewise.ground.errors import GraphError
from nodewise.ground.events import count

if TYPE_CHECKING:
    from nodewise.graph.checks import Features

__all__ = ["from_scipy", "of_both_ways", "to_scipy", "warn_of_dropped"]


def from_scipy(adjacency: Any, x: Any = None, y: Any = None, **parts: Any) -> Graph:
    """The graph whose edges are the non-zero entries of a square matrix.

    Args:
        adjacency: sparse or dense [node, node]; entries that are not all 0 or 1 are the edges' weights. Where an entry
            and its mirror image differ, they add up. A stored 0 is no edge, and noted. Direction is dropped, and noted,
            but for `directed=True`: then an entry is an edge from its row to its column.
        x: features, as for `Graph.build`.
        y: labels, as for `Graph.build`.
        **parts: any further argument of `Graph.build`, such as `class_names` or `name`.

    Raises:
        GraphError: if the matrix is not square, or a part does not fit.
    """
    matrix = sp.coo_matrix(adjacency)
    if matrix.shape[0] != matrix.shape[1]:
        raise GraphError(
            f"an adjacency matrix must be square, received the shape {list(matrix.shape)}: give one row and one column"
            " for each node"
        )
    there = matrix.data != 0
    zeros = len(there) - int(np.count_nonzero(there))
    notes = [
        *parts.pop("notes", ()),
        *([f"{count(zeros, 'stored entry', 'stored entries')} of 0 taken as no edge"] if zeros else []),
    ]
    edges, weights = np.stack([matrix.row[there], matrix.col[there]]), matrix.data[there]
    return of_both_ways(
        edges, None if weights.dtype == bool else weights, num_nodes=matrix.shape[0], x=x, y=y, notes=notes, **parts
    )


def of_both_ways(edges: npt.NDArray[Any], weights: Any, *, directed: bool = False, **parts: Any) -> Graph:
    """The graph of edges that a source gives in both directions, or in one if it is directed.

    Args:
        edges: [2, edge], as they were given.
        weights: [edge], or None.
        directed: whether an edge leads from its first end to its second alone.
        **parts: of `Graph.build`.
    """
    if directed:
        return Graph.build(edges, edge_weight=weights, directed=True, **parts)
    once, kept = edges, weights
    if weights is not None and len(weights) == edges.shape[1] and (weights != weights[:1]).any():
        once, kept = mirrored_once(edges, weights)
    return _noted_if_one_way(Graph.build(once, edge_weight=kept, **parts), edges)


def _noted_if_one_way(graph: Graph, edges: npt.NDArray[np.integer]) -> Graph:
    """The graph of edges that should be given in both directions, with a note where some certainly are not.

    Args:
        graph: what was made of them.
        edges: [2, edge], as they were given.
    """
    if np.count_nonzero(edges[0] != edges[1]) >= 2 * graph.num_edges:
        return graph
    return replace(graph, notes=(*graph.notes, *dropped_of_edges(directed=True)))


def to_scipy(graph: Graph) -> tuple[sp.csr_matrix[np.float32], Features | None, npt.NDArray[Any] | None]:
    """Adjacency matrix, features and labels of a graph.

    Returns:
        The symmetric matrix of ones, or of the edges' weights, float32 CSR [node, node]; the features that count,
        [node, feature], CSR where they are stored so and not centred, else dense, or None; the labels, int64 [node],
        where a node may have several classes int8 [node, class], or None. What is read-only in the graph is so here.

    Warns:
        UserWarning: the edges' direction, or node types and relations, were dropped.
    """
    warn_of_dropped(graph, "graph.relations has what is missing")
    x = graph.x if graph.x_offset is None else graph.dense_features()
    matrix = graph.adjacency()
    if graph.edge_weight is not None:
        low, high = graph.edge_index
        upper = sp.csr_matrix((graph.edge_weight, (low, high)), shape=matrix.shape)
        matrix = (upper + upper.T).tocsr()
        matrix.sort_indices()
    return matrix, x, graph.y if graph.y_sets is None else graph.y_sets


def warn_of_dropped(graph: Graph, instead: str) -> None:
    """A Python warning where what a graph is turned into by one of its own methods has no place for its relations.

    Args:
        graph: what is turned.
        instead: what keeps them.
    """
    if graph.relations is None:
        return
    one_way = "the direction of the edges was dropped: an edge leads both ways"
    what = one_way if graph.relations.directed else "node types and relations were dropped, but for their union"
    warnings.warn(f"{what}; {instead}", stacklevel=4)
