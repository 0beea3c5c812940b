"""How much the nodes of a map belong together, by where short random walks from them lead."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.ground.compute import numpy_generator

__all__ = ["met_on_walks", "reached_by_walks", "spectral_start"]

_STEPS = 3
_KEPT = 40
"""Nodes that a row remembers."""
_TRAIL = 64
"""Nodes that a walk remembers at each step."""
_CROWD = 50
"""Neighbours of a hub that a walk may go on to: a random choice of them, so that no step is larger than that."""


_MEETINGS = 3e7
"""Pairs of walks that meet, up to which every meeting is looked at.

Beyond it, their leading directions are compared.
"""


def reached_by_walks(adjacency: sp.csr_matrix[np.float32], seed: int) -> sp.coo_matrix[np.float32]:
    """For all nodes of a small graph.

    How likely walks of one to three steps lead from one to the other, symmetric [node, node].
    """
    step = _transition(adjacency, seed)
    trail = total = step
    for _ in range(_STEPS - 1):
        trail = _largest(trail @ step, 3 * _KEPT)
        total = total + trail
    return _both_ways(_largest(_without_diagonal(total), _KEPT))


def met_on_walks(
    adjacency: sp.csr_matrix[np.float32], shown: npt.NDArray[np.int64], seed: int, neighbours: int = 30
) -> tuple[sp.coo_matrix[np.float32], npt.NDArray[np.float32]]:
    """For a sample of a large graph: how much the walks from one and the other visit the same nodes.

    Two nodes of the sample are seldom neighbours, but those of one community visit the same places. The visits, [shown,
    node], are reduced to their leading directions; each node is joined with those that point the same way.

    Returns:
        The affinity, symmetric [shown, shown], and the two leading directions as a start, [2, shown].
    """
    step = _transition(adjacency, seed)
    size = len(shown)
    trail = sp.csr_matrix((np.ones(size, np.float32), (np.arange(size), shown)), shape=(size, adjacency.shape[0]))
    total = 0.5 * trail
    for turn in range(_STEPS + 2):
        trail = _largest(trail @ step, _TRAIL * (1 + (adjacency.shape[0] > 100_000)))
        total = total + 0.85**turn * trail
    return _alike(total.tocsr(), seed, neighbours)


def _alike(
    visits: sp.csr_matrix[np.float32], seed: int, neighbours: int
) -> tuple[sp.coo_matrix[np.float32], npt.NDArray[np.float32]]:
    """Joins each row with those that are most like it, and gives the leading directions of all."""
    from sklearn.utils.extmath import randomized_svd

    often = np.asarray(visits.sum(axis=0)).ravel()
    used = np.flatnonzero(often)
    rare = sp.diags((1 / np.sqrt(often[used])).astype(np.float32))  # a node that everybody visits says little
    visits = _unit_rows((visits[:, used] @ rare).tocsr())
    meetings = float((np.bincount(visits.indices).astype(float) ** 2).sum())
    rank = min(64 if meetings > _MEETINGS else 8, min(visits.shape) - 1)
    left, size, _ = randomized_svd(visits, rank, n_iter=3, random_state=seed % 2**32)
    start = _even(left[:, 1:3] if rank > 2 else left[:, :2])
    if meetings <= _MEETINGS:  # few meet, and each meeting counts
        near = _largest(_without_diagonal(visits @ visits.T), neighbours)
    else:
        direction = (left * size).astype(np.float32)
        near = _nearest(direction / np.maximum(np.sqrt((direction**2).sum(axis=1, keepdims=True)), 1e-12), neighbours)
    return _both_ways(near), start


def _nearest(direction: npt.NDArray[np.float32], neighbours: int) -> sp.csr_matrix[np.float32]:
    """The cosines of each row with those that point the same way, [row, row]."""
    count = len(direction)
    kept = min(neighbours, count - 1)
    near = direction @ direction.T
    np.fill_diagonal(near, -2)
    best = np.argpartition(-near, kept - 1, axis=1)[:, :kept]
    alike = np.maximum(np.take_along_axis(near, best, axis=1), 1e-3)
    return sp.csr_matrix((alike.ravel(), (np.repeat(np.arange(count), kept), best.ravel())), shape=(count, count))


def _unit_rows(matrix: sp.csr_matrix[np.float32]) -> sp.csr_matrix[np.float32]:
    length = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    return (sp.diags((1 / np.maximum(length, 1e-12)).astype(np.float32)) @ matrix).tocsr()


def spectral_start(adjacency: sp.csr_matrix[np.float32], seed: int, rounds: int = 60) -> npt.NDArray[np.float32]:
    """The two smoothest directions of a graph after the constant one, as a start, [2, node].

    By a few rounds of power iteration.
    """
    degree = np.asarray(adjacency.sum(axis=1)).ravel()
    scale = np.sqrt(degree + degree.mean() + 1e-9)
    constant = (scale / np.linalg.norm(scale)).astype(np.float32)
    some = numpy_generator(seed, "start").standard_normal((len(degree), 8)).astype(np.float32)
    for _ in range(rounds):
        some = some - constant[:, None] * (constant @ some)
        some = some + (adjacency @ (some / scale[:, None])) / scale[:, None]
        some, _ = np.linalg.qr(some)
    return _even((some / scale[:, None])[:, :2])


def _even(direction: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Ranks in -1 … 1 instead of values, so that no outlier squeezes the rest, [2, node]."""
    ranks = np.argsort(np.argsort(direction, axis=0, kind="stable"), axis=0, kind="stable")
    even = 2 * ranks / max(len(direction) - 1, 1) - 1
    if even.shape[1] < 2:
        even = np.column_stack([even, np.zeros((len(even), 2 - even.shape[1]))])
    return even.T.astype(np.float32)


def _transition(adjacency: sp.csr_matrix[np.float32], seed: int) -> sp.csr_matrix[np.float32]:
    """The step of a walk, [node, node], each row summing to 1.

    From a hub it leads to a fixed choice of its neighbours.
    """
    sizes = np.diff(adjacency.indptr)
    rows = np.repeat(np.arange(adjacency.shape[0]), sizes)
    crowded = np.flatnonzero(sizes[rows] > _CROWD)
    order = np.argsort(rows[crowded] + numpy_generator(seed, "crowd").random(len(crowded)))
    rank = np.arange(len(crowded)) - np.searchsorted(rows[crowded], rows[crowded])
    keep = np.ones(adjacency.nnz, bool)
    keep[crowded[order[rank >= _CROWD]]] = False
    sizes = np.minimum(sizes, _CROWD)
    chance = np.repeat(1 / np.maximum(sizes, 1), sizes).astype(np.float32)
    return sp.csr_matrix(
        (chance, adjacency.indices[keep], np.concatenate([[0], np.cumsum(sizes)])), shape=adjacency.shape
    )


def _largest(matrix: Any, count: int) -> sp.csr_matrix[np.float32]:
    """The ``count`` largest entries of each row of a matrix with a few thousand rows."""
    matrix = matrix.tocsr()
    keep = np.ones(matrix.nnz, bool)
    starts = matrix.indptr
    for row in np.flatnonzero(np.diff(starts) > count).tolist():
        low, high = starts[row], starts[row + 1]
        keep[low + np.argpartition(matrix.data[low:high], high - low - count)[: high - low - count]] = False
    sizes = np.minimum(np.diff(starts), count)
    return sp.csr_matrix(
        (matrix.data[keep], matrix.indices[keep], np.concatenate([[0], np.cumsum(sizes)])), shape=matrix.shape
    )


def _without_diagonal(matrix: Any) -> sp.csr_matrix[np.float32]:
    matrix = matrix.tocoo()
    off = matrix.row != matrix.col
    return sp.csr_matrix((matrix.data[off], (matrix.row[off], matrix.col[off])), shape=matrix.shape)


def _both_ways(matrix: sp.csr_matrix[np.float32]) -> sp.coo_matrix[np.float32]:
    """Each row scaled to sum to 1, then the mean of both directions."""
    total = np.asarray(matrix.sum(axis=1)).ravel()
    scaled = sp.diags(1 / np.maximum(total, 1e-12)) @ matrix
    both = (scaled + scaled.T).tocoo()
    return sp.coo_matrix(((both.data / 2).astype(np.float32), (both.row, both.col)), shape=both.shape)
