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
    from nodewise.session.log.classes import ClassList

__all__ = ["Prediction", "class_columns", "make_prediction"]


@dataclass(frozen=True, eq=False)
class Prediction:
    """Predictions for all nodes, from a copy of the classifier that was trained the closing epochs.

    Attributes:
        classes: the columns' names, in the order of the classes' numbers; one that nobody has used yet has probability 0.
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


def make_prediction(learner: SessionLearner, classes: ClassList, reporter: Reporter | None = None) -> Prediction:
    """The predictions of a learner after its closing epochs, with a column for every class, also those that it does not know yet."""
    closed = learner.closed(reporter=reporter).numpy()
    numbers, table = class_columns(closed, learner.classes, classes)
    table.flags.writeable = False
    return Prediction(tuple(map(classes.name, numbers)), table, learner.count)


def class_columns(table: npt.NDArray[np.float32], keys: Sequence[str], classes: ClassList) -> tuple[list[int], npt.NDArray[np.float32]]:
    """A classifier's columns as the session's classes, by number; a class that was merged adds to the one that it counts as.

    Args:
        table: probabilities, [node, column].
        keys: what the classifier knows its columns by.
        classes: the session's classes.

    Returns:
        The classes' numbers and the probabilities, [node, class].
    """
    numbers = list(classes.numbers)
    result = np.zeros((len(table), len(numbers)), np.float32)
    for column, key in enumerate(keys):
        number = classes.number_of_key(key)
        if number in numbers:
            result[:, numbers.index(number)] += table[:, column]
    return numbers, result
