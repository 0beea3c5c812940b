"""The predictions that colour the page: kept, and made again at most every other second while labels stream in."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nodewise.session import Prediction, Session

__all__ = ["Predictions"]

_PAUSE = 2.0
_SHARE = 4.0


class Predictions:
    """The last predictions of a session. Every method runs in the worker's thread.

    Args:
        clock: tells seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.kept: Prediction | None = None
        self._state: object = None
        self._next = 0.0

    @property
    def made_from(self) -> int | None:
        """How many labels the kept ones were learned from."""
        return None if self.kept is None else self.kept.labels

    def stale(self, session: Session) -> bool:
        """Whether the labels have changed since the kept ones were made."""
        return self._state != _state_of(session)

    def due(self, session: Session) -> bool:
        """Whether they are stale and it is time to make them again."""
        return self._clock() >= self._next and self.stale(session)

    def renew(self, session: Session) -> bool:
        """Make them again if it is time; whether it was done. Two seconds, or four times what they took, lie between two times."""
        if not self.due(session):
            return False
        began = self._clock()
        state = _state_of(session)
        self.kept = session.predict() if state[0] else None
        self._state = state
        now = self._clock()
        self._next = now + max(_PAUSE, _SHARE * (now - began))
        return True


def _state_of(session: Session) -> tuple[bool, object]:
    """Whether anything trains, and what the predictions depend on."""
    history = session.refresh()
    training, given = session.training(history)
    return bool(training or given), (tuple(training), tuple(given), session.classes)
