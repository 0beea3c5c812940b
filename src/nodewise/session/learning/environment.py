"""The environment of one person's session: one run, no split, no reward, answers from outside."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from nodewise.contracts import Learner, Queried
from nodewise.environment import Environment
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import derive_seed

__all__ = ["SessionEnvironment"]


class SessionEnvironment(Environment):
    """What a strategy looks at when a person answers: the state of the simulated environment with a single run.

    It has no labels but those that were told: its graph carries none.

    Attributes:
        candidates: the nodes that may ever be asked, bool [node].
    """

    def __init__(self, graph: GraphTensors, learner: Learner, budget: int, candidates: torch.Tensor) -> None:
        super().__init__(graph.unlabelled, learner, 1, budget)
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
        self.learner.add(torch.tensor([[node]]), torch.tensor([[label]]))

    def take_all(self, labels: Sequence[tuple[int, int]]) -> None:
        """Many nodes' labels at once."""
        if not labels:
            return
        nodes, numbers = torch.tensor(labels).T
        self.labelled[0, nodes] = True
        self.pool[0, nodes] = False
        self._asked += nodes.tolist()
        self._answers += numbers.tolist()
        self.step = len(self._asked)
        self.learner.add(nodes[None], numbers[None])

    def go_back(self, taken: list[tuple[int, int]]) -> None:
        """To the moment when just these nodes had been taken in; the learner is restored by the caller."""
        self.clear(self.seed)
        self._asked, self._answers = [node for node, _ in taken], [label for _, label in taken]
        self.step = len(taken)
        if taken:
            nodes = torch.tensor(self._asked)
            self.labelled[0, nodes] = True
            self.pool[0, nodes] = False

    @property
    def told(self) -> list[tuple[int, int]]:
        """The nodes labelled so far with the numbers of their classes, in order."""
        return list(zip(self._asked, self._answers, strict=True))

    @property
    def queried(self) -> Queried:
        """The nodes labelled so far and their answers, padded to the budget."""
        room = max(self.budget, self.step)
        nodes, labels = (torch.zeros(1, room, dtype=torch.int64) for _ in range(2))
        nodes[0, : self.step], labels[0, : self.step] = (
            torch.tensor(self._asked, dtype=torch.int64),
            torch.tensor(self._answers, dtype=torch.int64),
        )
        return Queried(nodes, labels, torch.arange(room)[None] < self.step)

    def classifier_seed(self) -> int:
        """Where the learner's randomness comes from."""
        return derive_seed(self.seed, "classifier")
