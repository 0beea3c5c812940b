"""The GCN of one person's session: classes may come while it learns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
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
        self._rows: _Rows | None = None
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

    def _build(self) -> None:
        """As the batch's, but dense rows are looked up in one table instead of being made and padded anew with every label."""
        graph = self.graph
        if graph.sparse_x is not None and graph.offset is None:
            super()._build()
            return
        if self._rows is None:
            dense = graph.dense_x if graph.dense_x is not None else graph.input_rows(np.arange(graph.num_nodes))
            self._rows = _Rows(dense, self.settings.dropout)
        self._field.build()
        self._rows.look_at(self._field.far_node)
        self._input = self._rows  # type: ignore[assignment]  # of the same two methods
        self._stale = False

    def _widen(self, w1: torch.Tensor) -> None:
        self.w1 = w1
        self.graph.num_classes = w1.shape[-1]

    def _column(self, name: str, classes: int) -> torch.Tensor:
        generator = torch.Generator().manual_seed(derive_seed(self.seed, "class", name))
        return torch.empty(self.settings.hidden, dtype=self.graph.dtype).uniform_(-1, 1, generator=generator) / math.sqrt(classes)


class _Rows:
    """X W0 over the far nodes of a single run, X dense.

    The memory is kept from epoch to epoch: the first touch of as much new memory would cost more than the products. A number is dropped by 16
    random bits, as in the batch's form; what is kept is scaled after the product, which is smaller.
    """

    def __init__(self, dense: torch.Tensor, rate: float) -> None:
        self._dense, self._rate = dense, rate
        self._room = dense.new_empty(0, dense.shape[1])
        self._far = torch.zeros(0, dtype=torch.int64)

    def look_at(self, far: npt.NDArray[np.int64]) -> None:
        """The far nodes from now on."""
        self._far = torch.from_numpy(far)
        if len(far) > len(self._room):
            self._room = self._dense.new_empty(min(len(self._dense), len(far) + len(far) // 2), self._dense.shape[1])

    def forward(self, w0: torch.Tensor, noise: np.random.Generator) -> torch.Tensor:
        self._dropped = torch.index_select(self._dense, 0, self._far, out=self._room[: len(self._far)])
        count = self._dropped.numel()
        drawn = noise.bit_generator.random_raw(-(-count // 4)).view(np.uint16)[:count]
        self._dropped.masked_fill_(torch.from_numpy(drawn < round(self._rate * 65536)).view_as(self._dropped), 0.0)
        return torch.mm(self._dropped, w0[0]).div_(1 - self._rate)

    def backward(self, back: torch.Tensor) -> torch.Tensor:
        return torch.mm(self._dropped.T, back).div_(1 - self._rate)
