"""A job with the default classifier, in closed form: one prediction everywhere, batches by the strategy, nothing
replayed.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from nodewise.classifiers.views.posterior import Posterior
from nodewise.session import Session
from nodewise.studio.layout.overview import GraphMap
from nodewise.studio.work.pictures import Pictures
from nodewise.studio.work.session_page import SessionPage
from tests.session.jobs import small_job, unlabelled
from tests.small_graphs import block_graph, with_labels


def test_card_map_and_export_show_one_prediction_in_27_questions(tmp_path: Path) -> None:
    truth = block_graph(80)
    assert truth.y is not None
    session = Session.create(tmp_path / "job", unlabelled(truth), budget=27, classes=list(truth.class_names))
    assert (session.settings.classifier, session.settings.strategy) == ("views", "gain")
    nothing = np.zeros((0, 2), np.int64)
    whole = GraphMap(np.arange(80), np.zeros(80, np.float32), np.zeros(80, np.float32), nothing, 80)
    for number in range(27):
        query = session.ask()
        if number:
            session.export(tmp_path / "out.csv")
            with (tmp_path / "out.csv").open(newline="") as file:
                exported = list(csv.DictReader(file))[query.node]["predicted"]
            page = SessionPage(session, Pictures(), lambda: None)
            page.predictions.renew()
            colours = page.colours(whole)
            shown = {
                exported,
                session.predict().names[query.node],
                page.card(query.node)["predicted"][0][0],
                colours["classes"][colours["predicted"][query.node]],
            }
            assert shown == {query.guess}
            assert query.sure == pytest.approx(float(session.predict().confidence[query.node]), abs=1e-4)
        session.tell(query.node, truth.class_names[truth.y[query.node]])
    assert session.done


class Counted:
    """How often the posterior was given labels, and fitted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[str] = []
        for name in ("add", "add_many", "fit"):
            monkeypatch.setattr(Posterior, name, self._counting(name, getattr(Posterior, name)))

    def _counting(self, name: str, work):  # type: ignore[no-untyped-def]
        def counted(*given, **named):  # type: ignore[no-untyped-def]
            self.calls.append(name)
            return work(*given, **named)

        return counted


def test_reopening_500_labels_is_one_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    truth = block_graph(600)
    assert truth.y is not None
    names = [truth.class_names[number] for number in truth.y]
    session = Session.create(tmp_path / "job", unlabelled(truth), budget=550, classes=list(truth.class_names))
    session.tell(list(range(500)), names[:500])
    expected = session.ask()
    session.skip(expected.node)
    session.close()
    counted = Counted(monkeypatch)
    with Session.open(tmp_path / "job") as session:
        session.ask()
        session.predict()
    assert counted.calls == ["add_many", "fit"]


def test_labels_from_before_are_taken_in_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    truth = block_graph(60)
    assert truth.y is not None
    some = np.where(np.arange(60) < 30, truth.y, -1)
    counted = Counted(monkeypatch)
    session = Session.create(tmp_path / "job", with_labels(truth, some), budget=10)
    session.ask()
    assert counted.calls == ["add_many", "fit"]


def test_a_batch_is_the_strategy_s_own_and_keeps_off_what_may_not_be_asked(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job", strategy="gain")
    session.tell([3, 9, 20, 31], list("abab"))
    skipped = session.ask().node
    session.skip(skipped)
    queries = [query.node for query in session.ask(5)]
    learner = session.follow(session.refresh())
    allowed = learner.environment.pool[0].clone()
    allowed[skipped] = False
    assert queries == learner.batch(5, allowed) and len(set(queries)) == 5
    others = [query.node for query in session.ask(5, annotator="bob")]
    assert not {*others, *session.labels} & {*queries}
    waiting = learner.environment.pool[0].clone()
    waiting[queries] = False
    assert others == learner.batch(5, waiting, sorted(queries))


def test_after_a_skip_the_first_question_is_still_drawn_and_leads_the_batch(tmp_path: Path) -> None:
    asked = set()
    for seed in range(6):
        session = small_job(tmp_path / f"job{seed}", strategy="gain", seed=seed)
        skipped = session.ask().node
        session.skip(skipped)
        node = session.ask().node
        learner = session.follow(session.refresh())
        allowed = learner.environment.pool[0].clone()
        allowed[skipped] = False
        together = learner.batch(2, allowed)
        assert together is not None and together[0] == node
        asked.add(node)
    assert len(asked) > 3


def test_what_others_are_asked_counts_as_answered(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job", strategy="gain")
    session.tell([3, 9, 20, 31], list("abab"))
    learner = session.follow(session.refresh())
    pool = learner.environment.pool[0]
    together = learner.batch(4, pool)
    assert together is not None
    rest = pool.clone()
    rest[together[:2]] = False
    assert learner.batch(2, rest, together[:2]) == together[2:]
