"""Views of a graph: matrices of node vectors that need no label, made once for each graph.

Features are scaled by row, reduced to their leading 256 directions, and only then diffused, which is the same since
both are linear; sparse ones are never dense as a whole. Every view is centred (those of features), brought to rows of
unit length and reduced to its leading columns, sorted by how much they carry. Reductions are eigenvectors of Gram
matrices, exact, or Lanczos' to a tolerance beyond which nothing that is drawn matters (`reduction`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from scipy.sparse.linalg import eigsh
from threadpoolctl import threadpool_limits

from nodewise.graph.tensors import GraphTensors, csr_product, csr_tensor
from nodewise.ground.compute import in_blocks, one_thread
from nodewise.ground.events import Progress, Reporter, Silent

__all__ = [
    "LARGE",
    "LEADING",
    "ROWS",
    "SAMPLED",
    "GraphViews",
    "SparseProduct",
    "diffuse",
    "gram_matrix",
    "make_views",
    "product",
    "row_blocks",
    "scipy_matrix",
    "unit_or_zero",
]

REDUCED = 256
"""Directions of the features that are kept before they are diffused."""

WIDTH = 64
"""Columns of a view of the features, at least."""

LEADING, MOST_LEADING = 32, 256
"""Leading columns of a view that are enough to tell where a label is worth most, of the view of the edges all of them.

With more than 25 classes they are more, up to 256: so many classes cannot be told apart in fewer directions than classes.
"""

SAMPLED = 2**16
"""Nodes in a sample of a large graph."""

LARGE = 100_000
"""Nodes from which a graph is large."""

ROWS = 65536
"""Rows that are worked on at once where a whole copy would take too much memory."""

_PAIRS = 2**25
"""Products of columns that are kept at most."""

_DENSE = 1500
"""Nodes up to which the edges' eigenvectors are taken from the whole matrix; above, by Lanczos' method."""

_BLOCK, _COLUMNS, _CACHED = 4096, 32, 30_000
"""Rows of a sparse product that one core does at a time, columns that one core diffuses at a time, and nodes from which
it is half as many.
"""

_NAMES = (
    "spectrum",
    "role",
    "near",
    "far",
    "farther",
    "farthest",
    "walk",
    "two hops",
    "own",
    "layers",
    "kin",
    "kin near",
    "nothing",
)
"""The views in the order in which they stand side by side."""

_CENTRED_BEFORE = ("farther", "farthest")
"""Views whose features are centred before they are diffused, too.

From far away all nodes look alike but for their degree, if they have a common part.
"""

Array = npt.NDArray[Any]
Product = Callable[[Array], Array]


@dataclass(frozen=True)
class GraphViews:
    """The views of a graph.

    Attributes:
        names: of the views.
        columns: float32 [node, view, column], on the graph's device; narrower views are filled up with zeros.
        leading_columns: how many of them tell where a label is worth most.
    """

    names: tuple[str, ...]
    columns: torch.Tensor
    leading_columns: int = LEADING

    @property
    def flat(self) -> torch.Tensor:
        """The views side by side: [node, view × column]."""
        return self.columns.flatten(1)

    @cached_property
    def leading(self) -> torch.Tensor:
        """The leading columns of every view, each view in one piece of memory: [view, node, leading column]."""
        return self.columns[:, :, : self.leading_columns].transpose(0, 1).contiguous()

    @cached_property
    def across(self) -> torch.Tensor:
        """The same turned: [view, leading column, node]."""
        return self.leading.transpose(1, 2).contiguous()

    @cached_property
    def pairs(self) -> torch.Tensor | None:
        """Products of two leading columns each, the upper triangle of z zᵀ: [view, pair, node].

        None where they would take over 128 MB.
        """
        views, columns, nodes = self.across.shape
        row, column = torch.triu_indices(columns, columns)
        if views * len(row) * nodes > _PAIRS:
            return None
        return torch.stack([view[row] * view[column] for view in self.across])

    def part(self, nodes: torch.Tensor) -> GraphViews:
        """The views of some nodes alone, int64 [node]."""
        return GraphViews(self.names, self.columns[nodes], self.leading_columns)

    @cached_property
    def sample(self) -> tuple[torch.Tensor, GraphViews]:
        """Nodes that stand for all where there are very many, from a fixed seed, int64 [node], and their views.

        The same ones whenever it is asked.
        """
        count, device = len(self.columns), self.columns.device
        if count <= SAMPLED:
            return torch.arange(count, device=device), self
        nodes = torch.from_numpy(np.sort(np.random.default_rng(0).permutation(count)[:SAMPLED])).to(device)
        return nodes, self.part(nodes)

    def wider(self, leading: int, make: Callable[[], GraphViews]) -> GraphViews:
        """The views with so many leading columns: made when first asked for, and kept with these."""
        if leading not in self._wider:
            self._wider[leading] = make()
        return self._wider[leading]

    @cached_property
    def _wider(self) -> dict[int, GraphViews]:
        return {}

    def to(self, device: torch.device, dtype: torch.dtype) -> GraphViews:
        """The same on another device."""
        return GraphViews(self.names, self.columns.to(device, dtype), self.leading_columns)


def leading_columns(classes: int) -> int:
    """Leading columns for so many classes: a power of two that is a quarter above them, from 32 to 256."""
    return min(MOST_LEADING, max(LEADING, 2 ** math.ceil(math.log2(max(1.0, 1.25 * classes)))))


def make_views(graph: GraphTensors, reporter: Reporter | None = None, leading: int = LEADING) -> GraphViews:
    """The views of a graph, on the CPU.

    With P the symmetric propagation D^-1/2 (A + I) D^-1/2, W the random walk with loops and N the mean over neighbours:

    - ``near``, ``far``, ``farther``, ``farthest``: features diffused by P, z ← (1 − α) P z + α x, with α 0.1, 0.05,
      0.02 and 0.005 in 10, 20, 40 and 100 steps, the last two of features less their means; ``walk``: by W, as
      ``near``;
    - ``own``: the features; ``two hops``: N N x; ``layers``: own, one and two hops side by side;
    - ``spectrum``: leading eigenvectors of (D + d̄)^-1/2 A (D + d̄)^-1/2, d̄ the mean degree, times their eigenvalues;
    - ``role``: cosines of the ranks of the node's degree, of its neighbours' mean degree and of theirs.

    A graph without features has the last two; one without edges only ``own``.
    """
    report = reporter or Silent()
    adjacency = scipy_matrix(graph.adjacency)
    total = (2 if adjacency.nnz else 0) + ((8 if adjacency.nnz else 1) if graph.has_features else 0) or 1
    found: dict[str, Array] = {}
    with _threads(graph.num_nodes):
        for name, view in _all_views(graph, adjacency, leading):
            found[name] = view.astype(np.float32, copy=False)
            report(Progress("views", len(found), total))
    names = tuple(name for name in _NAMES if name in found)
    columns = np.zeros((graph.num_nodes, len(names), max(block.shape[1] for block in found.values())), np.float32)
    for number, name in enumerate(names):
        block = found.pop(name)
        columns[:, number, : block.shape[1]] = block
    return GraphViews(names, torch.from_numpy(columns), leading)


@contextmanager
def _threads(nodes: int) -> Iterator[None]:
    """numpy's library on one thread, and torch as well but for the dense products of large graphs.

    Sparse products are done in blocks on all cores.

    Threads that wait for each other between small products cost more than they bring, many times more on a busy
    machine.
    """
    with threadpool_limits(1, user_api="blas"), nullcontext() if nodes >= LARGE else one_thread():
        yield


KIN: dict[str, Any] = {"views": ("kin", "kin near"), "alpha": 0.05, "steps": 20, "width": 256}


def _all_views(graph: GraphTensors, adjacency: sp.csr_matrix, leading: int) -> Iterator[tuple[str, Array]]:
    """The views as they are made: what needs most memory first, when few are there yet."""
    if graph.has_features:
        x, near, width = _features(graph), None, max(WIDTH, leading)
        own = _narrow(_centred(x.copy()), width)
        yield "own", own
        if adjacency.nnz:
            for name, view in _feature_views(x, adjacency, width):
                near = view if name == "near" else near
                yield name, view
        yield from _kin_views(x, own, near, adjacency, width)
        del x
    if adjacency.nnz:
        yield "spectrum", _spectrum(adjacency, leading)
        yield "role", _unit(_roles(adjacency))
    elif not graph.has_features:
        yield "nothing", np.ones((graph.num_nodes, 1))


def _features(graph: GraphTensors) -> Array:
    """The features, rows of unit length, in their leading directions where they have many.

    Float32 [node, at most 256].
    """
    if graph.dense_x is not None and graph.num_features <= REDUCED:
        return unit_or_zero(graph.dense_x.cpu().numpy()).astype(np.float32, copy=False)
    from nodewise.classifiers.views.reduction import reduced

    return np.ascontiguousarray(reduced(graph), np.float32)


def _feature_views(x: Array, adjacency: sp.csr_matrix, columns: int) -> Iterator[tuple[str, Array]]:
    (count, width), apart = x.shape, _apart(adjacency)
    mean = SparseProduct(sp.diags(1 / np.maximum(np.asarray(adjacency.sum(1)).ravel(), 1)) @ adjacency)
    layers = np.empty((count, 3 * width), np.float32)
    layers[:, :width] = x
    layers[:, width : 2 * width] = one = mean(x)
    layers[:, 2 * width :] = two = mean(one)
    del mean, one
    yield "two hops", _narrow(_centred(two), columns)
    del two
    for first in range(0, 3 * width, width):
        _centred(layers[:, first : first + width])
    yield "layers", _narrow(_centred(layers), columns)
    del layers
    loops = (adjacency + sp.eye(count, format="csr")).astype(np.float32)
    size = np.asarray(loops.sum(1)).ravel()
    yield from _diffused(SparseProduct(sp.diags(1 / size) @ loops), x, {"walk": (0.1, 10)}, apart, columns)
    scale = sp.diags(size**-0.5)
    symmetric = SparseProduct(scale @ loops @ scale)
    del loops
    yield from _diffused(symmetric, x, {"near": (0.1, 10), "far": (0.05, 20)}, apart, columns)
    x -= x.mean(0, dtype=np.float64).astype(x.dtype)  # in place: nothing else is made of it
    yield from _diffused(symmetric, x, {"farther": (0.02, 40), "farthest": (0.005, 100)}, apart, columns)


def _kin_views(
    x: Array, own: Array, near: Array | None, adjacency: sp.csr_matrix, columns: int
) -> Iterator[tuple[str, Array]]:
    """Features diffused over the nearest nodes in the features, and over the given edges and the nearest in ``near``."""
    from nodewise.classifiers.views.kin import joined_to_nearest

    wanted = (KIN["alpha"], KIN["steps"])
    x = x - x.mean(0, dtype=np.float64).astype(x.dtype)
    by = _centred(x.copy())
    if KIN["width"] < x.shape[1]:
        x = _narrow(x, KIN["width"])
    if "kin" in KIN["views"]:
        yield "kin", _over(joined_to_nearest(by if KIN.get("by") else own), x, wanted, columns)
    if "kin given" in KIN["views"] and adjacency.nnz:
        both = joined_to_nearest(own)
        yield (
            "kin near",
            _over(both + adjacency.astype(np.float32) * np.float32(both.sum() / adjacency.sum()), x, wanted, columns),
        )
    if "kin near" in KIN["views"] and near is not None:
        both = joined_to_nearest(near)
        yield (
            "kin near",
            _over(both + adjacency.astype(np.float32) * np.float32(both.sum() / adjacency.sum()), x, wanted, columns),
        )


def _over(joined: sp.csr_matrix, x: Array, wanted: tuple[float, int], columns: int) -> Array:
    loops = (joined + sp.eye(joined.shape[0], format="csr")).astype(np.float32)
    scale = sp.diags(np.asarray(loops.sum(1)).ravel() ** -0.5)
    ((_, total),) = diffuse(SparseProduct(scale @ loops @ scale), x, {"kin": wanted})
    return _narrow(_centred(_unit(total)), columns)


def _apart(adjacency: sp.csr_matrix) -> Array:
    """Nodes of a large graph that are diffused by themselves, int64 [node]."""
    if adjacency.shape[0] < LARGE:
        return np.zeros(0, np.int64)
    from nodewise.classifiers.views.large import small_pieces

    return small_pieces(adjacency)


def _diffused(
    matrix: SparseProduct, x: Array, wanted: dict[str, tuple[float, int]], apart: Array, columns: int
) -> Iterator[tuple[str, Array]]:
    """Features diffused with several α in K steps each, all from one series of powers.

    K steps of z ← (1 − α) P z + α x from z = x give (1 − α)^K P^K x + α Σ_{k<K} (1 − α)^k P^k x.
    """
    if len(x) < LARGE:
        sums = diffuse(matrix, x, wanted)
    else:
        from nodewise.classifiers.views.large import diffuse_large

        sums = diffuse_large(matrix, x, wanted, apart, dict(diffuse(matrix.part(apart), x[apart], wanted)))
    for name, total in sums:
        yield name, _narrow(_centred(_unit(total)) if name in _CENTRED_BEFORE else _centred(total), columns)


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
        return SparseProduct(self._rows[nodes][:, nodes])


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
    gram = np.zeros((z.shape[1], second.shape[1]))
    for one, two in zip(row_blocks(z), row_blocks(second), strict=True):
        left = one.astype(np.float64)
        gram += product(left.T, left if other is None else two.astype(np.float64))
    return gram


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


def _spectrum(adjacency: sp.csr_matrix, wanted: int) -> Array:
    """Eigenvectors of the largest positive eigenvalues of (D + d̄)^-1/2 A (D + d̄)^-1/2, times these, rows of unit
    length: [node, at most wanted].
    """
    degree = np.asarray(adjacency.sum(1)).ravel().astype(np.float64)
    root = (degree + degree.mean()) ** -0.5
    matrix = (sp.diags(root) @ adjacency @ sp.diags(root)).tocsr()
    if len(degree) >= LARGE:
        from nodewise.classifiers.views.large import leading_eigenvectors

        values, vectors = leading_eigenvectors(SparseProduct(matrix), len(degree), wanted)
    elif len(degree) < _DENSE:
        values, vectors = np.linalg.eigh(matrix.toarray())
    else:
        values, vectors = eigsh(matrix, k=wanted, which="LA", v0=1 / root, tol=1e-4)
    order = np.argsort(-values, kind="stable")[:wanted]
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
        quantity = quantity.astype(
            np.float32
        )  # so that the rounding of sums in double precision does not tell equal nodes apart
        ordered = np.sort(quantity)
        rank = (np.searchsorted(ordered, quantity, "left") + np.searchsorted(ordered, quantity, "right")) / (
            2 * len(ordered)
        )
        columns += [np.cos(math.pi * j * rank) / j for j in range(1, 6)]
    return np.stack(columns, 1)
