"""What the classifier says of every node."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Prediction"]


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
        found: npt.NDArray[np.int64] = self.probabilities.argmax(1).astype(np.int64)
        return found

    @property
    def names(self) -> list[str]:
        """The most likely class of every node, by name."""
        return [self.classes[column] for column in self.best]

    @property
    def confidence(self) -> npt.NDArray[np.float32]:
        """The probability of the most likely class: [node]."""
        found: npt.NDArray[np.float32] = self.probabilities.max(1)
        return found
