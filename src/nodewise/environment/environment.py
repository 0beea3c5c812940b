"""The paper's Markov decision process (section 3.2) over a batch of runs."""

from __future__ import annotations

from typing import Any

import torch

from nodewise.contracts import Classifier, Learner, Queried, Strategy
from nodewise.environment.metrics import Scores, f1_scores
from nodewise.environment.observation import EnvironmentObservation
from nodewise.environment.splits import Splits
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import derive_seed, numpy_generator
from nodewise.ground.errors import InputError

__all__ = ["Environment"]


class Environment:
    """Runs of active learning on one graph: each has a split, a pool, labels and a classifier of its own.

    All tensors keep their storage from reset to reset, so that a step can be captured once on a GPU and replayed.

    Attributes:
        learner: what learns from the answers.
        labelled, pool: bool [run, node].
        step: queries made since the reset.
        budget: queries that an episode has room for.
        memory: what the present strategy keeps from step to step.
    """

    def __init__(self, graph: GraphTensors, learner: Learner, runs: int, budget: int) -> None:
        if budget < 1:
            raise InputError(f"the budget must be at least 1, got {budget}")
        self.graph, self.learner, self.runs, self.budget = graph, learner, runs, budget
        device, nodes = graph.device, graph.num_nodes
        self.labelled = torch.zeros(runs, nodes, dtype=torch.bool, device=device)
        self.pool = torch.zeros(runs, nodes, dtype=torch.bool, device=device)
        self._nodes = torch.zeros(runs, budget, dtype=torch.int64, device=device)
        self._labels = torch.zeros(runs, budget, dtype=torch.int64, device=device)
        self._positions = torch.arange(budget, device=device)
        self.step = 0
        self.seed = 0
        self.memory: dict[str, Any] = {}
        self._remembered: Strategy | None = None
        self.recording: object = None  # a GPU's recorded step, see `replay`
        self.is_recording = False
        if device.type == "cuda":
            from nodewise.environment.clock import DeviceClock

            self.clock = DeviceClock(device)

    @classmethod
    def of(cls, graph: GraphTensors, classifier: Classifier, runs: int, budget: int) -> Environment:
        """An environment with fresh learners of a classifier."""
        prepared = graph.prepared_by(classifier)
        return cls(graph, classifier.start(graph.unlabelled, prepared, runs, graph.num_classes, budget), runs, budget)

    def reset(self, seed: int, splits: Splits) -> None:
        """Start an episode: new classifiers, nothing labelled, the pool as the splits say."""
        smallest = int(splits.pool.sum(1).min())
        if self.budget > smallest:
            raise InputError(f"a budget of {self.budget} queries is more than the pool's {smallest} nodes: lower the budget")
        self.splits, self.seed, self.step = splits, seed, 0
        self.labelled.zero_()
        self.pool.copy_(splits.pool)
        self.learner.reset(derive_seed(seed, "classifier"))
        if self.graph.device.type == "cuda":
            self.clock.reset(derive_seed(seed, "noise"))

    @property
    def step_tensor(self) -> torch.Tensor:
        """Queries made since the reset, int64 [1], on the device."""
        return self.clock.step if self.graph.device.type == "cuda" else torch.tensor([self.step])

    @property
    def queried(self) -> Queried:
        """The nodes asked so far and their answers, padded to the budget."""
        return Queried(self._nodes, self._labels, (self._positions < self.step_tensor).expand(self.runs, -1))

    @property
    def queries(self) -> torch.Tensor:
        """The nodes asked so far, in order: int64 [run, step]."""
        return self._nodes[:, : self.step]

    def observe(self) -> EnvironmentObservation:
        """What a strategy may see now."""
        return EnvironmentObservation(self)

    def begin(self, strategy: Strategy) -> None:
        """Let a strategy begin its episode; what another one remembered is forgotten."""
        if strategy is not self._remembered:
            self.memory, self._remembered, self.recording = {}, strategy, None
        strategy.begin(self.observe())

    def query(self, nodes: torch.Tensor) -> None:
        """Ask the oracle for one node of each run, int64 [run]: they leave the pool, the learner gets the labels."""
        labels = self.graph.y[nodes]
        self.labelled.scatter_(1, nodes[:, None], True)
        self.pool.scatter_(1, nodes[:, None], False)
        self.record(self._nodes, nodes)
        self.record(self._labels, labels)
        self.learner.add(nodes[:, None], labels[:, None])
        self.step += 1
        if self.graph.device.type == "cuda":
            self.clock.tick()

    def record(self, table: torch.Tensor, values: torch.Tensor) -> None:
        """Write the present step's values, [run, ...], into a table of all steps, [run, step, ...]."""
        if self.graph.device.type == "cuda":
            self.clock.write(table, values)
        else:
            table[:, self.step] = values

    def score(self, nodes: torch.Tensor) -> Scores:
        """Micro and Macro-F1 of the learners as they are now on given nodes, int64 [run, node]."""
        return f1_scores(self.learner.logits().argmax(-1).gather(1, nodes), self.graph.y[nodes], self.graph.num_classes)

    def uniform(self, purpose: str, shape: tuple[int, ...]) -> torch.Tensor:
        """Uniform numbers in [0, 1) that follow from the seed, the step and the purpose."""
        if self.graph.device.type == "cuda":
            return self.clock.uniform(purpose, shape, self.graph.dtype)
        generator = numpy_generator(self.seed, purpose, self.step)
        return torch.from_numpy(generator.random(shape, dtype="float32")).to(self.graph.dtype)
