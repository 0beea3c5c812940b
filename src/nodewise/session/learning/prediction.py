"""What the classifier says of every node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from nodewise.ground.events import Reporter

if TYPE_CHECKING:
    from nodewise.session.learning.learner import SessionLearner

__all__ = ["Prediction", "make_prediction"]


@dataclass(frozen=True, eq=False)
class Prediction:
    """Predictions for all nodes, from a copy of the classifier that was trained the closing epochs.

    Attributes:
        classes: the columns' names: those of the start, those of the labels in order, and last any that nobody has used yet (probability 0).
        probabilities: float32 [node, class]; every row sums to 1.
        labels: how many labels it was learned from.
    """

    classes: tuple[str, ...]
    probabilities: npt.NDArray[np.float32]
    labels: int

    @property
    def best(self) -> npt.NDArray[np.int64]:
        """The most likely class of every node, as a column: int64 [node]."""
        columns: npt.NDArray[np.int64] = self.probabilities.argmax(1).astype(np.int64)
        return columns

    @property
    def names(self) -> list[str]:
        """The most likely class of every node, by name."""
        return [self.classes[column] for column in self.best]

    @property
    def confidence(self) -> npt.NDArray[np.float32]:
        """The probability of the most likely class: [node]."""
        highest: npt.NDArray[np.float32] = self.probabilities.max(1)
        return highest


def make_prediction(learner: SessionLearner, classes: Sequence[str], reporter: Reporter | None = None) -> Prediction:
    """The predictions of a learner after its closing epochs, with a column for every class, also those that it does not know yet."""
    closed = learner.closed(reporter=reporter).numpy()
    names = (*learner.classes, *(name for name in classes if name not in learner.classes))
    table = np.zeros((len(closed), len(names)), np.float32)
    table[:, : closed.shape[1]] = closed
    table.flags.writeable = False
    return Prediction(names, table, learner.count)
