"""Predictions and reports that are kept: when they are made again, and that work in between is let through."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodewise.ground.events import Event
from nodewise.studio.work.errors import ConflictError
from nodewise.studio.work.predictions import Predictions
from nodewise.studio.work.reports import Reports
from tests.session.jobs import Clock
from tests.studio.jobs import job


class Steps:
    """Counts what it is told, and lets a clock run meanwhile."""

    def __init__(self, clock: Clock | None = None, each: float = 0.0) -> None:
        self.count, self.clock, self.each = 0, clock, each

    def __call__(self, event: Event, /) -> None:
        self.count += 1
        if self.clock is not None:
            self.clock.now += self.each


def test_predictions_of_a_trained_classifier_are_made_when_labels_have_changed_and_half_a_second_has_gone(
    tmp_path: Path,
) -> None:
    clock, steps = Clock(), Steps()
    session = job(tmp_path, classifier="gcn")
    kept = Predictions(session, steps, clock)
    assert not kept.due() and not kept.renew() and kept.made_from is None
    session.tell([1, 2, 3], ["a", "b", "a"])
    assert kept.renew() and kept.made_from == 3 and steps.count == 3 + 35
    session.ask()
    session.add_class("c")
    clock.now += 100
    assert not kept.due()  # neither a query nor a class without labels changes them
    session.tell(4, "c")
    assert kept.renew() and kept.made_from == 4
    session.tell(5, "a")
    assert not kept.renew()
    clock.now += 0.4
    assert not kept.renew() and kept.made_from == 4 and not kept.fresh
    kept.want()
    assert not kept.fresh  # closing epochs are not run before an answer
    clock.now += 0.2
    assert kept.renew() and kept.made_from == 5 and kept.fresh and kept.version == 3
    session.rename_class("a", "first")
    assert not kept.fresh, "the columns have other names now"
    session.undo()
    assert kept.fresh
    session.undo()
    clock.now += 3
    assert kept.renew() and kept.made_from == 4


def test_predictions_in_closed_form_are_fresh_for_whoever_looks(tmp_path: Path) -> None:
    session = job(tmp_path)
    kept = Predictions(session, Steps(), Clock())
    for change in (
        lambda: session.tell([1, 2, 3], ["a", "b", "a"]),
        lambda: session.tell(4, "b"),
        session.undo,
        lambda: session.rename_class("a", "first"),
    ):
        change()
        assert not kept.fresh
        kept.want()
        assert kept.fresh and kept.kept is not None
        assert (
            kept.kept.probabilities == session.predict().probabilities
        ).all() and kept.kept.classes == session.classes
    assert kept.version == 4


def test_without_labels_there_are_no_predictions_any_more(tmp_path: Path) -> None:
    clock = Clock()
    session = job(tmp_path, classifier="gcn")
    kept = Predictions(session, Steps(), clock)
    session.tell(1, "a")
    assert kept.renew() and kept.kept is not None
    session.undo()
    clock.now += 3
    assert kept.renew() and kept.kept is None


def test_slow_predictions_are_made_less_often(tmp_path: Path) -> None:
    clock = Clock()
    session = job(tmp_path, classifier="gcn")
    kept = Predictions(session, Steps(clock, 0.1), clock)
    session.tell([1, 2], ["a", "b"])
    assert kept.renew()  # 37 steps of 0.1 s
    session.tell(3, "a")
    clock.now += 3.6
    assert not kept.due()
    clock.now += 0.2
    assert kept.due()


def test_they_are_wanted_for_a_while_after_somebody_has_looked(tmp_path: Path) -> None:
    clock = Clock()
    kept = Predictions(job(tmp_path), Steps(), clock)
    assert not kept.wanted
    kept.want()
    assert kept.wanted
    clock.now += 31
    assert not kept.wanted


def test_a_report_is_kept_until_labels_change_and_takes_a_fifth_of_the_time(tmp_path: Path) -> None:
    clock = Clock()
    session = job(tmp_path, audit=3, classifier="gcn")
    steps = Steps(clock, 0.01)
    reports = Reports(session, steps, clock)
    with pytest.raises(ConflictError, match="before the first label"):
        reports.latest()
    session.tell(list(range(6)), ["ab"[node % 2] for node in range(6)])
    began = clock.now
    first = reports.latest()
    took, count = clock.now - began, steps.count
    assert first["from"] == 6 and count > 100
    assert reports.latest() is first and steps.count == count
    session.tell(40, "a")
    assert reports.latest() is first  # too soon
    clock.now += 4 * took + 0.01
    assert reports.latest()["from"] == 7 and steps.count > count
