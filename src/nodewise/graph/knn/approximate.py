"""Nearly the k nearest neighbours of every row by the cosine, where there are too many rows to compare all with all.

Rows are compared that fall into the same leaf of one of several trees, each of which divides the rows in halves by
directions drawn from a fixed seed; then each row's nearest so far are asked for theirs. Libraries for this would bring
a compiler or a build of their own (pynndescent, hnswlib, faiss), and none promises the same result on any number of
threads, as this does. Between machines whose products round differently, rows that are nearly or just as near may
change places; `neighbours` alone is exact.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from nodewise.ground.compute import in_blocks

__all__ = ["approximate_neighbours"]

_TREES, _LEAF = 8, 256
"""Trees, and rows in a leaf at most."""

_ROWS, _LEAVES, _PROJECTED = 256, 32, 4096
"""Rows whose nearest are asked for theirs at once, leaves that are compared and rows that are projected at once.

So few that what is gathered for them stays in the processor's caches."""

Array = npt.NDArray[Any]
_Best = tuple[torch.Tensor, torch.Tensor]  # scores and indices of the nearest so far, [row, k] each


def approximate_neighbours(x: Array, k: int) -> tuple[Array, Array]:
    """The pairs (row, one of its k nearest rows by the cosine) that the trees and the nearest ones' nearest give."""
    z = torch.from_numpy(np.ascontiguousarray(x, np.float32))
    z = z / z.norm(dim=1, keepdim=True).clamp_min(1e-9)
    count = len(z)
    best = torch.full((count, k), -torch.inf), torch.zeros(count, k, dtype=torch.int64)
    draws = np.random.default_rng(0)
    for _ in range(_TREES):
        leaves = _leaves(z, draws)  # [leaf, node]
        in_blocks(len(leaves), _LEAVES, partial(_compare, z, leaves, best))
    before, distinct = best[1].clone(), torch.ones_like(leaves, dtype=torch.bool)
    distinct[:, 1:] = leaves[:, 1:] != leaves[:, :-1]
    # leaf by leaf: nodes that are near each other ask for the same rows, which the processor's caches then hold
    in_blocks(count, _ROWS, partial(_ask_nearest, z, before, best, leaves[distinct]))
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
        order = _by_leaf(leaf, along)
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


def _by_leaf(leaf: torch.Tensor, along: torch.Tensor) -> torch.Tensor:
    """The nodes by their leaf, in it by how far they lie along its direction, equals by their number: int64 [node].

    Where leaf, distance and number fit into one whole number together, one sort of these takes less time.
    """
    bits = (len(leaf) - 1).bit_length()
    if int(leaf.max()).bit_length() + 32 + bits > 63:
        return torch.from_numpy(np.lexsort((along.numpy(), leaf.numpy())))
    key = leaf << 32
    key += _turned((along + 0.0).view(torch.int32)).to(torch.int64) + 2**31  # -0 is 0
    key = (key << bits) + torch.arange(len(leaf))
    sorted_keys = key.numpy()
    sorted_keys.sort()
    return torch.from_numpy(sorted_keys & (2**bits - 1))


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


def _ask_nearest(
    z: torch.Tensor, nearest: torch.Tensor, best: _Best, order: torch.Tensor, first: int, end: int
) -> None:
    """Better neighbours for the nodes that stand there in an order, from their nearest ones' nearest."""
    nodes = order[first:end]
    others = nearest[nearest[nodes]].flatten(1)  # [node, k × k]
    scores = (z[others] @ z[nodes, :, None])[..., 0]
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
