"""Long work on a session lets others ask and tell in between, and gives the same numbers as if they had not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nodewise.ground.errors import UnknownNameError
from nodewise.ground.events import Event, Progress
from nodewise.session import Session
from nodewise.session.answers import undone
from tests.session.jobs import small_job


class Interrupting:
    """Tells, asks and declares between the steps of what it is told of."""

    def __init__(self, session: Session) -> None:
        self.session, self.seen, self.told = session, list[Progress](), 0

    def __call__(self, event: Event, /) -> None:
        assert isinstance(event, Progress)
        self.seen.append(event)
        if len(self.seen) % 7 == 0 and self.told < 10:
            self.session.tell(self.session.ask().node, ["a", "b", "one more"][self.told % 3])
            self.told += 1


def start(path: Path) -> Session:
    session = small_job(path, audit=4, classifier="gcn")  # one that is trained takes its time
    session.tell(list(range(12)), ["ab"[node % 2] for node in range(12)])
    return session


def test_predictions_are_those_of_the_moment_when_they_were_begun(tmp_path: Path) -> None:
    session, still = start(tmp_path / "one"), start(tmp_path / "two")
    interrupting = Interrupting(session)
    found, expected = session.predict(interrupting), still.predict()
    assert interrupting.told == 7 - 1  # 11 labels, one being of the audit, and 35 epochs
    assert (
        np.array_equal(found.probabilities, expected.probabilities)
        and found.classes == expected.classes
        and found.labels == expected.labels == 11
    )
    after = session.predict()
    assert after.labels == len(session.history) > 11 and "one more" in after.classes


def test_a_report_is_that_of_the_moment_when_it_was_begun_and_leaves_what_asks_alone(tmp_path: Path) -> None:
    session, still = start(tmp_path / "one"), start(tmp_path / "two")
    queries = [session.ask().node, still.ask().node]
    interrupting = Interrupting(session)
    assert session.stop_report(interrupting) == still.stop_report()
    assert interrupting.told == 10
    assert {event.task for event in interrupting.seen} == {"learn", "predict", "curve", "cross-validate"}
    assert queries[0] == queries[1] and "ask" in session._learners and session._learners.get("ask", ()).count > 12


def test_predictions_may_be_made_in_the_middle_of_a_report(tmp_path: Path) -> None:
    session, still = start(tmp_path / "one"), start(tmp_path / "two")
    steps, found = list[Event](), list[np.ndarray]()

    def predicting(event: Event, /) -> None:
        steps.append(event)
        if len(steps) in (5, 60, 150, 250):
            session.tell(20 + len(found), "a")
            found.append(session.predict(lambda event: None).probabilities)

    assert session.stop_report(predicting) == still.stop_report()
    assert len(found) == 4
    for number, table in enumerate(found):
        still.tell(20 + number, "a")
        assert np.array_equal(table, still.predict().probabilities)


def test_what_the_reporter_raises_ends_the_work_and_harms_nothing(tmp_path: Path) -> None:
    session, still = start(tmp_path / "one"), start(tmp_path / "two")
    for stop in (3, 20):
        seen = list[Event]()

        def refuse(event: Event, /, seen: list[Event] = seen, stop: int = stop) -> None:
            seen.append(event)
            if len(seen) == stop:
                raise InterruptedError

        with pytest.raises(InterruptedError):
            session.predict(refuse)
    assert np.array_equal(session.predict(lambda event: None).probabilities, still.predict().probabilities)


def test_all_events_can_be_read_and_which_are_undone(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job")
    session.tell(1, "a")
    session.undo()
    session.skip(2)
    session.undo(2)
    assert [event.kind for event in session.events] == ["tell", "undo", "skip", "undo"]
    assert undone(session.events) == {2}  # the undo of the label, so that it counts again


def test_a_suggestion_is_given_whatever_the_case(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job", classes=["Spam", "Fine"])
    with pytest.raises(UnknownNameError, match="did you mean 'Spam'") as caught:
        session.tell(1, "spm")
    assert caught.value.suggestions == ["Spam"]
