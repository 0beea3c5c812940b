"""The predictions that every part of the page shows: one set, made again as soon as the labels have changed.

In closed form they are made before the answer that shows them. A classifier that is trained runs its closing epochs in
the background; meanwhile the page is told that they are being updated.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from nodewise.graph.label_sets import set_texts

if TYPE_CHECKING:
    from nodewise.ground.events import Reporter
    from nodewise.session import Prediction, Session
    from nodewise.session.meaning.history import History
    from nodewise.session.meaning.rules import TrainingLabels

__all__ = ["Decided", "Predictions"]

_PAUSE = 0.5
_QUICK = 0.5
"""Seconds that predictions in closed form may take to be made before an answer, and not in the background."""
_FEW = 50_000
"""Nodes up to which the first ones are taken to be quick."""
_WANTED = 30.0


@dataclass(frozen=True, eq=False)
class Decided:
    """What is predicted for every node, as one text each.

    Attributes:
        names: the classes; where a node may have several the sets that occur, with ``;`` between the classes.
        index: which of them each node has: int64 [node].
        sure: how likely it is; of a set, that its least certain class is decided rightly: float64 [node].
    """

    names: tuple[str, ...]
    index: npt.NDArray[np.int64]
    sure: npt.NDArray[np.float64]

    @classmethod
    def of(cls, prediction: Prediction) -> Decided:
        """The same of a session's prediction."""
        sure, given = prediction.confidence.astype(float), prediction.given
        if given is None:
            return cls(prediction.classes, prediction.probabilities.argmax(1), sure)
        sets, index = np.unique(given, axis=0, return_inverse=True)
        return cls(tuple(set_texts(sets.view(np.int8), prediction.classes)), index.reshape(-1), sure)


class Predictions:
    """The last predictions of a session. Every method runs in the worker's thread.

    Args:
        session: whose.
        reporter: called after each step of the work; it may use the session.
        clock: tells seconds.

    Attributes:
        kept: the predictions; None where nothing has been labelled. decided: what they give each node.
        version: how often they were made: another number, other predictions.
        history: what the log said when they were made; None before.
    """

    def __init__(self, session: Session, reporter: Reporter, clock: Callable[[], float] = time.monotonic) -> None:
        self._session, self._reporter, self._clock = session, reporter, clock
        self.kept: Prediction | None = None
        self.decided: Decided | None = None
        self.version = 0
        self.history: History | None = None
        self._state: object = ((), ())
        self._seen: tuple[TrainingLabels, object] | None = None
        self._trained: bool | None = None
        self._took: float | None = None
        self._next = 0.0
        self._wanted = -_WANTED

    @property
    def made_from(self) -> int | None:
        """How many labels the kept ones were learned from."""
        return None if self.kept is None else self.kept.labels

    @property
    def fresh(self) -> bool:
        """Whether they are those of the labels that count now."""
        return self._state == self._now()

    def want(self) -> None:
        """Somebody looks at them: for a while they are made again by themselves, and where that is quick at once."""
        self._wanted = self._clock()
        if not self.fresh and self.quick:
            self._make(None)

    @property
    def wanted(self) -> bool:
        """Whether somebody has looked at them lately."""
        return self._clock() - self._wanted < _WANTED

    def due(self) -> bool:
        """Whether the labels have changed since they were made, and it is time to make them again."""
        return self._clock() >= self._next and not self.fresh

    def renew(self) -> bool:
        """Make them again if that is due; whether it was done.

        Half a second, or as long as they took, lies between two times.
        """
        if not self.due():
            return False
        self._make(self._reporter)
        return True

    def _make(self, reporter: Reporter | None) -> None:
        began, state, history = self._clock(), self._now(), self._session.refresh()
        self.kept = self._session.predict(reporter) if state != ((), ()) else None
        self.decided = None if self.kept is None else Decided.of(self.kept)
        self._state, self.version, self.history = state, self.version + 1, history
        now = self._clock()
        self._took = now - began
        self._next = now + max(_PAUSE, self._took)

    @property
    def quick(self) -> bool:
        """Whether they are made at once for whoever looks at them."""
        if self._now() == ((), ()):
            return True
        if self._trained is None:
            self._trained = self._session.follow(self._session.refresh()).classifier.trained
        return not self._trained and (
            self._session.graph.num_nodes <= _FEW if self._took is None else self._took <= _QUICK
        )

    def _now(self) -> object:
        """What they depend on: labels, what models say, and where labels are doubted all votes. A class that is
        declared and not used has the probability 0, so it need not make them stale.

        Answers of rows whose answer is known change nothing; they are made again all the same, as for any other label,
        so that nobody can tell such a row by their not being made.
        """
        history = self._session.refresh()
        labels = self._session.training(history)
        if self._seen is None or self._seen[0] is not labels:
            learned, given = labels
            classes = history.classes
            numbers = {key: classes.number_of_key(key) for each in (*learned, *given) for key in each.classes}
            names = {key: number and classes.name(number) for key, number in numbers.items()}
            self._seen = labels, (((*learned, *given), tuple(names.items())) if learned or given else ((), ()))
        nothing = self._seen[1] == ((), ())
        doubted = history.last if self._session.settings.trust and not nothing else 0
        known = () if nothing else tuple((node, history.ballots.get(node)) for node in history.known.answers)
        if not history.suggested and not doubted and not known:
            return self._seen[1]
        return self._seen[1], tuple(event.id for event in history.suggested), doubted, known
