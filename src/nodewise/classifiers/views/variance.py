"""What asking a node takes off the variance of all others: what `gain` asks by, and what of it follows from the graph
alone.
"""

from __future__ import annotations

import torch

from nodewise.classifiers.views.graph_views import GraphViews
from nodewise.classifiers.views.posterior import FIRST_RIDGE, RIDGES
from nodewise.ground.compute import in_blocks

__all__ = ["BLOCK", "GRAM_NODES", "WIDE_BLOCK", "first_gains", "paired_gain", "variance_gain"]

GRAM_NODES = 2**17
"""Nodes that the sum over all nodes is taken from at least, where there are twice as many or more.

What that costs falls with the root of their number: with 4,096 of 20,000 nodes the chosen one's gain was 0.8 % below
the best on average over ten views, 6 % at worst."""

BLOCK, WIDE_BLOCK = 2**18, 2**29
"""Numbers in the largest intermediate tensor on the CPU and on a GPU: wider ones are made in blocks of nodes."""


def variance_gain(
    across: torch.Tensor, covariance: torch.Tensor, wanted: torch.Tensor, ridge: torch.Tensor
) -> torch.Tensor:
    """What asking each node takes off the posterior variance of all others, each weighted.

    Σ_v w_v cov(u, v)² / (var(u) + r), [run, node].

    With the posterior covariance zᵤᵀ M z_v of a ridge regression with prior variance 1 the sum is zᵤᵀ M G M zᵤ, G = Σ_v
    w_v z_v z_vᵀ: columns² work a node instead of one for each pair of nodes. On graphs of 262,144 nodes or more G comes
    from evenly spaced nodes. Several views are done at once, with a dimension more in front of everything but
    ``wanted``.

    Args:
        across: z of all nodes, turned: [column, node].
        covariance: M = (I + Zᵀ Z / r)⁻¹, Z the labelled rows: [run, column, column].
        wanted: w, how much each node's certainty is worth, [run, node].
        ridge: r, [run].
    """
    runs, (columns, nodes) = covariance.shape[-3], across.shape[-2:]
    room = BLOCK if across.device.type == "cpu" else WIDE_BLOCK
    size = max(1, room // max(1, covariance.shape[:-2].numel() * columns))
    stride = max(1, nodes // GRAM_NODES)
    sampled, worth = (
        (across, wanted[:, None]) if stride == 1 else (across[..., ::stride], wanted[:, None, ::stride] * stride)
    )
    gram = torch.empty(0)
    for first in range(0, sampled.shape[-1], size):
        block = sampled[..., None, :, first : first + size]  # [1, column, node]
        part = (block * worth[..., first : first + size]) @ block.transpose(-1, -2)
        gram = gram.add_(part) if first else part
    both = torch.cat([covariance @ gram @ covariance, covariance], -3).flatten(-3, -2)  # [2 run × column, column]
    parts = []
    for first in range(0, nodes, size):
        block = across[..., first : first + size]
        parts.append((both @ block).unflatten(-2, (2 * runs, columns)).mul_(block[..., None, :, :]).sum(-2))
    reduction, variance = (parts[0] if len(parts) == 1 else torch.cat(parts, -1)).split(runs, -2)
    result: torch.Tensor = reduction / (variance + ridge[..., None])
    return result


def paired_gain(
    pairs: torch.Tensor, covariance: torch.Tensor, wanted: torch.Tensor, ridge: torch.Tensor
) -> torch.Tensor:
    """The same from the products of columns, [pair, node]: half the work, which pays where several runs share it."""
    runs, columns = covariance.shape[:2]
    row, column = torch.triu_indices(columns, columns)
    sums, gram = wanted @ pairs.T, torch.empty_like(covariance)
    gram[:, row, column] = sums
    gram[:, column, row] = sums
    both = torch.cat([covariance @ gram @ covariance, covariance])[:, row, column]
    reduction, variance = ((2 - (row == column).to(both.dtype)) * both @ pairs).split(runs)
    result: torch.Tensor = reduction / (variance + ridge[:, None])
    return result


def first_gains(views: GraphViews) -> torch.Tensor:
    """What asking each node takes off the variance in each view before any label, every node worth the same.

    [view, node], on the CPU, to the bit what `variance_gain` gives then.
    """
    columns, gains = views.leading_columns, torch.empty(len(views.names), len(views.columns))
    start = torch.eye(columns)[None], torch.ones(1, len(views.columns)), torch.tensor([RIDGES[FIRST_RIDGE]])

    def fill(first: int, end: int) -> None:
        with torch.no_grad():
            for view in range(first, end):
                gains[view] = variance_gain(views.turned(view), *start)[0]

    in_blocks(len(gains), 1, fill)
    return gains
