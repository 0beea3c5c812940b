"""What a fitted learner says: predictions of nodes or rows, and the labels that speak for one."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nodewise.graph.label_sets import set_confidence, set_names
from nodewise.ground.events import count, html_table

__all__ = ["Evidence", "Predictions"]


class Evidence(NamedTuple):
    """A label that speaks for a prediction, or against it.

    Attributes:
        node: which node has it. label: its class; where it may have several, all of them in one text.
        amount: how much it adds to the predicted class; where a node may have several, to the likeliest one.
    """

    node: int
    label: str
    amount: float


@dataclass(frozen=True)
class Predictions:
    """What is predicted for nodes or rows.

    Attributes:
        labels: a class each, empty where nothing is known of any class. Where a row may have several classes, all that
            it is given in one text, ``;`` between them, which alone means none of them.
        probabilities: float32 [row, class]; where a row may have several classes, each class has one of its own.
        words: for each row what else there is to know: empty, or that it is like nothing seen.
        given: where a row may have several classes, those that it is given, bool [row, class]; else None.
        classes: the names of all classes.
    """

    labels: tuple[str, ...]
    probabilities: npt.NDArray[np.float32]
    words: tuple[str, ...]
    given: npt.NDArray[np.bool_] | None = None
    classes: tuple[str, ...] = ()

    @property
    def sets(self) -> list[tuple[str, ...]]:
        """The classes that every row is given, by name; none where nothing is known of any class."""
        if self.given is None:
            return [(name,) if name else () for name in self.labels]
        return set_names(self.given, self.classes)

    @property
    def confidence(self) -> npt.NDArray[np.float32]:
        """The probability of the predicted class: [row].

        Where a row may have several classes, the probability that the least certain one is decided rightly.
        """
        if self.given is None:
            return np.asarray(self.probabilities.max(1), np.float32)
        return set_confidence(self.given, self.probabilities)

    @property
    def unlike(self) -> npt.NDArray[np.bool_]:
        """Which rows are like nothing seen: bool [row]."""
        return np.array([bool(word) for word in self.words], dtype=bool)

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        """One line: of how many rows, and how many are like nothing seen."""
        rows, classes = count(len(self), "row"), count(self.probabilities.shape[1], "class", "classes")
        return f"Predictions({rows}, {classes}, {int(self.unlike.sum())} like nothing seen)"

    def _repr_html_(self) -> str:
        """A small table for notebooks: how many rows each class is predicted for."""
        counts = Counter(label or "unknown" for label in self.labels)
        return html_table(repr(self), {name: count(number, "row") for name, number in counts.most_common(20)})
