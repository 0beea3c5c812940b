"""How near rows are: quickly in float32 with a known error, and exactly in float64."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

__all__ = ["Distances"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_VALUES = 2**22  # float64 values gathered at once: 32 MB
_TOGETHER = 32  # rows that are made dense at once, so that they stay in the processor's caches
_WORTH_TORCH = 2**34  # products from which torch's, in half the time of scipy's, makes up for importing it
_PAIR_COST, _ENTRY_COST, _CELL_COST = 8.0, 0.2, 1.0  # nanoseconds, roughly: see `_as_dense`


class Distances:
    """Scores and distances between the rows of a table; a larger score is a smaller distance.

    The score is the cosine, or for the Euclidean metric ``u·v - |v|²/2`` of the rows after their mean was subtracted
    (dense ones) and the largest was scaled to length 1: its order along a row is that of the distances.

    Args:
        x: finite float32 [row, feature], dense or CSR.
        metric: ``"cosine"`` or ``"euclidean"``.

    Attributes:
        count: rows.
        least: pairs whose score is not above it are never neighbours.
        farthest: the same as an exact distance.
    """

    def __init__(self, x: Any, metric: str) -> None:
        self._x, self._cosine, self._sparse = x, metric == "cosine", not isinstance(x, np.ndarray)
        self.count = int(x.shape[0])
        self.least, self.farthest = (0.0, 0.0) if self._cosine else (-np.inf, np.inf)
        centre = np.zeros(x.shape[1]) if self._cosine or self._sparse else x.mean(axis=0, dtype=np.float64)
        self._length = _lengths(x, centre)
        largest = float(self._length.max(initial=0.0)) or 1.0
        scale = np.where(self._length > 0, self._length, 1.0) if self._cosine else np.full(x.shape[0], largest)
        self._scaled = _scaled(x, centre, scale)
        self._product = _sparse_product(self._scaled) if self._sparse and _as_dense(self._scaled) else None
        self._turned = self._scaled.T if not self._sparse else None if self._product else self._scaled.T.tocsr()
        self._half = (
            None if self._cosine else (_lengths(self._scaled, np.zeros(x.shape[1])) ** 2 / 2).astype(np.float32)
        )
        terms = int(np.diff(x.indptr).max(initial=0)) if self._sparse else x.shape[1]
        self._error = (terms + 8) * 2.0**-24
        self._reach = np.ones(x.shape[0]) if self._cosine else self._length / largest + 0.5

    def scores(self, start: int, stop: int) -> npt.NDArray[np.float32]:
        """float32 [row from start to stop, row]."""
        scores: npt.NDArray[np.float32]
        if self._product is not None:
            scores = np.empty((stop - start, self._scaled.shape[0]), np.float32)
            for first in range(start, stop, _TOGETHER):
                some = np.ascontiguousarray(self._scaled[first : min(first + _TOGETHER, stop)].toarray().T)
                scores[first - start : first - start + some.shape[1]] = self._product(some).T
        else:
            product = self._scaled[start:stop] @ self._turned
            scores = product.toarray() if self._sparse else product
        if self._half is not None:
            scores -= self._half
        return scores

    @property
    def mutual(self) -> bool:
        """Whether a score is the same both ways and 0 just where two rows have nothing in common, as of counted words.

        Then `onwards` gives it.
        """
        return self._cosine and self._product is not None and bool((self._scaled.data > 1e-15).all())

    def onwards(self, start: int, stop: int) -> npt.NDArray[np.float32]:
        """The scores of the rows from start to stop with each other and all that follow.

        Float32 [row from start on, row from start to stop].
        """
        assert self._product is not None
        scores = np.empty((self.count - start, stop - start), np.float32)
        for first in range(start, stop, _TOGETHER):
            some = np.ascontiguousarray(self._scaled[first : min(first + _TOGETHER, stop)].toarray().T)
            scores[:, first - start : first - start + some.shape[1]] = self._product(some, start)
        return scores

    def alone(self) -> None:
        """To be called on every thread that asks for scores.

        There are as many of these as cores, and torch needs no more.
        """
        if torch := sys.modules.get("torch"):
            torch.set_num_threads(1)

    def slack(self, start: int, stop: int) -> Floats:
        """How far the scores of these rows can be from the truth: the bound for a sum of rounded products."""
        slack: Floats = self._error * self._reach[start:stop]
        return slack

    def has_direction(self, row: Ints) -> npt.NDArray[np.bool_]:
        """Which rows can be near to anything: under the cosine metric those that are not all zeros."""
        usable: npt.NDArray[np.bool_] = (self._length[row] > 0) | (not self._cosine)
        return usable

    def exact(self, row: Ints, other: Ints) -> Floats:
        """Minus the cosine, or the squared distance, of each pair.

        In float64, then rounded, so that equal distances compare as equal.
        """
        result = np.empty(len(row))
        step = max(1, _VALUES // max(1, self._x.shape[1] if not self._sparse else 256))
        for start in range(0, len(row), step):
            part = slice(start, start + step)
            a, b = self._x[row[part]].astype(np.float64), self._x[other[part]].astype(np.float64)
            result[part] = _products(a, b) if self._cosine else _products(a - b, a - b)
        if self._cosine:
            length = self._length[row] * self._length[other]
            cosine: Floats = np.divide(result, length, out=np.zeros_like(result), where=length > 0)
            return 0.0 - cosine.round(11)
        fraction, exponent = np.frexp(result)
        rounded: Floats = np.ldexp(np.round(fraction * 2.0**40), exponent - 40)
        return rounded


def _as_dense(x: Any) -> bool:
    """Whether all products of sparse rows take less time with some rows made dense at a time than with all sparse.

    Of sparse rows, every pair of rows that share a column costs for each such column; with dense ones, every entry of
    all rows costs for each row, and every cell of the dense ones. Texts, in which many rows share some words, are
    several times faster so; rows with hardly anything in common are not.
    """
    shared = float(np.square(np.bincount(x.indices, minlength=x.shape[1]), dtype=np.float64).sum())
    dense = x.shape[0] * (_ENTRY_COST * x.nnz + _CELL_COST * x.shape[1])
    return bool(x.shape[1] <= 2**19 and dense < _PAIR_COST * shared)


def _sparse_product(x: Any) -> Callable[..., npt.NDArray[np.float32]]:
    """What multiplies sparse rows, all or those from one on, by dense columns, on the thread that asks for it."""
    if x.nnz * x.shape[0] < _WORTH_TORCH:
        return lambda some, start=0: (x[start:] if start else x) @ some
    import torch

    from nodewise.graph.tensors import csr_product, csr_tensor

    x.sort_indices()
    starts, columns, values = (torch.from_numpy(array) for array in (x.indptr, x.indices, x.data))

    def product(some: npt.NDArray[np.float32], start: int = 0) -> npt.NDArray[np.float32]:
        first = int(starts[start])
        matrix = csr_tensor(starts[start:] - first, columns[first:], values[first:], (x.shape[0] - start, x.shape[1]))
        with torch.no_grad():
            return csr_product(matrix, torch.from_numpy(some)).numpy()

    return product


def _products(a: Any, b: Any) -> Floats:
    if not isinstance(a, np.ndarray):
        return np.asarray(a.multiply(b).sum(axis=1), dtype=np.float64).reshape(-1)
    products: Floats = np.einsum("rf,rf->r", a, b)
    return products


def _lengths(x: Any, centre: Floats) -> Floats:
    if not isinstance(x, np.ndarray):
        squares = x.astype(np.float64)
        squares.data **= 2
        return np.sqrt(np.asarray(squares.sum(axis=1), dtype=np.float64).reshape(-1))
    length = np.empty(x.shape[0])
    step = max(1, _VALUES // max(1, x.shape[1]))
    for start in range(0, len(x), step):
        part = x[start : start + step] - centre
        length[start : start + step] = np.sqrt(np.einsum("rf,rf->r", part, part))
    return length


def _scaled(x: Any, centre: Floats, scale: Floats) -> Any:
    if not isinstance(x, np.ndarray):
        return (sp.diags(1 / scale) @ x).astype(np.float32).tocsr()
    scaled = np.empty(x.shape, dtype=np.float32)
    step = max(1, _VALUES // max(1, x.shape[1]))
    for start in range(0, len(x), step):
        part = slice(start, start + step)
        scaled[part] = (x[part] - centre) / scale[part, None]
    return scaled
