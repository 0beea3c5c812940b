"""Why a node was chosen, in a person's words: the rank of its score, its neighbours, which labels speak for its class, how many nodes it would decide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import torch

from nodewise.ground.compute import one_thread
from nodewise.policy.policy import PAPER_FEATURES
from nodewise.session.asking.comparing import states
from nodewise.session.learning.learner import SessionLearner
from nodewise.session.learning.prediction import class_columns
from nodewise.session.log.classes import ClassList

__all__ = ["Explainer"]

_SHOWN_CLASSES = 5

_SHOWN_LABELS, _LEAST_PART = 3, 0.1
"""Labels that are named as speaking for a class: up to three, each with at least a tenth of what all of them say."""


@runtime_checkable
class _Reasoning(Protocol):
    """A learner that can say what its predictions rest on."""

    def evidence(self, node: int) -> list[tuple[int, float]]:
        """The labelled nodes and how much each speaks for the class that is predicted for a node, the strongest first."""
        ...

    def reach(self, node: int) -> float:
        """How many nodes a label here would decide."""
        ...


class Explainer:
    """Explains the nodes of one moment.

    Args:
        learner: at the moment of the query.
        allowed: the nodes that could have been asked, bool [node].
        strategy: its name.
        classes: what the classes are called.
        name_of: what a node is called.
    """

    def __init__(
        self,
        learner: SessionLearner,
        allowed: npt.NDArray[np.bool_],
        strategy: str,
        classes: ClassList,
        name_of: Callable[[int], str] = str,
    ) -> None:
        self._learner, self._allowed, self._strategy, self._classes, self._name_of = learner, allowed, strategy, classes, name_of
        with one_thread():
            self._scores = learner.scores().numpy()
            self._states = states(learner)
        looked_at = int(np.isfinite(self._scores[allowed]).sum())  # of a large graph, a sample
        self._candidates = looked_at or int(allowed.sum())

    def body(self, node: int) -> dict[str, Any]:
        """What a query's event says beside the node: why, rank, score, features, predictions."""
        score = float(self._scores[node])
        rank = 1 + int((self._scores[self._allowed] > score).sum())
        return {
            "audit": False, "why": self._words(node, rank), "rank": rank, "candidates": self._candidates,
            "score": score if np.isfinite(score) else None,
            "features": {name: round(float(value), 4) for name, value in zip(PAPER_FEATURES, self._states.of(node), strict=True)},
            "predicted": self._predicted(node),
        }  # fmt: skip

    def _predicted(self, node: int) -> list[list[Any]]:
        learner = self._learner
        if not learner.count or not learner.classes:
            return []
        row = learner.probabilities_of(torch.tensor([node])).numpy()
        if self._classes.merged:
            numbers, row = class_columns(row, learner.classes, self._classes)
        else:  # in the classifier's order, which decides between equals
            numbers = [self._classes.number_of_key(key) or 0 for key in learner.classes]
        best = np.argsort(-row[0], kind="stable")[:_SHOWN_CLASSES]
        return [[self._classes.name(numbers[column]), round(float(row[0, column]), 4)] for column in best]

    def _words(self, node: int, rank: int) -> list[str]:
        entropy, _, from_neighbours, to_neighbours, _ = (float(value) for value in self._states.of(node))
        degree = int(self._learner.tensors.degree[node])
        around = self._learner.tensors.adjacency
        near = around.col[int(around.crow[node]) : int(around.crow[node + 1])].long()
        labelled = int(self._learner.environment.labelled[0, near].sum())
        position = "the highest score" if rank == 1 else f"score number {rank}"
        said = [f"{self._strategy} gives it {position} of {self._candidates} candidates"]
        many = "neighbour" if degree == 1 else "neighbours"
        said.append(f"it has {degree} {many}, more than {self._share(1, node)} of the nodes; {labelled} of them labelled")
        if self._learner.count:
            said.append(f"the classifier is {_how_unsure(entropy)} about it" + self._more(0, node, entropy > 0.3, "than about"))
            apart = max(from_neighbours, to_neighbours)
            column = 2 if from_neighbours >= to_neighbours else 3
            said.append(f"its prediction is {_how_far(apart)} its neighbours'" + self._more(column, node, apart > 0.1, "than at"))
        else:
            said.append("nothing is labelled yet, so its place in the graph decides")
        if isinstance(self._learner.learner, _Reasoning):
            said += self._reasons(self._learner.learner, node, set(near.tolist()))
        return said

    def _more(self, column: int, node: int, worth: bool, than: str) -> str:
        return f", more {than} {self._share(column, node)} of the nodes" if worth else ""

    def _reasons(self, reasoning: _Reasoning, node: int, neighbours: set[int]) -> list[str]:
        """Which labels speak for the predicted class, and how many nodes the label would decide."""
        said = []
        with one_thread():
            if self._learner.count:
                said += self._speaking(reasoning, node, neighbours)
            decided = round(reasoning.reach(node))
        said.append(
            f"its label would decide about {decided} nodes" if decided > 1 else "its label would decide little beyond the node itself"
        )
        return said

    def _speaking(self, reasoning: _Reasoning, node: int, neighbours: set[int]) -> list[str]:
        best = int(self._learner.probabilities_of(torch.tensor([node]))[0].argmax())
        labels = dict(self._learner.environment.told)
        speaking = [(other, much) for other, much in reasoning.evidence(node) if much > 0 and labels[other] == best]
        total = sum(much for _, much in speaking)
        named = [other for other, much in speaking[:_SHOWN_LABELS] if much >= _LEAST_PART * total]
        near, alike = ([other for other in named if (other in neighbours) == is_near] for is_near in (True, False))
        parts = [self._called(near, "its labelled neighbour")] if near else []
        parts += [self._called(alike, "the similar node")] if alike else []
        class_name = self._classes.name(self._classes.number_of_key(self._learner.classes[best]) or 0)
        if not parts:
            return [f"no label speaks clearly for {class_name}, which is predicted"]
        return [f"for {class_name} {'speaks' if len(named) == 1 else 'speak'} {' and '.join(parts)}"]

    def _called(self, nodes: Sequence[int], kind: str) -> str:
        names = [self._name_of(node) for node in nodes]
        listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
        return f"{kind if len(names) == 1 else kind + 's'} {listed}"

    def _share(self, column: int, node: int) -> str:
        if column == 1:
            degree = self._learner.tensors.degree.numpy()  # the state's is clipped
            return _percent(float((degree < degree[node]).mean()))
        return _percent(self._states.share_below(column, node))


def _percent(share: float) -> str:
    return f"{int(100 * share)} %"  # rounded down: a node is never above all of the nodes


def _how_unsure(entropy: float) -> str:
    return "very unsure" if entropy > 0.9 else "unsure" if entropy > 0.6 else "fairly sure" if entropy > 0.3 else "sure"


def _how_far(apart: float) -> str:
    return "far from" if apart > 0.5 else "somewhat apart from" if apart > 0.1 else "close to"
