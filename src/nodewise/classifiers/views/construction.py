"""Views of a graph: matrices of node vectors that need no label, made once for each graph.

Features are scaled by row, reduced to their leading 256 directions, and only then diffused, which is the same since both are linear; sparse ones are
never dense as a whole. Every view is centred (those of features), brought to rows of unit length and reduced to its leading columns, sorted by how much
they carry. Reductions are eigenvectors of Gram matrices, exact, or Lanczos' to a tolerance from a start that follows from the graph: nothing is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from scipy.sparse.linalg import LinearOperator, eigsh

from nodewise.graph.tensors import GraphTensors, csr_product, csr_tensor
from nodewise.ground.events import Progress, Reporter, Silent

__all__ = ["LARGE", "LEADING", "ROWS", "SAMPLED", "GraphViews", "diffuse", "gram_matrix", "make_views", "product", "row_blocks"]

REDUCED = 256
"""Directions of the features that are kept before they are diffused."""

WIDTH = 64
"""Columns of a view of the features."""

LEADING = 32
"""Leading columns of a view that are enough to tell where a label is worth most."""

SAMPLED = 2**16
"""Nodes in a sample of a large graph."""

LARGE = 100_000
"""Nodes from which a graph is large."""

ROWS = 65536
"""Rows that are worked on at once where a whole copy would take too much memory."""

_PAIRS = 2**25
"""Products of columns that are kept at most."""

SPECTRUM = 32
"""Columns of the view of the edges alone."""

_DENSE = 1500
"""Rows or columns up to which eigenvectors are taken from the whole matrix; above, by Lanczos' method."""

_NAMES = ("spectrum", "role", "near", "far", "farther", "farthest", "walk", "two hops", "own", "layers", "nothing")
"""The views in the order in which they stand side by side."""

Array = npt.NDArray[Any]
Product = Callable[[Array], Array]


@dataclass(frozen=True)
class GraphViews:
    """The views of a graph.

    Attributes:
        names: of the views.
        columns: float32 [node, view, column], on the graph's device; narrower views are filled up with zeros.
    """

    names: tuple[str, ...]
    columns: torch.Tensor

    @property
    def flat(self) -> torch.Tensor:
        """The views side by side: [node, view × column]."""
        return self.columns.flatten(1)

    @cached_property
    def leading(self) -> torch.Tensor:
        """The leading columns of every view, each view in one piece of memory: [view, node, at most 32]."""
        return self.columns[:, :, :LEADING].transpose(0, 1).contiguous()

    @cached_property
    def across(self) -> torch.Tensor:
        """The same turned: [view, at most 32, node]."""
        return self.leading.transpose(1, 2).contiguous()

    @cached_property
    def pairs(self) -> torch.Tensor | None:
        """Products of two leading columns each, the upper triangle of z zᵀ: [view, pair, node]; None where they would take over 128 MB."""
        views, columns, nodes = self.across.shape
        row, column = torch.triu_indices(columns, columns)
        if views * len(row) * nodes > _PAIRS:
            return None
        return torch.stack([view[row] * view[column] for view in self.across])

    def part(self, nodes: torch.Tensor) -> GraphViews:
        """The views of some nodes alone, int64 [node]."""
        return GraphViews(self.names, self.columns[nodes])

    @cached_property
    def sample(self) -> tuple[torch.Tensor, GraphViews]:
        """Nodes that stand for all where there are very many, from a fixed seed, int64 [node], and their views: the same ones whenever it is asked."""
        count, device = len(self.columns), self.columns.device
        if count <= SAMPLED:
            return torch.arange(count, device=device), self
        nodes = torch.from_numpy(np.sort(np.random.default_rng(0).permutation(count)[:SAMPLED])).to(device)
        return nodes, self.part(nodes)

    def to(self, device: torch.device, dtype: torch.dtype) -> GraphViews:
        """The same on another device."""
        return GraphViews(self.names, self.columns.to(device, dtype))


def make_views(graph: GraphTensors, reporter: Reporter | None = None) -> GraphViews:
    """The views of a graph, on the CPU.

    With P the symmetric propagation D^-1/2 (A + I) D^-1/2, W the random walk with loops and N the mean over neighbours:

    - ``near``, ``far``, ``farther``, ``farthest``: features diffused by P, z ← (1 − α) P z + α x, with α 0.1, 0.05, 0.02 and 0.005 in 10, 20, 40 and 100
      steps; ``walk``: by W, as ``near``;
    - ``own``: the features; ``two hops``: N N x; ``layers``: own, one and two hops side by side;
    - ``spectrum``: leading eigenvectors of (D + d̄)^-1/2 A (D + d̄)^-1/2, d̄ the mean degree, times their eigenvalues;
    - ``role``: cosines of the ranks of the node's degree, of its neighbours' mean degree and of theirs.

    A graph without features has the last two; one without edges only ``own``.
    """
    report = reporter or Silent()
    adjacency = _scipy(graph.adjacency)
    total = (2 if adjacency.nnz else 0) + ((8 if adjacency.nnz else 1) if graph.has_features else 0) or 1
    found: dict[str, Array] = {}
    for name, view in _all_views(graph, adjacency):
        found[name] = view.astype(np.float32, copy=False)
        report(Progress("views", len(found), total))
    names = tuple(name for name in _NAMES if name in found)
    columns = np.zeros((graph.num_nodes, len(names), max(block.shape[1] for block in found.values())), np.float32)
    for number, name in enumerate(names):
        block = found.pop(name)
        columns[:, number, : block.shape[1]] = block
    return GraphViews(names, torch.from_numpy(columns))


def _all_views(graph: GraphTensors, adjacency: sp.csr_matrix) -> Iterator[tuple[str, Array]]:
    """The views as they are made: what needs most memory first, when few are there yet."""
    if graph.has_features:
        x = np.ascontiguousarray(_reduced(graph), np.float32)
        yield "own", _narrow(_centred(x.copy()), WIDTH)
        if adjacency.nnz:
            yield from _feature_views(x, adjacency)
        del x
    if adjacency.nnz:
        yield "spectrum", _spectrum(adjacency)
        yield "role", _unit(_roles(adjacency))
    elif not graph.has_features:
        yield "nothing", np.ones((graph.num_nodes, 1))


def _feature_views(x: Array, adjacency: sp.csr_matrix) -> Iterator[tuple[str, Array]]:
    (count, width), apart = x.shape, _apart(adjacency)
    mean = _Product(sp.diags(1 / np.maximum(np.asarray(adjacency.sum(1)).ravel(), 1)) @ adjacency)
    layers = np.empty((count, 3 * width), np.float32)
    layers[:, :width] = x
    layers[:, width : 2 * width] = one = mean(x)
    layers[:, 2 * width :] = two = mean(one)
    del mean, one
    yield "two hops", _narrow(_centred(two), WIDTH)
    del two
    for first in range(0, 3 * width, width):
        _centred(layers[:, first : first + width])
    yield "layers", _narrow(_centred(layers), WIDTH)
    del layers
    loops = (adjacency + sp.eye(count, format="csr")).astype(np.float32)
    size = np.asarray(loops.sum(1)).ravel()
    yield from _diffused(_Product(sp.diags(1 / size) @ loops), x, {"walk": (0.1, 10)}, apart)
    scale = sp.diags(size**-0.5)
    symmetric = _Product(scale @ loops @ scale)
    del loops
    series = {"near": (0.1, 10), "far": (0.05, 20), "farther": (0.02, 40), "farthest": (0.005, 100)}
    yield from _diffused(symmetric, x, series, apart)


def _apart(adjacency: sp.csr_matrix) -> Array:
    """Nodes of a large graph that are diffused by themselves, int64 [node]."""
    if adjacency.shape[0] < LARGE:
        return np.zeros(0, np.int64)
    from nodewise.classifiers.views.large import small_pieces

    return small_pieces(adjacency)


def _diffused(matrix: _Product, x: Array, wanted: dict[str, tuple[float, int]], apart: Array) -> Iterator[tuple[str, Array]]:
    """Features diffused with several α in K steps each, all from one series of powers.

    K steps of z ← (1 − α) P z + α x from z = x give (1 − α)^K P^K x + α Σ_{k<K} (1 − α)^k P^k x.
    """
    if len(x) < LARGE:
        sums = diffuse(matrix, x, wanted)
    else:
        from nodewise.classifiers.views.large import diffuse_large

        sums = diffuse_large(matrix, x, wanted, apart, dict(diffuse(matrix.part(apart), x[apart], wanted)))
    for name, total in sums:
        yield name, _narrow(_centred(total), WIDTH)


def diffuse(matrix: Product, x: Array, wanted: dict[str, tuple[float, int]]) -> Iterator[tuple[str, Array]]:
    """Σ_k c_k P^k x for several series of coefficients: for α and K the sum is (1 − α)^K P^K x + α Σ_{k<K} (1 − α)^k P^k x."""
    sums = {name: alpha * x for name, (alpha, _) in wanted.items()}
    power = x
    for step in range(1, max(steps for _, steps in wanted.values()) + 1):
        power = matrix(power)
        for name, (alpha, steps) in wanted.items():
            if step <= steps:
                share = np.float32((1 - alpha) ** step * (alpha if step < steps else 1))
                for first in range(0, len(x), ROWS):
                    sums[name][first : first + ROWS] += share * power[first : first + ROWS]
            if step == steps:
                yield name, sums.pop(name)


class _Product:
    """The product of a sparse matrix, float32, and dense columns, on as many threads as torch has: the same numbers, whatever their number."""

    def __init__(self, matrix: sp.csr_matrix) -> None:
        matrix = matrix.tocsr().astype(np.float32, copy=False)
        matrix.sort_indices()
        self._rows = matrix
        rows, columns, values = (torch.from_numpy(array) for array in (matrix.indptr, matrix.indices, matrix.data))
        self._matrix = csr_tensor(rows, columns, values, matrix.shape)

    def __call__(self, z: Array) -> Array:
        out = np.empty((self._matrix.shape[0], z.shape[1]), np.float32)
        return csr_product(self._matrix, torch.from_numpy(z), torch.from_numpy(out)).numpy()

    def part(self, nodes: Array) -> _Product:
        """The same among some nodes alone."""
        return _Product(self._rows[nodes][:, nodes])


def _unit(z: Array) -> Array:
    """Rows of unit length, in place."""
    for first in range(0, len(z), ROWS):  # in blocks, so that nothing of the whole's size is made
        block = z[first : first + ROWS]
        length = np.sqrt(np.einsum("nd,nd->n", block, block, dtype=np.float64))
        block /= np.maximum(length, 1e-9)[:, None].astype(z.dtype)
    return z


def _centred(z: Array) -> Array:
    """Rows of unit length after the columns' means are taken off, in place."""
    z -= z.mean(0, dtype=np.float64).astype(z.dtype)
    return _unit(z)


def _narrow(z: Array, width: int) -> Array:
    """The leading columns in the basis of the columns' Gram matrix, in which the inner products of rows are kept best.

    Few columns are turned, too: which of them lead, and are looked at where a label is chosen, does not depend on the features' order.
    """
    vectors = np.linalg.eigh(gram_matrix(z))[1][:, ::-1][:, :width]
    return product(z, np.ascontiguousarray(vectors, z.dtype))


def row_blocks(z: Array) -> Iterator[Array]:
    """A matrix in blocks of rows."""
    return (z[first : first + ROWS] for first in range(0, len(z), ROWS))


def gram_matrix(z: Array, other: Array | None = None) -> Array:
    """Zᵀ Z, or Zᵀ times another matrix, summed up in double precision without a double copy."""
    second = z if other is None else other
    gram = np.zeros((z.shape[1], second.shape[1]))
    for one, two in zip(row_blocks(z), row_blocks(second), strict=True):
        left = one.astype(np.float64)
        gram += product(left.T, left if other is None else two.astype(np.float64))
    return gram


def product(one: Array, other: Array) -> Array:
    """The product of two dense matrices. Large ones are torch's: its threads and those of numpy's library, one after the other, wait for each other."""
    if max(one.shape) < min(ROWS, LARGE):
        plain: Array = one @ other
        return plain
    return torch.matmul(torch.from_numpy(one), torch.from_numpy(other)).numpy()


def _scipy(matrix: object) -> sp.csr_matrix:
    arrays = tuple(getattr(matrix, name).cpu().numpy() for name in ("values", "col", "crow"))
    return sp.csr_matrix(arrays, shape=matrix.shape)  # type: ignore[attr-defined]


def _reduced(graph: GraphTensors) -> Array:
    """The features, rows of unit length, in their leading directions: [node, at most 256]."""
    x: Any
    if graph.dense_x is not None and (graph.num_features <= REDUCED or graph.num_features <= _DENSE < graph.num_nodes):
        return _reduced_dense(graph.dense_x.cpu().numpy())
    if graph.sparse_x is not None:
        x = _scipy(graph.sparse_x).astype(np.float64)
        offset = None if graph.offset is None else graph.offset.cpu().numpy().astype(np.float64)
    else:
        assert graph.dense_x is not None
        x, offset = graph.dense_x.cpu().numpy().astype(np.float64), None
    square: Any = x.multiply(x) if graph.sparse_x is not None else x * x
    squared = np.asarray(square.sum(1)).ravel()
    if offset is not None:  # |x − o|² = |x|² − 2 x·o + |o|²
        squared = squared - 2 * (x @ offset) + offset @ offset
    inverse = 1 / np.sqrt(np.maximum(squared, 1e-24))
    inverse[squared <= 1e-24] = 0
    scale: Any = sp.diags(inverse)
    x = (scale @ x).tocsr() if sp.issparse(x) else inverse[:, None] * x

    def times(v: Array) -> Array:
        product: Array = x @ v
        return product if offset is None else product - np.multiply.outer(inverse, offset @ v)

    def turned(u: Array) -> Array:
        product: Array = x.T @ u
        return product if offset is None else product - np.multiply.outer(offset, inverse @ u)

    rows, columns = x.shape
    if columns <= REDUCED:
        return times(np.eye(columns))
    if min(rows, columns) <= _DENSE:
        if rows < columns:
            other = np.eye(rows)
            gram = times(turned(other))
            values, vectors = np.linalg.eigh(gram)
            order = np.argsort(-values, kind="stable")[:REDUCED]
            leading: Array = vectors[:, order] * np.sqrt(np.maximum(values[order], 0))
            return leading
        gram = turned(times(np.eye(columns)))
        return times(np.linalg.eigh(gram)[1][:, ::-1][:, :REDUCED])
    start = np.sqrt(np.maximum(turned(np.ones(rows)), 0)) + 1e-3
    operator = LinearOperator((columns, columns), matvec=lambda v: turned(times(v)), dtype=np.float64)
    values, vectors = eigsh(operator, k=REDUCED, v0=start, tol=1e-3)
    return times(np.ascontiguousarray(vectors[:, ::-1]))


def _reduced_dense(x: Array) -> Array:
    """Dense rows of unit length in their leading directions, in blocks: rows that lie on the disk are never in memory as a whole."""
    if x.shape[1] <= REDUCED:
        return _unit_or_zero(x)
    gram = np.zeros((x.shape[1], x.shape[1]))
    for first in range(0, len(x), ROWS):
        gram += gram_matrix(_unit_or_zero(x[first : first + ROWS]))
    vectors = np.ascontiguousarray(np.linalg.eigh(gram)[1][:, ::-1][:, :REDUCED], np.float32)
    reduced = np.empty((len(x), REDUCED), np.float32)
    for first in range(0, len(x), ROWS):
        reduced[first : first + ROWS] = product(_unit_or_zero(x[first : first + ROWS]), vectors)
    return reduced


def _unit_or_zero(x: Array) -> Array:
    """A copy with rows of unit length; those of no length to speak of are zero."""
    squared = np.einsum("nd,nd->n", x, x, dtype=np.float64)
    inverse = 1 / np.sqrt(np.maximum(squared, 1e-24))
    inverse[squared <= 1e-24] = 0
    scaled: Array = x * inverse[:, None].astype(np.float32)
    return scaled


def _spectrum(adjacency: sp.csr_matrix) -> Array:
    """Eigenvectors of the largest positive eigenvalues of (D + d̄)^-1/2 A (D + d̄)^-1/2, times these, rows of unit length: [node, at most 32]."""
    degree = np.asarray(adjacency.sum(1)).ravel().astype(np.float64)
    root = (degree + degree.mean()) ** -0.5
    matrix = (sp.diags(root) @ adjacency @ sp.diags(root)).tocsr()
    if len(degree) >= LARGE:
        from nodewise.classifiers.views.large import leading_eigenvectors

        values, vectors = leading_eigenvectors(_Product(matrix), len(degree), SPECTRUM)
    elif len(degree) < _DENSE:
        values, vectors = np.linalg.eigh(matrix.toarray())
    else:
        values, vectors = eigsh(matrix, k=SPECTRUM, which="LA", v0=1 / root, tol=1e-4)
    order = np.argsort(-values, kind="stable")[:SPECTRUM]
    order = order[values[order] > 1e-6]
    return _unit(vectors[:, order] * values[order])


def _roles(adjacency: sp.csr_matrix) -> Array:
    """cos(π j r) / j, j = 1 … 5, of the ranks r in [0, 1] of three quantities: [node, 15]; equal nodes share a rank."""
    adjacency = adjacency.astype(np.float64)
    degree = np.asarray(adjacency.sum(1)).ravel()
    own = np.log1p(degree)
    share = sp.diags(1 / np.maximum(degree, 1)) @ adjacency
    one = share @ own
    columns = []
    for quantity in (own, one, share @ one):
        quantity = quantity.astype(np.float32)  # so that the rounding of sums in double precision does not tell equal nodes apart
        ordered = np.sort(quantity)
        rank = (np.searchsorted(ordered, quantity, "left") + np.searchsorted(ordered, quantity, "right")) / (2 * len(ordered))
        columns += [np.cos(math.pi * j * rank) / j for j in range(1, 6)]
    return np.stack(columns, 1)
