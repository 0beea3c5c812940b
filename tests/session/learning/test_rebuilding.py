"""A session's classifier and strategy from its file: the same ones, or a sentence that says what to give."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nodewise.classifiers import Gcn, Views
from nodewise.graph.relations import RELATIONS_VERSION, NodeType, Relation, Relations
from nodewise.ground.errors import SessionError
from nodewise.ground.events import Event, Warned
from nodewise.session.learning.rebuilding import Rebuilding, stored_classifier, stored_strategy
from nodewise.session.log.contents import Contents
from nodewise.session.log.log import Log
from nodewise.session.settings import SessionSettings
from nodewise.strategies import Learned
from tests.session.jobs import small_job, unlabelled
from tests.small_graphs import block_graph


def test_a_session_of_before_a_setting_was_thought_of_is_opened_with_its_classifier_by_name() -> None:
    then = {key: value for key, value in Gcn(hidden=8).identity().items() if key != "observed"}
    settings = SessionSettings(
        budget=5, classes=("a", "b"), strategy="random", policy=None, classifier="gcn", classifier_settings=then
    )
    assert stored_classifier(settings, "gcn") == stored_classifier(settings) == Gcn(hidden=8)
    with pytest.raises(SessionError, match="was begun with the classifier 'gcn'"):
        stored_classifier(settings, Gcn(hidden=8, observed="training"))


def contents(path: Path, **options: object) -> Contents:
    small_job(path, **options).close()
    with Log.open(path) as log:
        return Contents.read(log)


def test_every_call_makes_new_ones_of_the_same_settings(tmp_path: Path) -> None:
    rebuild = Rebuilding(contents(tmp_path / "job", strategy="anrmab", classifier="gcn"))
    (one, first), (other, second) = rebuild(), rebuild()
    assert one == other and isinstance(one, Gcn)
    assert first is not second and first.name == second.name == "anrmab"


def test_a_policy_comes_from_the_weights_in_the_file(tmp_path: Path) -> None:
    held = contents(tmp_path / "job", strategy="policy")
    assert held.policy is not None
    strategy = stored_strategy(held.settings, held.policy)
    assert isinstance(strategy, Learned)


def test_a_name_that_nobody_has_registered_is_asked_for_and_not_imported(tmp_path: Path) -> None:
    settings = replace(contents(tmp_path / "job").settings, classifier="antigravity:Learner", classifier_settings={})
    with pytest.raises(SessionError, match=r"the session's classifier is not to be had here: .*Session\.open\("):
        stored_classifier(settings)


def test_another_classifier_than_the_sessions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match="was begun with the classifier 'gcn'"):
        stored_classifier(contents(tmp_path / "job", classifier="gcn").settings, Views())


def test_changed_code_is_said_once(tmp_path: Path) -> None:
    held = contents(tmp_path / "job", strategy="random")
    before = replace(held, settings=replace(held.settings, strategy_digest="version 0"))
    said: list[Event] = []
    rebuild = Rebuilding(before, reporter=said.append)
    rebuild(), rebuild()
    assert [type(event) for event in said] == [Warned] and "the strategy 'random' has changed" in str(said[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Rebuilding(held)()


def test_what_is_made_of_several_node_types_counts_as_the_classifiers_code(tmp_path: Path) -> None:
    types = (NodeType("paper", 60), NodeType("author", 6))
    written = Relation("written by", "paper", "author", np.array([np.arange(60), np.arange(60) % 6]))
    graph = replace(unlabelled(block_graph(60)), relations=Relations(types, (written,), "paper"))
    held = contents(tmp_path / "job", graph=graph)
    code = held.settings.classifier_digest
    assert code is not None and code.endswith(f", relations version {RELATIONS_VERSION}")
    said: list[Event] = []
    Rebuilding(held, reporter=said.append)()
    assert not said
    before = replace(held, settings=replace(held.settings, classifier_digest=code.partition(",")[0]))
    Rebuilding(before, reporter=said.append)()
    assert len(said) == 1 and "the classifier 'views' has changed" in str(said[0])
