"""The paper's classifier, a two-layer GCN: its settings, and many independent runs of it at once, on the CPU.

Section 4.1 and the protocol: logits = Â relu(Â X W0) W1 with no bias, dropout on the input and the hidden layer, Adam
with L2 added to the gradient, loss = mean cross-entropy over the labelled nodes, scaled by min(labelled, 10) / 10.

Gradients are written out by hand and restricted to the rows that the loss reaches (see `ReachedRows`). How training
ends, `train_to_the_end`, is the same on a GPU, whose learner is in `cuda`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
import torch

from nodewise.contracts import Capability, Learner
from nodewise.graph.tensors import GraphTensors, Sparse, csr_product, csr_tensor
from nodewise.ground.compute import derive_seed, numpy_generator
from nodewise.ground.errors import InputError
from nodewise.ground.events import Progress, Reporter

__all__ = [
    "CHECK_EVERY",
    "GcnLearner",
    "GcnSettings",
    "MatrixPair",
    "ReachedRows",
    "labelled_loss",
    "train_to_the_end",
]

MOST_HIDDEN, MOST_EPOCHS = 16_384, 1_000_000
"""What a file that came from anywhere may ask for."""

_DROPPED_AT_ONCE = (
    2**23
)  # entries of dense features, all runs together, that dropout works on at a time where all nodes are passed


@dataclass(frozen=True)
class GcnSettings:
    """What a two-layer GCN is trained with; the defaults are the protocol's.

    Attributes:
        closing_epochs: epochs after the last label: what "until convergence" was in the released code.
        convergence: the share by which the training loss must fall in ten epochs for a run to go on after the last
            label, as the paper words it; ``closing_epochs`` are then the most. 0: exactly so many.
        observed: what strategies see between two labels, and a session shows with its questions: the output of the
            ``"updated"`` weights, as the paper has it, or that of the ``"training"`` pass itself, before its update and
            with dropout on, as in the released code. What is predicted at the end is the output after training in both
            cases. The training pass takes longer, most on a CPU and where features are dense.
    """

    hidden: int = 64
    dropout: float = 0.2
    learning_rate: float = 0.03
    weight_decay: float = 5e-4
    warm_up: int = 10
    closing_epochs: int = 35
    convergence: float = 0.0
    observed: Literal["updated", "training"] = "updated"

    def __post_init__(self) -> None:
        if not (
            self.hidden > 0
            and 0 <= self.dropout < 1
            and self.learning_rate > 0
            and self.weight_decay >= 0
            and self.warm_up > 0
        ):
            raise InputError(
                f"a classifier cannot be trained with {self}: sizes and rates must be positive and dropout below 1"
            )
        if self.closing_epochs < 0 or not 0 <= self.convergence < 1:
            raise InputError(
                f"closing_epochs must not be below 0 and convergence from 0 to below 1, got {self.closing_epochs} and"
                f" {self.convergence}"
            )
        if self.hidden > MOST_HIDDEN or self.closing_epochs > MOST_EPOCHS:
            raise InputError(
                f"hidden is at most {MOST_HIDDEN:,} and closing_epochs at most {MOST_EPOCHS:,}, got {self.hidden:,} and"
                f" {self.closing_epochs:,}: give fewer"
            )
        if self.observed not in ("updated", "training"):
            raise InputError(f"unknown observed output {self.observed!r}: use updated or training")


class GcnLearner(Learner):
    """Runs of the GCN over one graph on the CPU, each with weights, labels and dropout of its own.

    With a number of classes at the start their weights are drawn together, as the paper's; classes that come by name
    have weights that follow from the seed and the name, uniform in ±1/√(classes there are then), and what Adam
    remembers of them starts at zero. With no class known there is one nameless column, so that a forward pass has
    something to give.

    Attributes:
        w0: [run, feature, hidden].
        w1: [run, hidden, class].
        labelled_count: labels that each run has; the same for all.
    """

    capabilities = frozenset[Capability]({"long-seeds", "from-embedding"})

    def __init__(
        self, graph: GraphTensors, runs: int, settings: GcnSettings | None = None, classes: int | None = None
    ) -> None:
        self.graph, self.runs, self.settings = graph, runs, settings or GcnSettings()
        self._known = graph.num_classes if classes is None else classes
        self._first = self._known
        self.w0 = torch.zeros(runs, graph.num_features, self.settings.hidden, dtype=graph.dtype)
        self._widen(torch.zeros(runs, self.settings.hidden, max(1, self._known), dtype=graph.dtype))
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Draw new weights and forget all labels, and all classes but those of the start."""
        self.seed = seed
        if self._known != self._first:
            self._known = self._first
            self._widen(torch.zeros(self.runs, self.settings.hidden, max(1, self._known), dtype=self.graph.dtype))
        generator = torch.Generator().manual_seed(seed)
        for weight in (self.w0, self.w1):
            weight.uniform_(-1, 1, generator=generator).div_(math.sqrt(weight.shape[-1]))
        if not self._known:
            self.w1[..., 0] = self._column("", 1)
        rates = self.settings
        self._adam = torch.optim.Adam(
            [self.w0, self.w1], lr=rates.learning_rate, weight_decay=rates.weight_decay, fused=True
        )
        self.epochs_done = self.labelled_count = 0
        self._reached = ReachedRows(self.graph, self.runs)
        self._stale = True
        self._labels = torch.zeros(self.runs, 0, dtype=torch.int64)
        self._seen: torch.Tensor | None = None

    def add_classes(self, names: Sequence[str]) -> None:
        """Classes that were not there before, by name."""
        if not names:
            return
        if not self._known:  # the first ones take the nameless column's place
            self._known = len(names)
            self._exchange(
                torch.stack([self._column(name, len(names)) for name in names], -1).expand(self.runs, -1, -1).clone(),
                keep=0,
            )
            return
        for name in names:
            self._known += 1
            column = self._column(name, self._known)[:, None].expand(self.runs, -1, 1)
            self._exchange(torch.cat([self.w1, column], -1), keep=self._known - 1)

    def _exchange(self, w1: torch.Tensor, keep: int) -> None:
        """Other output weights, the first of which stay what they were to Adam."""
        state = self._adam.state.pop(self.w1, {})
        self._widen(w1)
        self._adam.param_groups[0]["params"] = [self.w0, self.w1]
        if state and keep:
            fresh = torch.zeros_like(w1[..., keep:])
            self._adam.state[self.w1] = {
                key: v if v.dim() == 0 else torch.cat([v[..., :keep], fresh], -1) for key, v in state.items()
            }

    def _widen(self, w1: torch.Tensor) -> None:
        self.w1, self.num_classes, self._seen = w1, w1.shape[-1], None

    def _column(self, name: str, classes: int) -> torch.Tensor:
        generator = torch.Generator().manual_seed(derive_seed(self.seed, "class", name))
        return torch.empty(self.settings.hidden, dtype=self.graph.dtype).uniform_(
            -1, 1, generator=generator
        ) / math.sqrt(classes)

    def add(self, nodes: torch.Tensor, labels: torch.Tensor) -> None:
        """Give each run more labelled nodes: two tensors [run, k]."""
        for column in nodes.T:
            self._reached.add(column.numpy())
        self._labels = torch.cat([self._labels, labels], dim=1)
        self.labelled_count += labels.shape[1]
        self._stale = True

    def fit(self) -> None:
        """One epoch."""
        if self.settings.observed == "training":
            self._seen = self._training_pass()
        self.epoch()

    def epoch(self) -> None:
        """One step of Adam on the labelled nodes' loss."""
        for weight, gradient in zip((self.w0, self.w1), self.gradients(), strict=True):
            weight.grad = gradient
        self._adam.step()
        self.epochs_done += 1

    def finish(self, reporter: Reporter | None = None) -> None:
        """The closing epochs."""
        train_to_the_end(self, reporter)
        self._seen = self.output() if self.settings.observed == "training" else None

    def training_loss(self) -> torch.Tensor:
        """The mean cross-entropy of the labelled nodes, dropout off: [run]."""
        return labelled_loss(self.output(), torch.from_numpy(self._reached.queried), self._labels)

    def gradients(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The loss's gradients without the L2 term, with the dropout of the present epoch: shaped as w0 and w1."""
        if self._stale:
            self._build()
        noise = numpy_generator(self.seed, "dropout", self.epochs_done)
        far = self._input.forward(self.w0, noise)  # [far, hidden]
        near = csr_product(self._reached.first.forward, far).relu_()  # [near, hidden]
        near.mul_(self._keep(noise, near.shape))
        read = csr_product(self._reached.second.forward, near).view(
            self.runs, self.labelled_count, -1
        )  # [run, label, hidden]
        error = torch.softmax(torch.bmm(read, self.w1), -1)  # [run, label, class]
        error.scatter_add_(2, self._labels[..., None], error.new_full((*self._labels.shape, 1), -1.0))
        error.mul_(min(self.labelled_count, self.settings.warm_up) / self.settings.warm_up / self.labelled_count)
        w1_gradient = torch.bmm(read.transpose(1, 2), error)
        back = torch.bmm(error, self.w1.transpose(1, 2)).view(-1, self.settings.hidden)
        back = csr_product(self._reached.second.backward, back)
        # the hidden layer is positive exactly where it was active and kept
        back.mul_(near > 0).div_(1 - self.settings.dropout)
        back = csr_product(self._reached.first.backward, back)  # [far, hidden]
        return self._input.backward(back).view_as(self.w0), w1_gradient

    def snapshot(self) -> _Snapshot:
        """All that training changes, to come back to with `restore`."""
        adam = [
            {key: value.clone() for key, value in self._adam.state.get(weight, {}).items()}
            for weight in (self.w0, self.w1)
        ]
        counts = (self.seed, self.epochs_done, self.labelled_count)
        return _Snapshot(
            self.w0.clone(), self.w1.clone(), adam, self._reached.copy(), self._labels, counts, self._known, self._seen
        )

    def restore(self, snapshot: _Snapshot) -> None:
        """Go on from a snapshot as if nothing had happened since, with the classes that there were then."""
        if snapshot.w1.shape != self.w1.shape:
            self._exchange(torch.empty_like(snapshot.w1), keep=0)
        self._known = snapshot.known
        for weight, kept, adam in zip((self.w0, self.w1), (snapshot.w0, snapshot.w1), snapshot.adam, strict=True):
            weight.copy_(kept)
            self._adam.state[weight] = {key: value.clone() for key, value in adam.items()}
        self._reached, self._labels, self._stale = snapshot.reached.copy(), snapshot.labels, True
        self.seed, self.epochs_done, self.labelled_count = snapshot.counts
        self._seen = snapshot.seen

    def embedding(self) -> torch.Tensor:
        """The hidden layer, dropout off: [run, node, hidden]."""
        return self.graph.norm.mm(self.graph.input_product(self.w0)).relu_()

    def logits_from(self, embedding: torch.Tensor) -> torch.Tensor:
        """The output if the hidden layer were this one, [run, node, hidden] to [run, node, class]."""
        return self.graph.norm.mm(torch.bmm(embedding, self.w1))

    def logits(self) -> torch.Tensor:
        """What is observed now (see `Gcn`), and the output, dropout off, once training has ended.

        [run, node, class].
        """
        if self.settings.observed == "updated":
            return self.output()
        if self._seen is None:
            self._seen = self._training_pass()
        return self._seen

    def _training_pass(self) -> torch.Tensor:
        """The output on all nodes with dropout: [run, node, class]. Its draws are those of no epoch's gradients."""
        noise, graph = numpy_generator(self.seed, "observed dropout", self.epochs_done), self.graph
        if graph.sparse_x is not None and graph.offset is None:
            whole = graph.sparse_x.block(self.runs)
            values = whole.values() * self._keep(noise, tuple(whole.values().shape))
            dropped = csr_tensor(whole.crow_indices(), whole.col_indices(), values, whole.shape)
            first = csr_product(dropped, self.w0.view(-1, self.settings.hidden)).view(self.runs, graph.num_nodes, -1)
        else:
            first = self.w0.new_empty(self.runs, graph.num_nodes, self.settings.hidden)
            step = max(1, _DROPPED_AT_ONCE // (self.runs * graph.num_features))
            for start in range(0, graph.num_nodes, step):
                rows = graph.input_rows(np.arange(start, min(start + step, graph.num_nodes)))
                first[:, start : start + step] = torch.bmm(
                    self._keep(noise, (self.runs, *rows.shape)).mul_(rows), self.w0
                )
        hidden = graph.norm.mm(first).relu_()
        return graph.norm.mm(torch.bmm(hidden.mul_(self._keep(noise, tuple(hidden.shape))), self.w1))

    def output(self) -> torch.Tensor:
        """The output, dropout off: [run, node, class]."""
        if not hasattr(
            self, "_room"
        ):  # kept from call to call: the first touch of new memory costs more than the products
            self._room = self.w0.new_empty(2, self.runs, self.graph.num_nodes, self.settings.hidden)
        hidden = self.graph.norm.mm(self.graph.input_product(self.w0, self._room[0]), self._room[1]).relu_()
        # turned, the product is wide instead of narrow: several times as fast
        scores = torch.bmm(self.w1.transpose(1, 2), hidden.transpose(1, 2))  # [run, class, node]
        return self.graph.norm.mm(scores.transpose(1, 2))

    def _build(self) -> None:
        self._reached.build()
        sparse = self.graph.sparse_x is not None and self.graph.offset is None
        self._input = (_SparseInput if sparse else _DenseInput)(self.graph, self._reached, self.runs, self._keep)
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
    reached: ReachedRows
    labels: torch.Tensor
    counts: tuple[int, int, int]
    known: int
    seen: torch.Tensor | None


CHECK_EVERY = 10
"""Epochs between two looks at the training loss."""


class _Trained(Protocol):
    """What the closing epochs need of a learner, on a CPU or a GPU."""

    settings: GcnSettings
    runs: int
    w0: torch.Tensor
    w1: torch.Tensor

    def epoch(self) -> None: ...

    def training_loss(self) -> torch.Tensor: ...


def train_to_the_end(learner: _Trained, reporter: Reporter | None = None) -> None:
    """The closing epochs of all runs.

    A number of them, as in the released code, or until the training loss stops falling, as the paper words it.

    With a ``convergence`` c above 0 a run ends when its training loss, taken every ten epochs without dropout, has
    fallen by less than the share c since the look before; ``closing_epochs`` are then the most. A run that has ended
    keeps its weights while others go on, so that no run depends on those beside it. Nothing waits for the host, so that
    a GPU can record it; there all epochs are played, whatever has ended.
    """
    settings, weights = learner.settings, (learner.w0, learner.w1)
    if settings.convergence == 0:
        for done in range(settings.closing_epochs):
            learner.epoch()
            if reporter is not None:
                reporter(Progress("predict", done + 1, settings.closing_epochs))
        return
    kept, going = (
        [weight.clone() for weight in weights],
        torch.ones(learner.runs, dtype=torch.bool, device=learner.w0.device),
    )
    before = learner.training_loss()
    for done in range(1, settings.closing_epochs + 1):
        learner.epoch()
        if done % CHECK_EVERY == 0 or done == settings.closing_epochs:
            now = learner.training_loss()
            kept = [torch.where(going[:, None, None], weight, old) for weight, old in zip(weights, kept, strict=True)]
            going, before = going & (now < (1 - settings.convergence) * before), now
            if reporter is not None:
                reporter(Progress("predict", done, settings.closing_epochs))
            if going.device.type == "cpu" and not bool(going.any()):
                break
    for weight, last in zip(weights, kept, strict=True):
        weight.copy_(last)


def labelled_loss(
    logits: torch.Tensor, nodes: torch.Tensor, labels: torch.Tensor, filled: torch.Tensor | None = None
) -> torch.Tensor:
    """The mean cross-entropy of each run's labelled nodes: [run].

    Args:
        logits: [run, node, class], dropout off. nodes, labels: int64 [run, label].
        filled: which of these are there, bool [label]; all by default.
    """
    chosen = logits.gather(1, nodes[..., None].expand(-1, -1, logits.shape[2]))
    losses = torch.logsumexp(chosen, 2) - chosen.gather(2, labels[..., None])[..., 0]
    if filled is None:
        return losses.mean(1)
    return (losses * filled).sum(1) / filled.sum().clamp_min(1)


class _SparseInput:
    """X W0 over the far nodes, X sparse, with dropout on its entries."""

    def __init__(self, graph: GraphTensors, rows: ReachedRows, runs: int, keep) -> None:  # type: ignore[no-untyped-def]
        assert graph.sparse_x is not None
        self._pair, order = rows.input_entries(graph.sparse_x)
        self._order, self._keep = torch.from_numpy(order), keep

    def forward(self, w0: torch.Tensor, noise: np.random.Generator) -> torch.Tensor:
        whole = self._pair.forward
        self._values = whole.values() * self._keep(noise, tuple(whole.values().shape))
        return csr_product(
            csr_tensor(whole.crow_indices(), whole.col_indices(), self._values, whole.shape), w0.view(-1, w0.shape[-1])
        )

    def backward(self, back: torch.Tensor) -> torch.Tensor:
        whole = self._pair.backward
        return csr_product(
            csr_tensor(
                whole.crow_indices(), whole.col_indices(), self._values.index_select(0, self._order), whole.shape
            ),
            back,
        )


class _DenseInput:
    """X W0 over the far nodes, X dense, each run's rows padded to the longest."""

    def __init__(self, graph: GraphTensors, rows: ReachedRows, runs: int, keep) -> None:  # type: ignore[no-untyped-def]
        self._keep, longest = keep, int(rows.far_count.max())
        inside = np.arange(longest) < rows.far_count[:, None]
        self._slots = torch.from_numpy(np.flatnonzero(inside))  # [far], the padded row of each far node
        self._rows = torch.zeros(runs, longest, graph.num_features, dtype=graph.dtype)
        self._rows.view(runs * longest, -1)[self._slots] = graph.input_rows(rows.far_node)

    def forward(self, w0: torch.Tensor, noise: np.random.Generator) -> torch.Tensor:
        self._dropped = self._keep(noise, tuple(self._rows.shape)).mul_(self._rows)
        return torch.bmm(self._dropped, w0).view(-1, w0.shape[-1])[self._slots]

    def backward(self, back: torch.Tensor) -> torch.Tensor:
        runs, longest, _ = self._rows.shape
        padded = back.new_zeros(runs * longest, back.shape[1])
        padded[self._slots] = back
        return torch.bmm(self._dropped.transpose(1, 2), padded.view(runs, longest, -1))


class ReachedRows:
    """The part of the graph that the labelled nodes' loss reaches in each run, growing with every label, and the
    matrices restricted to it.

    The loss of a two-layer GCN reads the hidden layer at the labelled nodes and their neighbours (the *near* nodes),
    and the input at those nodes' neighbours (the *far* nodes). Training on these rows alone gives the same gradients as
    training on the whole graph; on Cora with 35 labels that is a fifth of the hidden layer and half of the input.

    Attributes:
        queried: the labelled nodes in the order in which they came, [run, label].
    """

    def __init__(self, graph: GraphTensors, runs: int) -> None:
        self._graph, self._runs = graph, runs
        self._norm = tuple(t.numpy() for t in (graph.norm.crow, graph.norm.col, graph.norm.values))
        self._near = np.zeros((runs, graph.num_nodes), dtype=bool)
        self._far = np.zeros((runs, graph.num_nodes), dtype=bool)
        self.queried = np.zeros((runs, 0), dtype=np.int64)

    def add(self, nodes: np.ndarray) -> None:
        """Take in one more labelled node for each run: [run]."""
        self.queried = np.concatenate([self.queried, nodes[:, None]], axis=1)
        run, entry = self._entries(np.arange(self._runs), nodes)
        near = self._norm[1][entry]
        fresh = ~self._near[run, near]
        run, near = run[fresh], near[fresh]
        self._near[run, near] = True
        again, entry = self._entries(run, near)
        self._far[again, self._norm[1][entry]] = True

    def copy(self) -> ReachedRows:
        """The same labels, so that either may take in more without the other; to be built anew."""
        twin = ReachedRows(self._graph, self._runs)
        twin._near, twin._far, twin.queried = self._near.copy(), self._far.copy(), self.queried
        return twin

    def _entries(self, run: np.ndarray, node: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The entries of the given nodes' rows of the propagation matrix, each with its run."""
        entry, lengths = _row_entries(self._norm[0], node)
        return np.repeat(run, lengths), entry

    def build(self) -> None:
        """Restrict the matrices to the rows that matter now: call it once after adding labels.

        Sets ``far_run`` and ``far_node`` (the far nodes in order), ``far_count`` [run], ``first`` (far to near) and
        ``second`` (near to labelled), each with its transpose.
        """
        nodes = self._graph.num_nodes
        crow, col, values = self._norm
        self.far_run, self.far_node = np.nonzero(self._far)
        self.far_count = self._far.sum(1)
        near_run, near_node = np.nonzero(self._near)
        index = np.empty(self._runs * nodes, dtype=np.int32)
        index[self.far_run * nodes + self.far_node] = np.arange(len(self.far_run), dtype=np.int32)
        entry, lengths = _row_entries(crow, near_node)
        column = index[np.repeat(near_run * nodes, lengths) + col[entry]]
        self.first = _pair(lengths, column, values[entry], len(self.far_run))
        index[near_run * nodes + near_node] = np.arange(len(near_run), dtype=np.int32)
        run = np.repeat(np.arange(self._runs), self.queried.shape[1])
        entry, lengths = _row_entries(crow, self.queried.ravel())
        column = index[np.repeat(run * nodes, lengths) + col[entry]]
        self.second = _pair(lengths, column, values[entry], len(near_run))

    def input_entries(self, x: Sparse) -> tuple[MatrixPair, np.ndarray]:
        """The far nodes' rows of sparse features, columns counted through all runs, and the transpose's order of
        entries.
        """
        entry, lengths = _row_entries(x.crow.numpy(), self.far_node)
        columns = x.shape[1]
        column = (np.repeat(self.far_run * columns, lengths) + x.col.numpy()[entry]).astype(np.int32)
        return _ordered_pair(lengths, column, x.values.numpy()[entry], self._runs * columns)


class MatrixPair(NamedTuple):
    """A sparse matrix and its transpose, as CSR tensors."""

    forward: torch.Tensor
    backward: torch.Tensor


def _row_entries(crow: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the entries of some rows stand in a CSR matrix, and how many each row has."""
    start = crow[rows].astype(np.int64)
    lengths = crow[rows + 1] - start
    ends = np.cumsum(lengths)
    return np.repeat(start - (ends - lengths), lengths) + np.arange(ends[-1] if len(ends) else 0), lengths


def _ordered_pair(
    lengths: np.ndarray, column: np.ndarray, values: np.ndarray, columns: int
) -> tuple[MatrixPair, np.ndarray]:
    crow = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    shape = (len(lengths), columns)
    # scipy transposes in linear time; carrying the positions tells how to reorder values that change every epoch
    turned = sp.csr_matrix((np.arange(len(column), dtype=np.int32), column, crow), shape=shape, copy=False).tocsc()
    order = turned.data
    forward = csr_tensor(torch.from_numpy(crow), torch.from_numpy(column), torch.from_numpy(values), shape)
    back = csr_tensor(
        torch.from_numpy(turned.indptr), torch.from_numpy(turned.indices), torch.from_numpy(values[order]), shape[::-1]
    )
    return MatrixPair(forward, back), order


def _pair(lengths: np.ndarray, column: np.ndarray, values: np.ndarray, columns: int) -> MatrixPair:
    return _ordered_pair(lengths, column, values, columns)[0]
