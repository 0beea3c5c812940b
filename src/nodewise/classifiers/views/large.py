"""How views of large graphs are made.

The same matrices to a stated tolerance, in a number of products that does not grow with the graph.

Two things cost most. Features diffused a hundred times grow smooth: most of their directions fade, and are dropped once
they cannot change what is being summed up by more than a ten-thousandth of its size. Eigenvectors come from a block of
columns that a polynomial of the matrix is applied to, in a fixed number of products; Lanczos' method needs the more
steps the larger the graph, since eigenvalues lie closer to each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from scipy.sparse.csgraph import connected_components

from nodewise.classifiers.views.products import (
    LARGE,
    ROWS,
    Product,
    ProductKind,
    SparseProduct,
    diffuse,
    gram_matrix,
    product,
    row_blocks,
    symmetric_propagation,
)

__all__ = ["diffuse_large", "diffuse_over", "diffuse_pieces", "leading_eigenvectors", "small_pieces"]

_TOLERANCE = 1e-4
"""What directions that are dropped may change at most, in shares of the root mean square of the sums' centred rows."""

_PIECE = 1000
"""Nodes from which a piece of the graph is no small one."""

_LOOKS = frozenset((6, 10, 14, 18, 22, 26, 30, 36, 42, 50, 60, 75))
"""Steps after which directions may be dropped: looking costs about as much as half a step."""

_GUARD, _DEGREE, _ROUNDS = 8, 8, 5
"""Columns beside those wanted, the polynomials' degree, and how many are applied, one after another."""

Array = npt.NDArray[Any]


def small_pieces(adjacency: sp.csr_matrix) -> Array:
    """The nodes of pieces that nothing joins to the rest of a large graph, of fewer than a thousand nodes each, int64
    [node].

    Nothing fades there: an isolated node keeps its features for ever, and a few hundred would keep all directions
    alive.
    """
    piece = connected_components(adjacency, directed=False)[1]
    return np.flatnonzero(np.bincount(piece)[piece] < _PIECE)


def diffuse_over(
    joined: sp.csr_matrix, x: Array, wanted: dict[str, tuple[float, int]], kind: ProductKind
) -> Iterator[tuple[str, Array]]:
    """Columns diffused over a graph by P, as `products.diffuse` does; in a large graph as below."""
    matrix = symmetric_propagation(joined, kind)
    if len(x) < LARGE:
        return diffuse(matrix, x, wanted)
    return diffuse_pieces(matrix, x, wanted, small_pieces(joined))


def diffuse_pieces(
    matrix: SparseProduct,
    x: Array,
    wanted: dict[str, tuple[float, int]],
    alone: Array,
    row: Array | None = None,
    whole: tuple[str, ...] = (),
) -> Iterator[tuple[str, Array]]:
    """The same for a large graph, whose nodes in small pieces are known; arguments as for `diffuse_large`.

    A row that was taken off x comes back in the sums that are to be `whole`.
    """
    known = dict(diffuse(matrix.part(alone), x[alone], wanted))
    recipes = {name: recipe for name, recipe in wanted.items() if name in whole and row is not None}
    common = dict(diffuse(matrix, np.ones((len(x), 1), np.float32), recipes)) if recipes else {}
    return diffuse_large(matrix, x, wanted, alone, known, row, common)


def diffuse_large(
    matrix: Product,
    x: Array,
    wanted: dict[str, tuple[float, int]],
    alone: Array,
    known: dict[str, Array],
    row: Array | None = None,
    common: dict[str, Array] | None = None,
) -> Iterator[tuple[str, Array]]:
    """The same as `products.diffuse`, up to a rotation of the columns.

    With ‖P‖ ≤ 1 and coefficients that sum up to 1, a direction of P^k x changes no sum by more than its own size from
    there on; of random walks that holds in the norm that weighs nodes by how often they are visited. Directions whose
    sizes, all together, are below the tolerance are dropped, so that the later of a hundred products have few columns.

    Args:
        matrix: gives the product of P with columns.
        x: [node, column].
        wanted: α and the number of steps by name.
        alone: nodes that nothing joins to the others.
        known: what comes out for these, [node alone, column] by name.
        row: a row r that was taken off all rows of x; common: the same sums of one column of ones, [node, 1], by name,
            where a sum is wanted as if r were still there: that of x + 1 rᵀ.
    """
    turned = np.eye(x.shape[1], dtype=np.float32)  # from the columns of x to those of the sums
    sums = {name: alpha * x for name, (alpha, _) in wanted.items()}
    power, last = x, max(steps for _, steps in wanted.values())
    for step in range(1, last + 1):
        power = matrix(power)
        power[alone] = 0
        for name, (alpha, steps) in wanted.items():
            if step <= steps:
                share = (1 - alpha) ** step * (alpha if step < steps else 1)
                torch.from_numpy(sums[name])[:, : power.shape[1]].add_(torch.from_numpy(power), alpha=share)
            if step == steps:
                total = sums.pop(name)
                total[alone] = known[name] @ turned
                if row is not None and common and name in common:
                    torch.from_numpy(total).addmm_(*map(torch.from_numpy, (common[name], (row @ turned)[None])))
                yield name, total
        if step in _LOOKS and step + 8 <= last:  # else it would not pay
            power = _without_faded(power, [*sums.values()], turned)


def _without_faded(power: Array, sums: list[Array], turned: Array) -> Array:
    """The power in the basis of its own directions, the strongest first, without those that have faded.

    Sums and what is turned get the same basis.
    """
    count, width = power.shape
    values, vectors = np.linalg.eigh(gram_matrix(power) / count)
    values, vectors = np.maximum(values[::-1], 0), np.ascontiguousarray(vectors[:, ::-1], np.float32)
    least = min(map(_spread, sums))
    below = np.cumsum(values[::-1])[::-1] <= _TOLERANCE**2 * least  # together with all that are weaker
    kept = max(1, int(np.count_nonzero(~below)))
    if kept > 0.9 * width:
        return power
    for total in (*sums, turned):
        for first in range(0, len(total), ROWS):
            block = total[first : first + ROWS, :width]
            block[:] = product(block, vectors)
    return product(power, vectors[:, :kept])


def _spread(z: Array) -> float:
    """The mean square of the rows' lengths after the columns' means are taken off."""
    squares = sum(float(np.einsum("nd,nd->", block, block, dtype=np.float64)) for block in row_blocks(z))
    mean = z.mean(0, dtype=np.float64)
    return squares / len(z) - float(mean @ mean)


def leading_eigenvectors(matrix: Product, count: int, wanted: int, *, positive: bool = False) -> tuple[Array, Array]:
    """The largest eigenvalues of a symmetric matrix of norm at most 1 and their vectors, approximately.

    [wanted], [node, wanted].

    A block of columns, drawn from a fixed seed, is multiplied by Chebyshev polynomials of the matrix that are small
    wherever the block's eigenvalues are not, and brought to the best basis of what it spans after each. Eigenvalues
    that stand alone come out to six digits; those that crowd together at the edge of a random graph's spectrum are
    mixed with their neighbours, as they are by any change of the graph.

    Args:
        matrix: gives its product with columns.
        count: its rows.
        wanted: how many eigenvectors.
        positive: whether no eigenvalue is negative: polynomials of a lower degree are then enough.
    """
    start = np.random.default_rng(0).standard_normal((count, wanted + _GUARD), dtype=np.float32)
    basis = _best_basis(matrix, matrix(start))
    for _ in range(_ROUNDS):
        basis = _best_basis(matrix, _filtered(matrix, *basis, 0.0 if positive else -1.0))
    values, vectors, _ = basis
    return values[:wanted], vectors[:, :wanted]


def _filtered(matrix: Product, values: Array, block: Array, moved: Array, low: float) -> Array:
    """The columns times a Chebyshev polynomial of the matrix that stays within ±1 from `low` to the smallest of the
    values and grows fast above it.

    Just above `high`, T_k grows with k / √(high − low): the degree is the one that grows as fast as from −1 on.
    """
    high = max(float(values[-1]), 0.05)
    degree = math.ceil(_DEGREE * math.sqrt((high - low) / (high + 1)))
    centre, half = (low + high) / 2, (high - low) / 2
    before, now = block, (moved - np.float32(centre) * block) / np.float32(half)
    for _ in range(degree - 1):  # T_k+1(t) = 2 t T_k(t) − T_k−1(t), t = (A − centre) / half
        after = torch.from_numpy(matrix(now))
        after.mul_(2 / half).sub_(torch.from_numpy(now), alpha=2 * centre / half).sub_(torch.from_numpy(before))
        before, now = now, after.numpy()
    return now


def _best_basis(matrix: Product, z: Array) -> tuple[Array, Array, Array]:
    """Ritz values of what the columns span, the largest first, their orthonormal vectors, and the product of the matrix
    with these.
    """
    sizes, vectors = np.linalg.eigh(gram_matrix(z))
    useful = sizes > 1e-9 * sizes[-1]
    z = product(z, (vectors[:, useful] / np.sqrt(sizes[useful])).astype(np.float32))
    moved = matrix(z)
    inner = gram_matrix(z, moved)
    values, turn = np.linalg.eigh((inner + inner.T) / 2)
    values, turn = values[::-1], np.ascontiguousarray(turn[:, ::-1]).astype(np.float32)
    return values, product(z, turn), product(moved, turn)
