"""Products that views are made of: sparse ones in blocks on all cores, dense ones, features diffused, and the same for
rows that were not in the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from nodewise.graph.tensors import csr_product, csr_tensor
from nodewise.ground.compute import cores, in_blocks

__all__ = [
    "LARGE",
    "NEAREST",
    "ROWS",
    "WIDTH",
    "Array",
    "GatheredProduct",
    "Product",
    "ProductKind",
    "RowPropagation",
    "RowWalk",
    "SparseProduct",
    "affine_product",
    "centred",
    "diffuse",
    "ending",
    "finished",
    "gram_matrix",
    "inverse_degrees",
    "leading_directions",
    "linear_map",
    "mean_row",
    "narrow",
    "product",
    "product_kind",
    "row_blocks",
    "scipy_matrix",
    "symmetric_propagation",
    "tall_product",
    "unit",
    "unit_or_zero",
]

LARGE = 100_000
"""Nodes from which a graph is large."""

ROWS = 65536
"""Rows that are worked on at once where a whole copy would take too much memory."""

_BLOCK, _COLUMNS, _CACHED = 4096, 32, 30_000
"""Rows of a sparse product that one core does at a time, columns that one core diffuses at a time, and nodes from which
it is half as many.
"""

KEPT = 128
"""Directions of the nodes' diffused features that are kept for placing rows: those beyond have hardly a share in them.
"""

WIDTH = 64
"""Columns of a view of the features, at least."""

NEAREST = 10
"""Nodes that are a node's kin: the nearest in a view, joined to it, so that features reach it as from neighbours."""

_GRAM_ROWS = 2**12
"""Rows of which one core makes a Gram matrix at a time."""

_FEW, _SMALL = 8, 2**22
"""Columns up to which a product is fastest with these in rows, on a CPU, and numbers in the table from which.

With more columns, or with a table that stays in the cache, it is faster from the other side, which also keeps each
column in one piece."""

_SHARED, _TILE, _LEAST_ROWS = 4, 64, 512
"""Blocks that a product of one thread is shared out in, the multiple of rows that each has, and the least of them.

Whole tiles, so that every row is summed up as it is in one product of all."""

_TALL_BLOCK, _LANES = 2**14, 16
"""Rows of a tall product that one core does at a time, and the multiple of columns that is multiplied fastest."""

Array = npt.NDArray[Any]
Product = Callable[[Array], Array]


class SparseProduct:
    """The product of a sparse matrix, float32, and dense columns, its rows in blocks on all cores.

    The same numbers, however many there are.
    """

    def __init__(self, matrix: sp.csr_matrix) -> None:
        matrix = matrix.tocsr().astype(np.float32, copy=False)
        matrix.sort_indices()
        self._rows, self._blocks = matrix, {}
        for first in range(0, matrix.shape[0], _BLOCK):
            starts = matrix.indptr[first : first + _BLOCK + 1]
            within = slice(starts[0], starts[-1])
            rows, columns, values = (
                torch.from_numpy(array) for array in (starts - starts[0], matrix.indices[within], matrix.data[within])
            )
            self._blocks[first] = csr_tensor(rows, columns, values, (len(starts) - 1, matrix.shape[1]))

    def __call__(self, z: Array) -> Array:
        out = np.empty((self._rows.shape[0], z.shape[1]), np.float32)
        in_blocks(len(out), _BLOCK, lambda first, end: self._fill(first, z, out))
        return out

    def blocks(self, z: Array, out: Array) -> Iterator[tuple[slice, Array]]:
        """The same on the thread that asks for it, into memory that is there: which rows are done, and these."""
        for first in self._blocks:
            self._fill(first, z, out)
            rows = slice(first, first + _BLOCK)
            yield rows, out[rows]

    def _fill(self, first: int, z: Array, out: Array) -> None:
        with torch.no_grad():
            csr_product(self._blocks[first], torch.from_numpy(z), torch.from_numpy(out[first : first + _BLOCK]))

    def part(self, nodes: Array) -> SparseProduct:
        """The same among some nodes alone."""
        return type(self)(self._rows[nodes][:, nodes])


class GatheredProduct(SparseProduct):
    """The same up to rounding in about half the time, where the columns do not fit into the processor's caches.

    A row of the product is a weighted sum of the dense rows that its entries name; torch's bags of embeddings fetch
    these ahead.
    """

    def _fill(self, first: int, z: Array, out: Array) -> None:
        block = self._blocks[first]
        with torch.no_grad():
            torch.from_numpy(out[first : first + _BLOCK]).copy_(
                torch.nn.functional.embedding_bag(
                    block.col_indices(),
                    torch.from_numpy(z),
                    block.crow_indices(),
                    mode="sum",
                    per_sample_weights=block.values(),
                    include_last_offset=True,
                )
            )


ProductKind = type[SparseProduct]
"""How sparse products are made."""


def product_kind(nodes: int) -> ProductKind:
    """How sparse products of a graph with so many nodes are made: of a large one faster, the same up to rounding."""
    return GatheredProduct if nodes >= LARGE else SparseProduct


def symmetric_propagation(adjacency: sp.csr_matrix, kind: ProductKind = SparseProduct) -> SparseProduct:
    """P = D^-1/2 (A + I) D^-1/2, D the degrees of A + I."""
    loops = (adjacency + sp.eye(adjacency.shape[0], format="csr")).astype(np.float32)
    scale = sp.diags(np.asarray(loops.sum(1)).ravel() ** -0.5)
    return kind(scale @ loops @ scale)


def diffuse(matrix: SparseProduct, x: Array, wanted: dict[str, tuple[float, int]]) -> Iterator[tuple[str, Array]]:
    """Σ_k c_k P^k x for several series of coefficients.

    For α and K the sum is (1 − α)^K P^K x + α Σ_{k<K} (1 − α)^k P^k x.

    Columns are diffused in blocks, each on one core from the first step to the last: so few of them stay in the
    processor's caches, and a product takes a quarter of the time.
    """
    totals = {name: np.empty_like(x) for name in wanted}

    def fill(first: int, end: int) -> None:
        power = x[:, first:end].copy()
        after, sums = np.empty_like(power), {name: alpha * power for name, (alpha, _) in wanted.items()}
        part = np.empty_like(power[:_BLOCK])
        for step in range(1, max(steps for _, steps in wanted.values()) + 1):
            shares = [
                (sums[name], np.float32((1 - alpha) ** step * (alpha if step < steps else 1)))
                for name, (alpha, steps) in wanted.items()
                if step <= steps
            ]
            for rows, block in matrix.blocks(power, after):
                for total, share in shares:
                    total[rows] += np.multiply(block, share, out=part[: len(block)])
            power, after = after, power
        for name, total in sums.items():
            totals[name][:, first:end] = total

    in_blocks(x.shape[1], _COLUMNS if len(x) <= _CACHED else _COLUMNS // 2, fill)
    for name in wanted:
        yield name, totals.pop(name)


def unit(z: Array) -> Array:
    """Rows of unit length, in place."""
    for first in range(0, len(z), ROWS):  # in blocks, so that nothing of the whole's size is made
        block = z[first : first + ROWS]
        length = np.sqrt(np.einsum("nd,nd->n", block, block, dtype=np.float64))
        block /= np.maximum(length, 1e-9)[:, None].astype(z.dtype)
    return z


def centred(z: Array) -> Array:
    """Rows of unit length after the columns' means are taken off, in place."""
    z -= z.mean(0, dtype=np.float64).astype(z.dtype)
    return unit(z)


def narrow(z: Array, width: int) -> Array:
    """The leading columns in the basis of the columns' Gram matrix, in which the inner products of rows are kept best.

    Few columns are turned, too: which of them lead, and are looked at where a label is chosen, does not depend on the
    features' order.
    """
    vectors = np.linalg.eigh(gram_matrix(z))[1][:, ::-1][:, :width]
    return product(z, np.ascontiguousarray(vectors, z.dtype))


def row_blocks(z: Array) -> Iterator[Array]:
    """A matrix in blocks of rows."""
    return (z[first : first + ROWS] for first in range(0, len(z), ROWS))


def gram_matrix(z: Array, other: Array | None = None) -> Array:
    """Zᵀ Z, or Zᵀ times another matrix, summed up in double precision without a double copy."""
    second = z if other is None else other
    if len(z) >= ROWS:
        return _gram_of_many(z, second)
    left = z.astype(np.float64)
    gram: Array = left.T @ (left if other is None else second.astype(np.float64))
    return gram


def _gram_of_many(one: Array, other: Array) -> Array:
    """The same of very many rows: in blocks on all cores, whose sums are added up in one order."""
    sums = np.zeros((-(-len(one) // _GRAM_ROWS), one.shape[1], other.shape[1]))

    def fill(first: int, end: int) -> None:
        for number in range(first, end):
            rows = slice(number * _GRAM_ROWS, (number + 1) * _GRAM_ROWS)
            left = one[rows].astype(np.float64)  # numpy makes half of the product of a matrix with itself alone
            sums[number] = left.T @ (left if one is other else other[rows].astype(np.float64))

    in_blocks(len(sums), 1, fill)
    total: Array = sums.sum(0)
    return total


def product(one: Array, other: Array) -> Array:
    """The product of two dense matrices. Large ones are torch's.

    Its threads and those of numpy's library, one after the other, wait for each other.
    """
    if max(one.shape) < min(ROWS, LARGE):
        plain: Array = one @ other
        return plain
    return torch.matmul(torch.from_numpy(one), torch.from_numpy(other)).numpy()


def unit_or_zero(x: Array) -> Array:
    """A copy with rows of unit length; those of no length to speak of are zero."""
    squared = np.einsum("nd,nd->n", x, x, dtype=np.float64)
    inverse = 1 / np.sqrt(np.maximum(squared, 1e-24))
    inverse[squared <= 1e-24] = 0
    scaled: Array = x * inverse[:, None].astype(np.float32)
    return scaled


def scipy_matrix(matrix: object) -> sp.csr_matrix:
    """The same matrix for scipy."""
    arrays = tuple(getattr(matrix, name).cpu().numpy() for name in ("values", "col", "crow"))
    return sp.csr_matrix(arrays, shape=matrix.shape)  # type: ignore[attr-defined]


def affine_product(table: torch.Tensor, factor: torch.Tensor, base: torch.Tensor) -> torch.Tensor:
    """table · factor + base, [node, column] and [column, result] to [node, result], by what is fastest there."""
    if table.device.type != "cpu":
        return torch.addmm(base, table, factor)
    by_rows = len(table) >= LARGE or (len(base) <= _FEW and table.numel() > _SMALL)
    shape = (len(table), len(base))
    out = table.new_empty(shape) if by_rows else table.new_empty(shape[::-1]).T  # sums over results go along it
    if not factor.any():  # as before the first label
        return out.copy_(base.expand(shape))
    if len(table) >= LARGE:
        return tall_product(table, factor).add_(base)
    turned = factor.T.contiguous()

    def product_of(rows: torch.Tensor) -> torch.Tensor:
        linear = torch.nn.functional.linear
        return linear(rows, turned, base) if by_rows else torch.addmm(base[:, None], turned, rows.T).T

    size = max(_LEAST_ROWS, -(-len(table) // (_SHARED * _TILE)) * _TILE)
    if len(table) <= size or cores() == 1 or torch.get_num_threads() > 1:
        return product_of(table)

    def fill(first: int, end: int) -> None:
        with torch.no_grad():
            out[first:end] = product_of(table[first:end])

    in_blocks(len(table), size, fill)
    return out


def tall_product(tall: torch.Tensor, small: torch.Tensor) -> torch.Tensor:
    """A product whose first factor has very many rows, read once: [row, column] × [column, wanted]."""
    wanted = small.shape[1]
    padded = torch.nn.functional.pad(small, (0, -wanted % _LANES))
    out = tall.new_empty(len(tall), wanted)

    def fill(first: int, end: int) -> None:
        with torch.no_grad():
            out[first:end] = (tall[first:end] @ padded)[:, :wanted]

    in_blocks(len(tall), _TALL_BLOCK, fill)
    return out


def inverse_degrees(degree: Array) -> Array:
    """1 over the degree, and 1 for a node without edges, whatever is divided then being 0."""
    inverse: Array = 1 / np.where(degree > 0, degree, np.ones_like(degree))
    return inverse


def mean_row(rows: Array) -> Array:
    """The mean of rows, summed up in double precision: [column]."""
    mean: Array = rows.mean(0, dtype=np.float64).astype(np.float32)
    return mean


def leading_directions(rows: Array) -> tuple[Array, Array]:
    """The leading directions of rows, [column, direction], and the rows in them."""
    if rows.shape[1] <= KEPT:
        return np.eye(rows.shape[1], dtype=np.float32), rows
    directions = np.linalg.eigh(gram_matrix(rows))[1][:, ::-1][:, :KEPT].astype(np.float32)
    return np.ascontiguousarray(directions), rows @ directions


def linear_map(rows: Array, wanted: Array) -> Array:
    """The linear map from rows to the columns that a view has, by least squares: [column, column of the view]."""
    inner = np.linalg.pinv(gram_matrix(rows), rcond=1e-9, hermitian=True)
    return (inner @ gram_matrix(rows, np.ascontiguousarray(wanted, rows.dtype))).astype(np.float32)


def ending(name: str, rows: Array, view: Array) -> dict[str, Array]:
    """What brings rows that are diffused into a view's columns: their centre, and the linear map from what is left."""
    return {f"{name} mean": mean_row(rows), f"{name} columns": linear_map(centred(rows.copy()), view)}


def finished(a: Mapping[str, Array], name: str, rows: Array) -> Array:
    """Rows that are diffused as columns of the view, by what `ending` gave."""
    placed: Array = unit(rows - a[f"{name} mean"]) @ a[f"{name} columns"]
    return placed


class RowPropagation:
    """The step of P = D^-1/2 (A + I) D^-1/2 for rows that were not in the graph, each as if it alone had been added.

    Args:
        joined: how strongly each row is joined to each node, [row, node]. degree: of the nodes, [node].
    """

    def __init__(self, joined: sp.csr_matrix, degree: Array) -> None:
        own = np.asarray(joined.sum(1)).ravel().astype(np.float64) + 1
        share = joined.tocoo()
        weights = share.data / np.sqrt(own[share.row] * (degree[share.col] + 1 + share.data))
        self._along = sp.csr_matrix((weights.astype(np.float32), (share.row, share.col)), shape=joined.shape)
        self._loop = (1 / own).astype(np.float32)[:, None]

    def __call__(self, nodes: Array, start: Array, alpha: float) -> Array:
        """(1 − α) P z + α x solved for the row's z, the nodes' being known."""
        keep = np.float32(1 - alpha)
        total: Array = (keep * (self._along @ nodes) + np.float32(alpha) * start) / (1 - keep * self._loop)
        return total


class RowWalk(RowPropagation):
    """The same of the random walk with loops."""

    def __init__(self, joined: sp.csr_matrix) -> None:
        own = np.asarray(joined.sum(1)).ravel() + 1
        self._along = (sp.diags(1 / own) @ joined).astype(np.float32).tocsr()
        self._loop = (1 / own).astype(np.float32)[:, None]
