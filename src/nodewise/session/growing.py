"""The GCN of one person's session: classes may come while it learns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from nodewise.classifiers import Gcn
from nodewise.graph.tensors import GraphTensors
from nodewise.seeds import derive_seed

__all__ = ["GrowingGcn"]


class GrowingGcn(Gcn):
    """One run of the paper's classifier whose output gains a column with every new class.

    A class's weights follow from the seed and its name, uniform in ±1/√(classes there are then), as the protocol draws them; what Adam
    remembers of them starts at zero. With no class known there is one nameless column, so that a forward pass has something to give.
    """

    def __init__(self, graph: GraphTensors) -> None:
        graph.num_classes = max(1, graph.num_classes)
        super().__init__(graph, 1)

    def begin(self, seed: int, classes: Sequence[str]) -> None:
        """New weights for the given classes, no labels."""
        self._widen(torch.zeros(1, self.settings.hidden, max(1, len(classes)), dtype=self.graph.dtype))
        self.reset(seed)
        for number, name in enumerate(classes):
            self.w1[..., number] = self._column(name, len(classes))
        if not classes:
            self.w1[..., 0] = self._column("", 1)

    def add_class(self, name: str) -> None:
        """One more class, behind those there are."""
        kept = self._adam.state.pop(self.w1, {})
        classes = self.w1.shape[-1] + 1
        column = self._column(name, classes)[None, :, None]
        self._widen(torch.cat([self.w1, column], -1))
        self._adam.param_groups[0]["params"] = [self.w0, self.w1]
        if kept:
            self._adam.state[self.w1] = {
                key: value if value.dim() == 0 else torch.cat([value, torch.zeros_like(column)], -1) for key, value in kept.items()
            }

    def restore(self, snapshot: Any) -> None:
        """Go on from a snapshot, with the classes that there were then."""
        if snapshot.w1.shape != self.w1.shape:
            self._adam.state.pop(self.w1, None)
            self._widen(torch.empty_like(snapshot.w1))
            self._adam.param_groups[0]["params"] = [self.w0, self.w1]
        super().restore(snapshot)

    def _widen(self, w1: torch.Tensor) -> None:
        self.w1 = w1
        self.graph.num_classes = w1.shape[-1]

    def _column(self, name: str, classes: int) -> torch.Tensor:
        generator = torch.Generator().manual_seed(derive_seed(self.seed, "class", name))
        return torch.empty(self.settings.hidden, dtype=self.graph.dtype).uniform_(-1, 1, generator=generator) / math.sqrt(classes)
