"""The paper's classifier, a two-layer GCN, for many independent runs at once, on the CPU.

Section 4.1 and the protocol: logits = Â relu(Â X W0) W1 with no bias, dropout on the input and the hidden layer, Adam with L2
added to the gradient, loss = mean cross-entropy over the labelled nodes, scaled by min(labelled, 10) / 10.

Gradients are written out by hand and restricted to the rows that the loss reaches (see `field`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

from nodewise.classifiers.gcn.field import Field
from nodewise.graph.tensors import GraphTensors, csr_product, csr_tensor
from nodewise.ground.errors import InputError
from nodewise.ground.seeds import numpy_generator

__all__ = ["Gcn", "GcnSettings"]


@dataclass(frozen=True)
class GcnSettings:
    """The classifier's settings; the defaults are the protocol's."""

    hidden: int = 64
    dropout: float = 0.2
    learning_rate: float = 0.03
    weight_decay: float = 5e-4
    warm_up: int = 10

    def __post_init__(self) -> None:
        if not (self.hidden > 0 and 0 <= self.dropout < 1 and self.learning_rate > 0 and self.weight_decay >= 0 and self.warm_up > 0):
            raise InputError(f"a classifier cannot be trained with {self}: sizes and rates must be positive and dropout below 1")


class Gcn:
    """Runs of the GCN over one graph, each with weights, labels and dropout of its own.

    Attributes:
        w0: [run, feature, hidden].
        w1: [run, hidden, class].
        labelled_count: labels that each run has; the same for all.
    """

    def __init__(self, graph: GraphTensors, runs: int, settings: GcnSettings | None = None) -> None:
        self.graph, self.runs, self.settings = graph, runs, settings or GcnSettings()
        hidden, classes = self.settings.hidden, graph.num_classes
        self.w0 = torch.zeros(runs, graph.num_features, hidden, dtype=graph.dtype)
        self.w1 = torch.zeros(runs, hidden, classes, dtype=graph.dtype)
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Draw new weights and forget all labels. Everything random from here on follows from ``seed``."""
        self.seed = seed
        generator = torch.Generator().manual_seed(seed)
        for weight in (self.w0, self.w1):
            weight.uniform_(-1, 1, generator=generator).div_(math.sqrt(weight.shape[-1]))
        rates = self.settings
        self._adam = torch.optim.Adam([self.w0, self.w1], lr=rates.learning_rate, weight_decay=rates.weight_decay, fused=True)
        self.epochs_done = self.labelled_count = 0
        self._field = Field(self.graph, self.runs)
        self._stale = True
        self._labels = torch.zeros(self.runs, 0, dtype=torch.int64)

    def reserve(self, labels: int) -> None:
        """Nothing to do: here labels take room as they come."""

    def add_labels(self, nodes: torch.Tensor, labels: torch.Tensor) -> None:
        """Give each run one more labelled node: two tensors [run]."""
        self._field.add(nodes.numpy())
        self._labels = torch.cat([self._labels, labels[:, None]], dim=1)
        self.labelled_count += 1
        self._stale = True

    def epoch(self) -> None:
        """One step of Adam on the labelled nodes' loss."""
        for weight, gradient in zip((self.w0, self.w1), self.gradients(), strict=True):
            weight.grad = gradient
        self._adam.step()
        self.epochs_done += 1

    def gradients(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The loss's gradients without the L2 term, with the dropout of the present epoch: shaped as w0 and w1."""
        if self._stale:
            self._build()
        noise = numpy_generator(self.seed, "dropout", self.epochs_done)
        far = self._input.forward(self.w0, noise)  # [far, hidden]
        near = csr_product(self._field.first.forward, far).relu_()  # [near, hidden]
        near.mul_(self._keep(noise, near.shape))
        read = csr_product(self._field.second.forward, near).view(self.runs, self.labelled_count, -1)  # [run, label, hidden]
        error = torch.softmax(torch.bmm(read, self.w1), -1)  # [run, label, class]
        error.scatter_add_(2, self._labels[..., None], error.new_full((*self._labels.shape, 1), -1.0))
        error.mul_(min(self.labelled_count, self.settings.warm_up) / self.settings.warm_up / self.labelled_count)
        w1_gradient = torch.bmm(read.transpose(1, 2), error)
        back = torch.bmm(error, self.w1.transpose(1, 2)).view(-1, self.settings.hidden)
        back = csr_product(self._field.second.backward, back)
        # the hidden layer is positive exactly where it was active and kept
        back.mul_(near > 0).div_(1 - self.settings.dropout)
        back = csr_product(self._field.first.backward, back)  # [far, hidden]
        return self._input.backward(back).view_as(self.w0), w1_gradient

    def snapshot(self) -> _Snapshot:
        """All that training changes, to come back to with `restore`."""
        adam = [{key: value.clone() for key, value in self._adam.state.get(weight, {}).items()} for weight in (self.w0, self.w1)]
        counts = (self.seed, self.epochs_done, self.labelled_count)
        return _Snapshot(self.w0.clone(), self.w1.clone(), adam, self._field.copy(), self._labels, counts)

    def restore(self, snapshot: _Snapshot) -> None:
        """Go on from a snapshot as if nothing had happened since."""
        for weight, kept, adam in zip((self.w0, self.w1), (snapshot.w0, snapshot.w1), snapshot.adam, strict=True):
            weight.copy_(kept)
            self._adam.state[weight] = {key: value.clone() for key, value in adam.items()}
        self._field, self._labels, self._stale = snapshot.field.copy(), snapshot.labels, True
        self.seed, self.epochs_done, self.labelled_count = snapshot.counts

    def hidden(self) -> torch.Tensor:
        """The hidden layer, dropout off: [run, node, hidden]."""
        return self.graph.norm.mm(self.graph.input_product(self.w0)).relu_()

    def logits(self) -> torch.Tensor:
        """The output, dropout off: [run, node, class]."""
        if not hasattr(self, "_room"):  # kept from call to call: the first touch of new memory costs more than the products
            self._room = self.w0.new_empty(2, self.runs, self.graph.num_nodes, self.settings.hidden)
        hidden = self.graph.norm.mm(self.graph.input_product(self.w0, self._room[0]), self._room[1]).relu_()
        # turned, the product is wide instead of narrow: several times as fast
        scores = torch.bmm(self.w1.transpose(1, 2), hidden.transpose(1, 2))  # [run, class, node]
        return self.graph.norm.mm(scores.transpose(1, 2))

    def _build(self) -> None:
        self._field.build()
        sparse = self.graph.sparse_x is not None and self.graph.offset is None
        self._input = (_SparseInput if sparse else _DenseInput)(self.graph, self._field, self.runs, self._keep)
        self._stale = False

    def _keep(self, noise: np.random.Generator, shape: tuple[int, ...]) -> torch.Tensor:
        """Dropout's factors: 0, or 1 / (1 - dropout). Drawn with 16 bits each, so a rate of 0.2 is 0.199997."""
        rate = self.settings.dropout
        drawn = torch.from_numpy(noise.integers(0, 65536, size=shape, dtype=np.uint16) >= round(rate * 65536))
        return drawn.to(self.graph.dtype).mul_(1 / (1 - rate))


class _Snapshot(NamedTuple):
    w0: torch.Tensor
    w1: torch.Tensor
    adam: list[dict[str, torch.Tensor]]
    field: Field
    labels: torch.Tensor
    counts: tuple[int, int, int]


class _SparseInput:
    """X W0 over the far nodes, X sparse, with dropout on its entries."""

    def __init__(self, graph: GraphTensors, field: Field, runs: int, keep) -> None:  # type: ignore[no-untyped-def]
        assert graph.sparse_x is not None
        self._fold, order = field.input_entries(graph.sparse_x)
        self._order, self._keep = torch.from_numpy(order), keep

    def forward(self, w0: torch.Tensor, noise: np.random.Generator) -> torch.Tensor:
        whole = self._fold.forward
        self._values = whole.values() * self._keep(noise, tuple(whole.values().shape))
        return csr_product(csr_tensor(whole.crow_indices(), whole.col_indices(), self._values, whole.shape), w0.view(-1, w0.shape[-1]))

    def backward(self, back: torch.Tensor) -> torch.Tensor:
        whole = self._fold.backward
        return csr_product(
            csr_tensor(whole.crow_indices(), whole.col_indices(), self._values.index_select(0, self._order), whole.shape), back
        )


class _DenseInput:
    """X W0 over the far nodes, X dense, each run's rows padded to the longest."""

    def __init__(self, graph: GraphTensors, field: Field, runs: int, keep) -> None:  # type: ignore[no-untyped-def]
        self._keep, longest = keep, int(field.far_count.max())
        inside = np.arange(longest) < field.far_count[:, None]
        self._slots = torch.from_numpy(np.flatnonzero(inside))  # [far], the padded row of each far node
        self._rows = torch.zeros(runs, longest, graph.num_features, dtype=graph.dtype)
        self._rows.view(runs * longest, -1)[self._slots] = graph.input_rows(field.far_node)

    def forward(self, w0: torch.Tensor, noise: np.random.Generator) -> torch.Tensor:
        self._dropped = self._keep(noise, tuple(self._rows.shape)).mul_(self._rows)
        return torch.bmm(self._dropped, w0).view(-1, w0.shape[-1])[self._slots]

    def backward(self, back: torch.Tensor) -> torch.Tensor:
        runs, longest, _ = self._rows.shape
        padded = back.new_zeros(runs * longest, back.shape[1])
        padded[self._slots] = back
        return torch.bmm(self._dropped.transpose(1, 2), padded.view(runs, longest, -1))
