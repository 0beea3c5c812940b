"""What a strategy looks at when a person answers."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from nodewise.contracts import Learner, Queried
from nodewise.environment import Runs
from nodewise.graph.tensors import GraphTensors

__all__ = ["Columns", "SessionEnvironment"]

Columns = int | tuple[int, ...]
"""The classifier's column of a node's class; where it may have several, all of them in order."""


class SessionEnvironment(Runs):
    """What a strategy looks at when a person answers: a single run, as in the simulated environment.

    It has no labels but those that were told: its graph carries none.

    Attributes:
        candidates: the nodes that may ever be asked, bool [node].
        several: whether a node may have several classes.
    """

    def __init__(
        self, graph: GraphTensors, learner: Learner, budget: int, candidates: torch.Tensor, several: bool = False
    ) -> None:
        super().__init__(graph.unlabelled, learner, 1, budget)
        self._seed = 0
        self.candidates, self.several = candidates, several
        self._asked: list[int] = []
        self._answers: list[Columns] = []

    def clear(self, seed: int) -> None:
        """Nothing labelled; the pool is all candidates."""
        self._seed = seed
        self.clock.reset(seed)
        self.labelled.zero_()
        self.pool[0] = self.candidates
        self._asked, self._answers = [], []

    def take(self, node: int, label: Columns) -> None:
        """A node's label, by the classifier's column of its class, or of its classes."""
        self.take_all([(node, label)])

    def take_all(self, labels: Sequence[tuple[int, Columns]]) -> None:
        """Many nodes' labels at once."""
        if not labels:
            return
        nodes = torch.tensor([node for node, _ in labels])
        answers = [label for _, label in labels]
        self.labelled[0, nodes] = True
        self.pool[0, nodes] = False
        self._asked += nodes.tolist()
        self._answers += answers
        self.clock.count = len(self._asked)
        self.learner.add(nodes[None], self._as_tensor(answers)[None])

    def go_back(self, taken: list[tuple[int, Columns]]) -> None:
        """To the moment when just these nodes had been taken in; the learner is restored by the caller."""
        self.clear(self._seed)
        self._asked, self._answers = [node for node, _ in taken], [label for _, label in taken]
        self.clock.count = len(taken)
        if taken:
            nodes = torch.tensor(self._asked)
            self.labelled[0, nodes] = True
            self.pool[0, nodes] = False

    @property
    def taken(self) -> list[tuple[int, Columns]]:
        """The nodes labelled so far with the columns of their classes, in order."""
        return list(zip(self._asked, self._answers, strict=True))

    @property
    def queried(self) -> Queried:
        """The nodes labelled so far and their answers, padded to the budget."""
        room = max(self.budget, self.step)
        nodes = torch.zeros(1, room, dtype=torch.int64)
        nodes[0, : self.step] = torch.tensor(self._asked, dtype=torch.int64)
        answers = self._as_tensor(self._answers)
        labels = torch.zeros(1, room, *answers.shape[1:], dtype=answers.dtype)
        labels[0, : self.step] = answers
        return Queried(nodes, labels, torch.arange(room)[None] < self.step)

    def _as_tensor(self, answers: Sequence[Columns]) -> torch.Tensor:
        """Answers as the learner takes them: int64 [label], or 0 and 1 where there may be several, [label, class]."""
        if not self.several:
            return torch.tensor(answers, dtype=torch.int64)
        table = torch.zeros(len(answers), self.learner.num_classes, dtype=torch.int8)
        for row, columns in enumerate(answers):
            table[row, list(columns if isinstance(columns, tuple) else (columns,))] = 1
        return table
