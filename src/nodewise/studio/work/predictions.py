"""The predictions that colour the page: kept, and made again at most every other second while labels stream in."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nodewise.ground.events import Reporter
    from nodewise.session import Prediction, Session

__all__ = ["Predictions"]

_PAUSE = 2.0
_SHARE = 4.0
_WANTED = 30.0


class Predictions:
    """The last predictions of a session. Every method runs in the worker's thread.

    Args:
        session: whose.
        reporter: told after each step of the work; it may use the session.
        clock: tells seconds.
    """

    def __init__(self, session: Session, reporter: Reporter, clock: Callable[[], float] = time.monotonic) -> None:
        self._session, self._reporter, self._clock = session, reporter, clock
        self.kept: Prediction | None = None
        self._state: object = ((), ())
        self._next = 0.0
        self._wanted = -_WANTED

    @property
    def made_from(self) -> int | None:
        """How many labels the kept ones were learned from."""
        return None if self.kept is None else self.kept.labels

    def want(self) -> None:
        """Somebody looks at them: for a while they are made again by themselves."""
        self._wanted = self._clock()

    @property
    def wanted(self) -> bool:
        """Whether somebody has looked at them lately."""
        return self._clock() - self._wanted < _WANTED

    def due(self) -> bool:
        """Whether the labels have changed since they were made, and it is time to make them again."""
        return self._clock() >= self._next and self._state != self._now()

    def renew(self) -> bool:
        """Make them again if that is due; whether it was done. Two seconds, or four times what they took, lie between two times."""
        if not self.due():
            return False
        began, state = self._clock(), self._now()
        self.kept = self._session.predict(self._reporter) if state != ((), ()) else None
        self._state = state
        now = self._clock()
        self._next = now + max(_PAUSE, _SHARE * (now - began))
        return True

    def _now(self) -> tuple[object, object]:
        """What they depend on. A class that is declared and not used has the probability 0, so it need not make them stale."""
        training, given = self._session.training(self._session.refresh())
        return tuple(training), tuple(given)
