"""The environment of one person's session: one run, no split, no reward, answers from outside."""

from __future__ import annotations

import torch

from nodewise.environment import Environment, Observation, Queried
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.seeds import derive_seed
from nodewise.session.learning.growing import GrowingGcn

__all__ = ["Desk"]


class Desk(Environment):
    """What a strategy looks at when a person answers: the state of the simulated environment with a single run.

    Attributes:
        candidates: the nodes that may ever be asked, bool [node].
    """

    def __init__(self, graph: GraphTensors, classifier: GrowingGcn, budget: int, candidates: torch.Tensor) -> None:
        super().__init__(graph, classifier, 1, budget)
        self.candidates = candidates
        self._asked: list[int] = []
        self._answers: list[int] = []

    def clear(self, seed: int) -> None:
        """Nothing labelled; the pool is all candidates."""
        self.seed, self.step = seed, 0
        self.labelled.zero_()
        self.pool[0] = self.candidates
        self._asked, self._answers = [], []

    def take(self, node: int, label: int) -> None:
        """A node's label, by the number of its class."""
        self.labelled[0, node] = True
        self.pool[0, node] = False
        self._asked.append(node)
        self._answers.append(label)
        self.step = len(self._asked)
        self.classifier.add_labels(torch.tensor([node]), torch.tensor([label]))

    def go_back(self, taken: list[tuple[int, int]]) -> None:
        """To the moment when just these nodes had been taken in; the classifier is restored by the caller."""
        self.clear(self.seed)
        self._asked, self._answers = [node for node, _ in taken], [label for _, label in taken]
        self.step = len(taken)
        if taken:
            nodes = torch.tensor(self._asked)
            self.labelled[0, nodes] = True
            self.pool[0, nodes] = False

    @property
    def queried(self) -> Queried:
        """The nodes labelled so far and their answers."""
        return Queried(torch.tensor([self._asked], dtype=torch.int64), torch.tensor([self._answers], dtype=torch.int64))

    def observe(self) -> Observation:
        """What a strategy may see now."""
        return Observation(self)

    def classifier_seed(self) -> int:
        """Where the classifier's randomness comes from."""
        return derive_seed(self.seed, "classifier")
