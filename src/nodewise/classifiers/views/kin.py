"""Kin: the nodes that are nearest in a view, joined to each other, so that features reach them as neighbours.

Few nodes are compared with all others, exactly. Of more nodes those are compared that fall into the same leaf of one of
several trees, each of which divides the nodes in halves by directions drawn from a fixed seed; then each node's nearest
so far are asked for theirs. Libraries for this would bring a compiler or a build of their own (pynndescent, hnswlib,
faiss), and none promises the same result on every machine.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from nodewise.graph.knn.neighbours import nearest_neighbours
from nodewise.ground.compute import in_blocks

__all__ = ["NEAREST", "approximate_neighbours", "joined_to_nearest"]

NEAREST = 10
"""Nodes that each node is joined to."""

EXACT = 24_000
"""Nodes up to which all are compared with all."""

_TREES, _LEAF = 8, 256
"""Trees, and nodes in a leaf at most."""

_ROWS, _LEAVES, _PROJECTED = 256, 32, 4096
"""Nodes whose nearest are asked for theirs at once, leaves that are compared and nodes that are projected at once.

So few that what is gathered for them stays in the processor's caches."""

Array = npt.NDArray[Any]
_Best = tuple[torch.Tensor, torch.Tensor]  # scores and nodes of the nearest so far, [node, k] each


def joined_to_nearest(view: Array) -> sp.csr_matrix:
    """The nodes joined to their nearest in a view by the cosine, both ways: 0 and 1, symmetric, [node, node]."""
    count = len(view)
    k = min(NEAREST, count - 1)
    if count <= EXACT:
        one, other = nearest_neighbours(np.ascontiguousarray(view, np.float32), k) if k else np.zeros((2, 0), np.int64)
    else:
        one, other = approximate_neighbours(view, k)
    matrix = sp.csr_matrix((np.ones(len(one), np.float32), (one, other)), shape=(count, count))
    return matrix.maximum(matrix.T).tocsr()


def approximate_neighbours(view: Array, k: int) -> tuple[Array, Array]:
    """The pairs (row, one of its k nearest rows by the cosine) that the trees and the nearest ones' nearest tell."""
    z = torch.from_numpy(np.ascontiguousarray(view, np.float32))
    z = z / z.norm(dim=1, keepdim=True).clamp_min(1e-9)
    count = len(z)
    best = torch.full((count, k), -torch.inf), torch.zeros(count, k, dtype=torch.int64)
    draws = np.random.default_rng(0)
    for _ in range(_TREES):
        leaves = _leaves(z, draws)  # [leaf, node]
        in_blocks(len(leaves), _LEAVES, partial(_compare, z, leaves, best))
    before = best[1].clone()
    in_blocks(count, _ROWS, partial(_ask_nearest, z, before, best))
    scores, nearest = best
    row = torch.arange(count)[:, None].expand(-1, k)
    useful = scores > 0  # under the cosine only what has something in common is near
    return row[useful].numpy(), nearest[useful].numpy()


def _leaves(z: torch.Tensor, draws: np.random.Generator) -> torch.Tensor:
    """Nodes in leaves of equal size, halved again and again along a drawn direction: int64 [leaf, node]."""
    count, levels = len(z), max(0, int(np.ceil(np.log2(len(z) / _LEAF))))
    leaf = torch.zeros(count, dtype=torch.int64)
    order = torch.arange(count)
    for level in range(levels):
        directions = torch.from_numpy(draws.standard_normal((2**level, z.shape[1]), dtype=np.float32))
        along = torch.empty(count)
        in_blocks(count, _PROJECTED, partial(_project, z, directions, leaf, along))
        order = torch.from_numpy(np.lexsort((along.numpy(), leaf.numpy())))
        sizes = torch.bincount(leaf, minlength=2**level)
        within = torch.arange(count) - torch.repeat_interleave(sizes.cumsum(0) - sizes, sizes)
        right = within >= torch.repeat_interleave((sizes + 1) // 2, sizes)
        leaf[order] = 2 * torch.repeat_interleave(torch.arange(2**level), sizes) + right
    sizes = torch.bincount(leaf, minlength=2**levels)
    order = torch.argsort(leaf, stable=True)
    starts = sizes.cumsum(0) - sizes
    width = int(sizes.max())
    # a leaf that is one node short repeats its last one, which is never its own neighbour
    return order[(starts[:, None] + torch.arange(width)).minimum((starts + sizes - 1)[:, None])]


def _project(
    z: torch.Tensor, directions: torch.Tensor, leaf: torch.Tensor, along: torch.Tensor, first: int, end: int
) -> None:
    """How far some nodes lie along their leaf's direction."""
    along[first:end] = (z[first:end] * directions[leaf[first:end]]).sum(1)


def _compare(z: torch.Tensor, every: torch.Tensor, best: _Best, first: int, end: int) -> None:
    """Better neighbours for the nodes of some leaves, from their own leaf."""
    leaves = every[first:end]
    rows = z[leaves]  # [leaf, node, column]
    scores = rows @ rows.mT
    scores.diagonal(dim1=1, dim2=2).fill_(-torch.inf)
    repeated = leaves[:, -1] == leaves[:, -2]  # the last node, where a leaf is one short
    scores[repeated, -1, -2] = scores[repeated, -2, -1] = -torch.inf
    k = best[0].shape[1]
    top = scores.topk(min(k, scores.shape[-1]), -1)
    others = leaves[:, None, :].expand_as(scores).gather(-1, top.indices)
    _merge(best, leaves.flatten(), top.values.flatten(0, 1), others.flatten(0, 1))


def _ask_nearest(z: torch.Tensor, nearest: torch.Tensor, best: _Best, first: int, end: int) -> None:
    """Better neighbours for some nodes, from their nearest ones' nearest."""
    nodes = torch.arange(first, end)
    others = nearest[nearest[first:end]].flatten(1)  # [node, k × k]
    scores = (z[others] @ z[first:end, :, None])[..., 0]
    scores[others == nodes[:, None]] = -torch.inf
    _merge(best, nodes, scores, others)


def _merge(best: _Best, nodes: torch.Tensor, scores: torch.Tensor, others: torch.Tensor) -> None:
    """Keep each node's k best, each neighbour once.

    One number holds a neighbour and its score, so that one sort brings together the neighbours that are there twice,
    the better score first.
    """
    k = best[0].shape[1]
    both, which = torch.cat([best[0][nodes], scores], 1), torch.cat([best[1][nodes], others], 1)
    packed = which.mul_(2**32).sub_(_turned(both.view(torch.int32))).numpy()
    packed.sort(axis=1)
    numbers = torch.from_numpy(packed)
    which = (numbers + 2**31) >> 32
    both = _turned((which * 2**32 - numbers).to(torch.int32)).view(torch.float32)
    both[:, 1:].masked_fill_(which[:, 1:] == which[:, :-1], -torch.inf)
    top = both.topk(k, 1)
    best[0][nodes], best[1][nodes] = top.values, which.gather(1, top.indices)


def _turned(bits: torch.Tensor) -> torch.Tensor:
    """The bits of floats as whole numbers in the same order, and those again as bits: int32."""
    return torch.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
