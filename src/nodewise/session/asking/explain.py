"""Why a node was chosen: the state features in words, and the rank of its score."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from nodewise.ground.device import one_thread
from nodewise.policy.state import PAPER_FEATURES, StateSettings, state
from nodewise.session.learning.learner import SessionLearner
from nodewise.session.learning.prediction import class_columns
from nodewise.session.log.classes import ClassList

__all__ = ["Explainer"]

_SHOWN_CLASSES = 5


class Explainer:
    """Explains the nodes of one moment.

    Args:
        learner: at the moment of the query.
        allowed: the nodes that could have been asked, bool [node].
        strategy: its name.
        classes: what the classes are called.
    """

    def __init__(self, learner: SessionLearner, allowed: npt.NDArray[np.bool_], strategy: str, classes: ClassList) -> None:
        self._learner, self._allowed, self._strategy, self._classes = learner, allowed, strategy, classes
        with one_thread():
            self._scores = learner.scores().numpy()
            self._state = state(learner.observation, StateSettings())[0].numpy()  # [node, feature]
        self._candidates = int(allowed.sum())

    def body(self, node: int) -> dict[str, Any]:
        """What a query's event says beside the node: why, rank, score, features, predictions."""
        score = float(self._scores[node])
        rank = 1 + int((self._scores[self._allowed] > score).sum())
        return {
            "audit": False, "why": self._words(node, rank), "rank": rank, "candidates": self._candidates,
            "score": score if np.isfinite(score) else None,
            "features": {name: round(float(value), 4) for name, value in zip(PAPER_FEATURES, self._state[node], strict=True)},
            "predicted": self._predicted(node),
        }  # fmt: skip

    def _predicted(self, node: int) -> list[list[Any]]:
        learner = self._learner
        if not learner.count or not learner.classes:
            return []
        row = learner.probabilities()[node : node + 1].numpy()
        if self._classes.merged:
            numbers, row = class_columns(row, learner.classes, self._classes)
        else:  # in the classifier's order, which decides between equals
            numbers = [self._classes.number_of_key(key) or 0 for key in learner.classes]
        best = np.argsort(-row[0], kind="stable")[:_SHOWN_CLASSES]
        return [[self._classes.name(numbers[column]), round(float(row[0, column]), 4)] for column in best]

    def _words(self, node: int, rank: int) -> list[str]:
        entropy, _, from_neighbours, to_neighbours, _ = (float(value) for value in self._state[node])
        degree = int(self._learner.tensors.degree[node])
        around = self._learner.tensors.adjacency
        near = around.col[int(around.crow[node]) : int(around.crow[node + 1])].long()
        labelled = int(self._learner.environment.labelled[0, near].sum())
        position = "the highest score" if rank == 1 else f"score number {rank}"
        said = [f"{self._strategy} gives it {position} of {self._candidates} candidates"]
        many = "neighbour" if degree == 1 else "neighbours"
        said.append(f"it has {degree} {many}, more than {self._share(1, node)} of the nodes; {labelled} of them labelled")
        if self._learner.count:
            said.append(
                f"the classifier is {_how_unsure(entropy)} about it (entropy {entropy:.2f} of 1, above {self._share(0, node)} of the nodes)"
            )
            apart = max(from_neighbours, to_neighbours)
            column = 2 if from_neighbours >= to_neighbours else 3
            said.append(
                f"its prediction is {_how_far(apart)} its neighbours' (divergence {apart:.2f} of the largest, above {self._share(column, node)})"
            )
        else:
            said.append("nothing is labelled yet, so its place in the graph decides")
        return said

    def _share(self, column: int, node: int) -> str:
        if column == 1:
            degree = self._learner.tensors.degree.numpy()  # the state's is clipped
            return _percent(float((degree < degree[node]).mean()))
        values = self._state[:, column]
        return _percent(float((values < values[node]).mean()))


def _percent(share: float) -> str:
    return f"{int(100 * share)} %"  # rounded down: a node is never above all of the nodes


def _how_unsure(entropy: float) -> str:
    return "very unsure" if entropy > 0.9 else "unsure" if entropy > 0.6 else "fairly sure" if entropy > 0.3 else "sure"


def _how_far(apart: float) -> str:
    return "far from" if apart > 0.5 else "somewhat apart from" if apart > 0.1 else "close to"
