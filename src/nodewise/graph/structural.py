r"""Features for graphs that have none, from the edges alone.

They are the documented default: the same columns for every graph, so that what is learned on one graph can be used on
another; the order of the nodes does not matter; nothing is drawn at random. With d(v) the degree, N(v) the neighbours
and n the number of nodes:

====  ========================  ================================================================
col.  name                      formula
====  ========================  ================================================================
0     degree                    log10(1 + d(v))
1     clustering                triangles(v) / (d(v) (d(v) - 1) / 2), 0 below two neighbours
2     core                      log10(1 + h2(v)), see below
3     pagerank                  log10(1 + n r(v)), see below
4     neighbour degree          log10(1 + m(v)), m(v) the mean degree of N(v), 0 without neighbours
5     neighbour degree, spread  log10(1 + s(v)), s(v) the standard deviation of the degrees of N(v)
6-21  degree bin 0 … 15         1 in the column floor(log2(1 + d(v))), at most 15; 0 in the others
====  ========================  ================================================================

h1(v) is the largest h such that h neighbours have a degree of at least h, h2(v) the same with h1 in place of the
degree: an upper bound of the core number that two passes give. r = 0.15/n + 0.85 (sum over u in N(v) of r(u)/d(u)),
isolated nodes spreading evenly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.graph.graph import Graph

__all__ = ["STRUCTURAL_FEATURES", "pagerank", "structural_features"]

DEGREE_BINS = 16
STRUCTURAL_FEATURES = (
    "degree",
    "clustering",
    "core",
    "pagerank",
    "neighbour degree",
    "neighbour degree, spread",
    *(f"degree bin {i}" for i in range(DEGREE_BINS)),
)
"""Names of the columns, in order."""

Vector = npt.NDArray[np.float64]


def structural_features(graph: Graph) -> npt.NDArray[np.float32]:
    """Structural features of every node, float32 [node, 22]; the module's docstring gives names and formulas."""
    adjacency = graph.adjacency().astype(np.float64)
    degree = graph.degree.astype(np.float64)
    some = np.maximum(degree, 1)
    mean = (adjacency @ degree) / some
    variance = (adjacency @ degree**2) / some - mean**2
    features = np.zeros((graph.num_nodes, len(STRUCTURAL_FEATURES)), dtype=np.float32)
    features[:, 0] = np.log10(1 + degree)
    features[:, 1] = triangles(graph) / np.maximum(degree * (degree - 1) / 2, 1)
    features[:, 2] = np.log10(1 + h_index(adjacency, h_index(adjacency, graph.degree)))
    features[:, 3] = np.log10(1 + graph.num_nodes * pagerank(adjacency.dot, degree, 120, 1e-8))
    features[:, 4] = np.log10(1 + mean)
    features[:, 5] = np.log10(1 + np.sqrt(np.maximum(variance, 0)))
    bins = np.minimum(np.frexp(1 + degree)[1] - 1, DEGREE_BINS - 1)
    features[np.arange(graph.num_nodes), 6 + bins] = 1
    features.flags.writeable = False
    return features


def triangles(graph: Graph, block: int = 20_000_000) -> Vector:
    """Triangles through each node, float64 [node].

    Edges are directed from the smaller to the larger degree, so that no node has many outgoing ones and hubs cost
    little. With L the directed adjacency, a triangle u → v → w, u → w occurs once in (L L) ∘ L, at (u, w), and once in
    (Lᵀ L) ∘ L, at (v, w). The products are taken in blocks of rows of about `block` entries, which bounds the memory.
    """
    low, high = graph.edge_index
    swap = graph.degree[low] > graph.degree[high]
    source, target = np.where(swap, high, low), np.where(swap, low, high)
    directed = sp.csr_matrix((np.ones(graph.num_edges), (source, target)), shape=(graph.num_nodes, graph.num_nodes))
    out = np.diff(directed.indptr).astype(np.float64)
    through = np.zeros(graph.num_nodes)
    for first_ends, left in ((True, directed), (False, directed.T.tocsr())):
        work = np.concatenate([[0.0], np.cumsum(left @ out)])
        start = 0
        while start < graph.num_nodes:
            stop = max(start + 1, int(np.searchsorted(work, work[start] + block, side="right")) - 1)
            closed = (left[start:stop] @ directed).multiply(directed[start:stop])
            through[start:stop] += np.asarray(closed.sum(axis=1)).ravel()
            if first_ends:
                through += np.asarray(closed.sum(axis=0)).ravel()
            start = stop
    return through


def h_index(adjacency: sp.csr_matrix[np.float64], values: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """For each node the largest h such that at least h neighbours have a value of at least h, int64 [node]."""
    size = adjacency.shape[0]
    counts = np.diff(adjacency.indptr).astype(np.int64)
    top = int(values.max(initial=0)) + 1
    keys = np.repeat(np.arange(size, dtype=np.int64), counts)
    keys *= top
    keys += top - 1 - values[adjacency.indices]
    keys.sort()  # within each node, values now fall
    keys %= top
    falling = top - 1 - keys
    rank = np.arange(1, len(keys) + 1, dtype=np.int64)
    rank -= np.repeat(adjacency.indptr[:-1].astype(np.int64), counts)
    reached = np.concatenate([[0], np.cumsum(falling >= rank)])
    return reached[adjacency.indptr[1:]] - reached[adjacency.indptr[:-1]]  # type: ignore[no-any-return]


def pagerank(spread: Callable[[Any], Any], degree: Any, rounds: int, tolerance: float | None = None) -> Any:
    """PageRank of every node, [node], which sums to one.

    R = 0.15/n + 0.85 (sum over u in N(v) of r(u)/d(u)), by power iteration.

    An isolated node's rank is spread over all. The one PageRank of the house: numpy's arrays and torch's, on any
    device, go through it.

    Args:
        spread: the product of the adjacency matrix and a vector [node].
        degree: float [node]; the ranks are of its type.
        rounds: steps, at most.
        tolerance: stop when the change sums to less; None: never, since a GPU would have to wait for each look.
    """
    size = len(degree)
    alone = degree == 0
    share = (degree > 0) / (degree + alone)
    rank = 0 * degree + 1 / size
    for _ in range(rounds):
        lost = (rank * alone).sum() / size
        fresh = 0.85 * (spread(rank * share) + lost) + 0.15 / size
        done = tolerance is not None and abs(fresh - rank).sum() < tolerance
        rank = fresh
        if done:
            break
    return rank
