"""From edges as they come to undirected, unique, sorted ones."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nodewise.ground.errors import GraphError
from nodewise.ground.wording import count

__all__ = ["undirected_edges"]


def undirected_edges(edge_index: npt.ArrayLike, num_nodes: int | None = None) -> tuple[npt.NDArray[np.int64], int, list[str]]:
    """Brings edges into the form of `Graph.edge_index`.

    Memory stays near two int64 values an edge beyond the input: edges become keys ``low * num_nodes + high``, sorted in place.

    Args:
        edge_index: integers [2, edge], in any order and direction.
        num_nodes: how many nodes, or None: the largest index + 1.

    Returns:
        The edges, int64 [2, edge]; the number of nodes; what was dropped, in words.
    """
    given = np.asarray(edge_index)
    if given.size == 0:
        given = np.zeros((2, 0), dtype=np.int64)
    if given.ndim != 2 or given.shape[0] != 2:
        turn = " — it looks transposed: pass edge_index.T" if given.ndim == 2 and given.shape[1] == 2 else ""
        raise GraphError(f"edge_index must have the shape [2, edges], received {list(given.shape)}{turn}")
    if given.dtype.kind not in "iu":
        raise GraphError(f"edge_index must hold integers, received {given.dtype}: map node names to indices 0 … nodes-1 first")
    if given.size and int(given.min()) < 0:
        raise GraphError(f"edge {_first(given, given < 0)} has a negative end: nodes are numbered from 0")
    largest = int(given.max()) if given.size else -1
    size = largest + 1 if num_nodes is None else int(num_nodes)
    if size < 1:
        raise GraphError("a graph needs at least one node, received no nodes and no edges: check that the source is not empty")
    if largest >= size:
        bad = _first(given, given >= size)
        raise GraphError(
            f"edge {bad} leads to a node that does not exist: there are {size} nodes, numbered 0 to {size - 1}; "
            "correct the edge or add the node"
        )
    if size > 3_000_000_000:
        raise GraphError(f"a graph of {size} nodes is too large: at most 3,000,000,000; number the nodes from 0 without gaps")
    if given.dtype == np.uint64:  # numpy adds these to int64 as floats
        given = given.astype(np.int64)
    keys = np.minimum(given[0], given[1]).astype(np.int64)
    keys *= size
    keys += np.maximum(given[0], given[1])
    notes = []
    loops = given[0] == given[1]
    if num_loops := int(loops.sum()):
        keys = keys[~loops]
        notes.append(f"{count(num_loops, 'self loop')} dropped")
    if keys.size and not (keys[1:] > keys[:-1]).all():
        keys.sort()
        fresh = np.ones(len(keys), dtype=bool)
        np.not_equal(keys[1:], keys[:-1], out=fresh[1:])
        if repeated := len(keys) - int(fresh.sum()):
            keys = keys[fresh]
            notes.append(f"{count(repeated, 'repeated edge')} dropped (an edge and its reverse are one)")
    if not keys.size:
        notes.append("there are no edges: every node stands alone, and only its features can tell its class")
    edges = np.empty((2, len(keys)), dtype=np.int64)
    np.divmod(keys, size, out=(edges[0], edges[1]))
    edges.flags.writeable = False
    return edges, size, notes


def _first(edges: npt.NDArray[np.integer], bad: npt.NDArray[np.bool_]) -> str:
    column = int(bad.any(axis=0).argmax())
    return f"{column} ({int(edges[0, column])}, {int(edges[1, column])})"
