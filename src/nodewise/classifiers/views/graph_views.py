"""The views of a graph as the posterior and `gain` look at them, and what asking a node takes off their variance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from nodewise.ground.compute import in_blocks

__all__ = [
    "BLOCK",
    "GRAM_NODES",
    "LEADING",
    "SAMPLED",
    "WIDE_BLOCK",
    "GraphViews",
    "first_gains",
    "paired_gain",
    "variance_gain",
]

LEADING = 32
"""Leading columns of a view that are enough to tell where a label is worth most, of the views of the edges all of them.
"""

SAMPLED = 2**16
"""Nodes in a sample of a large graph."""

_KEPT = 2**25
"""Numbers that are kept at most of what is computed from the views: 128 MB."""

_TURNED = 4096
"""Nodes whose columns are turned at once: what stays near is ten times as fast."""

GRAM_NODES = 2**17
"""Nodes that the sum over all nodes is taken from at least, where there are twice as many or more.

What that costs falls with the root of their number: with 4,096 of 20,000 nodes the chosen one's gain was 0.8 % below
the best on average over ten views, 6 % at worst."""

BLOCK, WIDE_BLOCK = 2**18, 2**29
"""Numbers in the largest intermediate tensor on the CPU and on a GPU: wider ones are made in blocks of nodes."""


@dataclass(frozen=True)
class GraphViews:
    """The views of a graph.

    Attributes:
        names: of the views.
        columns: float32 [node, view, column], on the graph's device; narrower views are filled up with zeros.
        leading_columns: how many of them tell where a label is worth most.
        first_gains: of very many nodes on the CPU, what the function of that name gives.
    """

    names: tuple[str, ...]
    columns: torch.Tensor
    leading_columns: int = LEADING
    first_gains: torch.Tensor | None = None

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

    def leading_rows(self, nodes: torch.Tensor) -> torch.Tensor:
        """The leading columns of some nodes, int64 [...], in every view: [view, ..., leading column]."""
        return self.columns[nodes][..., : self.leading_columns].movedim(-2, 0).contiguous()

    def turned(self, view: int, together: int) -> torch.Tensor:
        """The leading columns of one view, turned: [leading column, node].

        They are kept for the next question, unless this one looks at so many views together that all would take much
        room: of many views few are asked for later.
        """
        if view in self._turned:
            return self._turned[view]
        columns = self.columns[:, view, : self.leading_columns]
        turned = columns.new_empty(columns.shape[::-1])
        for rows, out in zip(columns.split(_TURNED), turned.split(_TURNED, 1), strict=True):
            out.copy_(rows.contiguous().T)
        if together * turned.numel() <= _KEPT:
            self._turned[view] = turned
        return turned

    def spaced(self, stride: int) -> torch.Tensor:
        """The leading columns of evenly spaced nodes, turned, the views one below the other: [view × column, node]."""
        if stride not in self._spaced:
            some = self.columns[::stride, :, : self.leading_columns].contiguous()
            self._spaced[stride] = some.permute(1, 2, 0).contiguous().flatten(0, 1)
        return self._spaced[stride]

    @cached_property
    def _turned(self) -> dict[int, torch.Tensor]:
        return {}

    @cached_property
    def _spaced(self) -> dict[int, torch.Tensor]:
        return {}

    @cached_property
    def pairs(self) -> torch.Tensor | None:
        """Products of two leading columns each, the upper triangle of z zᵀ: [view, pair, node].

        None where they would take over 128 MB.
        """
        views, columns, nodes = self.across.shape
        row, column = torch.triu_indices(columns, columns)
        if views * len(row) * nodes > _KEPT:
            return None
        return torch.stack([view[row] * view[column] for view in self.across])

    def part(self, nodes: torch.Tensor) -> GraphViews:
        """The views of some nodes alone, int64 [node]."""
        return GraphViews(self.names, self.columns[nodes], self.leading_columns)

    @cached_property
    def sampled(self) -> torch.Tensor:
        """Nodes that stand for all where there are very many, from a fixed seed, int64 [node]."""
        count = len(self.columns)
        nodes = np.arange(count) if count <= SAMPLED else np.random.default_rng(0).permutation(count)[:SAMPLED]
        return torch.from_numpy(np.sort(nodes)).to(self.columns.device)

    @cached_property
    def sample(self) -> tuple[torch.Tensor, GraphViews]:
        """The same and their views, the same ones whenever it is asked."""
        return self.sampled, self if len(self.columns) <= SAMPLED else self.part(self.sampled)

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
        columns = self.columns.to(device, dtype)
        return GraphViews(
            self.names, columns, self.leading_columns, self.first_gains if columns is self.columns else None
        )


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


def first_gains(views: GraphViews, ridge: float) -> torch.Tensor:
    """What asking each node takes off the variance in each view before any label, every node worth the same.

    [view, node], on the CPU, to the bit what `variance_gain` gives with the ridge that is taken then.
    """
    columns = min(views.leading_columns, views.columns.shape[2])
    gains = torch.empty(len(views.names), len(views.columns))
    start = torch.eye(columns)[None], torch.ones(1, len(views.columns)), torch.tensor([ridge])

    def fill(first: int, end: int) -> None:
        with torch.no_grad():
            for view in range(first, end):
                gains[view] = variance_gain(views.turned(view, len(gains)), *start)[0]

    in_blocks(len(gains), 1, fill)
    return gains
