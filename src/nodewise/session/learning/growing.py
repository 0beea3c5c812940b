"""The GCN of one person's session: classes may come while it learns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from nodewise.classifiers import Gcn
from nodewise.graph.tensors import GraphTensors, csr_product
from nodewise.ground.seeds import derive_seed, numpy_generator

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

    def gradients(self) -> tuple[torch.Tensor, torch.Tensor]:
        """As the batch's. Dense features are mixed over the neighbours before they meet the weights: far fewer rows do, see `_Rows`."""
        if self.graph.sparse_x is not None and self.graph.offset is None:
            return super().gradients()
        if self._stale:
            self._build_rows()
        assert self._rows is not None
        rate, count = self.settings.dropout, self.labelled_count
        noise = numpy_generator(self.seed, "dropout", self.epochs_done)
        mixed = self._rows.mixed(self._field.first.forward, noise)  # [near, feature]
        near = torch.mm(mixed, self.w0[0]).relu_()  # [near, hidden]
        near.mul_(self._keep(noise, tuple(near.shape)))
        read = csr_product(self._field.second.forward, near)  # [label, hidden]
        error = torch.softmax(torch.mm(read, self.w1[0]), -1)  # [label, class]
        error[torch.arange(count), self._labels[0]] -= 1
        error.mul_(min(count, self.settings.warm_up) / self.settings.warm_up / count)
        back = csr_product(self._field.second.backward, torch.mm(error, self.w1[0].T))
        back.mul_(near > 0).div_(1 - rate)  # positive exactly where it was active and kept
        return torch.mm(mixed.T, back)[None], torch.mm(read.T, error)[None]

    def _build_rows(self) -> None:
        graph = self.graph
        if self._rows is None:
            dense = graph.dense_x if graph.dense_x is not None else graph.input_rows(np.arange(graph.num_nodes))
            self._rows = _Rows(dense, self.settings.dropout)
        self._field.build()
        self._rows.look_at(self._field.far_node)
        self._stale = False

    def _widen(self, w1: torch.Tensor) -> None:
        self.w1 = w1
        self.graph.num_classes = w1.shape[-1]

    def _column(self, name: str, classes: int) -> torch.Tensor:
        generator = torch.Generator().manual_seed(derive_seed(self.seed, "class", name))
        return torch.empty(self.settings.hidden, dtype=self.graph.dtype).uniform_(-1, 1, generator=generator) / math.sqrt(classes)


class _Rows:
    """The far nodes' features of a single run, dense, with dropout, mixed over the near nodes' neighbours: Â (D ∘ X).

    Multiplying by Â first leaves the near nodes' rows only, a fraction of the far ones', for the two products with the weights. The memory is
    kept from epoch to epoch: the first touch of as much new memory would cost more than the products. A number is dropped by 16 random bits,
    as in the batch's form.
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

    def mixed(self, first: torch.Tensor, noise: np.random.Generator) -> torch.Tensor:
        """The product with the matrix from far to near nodes: [near, feature]."""
        dropped = torch.index_select(self._dense, 0, self._far, out=self._room[: len(self._far)])
        count = dropped.numel()
        drawn = noise.bit_generator.random_raw(-(-count // 4)).view(np.uint16)[:count]
        numbers = dropped.numpy()
        # several times as fast as torch's product with a mask
        np.multiply(numbers, (drawn >= round(self._rate * 65536)).reshape(numbers.shape), out=numbers)
        return csr_product(first, dropped).div_(1 - self._rate)
