"""Many features in their leading directions: a view depends on these alone, and diffusing them costs a fraction.

Few features by the eigenvectors of their Gram matrix. Many by Lanczos' method with blocks of columns: all blocks so far
are kept, every new one is made orthogonal to all of them, and the eigenvectors are the best that their span holds
(Rayleigh and Ritz), once each fulfils its equation to the tolerance. That is a few products of matrices, where one
vector at a time (scipy's ARPACK) reads the whole basis again and again: a tenth of the time. The first block is drawn
from a fixed seed; what comes out does not depend on it beyond the tolerance.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from nodewise.classifiers.views.products import (
    ROWS,
    SparseProduct,
    gram_matrix,
    product,
    scipy_matrix,
    unit_or_zero,
)
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import in_blocks, one_thread

__all__ = ["REDUCED", "block_lanczos", "reduced"]

REDUCED = 256
"""Directions of the features that are kept before they are diffused."""

_GRAM = 1500
"""Rows or columns up to which all eigenvectors of a Gram matrix are computed."""

_TOLERANCE = 1e-4
"""By how much Lanczos' vectors may miss their equation. Convergence is fast at the end.

Mostly they miss it by less than a tenth of that.
"""

_MOST, _NUMBERS = 1536, 2**29
"""Columns that Lanczos' method keeps at most, and numbers in all of them.

Then the best of what they span takes their place.
"""

_ROUNDING = 1e-6
"""Columns that are shorter, as a share of the largest eigenvalue, are rounding: there is nothing new in them."""

_ROWS = 512
"""Rows of a dense product that one core does at a time."""

Array = npt.NDArray[Any]
Product = Callable[[Array], Array]


def reduced(graph: GraphTensors) -> Array:
    """The features, rows of unit length, in their leading directions, as many as there are up to 256.

    Float32 [node, direction].
    """
    if graph.dense_x is not None and graph.num_features <= _GRAM < graph.num_nodes:
        return _by_blocks(graph.dense_x.cpu().numpy())
    rows = _UnitRows(graph)
    count, columns = rows.shape
    if columns <= REDUCED:
        return np.ascontiguousarray(rows.exactly(), np.float32)
    if min(count, columns) <= _GRAM:
        values, vectors = np.linalg.eigh(rows.gram(turned=count < columns))
        if count < columns:
            order = np.argsort(-values, kind="stable")[:REDUCED]
            return np.ascontiguousarray(vectors[:, order] * np.sqrt(np.maximum(values[order], 0)), np.float32)
        return np.ascontiguousarray(rows.exactly(vectors[:, ::-1][:, :REDUCED]), np.float32)
    times, turned = rows.products()
    return times(block_lanczos(lambda v: turned(times(v)), columns, REDUCED, _TOLERANCE)[1])


class _UnitRows:
    """The features as rows of unit length, x − s oᵀ.

    X is sparse with an offset o, which s scales like the rows, or dense without one.
    """

    def __init__(self, graph: GraphTensors) -> None:
        self._offset: Array | None = None
        self._sparse = graph.sparse_x is not None
        x: Any
        if graph.sparse_x is not None:
            x = scipy_matrix(graph.sparse_x).astype(np.float64)
            squared = np.asarray(x.multiply(x).sum(1)).ravel()
            if graph.offset is not None:  # |x − o|² = |x|² − 2 x·o + |o|²
                self._offset = graph.offset.cpu().numpy().astype(np.float64)
                squared = squared - 2 * (x @ self._offset) + self._offset @ self._offset
        else:
            assert graph.dense_x is not None
            x = graph.dense_x.cpu().numpy().astype(np.float64)
            squared = (x * x).sum(1)
        self._scale = 1 / np.sqrt(np.maximum(squared, 1e-24))
        self._scale[squared <= 1e-24] = 0
        self._x: Any = (sp.diags(self._scale) @ x).tocsr() if self._sparse else self._scale[:, None] * x
        self.shape: tuple[int, int] = x.shape

    def exactly(self, columns: Array | None = None) -> Array:
        """Their product with columns, or they themselves, in double precision."""
        columns = np.eye(self.shape[1]) if columns is None else columns
        exact: Array = self._x @ columns
        return exact if self._offset is None else exact - np.multiply.outer(self._scale, self._offset @ columns)

    def gram(self, turned: bool) -> Array:
        """The inner products of all columns, or turned those of all rows, in double precision.

        Sparse rows stay sparse.
        """
        x, one, other = (self._x.T, self._offset, self._scale) if turned else (self._x, self._scale, self._offset)
        gram = x.T @ x
        gram = gram.toarray() if self._sparse else gram
        if one is None or other is None:
            return np.asarray(gram)
        along = np.multiply.outer(
            x.T @ one, other
        )  # (x − a bᵀ)ᵀ (x − a bᵀ) = xᵀ x − (xᵀ a) bᵀ − b (xᵀ a)ᵀ + (aᵀ a) b bᵀ
        return np.asarray(gram - along - along.T + (one @ one) * np.multiply.outer(other, other))

    def products(self) -> tuple[Product, Product]:
        """What multiplies columns by the rows and by the rows turned, float32, on all cores."""
        if not self._sparse:
            x = self._x.astype(np.float32)
            return _dense_product(x), _dense_product(np.ascontiguousarray(x.T))
        plain, across = SparseProduct(self._x), SparseProduct(self._x.T)
        if (offset := self._offset) is None:
            return plain, across
        scale = self._scale

        def times(v: Array) -> Array:
            centred: Array = plain(v) - np.multiply.outer(scale, offset @ v).astype(np.float32)
            return centred

        def turned(u: Array) -> Array:
            centred: Array = across(u) - np.multiply.outer(offset, scale @ u).astype(np.float32)
            return centred

        return times, turned


def _dense_product(x: Array) -> Product:
    rows = torch.from_numpy(x)

    def times(v: Array) -> Array:
        out = torch.empty(len(rows), v.shape[1])

        def fill(first: int, end: int) -> None:
            with torch.no_grad():
                torch.matmul(rows[first:end], torch.from_numpy(v), out=out[first:end])

        in_blocks(len(rows), _ROWS, fill)
        return out.numpy()

    return times


def _by_blocks(x: Array) -> Array:
    """Dense rows of unit length in their leading directions, in blocks.

    Rows that lie on the disk are never in memory as a whole.
    """
    gram = np.zeros((x.shape[1], x.shape[1]))
    for first in range(0, len(x), ROWS):
        gram += gram_matrix(unit_or_zero(x[first : first + ROWS]))
    vectors = np.ascontiguousarray(np.linalg.eigh(gram)[1][:, ::-1][:, :REDUCED], np.float32)
    leading = np.empty((len(x), REDUCED), np.float32)
    for first in range(0, len(x), ROWS):
        leading[first : first + ROWS] = product(unit_or_zero(x[first : first + ROWS]), vectors)
    return leading


def block_lanczos(matrix: Product, rows: int, wanted: int, tolerance: float, seed: int = 0) -> tuple[Array, Array]:
    """The largest eigenvalues, falling, and their vectors: float64 [at most wanted], float32 [row, at most wanted].

    A vector v with the value t counts as found when |A v − t v| ≤ tolerance · t. A matrix of a lower rank has fewer of
    them.

    Args:
        matrix: gives the product of A and columns, float32 [row, column].
        rows: of the matrix.
        wanted: how many vectors.
        tolerance: see above.
        seed: of the first block.
    """
    with (
        one_thread()
    ):  # dense products of this size are fastest so, and their numbers do not depend on the threads there are
        return _block_lanczos(matrix, rows, min(wanted, rows), tolerance, np.random.default_rng(seed))


def _block_lanczos(
    matrix: Product, rows: int, wanted: int, tolerance: float, draws: np.random.Generator
) -> tuple[Array, Array]:
    width = 32 if wanted > 64 else 16
    most = min(rows, max(3 * wanted, min(_MOST, _NUMBERS // rows)))
    basis, inner, scale = torch.empty(rows, most), np.zeros((most, most)), 0.0  # inner: basisᵀ A basis
    block, size, look = _drawn(draws, basis[:, :0], width), 0, min(most, 5 * wanted // 2)
    while True:
        before, size = size, size + block.shape[1]
        basis[:, before:size] = block
        moved = torch.from_numpy(matrix(block.numpy()))
        scale = max(scale, float(moved.norm(dim=0).max()))
        block, along, factor = _orthonormal(moved, basis[:, :size], _ROUNDING * scale)
        inner[:size, before:size], inner[before:size, :size] = along, along.T
        if (
            not block.shape[1] and size < wanted
        ):  # all that the first block leads to is there, as with features that share nothing
            block, factor = _drawn(draws, basis[:, :size], min(width, rows - size)), factor[:0]
        fits = size + block.shape[1] <= most
        if block.shape[1] and fits and size < look:
            continue
        values, vectors = (
            array.numpy()[..., ::-1] for array in torch.linalg.eigh(torch.from_numpy(inner[:size, :size]))
        )
        missed = np.linalg.norm(factor @ vectors[before:size, :wanted], axis=0) if len(factor) else np.zeros(1)
        if not block.shape[1] or (
            size >= wanted and (missed <= tolerance * np.maximum(values[:wanted], _ROUNDING * scale)).all()
        ):
            return values[:wanted].copy(), _combined(basis[:, :size], vectors[:, :wanted]).numpy()
        if not fits:  # half of the columns that are not wanted make room
            kept = (wanted + most) // 2
            basis[:, :kept] = _combined(basis[:, :size], vectors[:, :kept])
            inner[:], size = 0, kept
            inner[:kept, :kept] = np.diag(values[:kept])
        look = min(most, size + max(2 * width, size // 8))


def _combined(basis: torch.Tensor, vectors: Array) -> torch.Tensor:
    return basis @ torch.from_numpy(np.ascontiguousarray(vectors, np.float32))


def _drawn(draws: np.random.Generator, basis: torch.Tensor, width: int) -> torch.Tensor:
    """New columns, orthogonal to the basis, that nothing but the generator tells."""
    return _orthonormal(
        torch.from_numpy(draws.standard_normal((len(basis), width), dtype=np.float32)), basis, _ROUNDING
    )[0]


def _orthonormal(columns: torch.Tensor, basis: torch.Tensor, least: float) -> tuple[torch.Tensor, Array, Array]:
    """Columns = basis · along + block · factor, with a block that is orthonormal and orthogonal to the basis.

    What is shorter than ``least`` is dropped.
    """
    first = basis.T @ columns
    block, factor = _normed(columns - basis @ first, least)
    again = basis.T @ block  # what rounding has left of the basis
    block, change = _normed(block - basis @ again, 0.1)
    along = first.double() + again.double() @ factor
    return block, along.numpy(), (change @ factor).numpy()


def _normed(columns: torch.Tensor, least: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Columns = block · factor, with an orthonormal block of as many columns as are longer than ``least``."""
    double = columns.double()
    squares, turn = torch.linalg.eigh(double.T @ double)
    useful = squares > least * least
    length, turn = squares[useful].sqrt(), turn[:, useful]
    return (double @ (turn / length)).float(), length[:, None] * turn.T
