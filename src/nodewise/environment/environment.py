"""The paper's Markov decision process (section 3.2) over a batch of runs."""

from __future__ import annotations

from typing import Any, Protocol

import torch

from nodewise.environment.metrics import Scores, f1_scores
from nodewise.environment.observation import Observation, Queried
from nodewise.environment.splits import Splits
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError
from nodewise.ground.seeds import derive_seed, numpy_generator

__all__ = ["Classifier", "Environment"]


class Classifier(Protocol):
    """Runs of a node classifier over one graph, trained together but independent of each other."""

    def reset(self, seed: int) -> None:
        """New weights, no labels; everything random from here on follows from the seed."""

    def reserve(self, labels: int) -> None:
        """Make room for that many labels in each run, before the first is added."""

    def add_labels(self, nodes: torch.Tensor, labels: torch.Tensor) -> None:
        """One more labelled node for each run: int64 [run] each."""

    def epoch(self) -> None:
        """One training step on the labels so far."""

    def snapshot(self) -> Any:
        """All that training changes, to come back to with `restore`."""

    def restore(self, snapshot: Any) -> None:
        """Go on from a snapshot as if nothing had happened since."""

    def hidden(self) -> torch.Tensor:
        """The last hidden layer, dropout off: [run, node, hidden]."""

    def logits(self) -> torch.Tensor:
        """The output, dropout off: [run, node, class]."""


class Environment:
    """Runs of active learning on one graph: each has a split, a pool, labels and a classifier of its own.

    All tensors keep their storage from reset to reset, so that a step can be captured once on a GPU and replayed.

    Attributes:
        labelled, pool: bool [run, node].
        step: queries made since the reset.
        budget: queries that an episode has room for.
    """

    def __init__(self, graph: GraphTensors, classifier: Classifier, runs: int, budget: int) -> None:
        if budget < 1:
            raise InputError(f"the budget must be at least 1, got {budget}")
        self.graph, self.classifier, self.runs, self.budget = graph, classifier, runs, budget
        classifier.reserve(budget)
        device, nodes = graph.device, graph.num_nodes
        self.labelled = torch.zeros(runs, nodes, dtype=torch.bool, device=device)
        self.pool = torch.zeros(runs, nodes, dtype=torch.bool, device=device)
        self._nodes = torch.zeros(runs, budget, dtype=torch.int64, device=device)
        self._labels = torch.zeros(runs, budget, dtype=torch.int64, device=device)
        self.step = 0
        self.seed = 0
        self.recording: object = None  # a GPU's recorded step, see `replay`
        if device.type == "cuda":
            from nodewise.environment.clock import DeviceClock

            self.clock = DeviceClock(device)

    def reset(self, seed: int, splits: Splits) -> None:
        """Start an episode: new classifiers, nothing labelled, the pool as the splits say."""
        smallest = int(splits.pool.sum(1).min())
        if self.budget > smallest:
            raise InputError(f"a budget of {self.budget} queries is more than the pool's {smallest} nodes: lower the budget")
        self.splits, self.seed, self.step = splits, seed, 0
        self.labelled.zero_()
        self.pool.copy_(splits.pool)
        self.classifier.reset(derive_seed(seed, "classifier"))
        if self.graph.device.type == "cuda":
            self.clock.reset(derive_seed(seed, "noise"))

    @property
    def queried(self) -> Queried:
        """The nodes asked so far and their answers."""
        return Queried(self._nodes[:, : self.step], self._labels[:, : self.step])

    def observe(self) -> Observation:
        """What a strategy may see now."""
        return Observation(self)

    def query(self, nodes: torch.Tensor) -> None:
        """Ask the oracle for one node of each run, int64 [run]: they leave the pool, the classifiers get the labels."""
        labels = self.graph.y[nodes]
        self.labelled.scatter_(1, nodes[:, None], True)
        self.pool.scatter_(1, nodes[:, None], False)
        self.record(self._nodes, nodes)
        self.record(self._labels, labels)
        self.classifier.add_labels(nodes, labels)
        self.step += 1
        if self.graph.device.type == "cuda":
            self.clock.tick()

    def record(self, table: torch.Tensor, values: torch.Tensor) -> None:
        """Write the present step's values, [run, ...], into a table of all steps, [run, step, ...]."""
        if self.graph.device.type == "cuda":
            self.clock.write(table, values)
        else:
            table[:, self.step] = values

    def train(self, epochs: int = 1) -> None:
        """Train the classifiers on the labels so far."""
        for _ in range(epochs):
            self.classifier.epoch()

    def score(self, nodes: torch.Tensor) -> Scores:
        """Micro and Macro-F1 of the classifiers as they are now on given nodes, int64 [run, node]."""
        return f1_scores(self.classifier.logits().argmax(-1).gather(1, nodes), self.graph.y[nodes], self.graph.num_classes)

    def uniform(self, purpose: str, shape: tuple[int, ...]) -> torch.Tensor:
        """Uniform numbers in [0, 1) that follow from the seed, the step and the purpose."""
        if self.graph.device.type == "cuda":
            return self.clock.uniform(purpose, shape, self.graph.dtype)
        generator = numpy_generator(self.seed, purpose, self.step)
        return torch.from_numpy(generator.random(shape, dtype="float32")).to(self.graph.dtype)
