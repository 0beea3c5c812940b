"""The views of a graph as the posterior and `gain` look at them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

__all__ = ["LEADING", "SAMPLED", "GraphViews"]

LEADING = 32
"""Leading columns of a view that are enough to tell where a label is worth most, of the view of the edges all of them.
"""

SAMPLED = 2**16
"""Nodes in a sample of a large graph."""

_PAIRS = 2**25
"""Products of columns that are kept at most."""

_TURNED = 4096
"""Nodes whose columns are turned at once: what stays near is ten times as fast."""


@dataclass(frozen=True)
class GraphViews:
    """The views of a graph.

    Attributes:
        names: of the views.
        columns: float32 [node, view, column], on the graph's device; narrower views are filled up with zeros.
        leading_columns: how many of them tell where a label is worth most.
        first_gains: of very many nodes on the CPU, what `variance.first_gains` gives.
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

    def turned(self, view: int) -> torch.Tensor:
        """The leading columns of one view, turned: [leading column, node]; of many views few are asked for."""
        if view not in self._turned:
            columns = self.columns[:, view, : self.leading_columns]
            turned = columns.new_empty(columns.shape[::-1])
            for rows, out in zip(columns.split(_TURNED), turned.split(_TURNED, 1), strict=True):
                out.copy_(rows.contiguous().T)
            self._turned[view] = turned
        return self._turned[view]

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
        if views * len(row) * nodes > _PAIRS:
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
