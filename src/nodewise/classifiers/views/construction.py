"""Views of a graph: matrices of node vectors that need no label, made once for each graph.

Features are scaled by row, reduced to their leading 256 directions, and only then diffused, which is the same since both are linear; sparse ones are
never dense as a whole. Every view is centred (those of features), brought to rows of unit length and reduced to its leading columns, sorted by how much
they carry. Reductions are eigenvectors of Gram matrices, exact, or Lanczos' to a tolerance from a start that follows from the graph: nothing is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from scipy.sparse.linalg import LinearOperator, eigsh

from nodewise.graph.tensors import GraphTensors
from nodewise.ground.events import Progress, Reporter, Silent

__all__ = ["LEADING", "GraphViews", "make_views"]

REDUCED = 256
"""Directions of the features that are kept before they are diffused."""

WIDTH = 64
"""Columns of a view of the features."""

LEADING = 32
"""Leading columns of a view that are enough to tell where a label is worth most."""

SPECTRUM = 32
"""Columns of the view of the edges alone."""

_DENSE = 1500
"""Rows or columns up to which eigenvectors are taken from the whole matrix; above, by Lanczos' method."""

Array = npt.NDArray[Any]


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
    makers: dict[str, Callable[[], Array]] = {}
    if adjacency.nnz:
        makers["spectrum"] = lambda: _spectrum(adjacency)
        makers["role"] = lambda: _unit(_roles(adjacency))
    if graph.has_features:
        makers |= _feature_views(_reduced(graph), adjacency)
    if not makers:
        makers["nothing"] = lambda: np.ones((graph.num_nodes, 1))
    blocks, names = [], list(makers)
    for number, name in enumerate(names):
        report(Progress("views", number, len(names)))
        blocks.append(makers[name]().astype(np.float32))
    report(Progress("views", len(names), len(names)))
    columns = np.zeros((graph.num_nodes, len(blocks), max(block.shape[1] for block in blocks)), np.float32)
    for number, block in enumerate(blocks):
        columns[:, number, : block.shape[1]] = block
    return GraphViews(tuple(names), torch.from_numpy(columns))


def _feature_views(x: Array, adjacency: sp.csr_matrix) -> dict[str, Callable[[], Array]]:
    if not adjacency.nnz:
        return {"own": lambda: _narrow(_centred(x), WIDTH)}
    count = x.shape[0]
    loops = (adjacency + sp.eye(count, format="csr")).astype(np.float32)
    size = np.asarray(loops.sum(1)).ravel()
    scale = sp.diags(size**-0.5)
    symmetric, walk = (scale @ loops @ scale).tocsr().astype(np.float32), (sp.diags(1 / size) @ loops).tocsr().astype(np.float32)
    mean = (sp.diags(1 / np.maximum(np.asarray(adjacency.sum(1)).ravel(), 1)) @ adjacency).tocsr().astype(np.float32)
    narrow = x.astype(np.float32)

    def diffused(matrix: sp.csr_matrix, alpha: float, steps: int) -> Array:
        z = narrow
        for _ in range(steps):
            z = matrix @ z
            z *= 1 - alpha
            z += alpha * narrow
        return _narrow(_centred(z), WIDTH)

    def layers() -> Array:
        one = mean @ narrow
        return _narrow(_centred(np.concatenate([_centred(narrow), _centred(one), _centred(mean @ one)], 1)), WIDTH)

    return {
        "near": lambda: diffused(symmetric, 0.1, 10),
        "far": lambda: diffused(symmetric, 0.05, 20),
        "farther": lambda: diffused(symmetric, 0.02, 40),
        "farthest": lambda: diffused(symmetric, 0.005, 100),
        "walk": lambda: diffused(walk, 0.1, 10),
        "two hops": lambda: _narrow(_centred(mean @ (mean @ narrow)), WIDTH),
        "own": lambda: _narrow(_centred(x), WIDTH),
        "layers": layers,
    }


def _unit(z: Array) -> Array:
    length = np.sqrt(np.einsum("nd,nd->n", z, z, dtype=np.float64))
    scaled: Array = z / np.maximum(length, 1e-9)[:, None].astype(z.dtype)
    return scaled


def _centred(z: Array) -> Array:
    return _unit(z - z.mean(0, dtype=np.float64).astype(z.dtype))


def _narrow(z: Array, width: int) -> Array:
    """The leading columns in the basis of the columns' Gram matrix, in which the inner products of rows are kept best."""
    if z.shape[1] <= width:
        return z
    gram = np.zeros((z.shape[1], z.shape[1]))
    for first in range(0, len(z), 65536):  # in blocks, so that sums are exact in double precision without a double copy
        block = z[first : first + 65536].astype(np.float64)
        gram += block.T @ block
    vectors = np.linalg.eigh(gram)[1][:, ::-1][:, :width]
    narrowed: Array = z @ vectors.astype(z.dtype)
    return narrowed


def _scipy(matrix: object) -> sp.csr_matrix:
    arrays = tuple(getattr(matrix, name).cpu().numpy() for name in ("values", "col", "crow"))
    return sp.csr_matrix(arrays, shape=matrix.shape)  # type: ignore[attr-defined]


def _reduced(graph: GraphTensors) -> Array:
    """The features, rows of unit length, in their leading directions: [node, at most 256]."""
    x: Any
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


def _spectrum(adjacency: sp.csr_matrix) -> Array:
    """Eigenvectors of the largest positive eigenvalues of (D + d̄)^-1/2 A (D + d̄)^-1/2, times these, rows of unit length: [node, at most 32]."""
    degree = np.asarray(adjacency.sum(1)).ravel().astype(np.float64)
    root = (degree + degree.mean()) ** -0.5
    matrix = (sp.diags(root) @ adjacency @ sp.diags(root)).tocsr()
    if len(degree) < _DENSE:
        values, vectors = np.linalg.eigh(matrix.toarray())
    else:
        values, vectors = eigsh(matrix, k=SPECTRUM, which="LA", v0=1 / root, tol=1e-4)
    order = np.argsort(-values, kind="stable")[:SPECTRUM]
    order = order[values[order] > 1e-6]
    return _unit(vectors[:, order] * values[order])


def _roles(adjacency: sp.csr_matrix) -> Array:
    """cos(π j r) / j, j = 1 … 5, of the ranks r in [0, 1] of three quantities: [node, 15]; equal nodes share a rank."""
    degree = np.asarray(adjacency.sum(1)).ravel()
    own = np.log1p(degree)
    share = sp.diags(1 / np.maximum(degree, 1)) @ adjacency
    one = share @ own
    columns = []
    for quantity in (own, one, share @ one):
        quantity = quantity.astype(np.float32)  # so that rounding does not tell equal nodes apart
        ordered = np.sort(quantity)
        rank = (np.searchsorted(ordered, quantity, "left") + np.searchsorted(ordered, quantity, "right")) / (2 * len(ordered))
        columns += [np.cos(math.pi * j * rank) / j for j in range(1, 6)]
    return np.stack(columns, 1)
