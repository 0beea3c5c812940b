"""Whether more labels are worth it: the session's report, kept until the labels change."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from nodewise.studio.work.errors import ConflictError

if TYPE_CHECKING:
    from nodewise.graph import Graph
    from nodewise.ground.events import Event, Reporter
    from nodewise.session import Session
    from nodewise.session.meaning.history import History

__all__ = ["Reports"]

_SHARE = 4.0


class Reports:
    """The last report on a session. Every method runs in the worker's thread.

    Args:
        session: which.
        reporter: called after each step of the work; it may use the session.
        clock: tells seconds.

    Attributes:
        history: what the log said when the report was made; None before.
    """

    def __init__(self, session: Session, reporter: Reporter, clock: Callable[[], float] = time.monotonic) -> None:
        self._session, self._reporter, self._clock = session, reporter, clock
        self.history: History | None = None
        self._kept: dict[str, Any] | None = None
        self._state: object = None
        self._next = 0.0

    def _against_key(self, reporter: Reporter) -> dict[str, Any] | None:
        """How many predictions are right by the labels that came with the graph, where they are an answer key and not
        given; None without one. Where a node may have several classes, Micro-F1 over all of them as well.

        Only nodes that nobody has labelled count.
        """
        from nodewise.session.files.export import make_prediction

        session, graph = self._session, self._session.graph
        if session.settings.use_labels or not graph.labelled.any():
            return None
        # on the report's own classifier: the one that predicts may be wanted meanwhile
        history, labels = session.refresh(), session.labels.keys() - session.rules().known
        training, given = session.training(history)
        learner = session.separate_learner(history, "report")
        learner.follow(training, given, reporter)
        guesses = make_prediction(learner, history.classes, reporter).sets
        open_nodes = [node for node in np.flatnonzero(graph.labelled).tolist() if node not in labels]
        known = [history.classes.find(name) for name in graph.class_names]
        called = [
            name if number is None else history.classes.name(number)
            for name, number in zip(graph.class_names, known, strict=True)
        ]
        pairs = [(set(guesses[node]), {called[each] for each in _key(graph, node)}) for node in open_nodes]
        named = sum(len(guess) + len(truth) for guess, truth in pairs)
        hits = sum(len(guess & truth) for guess, truth in pairs)
        return {
            "right": sum(guess == truth for guess, truth in pairs),
            "of": len(pairs),
            "micro_f1": 2 * hits / named if named and session.settings.several else None,
        }

    def latest(self, check: Callable[[], None] = lambda: None) -> dict[str, Any]:
        """The report, and at which event it was made.

        It is made again when the labels have changed, but takes a fifth of the time at most.

        Args:
            check: called between the steps; may end the work by an error.

        Raises:
            ConflictError: nothing has been labelled yet.
        """

        def step(event: Event, /) -> None:
            self._reporter(event)
            check()

        session = self._session
        history = session.refresh()
        training, given = session.training(history)
        if not training and not given:
            raise ConflictError("there is nothing to report before the first label: tell one")
        known = tuple((node, history.ballots.get(node)) for node in history.known.answers)  # as for any other label
        state = (tuple(training), tuple(given), tuple(session.audit_labels.items()), known)
        if self._kept is None or (state != self._state and self._clock() >= self._next):
            began = self._clock()
            self._kept = {**session.stop_report(step).as_dict(), "from": history.last, "key": self._against_key(step)}
            self._state, self.history = state, history
            now = self._clock()
            self._next = now + _SHARE * (now - began)
        return self._kept


def _key(graph: Graph, node: int) -> list[int]:
    """The classes that a node came with."""
    if graph.y_sets is not None:
        return np.flatnonzero(graph.y_sets[node]).tolist()
    assert graph.y is not None
    return [int(graph.y[node])]
