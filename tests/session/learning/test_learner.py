"""A session's learner is a function of what it follows: no trace of the way there, one learner for each purpose."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from nodewise.classifiers import make_classifier
from nodewise.graph.tensors import GraphTensors
from nodewise.session.learning.learner import Learners, SessionLearner
from nodewise.session.log.contents import Contents
from nodewise.session.log.log import Log
from nodewise.session.meaning.history import read_history
from nodewise.session.meaning.rules import Label
from nodewise.session.settings import SessionSettings
from nodewise.strategies import make_strategy
from tests.session.jobs import small_job, unlabelled
from tests.small_graphs import block_graph

HISTORY = (Label(3, "a"), Label(9, "b"), Label(20, "a"), Label(31, "b"))


def learner(classifier: str = "gcn", strategy: str = "uncertainty", given: tuple[Label, ...] = ()) -> SessionLearner:
    settings = SessionSettings(budget=20, classes=("a", "b"), strategy=strategy, classifier=classifier, seed=3)
    return SessionLearner(
        GraphTensors(unlabelled(block_graph(60)), "cpu"),
        settings,
        make_classifier(classifier),
        make_strategy(strategy),
        given,
        torch.ones(60, dtype=torch.bool),
    )


@pytest.mark.parametrize(("classifier", "strategy"), [("gcn", "uncertainty"), ("gcn", "anrmab"), ("views", "gain")])
def test_the_way_to_a_history_leaves_no_trace(classifier: str, strategy: str) -> None:
    straight, winding = learner(classifier, strategy), learner(classifier, strategy)
    straight.follow(HISTORY)
    winding.follow(HISTORY[:2])
    winding.scores()
    winding.follow((*HISTORY[:1], Label(40, "b"), Label(41, "c")))
    winding.follow(HISTORY)
    assert winding.count == straight.count == 4 and winding.classes == straight.classes == ("a", "b")
    assert torch.equal(winding.probabilities(), straight.probabilities())
    assert torch.equal(winding.scores(), straight.scores()) and torch.equal(winding.closed(), straight.closed())


def test_closing_epochs_leave_the_learner_as_it_was() -> None:
    one = learner()
    one.follow(HISTORY)
    before = one.probabilities().clone()
    assert not torch.equal(one.closed(), before) and torch.equal(one.probabilities(), before)


def test_other_labels_from_before_begin_anew() -> None:
    one, other = learner(given=(Label(50, "a"),)), learner(given=(Label(50, "b"),))
    one.follow(HISTORY)
    one.follow(HISTORY, (Label(50, "b"),))
    other.follow(HISTORY)
    assert torch.equal(one.probabilities(), other.probabilities()) and one.count == 5


def test_columns_become_the_sessions_classes_and_merged_ones_add_up() -> None:
    one = learner("views", "gain")
    one.follow((*HISTORY, Label(44, "c")))
    with_merge = read_history([], ["a", "b", "c", "d"]).classes
    merged = type(with_merge)(with_merge.first_names, with_merge.names, {3: 1})
    table = np.array([[0.5, 0.2, 0.3]], np.float32)
    numbers, probabilities = one.by_class(table, merged)
    assert numbers == [1, 2, 4] and np.allclose(probabilities, [[0.8, 0.2, 0.0]])


def test_every_purpose_has_a_learner_and_all_share_the_tensors(tmp_path: Path) -> None:
    small_job(tmp_path / "job", audit=2).close()
    with Log.open(tmp_path / "job") as log:
        contents = Contents.read(log)
    learners = Learners(contents, lambda: (make_classifier("views"), make_strategy("uncertainty")))
    ask, report = learners.get("ask", ()), learners.get("report", ())
    assert learners.get("ask", ()) is ask is not report and ask.tensors is report.tensors
    assert "ask" in learners and "predict" not in learners
    assert not ask.environment.candidates[list(contents.audit)].any()
