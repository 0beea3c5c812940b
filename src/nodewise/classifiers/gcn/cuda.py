"""The paper's GCN for many runs at once on a GPU: the same training step as `gcn`, as a handful of kernels.

Nothing here waits for the host: counts and seeds live on the device, so a step can be recorded once as a CUDA graph and
replayed.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp
import torch

from nodewise.classifiers.gcn import gcn_kernels as kernels
from nodewise.classifiers.gcn.learner import GcnSettings, labelled_loss, train_to_the_end
from nodewise.contracts import Capability, Learner
from nodewise.graph.sparse_kernels import uniform
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.events import Reporter

__all__ = ["GcnCudaLearner"]

_PART = 128  # entries of a feature's column that one program adds up
_PROGRAMS = 8192  # programs that share the nodes of all runs
_ENTRIES = 32  # entries of a row that are loaded at once
_FAR_TILE = {"ROWS": 16, "FEATURES": 64, "num_warps": 4}  # of the dense input's product
_BACK_TILE = {"ROWS": 32, "FEATURES": 64, "num_warps": 4}  # and of its gradient


class GcnCudaLearner(Learner):
    """Runs of the GCN over one graph on a GPU, each with weights, labels and dropout of its own.

    Attributes:
        w0: [run, feature, hidden].
        w1: [run, hidden, class].
    """

    recordable = True
    capabilities = frozenset[Capability]({"long-seeds", "from-embedding"})

    def __init__(
        self,
        graph: GraphTensors,
        runs: int,
        settings: GcnSettings | None = None,
        classes: int | None = None,
        budget: int = 64,
    ) -> None:
        self.graph, self.runs, self.settings = graph, runs, settings or GcnSettings()
        self.num_classes = max(1, graph.num_classes if classes is None else classes)
        device, nodes, hidden, classes = graph.device, graph.num_nodes, self.settings.hidden, self.num_classes
        first, second = runs * graph.num_features * hidden, runs * hidden * classes
        flat = [torch.zeros(first + second, device=device) for _ in range(4)]
        self._weights, self._gradient, self._mean, self._square = flat
        self.w0, self.w1 = self._shaped(self._weights)
        self._w0_gradient, self._w1_gradient = self._shaped(self._gradient)
        self._near, self._far, self._near_list, self._far_list = (
            torch.zeros(runs, nodes, dtype=torch.int32, device=device) for _ in range(4)
        )
        self._near_count, self._far_count = (torch.zeros(runs, dtype=torch.int32, device=device) for _ in range(2))
        self._share = (max(64, min(nodes, _PROGRAMS // runs)), runs)  # programs that share a run's nodes, and runs
        self._far_out, self._hidden, self._back = (torch.zeros(runs, nodes, hidden, device=device) for _ in range(3))
        self._projected, self._error = (torch.zeros(runs, nodes, classes, device=device) for _ in range(2))
        self._room = min(budget, nodes)  # a recorded step keeps its buffers
        self._nodes, self._labels = (torch.zeros(runs, self._room, dtype=torch.int64, device=device) for _ in range(2))
        self._count, self._epoch, self._zero, self._seed = (
            torch.zeros(1, dtype=torch.int64, device=device) for _ in range(4)
        )
        self._sizes = {"WIDTH": kernels.triton.next_power_of_2(hidden), "ENTRIES": _ENTRIES}
        self._classes = max(2, kernels.triton.next_power_of_2(classes))
        if graph.sparse_x is not None and graph.offset is None:
            self._columns = _column_parts(graph)
        else:
            dense = graph.dense_x if graph.dense_x is not None else _dense(graph)
            self._dense = dense.contiguous()
        if self.settings.observed == "training":
            self._seen = torch.zeros_like(self._projected)
            self._every = torch.arange(nodes, dtype=torch.int32, device=device).repeat(runs, 1)
            self._every_count = torch.full((runs,), nodes, dtype=torch.int32, device=device)
        self.reset(0)

    def _shaped(self, flat: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        first = self.runs * self.graph.num_features * self.settings.hidden
        w0 = flat[:first].view(self.runs, self.graph.num_features, self.settings.hidden)
        return w0, flat[first:].view(self.runs, self.settings.hidden, self.num_classes)

    def reset(self, seed: int) -> None:
        """Draw new weights and forget all labels. Everything random from here on follows from ``seed``."""
        marks = (self._near, self._far, self._near_count, self._far_count)
        for buffer in (self._gradient, self._mean, self._square, *marks, self._error, self._count, self._epoch):
            buffer.zero_()
        self._seed.fill_(seed)
        for purpose, weight in enumerate((self.w0, self.w1)):
            bound = 1 / math.sqrt(weight.shape[-1])
            uniform(weight, self._seed, self._zero, purpose, -bound, bound)
        self._observe()

    def _kept(self) -> tuple[torch.Tensor, ...]:
        marks = (self._near, self._far, self._near_list, self._far_list, self._near_count, self._far_count)
        counts = (self._nodes, self._labels, self._count, self._epoch, self._seed)
        seen = (self._seen,) if self.settings.observed == "training" else ()
        return (self._weights, self._gradient, self._mean, self._square, *marks, self._error, *counts, *seen)

    def snapshot(self) -> tuple[torch.Tensor, ...]:
        """All that training changes, to come back to with `restore`."""
        return tuple(buffer.clone() for buffer in self._kept())

    def restore(self, snapshot: tuple[torch.Tensor, ...]) -> None:
        """Go on from a snapshot as if nothing had happened since; the buffers stay where they are."""
        for buffer, kept in zip(self._kept(), snapshot, strict=True):
            buffer.copy_(kept)

    def add(self, nodes: torch.Tensor, labels: torch.Tensor) -> None:
        """Give each run more labelled nodes: two tensors [run, k]."""
        for column in range(nodes.shape[1]):
            self._add(nodes[:, column], labels[:, column])

    def _add(self, nodes: torch.Tensor, labels: torch.Tensor) -> None:
        self._nodes.index_copy_(1, self._count, nodes[:, None])
        self._labels.index_copy_(1, self._count, labels[:, None])
        self._count.add_(1)
        norm = self.graph.norm
        kernels.mark[(self.graph.max_degree + 1, self.runs)](
            norm.crow,
            norm.col,
            nodes.contiguous(),
            self._near,
            self._far,
            self._near_list,
            self._far_list,
            self._near_count,
            self._far_count,
            self.graph.num_nodes,
            ENTRIES=32,
            num_warps=1,
        )

    def finish(self, reporter: Reporter | None = None) -> None:
        """The closing epochs."""
        train_to_the_end(self, reporter)
        if self.settings.observed == "training":
            self._seen.copy_(self.output())

    def training_loss(self) -> torch.Tensor:
        """The mean cross-entropy of the labelled nodes, dropout off: [run]."""
        filled = torch.arange(self._room, device=self.graph.device) < self._count
        return labelled_loss(self.output(), self._nodes, self._labels, filled)

    def fit(self) -> None:
        """One epoch."""
        self._observe()
        self.epoch()

    def epoch(self) -> None:
        """One step of Adam on the labelled nodes' loss."""
        self.gradients()
        size, rates = self._weights.numel(), self.settings
        kernels.adam[(kernels.triton.cdiv(size, 1024),)](
            self._weights,
            self._gradient,
            self._mean,
            self._square,
            self._epoch,
            rates.learning_rate,
            rates.weight_decay,
            size,
            BLOCK=1024,
        )
        self._epoch.add_(1)

    def gradients(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The loss's gradients without the L2 term, with the dropout of the present epoch, added to what the buffers
        hold.
        """
        graph, runs = self.graph, self.runs
        nodes, hidden, classes = graph.num_nodes, self.settings.hidden, self.num_classes
        norm = (graph.norm.crow, graph.norm.col, graph.norm.values)
        rate = self.settings.dropout
        chance = (self._seed, self._epoch, rate, runs)
        near, far = (self._near_list, self._near_count), (self._far_list, self._far_count)
        sizes = {**self._sizes, "num_warps": 1}
        self._far_product(chance, *far)
        kernels.hidden_layer[self._share](
            *norm,
            self._far_out,
            self.w1,
            *near,
            self._hidden,
            self._projected,
            *chance,
            nodes,
            hidden,
            classes,
            TRAIN=True,
            PROJECT=False,
            CLASSES=self._classes,
            **sizes,
        )
        kernels.read[(self._room, runs)](
            *norm,
            self._hidden,
            self.w1,
            self._nodes,
            self._labels,
            self._count,
            self._error,
            self._w1_gradient,
            self.settings.warm_up,
            nodes,
            hidden,
            classes,
            self._room,
            CLASSES=self._classes,
            **sizes,
        )
        kernels.near_back[self._share](
            *norm,
            self._error,
            self.w1,
            *near,
            self._hidden,
            self._back,
            rate,
            nodes,
            hidden,
            classes,
            CLASSES=self._classes,
            **sizes,
        )
        kernels.far_sum[self._share](*norm, self._back, self._near, *far, self._far_out, nodes, hidden, **sizes)
        if hasattr(self, "_dense"):
            blocks = kernels.triton.cdiv(graph.num_features, _BACK_TILE["FEATURES"])
            kernels.weight_back_dense[(blocks, runs, max(1, min(32, 1024 // (blocks * runs))))](
                self._dense,
                *far,
                self._far_out,
                self._w0_gradient,
                *chance,
                nodes,
                graph.num_features,
                hidden,
                WIDTH=max(16, self._sizes["WIDTH"]),
                **_BACK_TILE,
            )
        else:
            start, end, feature, row, entry, values = self._columns
            kernels.weight_back_sparse[(len(start), runs)](
                start,
                end,
                feature,
                row,
                entry,
                values,
                self._far_out,
                self._far,
                self._w0_gradient,
                *chance,
                nodes,
                graph.num_features,
                hidden,
                WIDTH=self._sizes["WIDTH"],
                ENTRIES=32,
                num_warps=1,
            )
        return self._w0_gradient, self._w1_gradient

    def _far_product(self, chance: tuple[object, ...], rows: torch.Tensor, count: torch.Tensor) -> None:
        graph, nodes, hidden = self.graph, self.graph.num_nodes, self.settings.hidden
        if hasattr(self, "_dense"):
            kernels.far_dense[(kernels.triton.cdiv(nodes, _FAR_TILE["ROWS"]), self.runs)](
                self._dense,
                self.w0,
                rows,
                count,
                self._far_out,
                *chance,
                nodes,
                graph.num_features,
                hidden,
                WIDTH=max(16, self._sizes["WIDTH"]),
                **_FAR_TILE,
            )
        else:
            x = graph.sparse_x
            assert x is not None
            kernels.far_sparse[self._share](
                x.crow,
                x.col,
                x.values,
                self.w0,
                rows,
                count,
                self._far_out,
                *chance,
                nodes,
                graph.num_features,
                hidden,
                TRAIN=True,
                **self._sizes,
                num_warps=1,
            )

    def embedding(self) -> torch.Tensor:
        """The hidden layer, dropout off: [run, node, hidden]."""
        out = torch.empty_like(self._hidden)
        self._forward(out, self._projected, project=False)
        return out

    def logits_from(self, embedding: torch.Tensor) -> torch.Tensor:
        """The output if the hidden layer were this one, [run, node, hidden] to [run, node, class]."""
        return self.graph.norm.mm(torch.bmm(embedding, self.w1))

    def logits(self) -> torch.Tensor:
        """What is observed now (see `Gcn`), and the output, dropout off, once training has ended.

        [run, node, class].
        """
        return self._seen.clone() if self.settings.observed == "training" else self.output()

    def _observe(self) -> None:
        """Keep the output of the pass that the next update is made from, on all nodes and with its dropout, if that is
        what is observed.
        """
        if self.settings.observed != "training":
            return
        graph, norm, every = self.graph, self.graph.norm, (self._every, self._every_count)
        chance = (self._seed, self._epoch, self.settings.dropout, self.runs)
        self._far_product(chance, *every)
        kernels.hidden_layer[self._share](
            norm.crow,
            norm.col,
            norm.values,
            self._far_out,
            self.w1,
            *every,
            self._hidden,
            self._projected,
            *chance,
            graph.num_nodes,
            self.settings.hidden,
            self.num_classes,
            TRAIN=True,
            PROJECT=True,
            CLASSES=self._classes,
            **self._sizes,
            num_warps=1,
        )
        self._seen.copy_(norm.mm(self._projected))

    def output(self) -> torch.Tensor:
        """The output, dropout off: [run, node, class]."""
        out = torch.empty_like(self._projected)
        self._forward(self._hidden, out, project=True)
        return self.graph.norm.mm(out)

    def _forward(self, hidden: torch.Tensor, projected: torch.Tensor, project: bool) -> None:
        graph, norm = self.graph, self.graph.norm
        sizes = {**self._sizes, "num_warps": 1}
        chance = (self._seed, self._epoch, 0.0, self.runs)
        width = self.settings.hidden
        if graph.dense_x is not None:
            far_out = graph.input_product(self.w0)
        else:
            x, far_out = graph.sparse_x, self._far_out
            assert x is not None
            kernels.far_sparse[self._share](
                x.crow,
                x.col,
                x.values,
                self.w0,
                self._far_list,
                self._far_count,
                far_out,
                *chance,
                graph.num_nodes,
                graph.num_features,
                width,
                TRAIN=False,
                **sizes,
            )
            if graph.offset is not None:
                far_out.sub_(torch.matmul(graph.offset, self.w0)[:, None])
        kernels.hidden_layer[self._share](
            norm.crow,
            norm.col,
            norm.values,
            far_out,
            self.w1,
            self._near_list,
            self._near_count,
            hidden,
            projected,
            *chance,
            graph.num_nodes,
            width,
            self.num_classes,
            TRAIN=False,
            PROJECT=project,
            CLASSES=self._classes,
            **sizes,
        )


def _csr(graph: GraphTensors) -> sp.csr_matrix:
    x = graph.sparse_x
    assert x is not None
    return sp.csr_matrix(tuple(t.cpu().numpy() for t in (x.values, x.col, x.crow)), shape=x.shape)


def _dense(graph: GraphTensors) -> torch.Tensor:
    return torch.from_numpy(_csr(graph).toarray()).to(graph.device) - (0 if graph.offset is None else graph.offset)


def _column_parts(graph: GraphTensors) -> tuple[torch.Tensor, ...]:
    """X by columns, cut into parts: start, end and feature of each part.

    Node, place in the rows' order and value of each entry.
    """
    x = _csr(graph)
    turned = sp.csr_matrix((np.arange(x.nnz, dtype=np.int32), x.indices, x.indptr), shape=x.shape).tocsc()
    lengths = np.diff(turned.indptr)
    parts = -(-lengths // _PART)
    feature = np.repeat(np.arange(x.shape[1], dtype=np.int32), parts)
    within = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
    start = turned.indptr[:-1][feature] + within * _PART
    end = np.minimum(start + _PART, turned.indptr[1:][feature])
    arrays = (
        start.astype(np.int32),
        end.astype(np.int32),
        feature,
        turned.indices,
        turned.data,
        x.data[turned.data].astype(np.float32),
    )
    return tuple(torch.from_numpy(np.ascontiguousarray(a)).to(graph.device) for a in arrays)
