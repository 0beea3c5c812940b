"""Making a session: what is decided where the settings leave it open, and what is refused before a file is there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodewise.classifiers import DEFAULT_CLASSIFIER
from nodewise.ground.errors import InputError
from nodewise.ground.events import Event, Note, Warned
from nodewise.policy import DEFAULT_POLICY
from nodewise.session import Session, SessionSettings
from nodewise.session.settings import NewSettings
from nodewise.strategies import DEFAULT_STRATEGY, Age
from tests.session.jobs import unlabelled
from tests.small_graphs import block_graph

GRAPH = block_graph(60)


def made(tmp_path: Path, graph: Any = GRAPH, **given: Any) -> SessionSettings:
    with Session.create(tmp_path / "job.nodewise", graph, **given) as session:
        settings = session.settings
    with Session.open(tmp_path / "job.nodewise") as again:
        assert again.settings == settings, "the file keeps what was decided"
    return settings


def test_what_is_left_open_is_decided(tmp_path: Path) -> None:
    settings = made(tmp_path)
    assert (settings.strategy, settings.policy, settings.classifier) == (DEFAULT_STRATEGY, None, DEFAULT_CLASSIFIER)
    assert (settings.classes, settings.budget, settings.reason) == (GRAPH.class_names, 15, "the default")
    assert settings.use_labels is False, "every node has a label, so none is looked at"


def test_what_is_asked_for_reaches_the_file(tmp_path: Path) -> None:
    given = {"seed": 4, "audit": 3, "redundancy": 2, "release_after": 90.0, "use_labels": False, "budget": 7}
    settings = made(tmp_path, strategy="random", classifier="gcn", classifier_settings={"hidden": 8}, **given)
    assert {name: getattr(settings, name) for name in given} == given
    assert (settings.strategy, settings.classifier, settings.reason) == ("random", "gcn", "chosen by hand")
    assert settings.classifier_settings["hidden"] == 8


def test_a_policy_brings_its_classifier_along_and_lies_in_the_file(tmp_path: Path) -> None:
    settings = made(tmp_path, strategy="policy", budget=5)
    assert (settings.strategy, settings.policy, settings.classifier) == ("policy", DEFAULT_POLICY, "gcn")
    with Session.open(tmp_path / "job.nodewise") as session:
        assert session.ask().node in range(60)


def test_a_strategy_of_ones_own_keeps_its_settings(tmp_path: Path) -> None:
    settings = made(tmp_path, strategy=Age(basef=0.5), budget=5)
    assert settings.strategy == "age" and settings.strategy_settings["basef"] == 0.5


def test_classes_are_those_of_the_labels_as_well(tmp_path: Path) -> None:
    y = np.full(60, -1, np.int64)
    y[:2] = 0, 2
    graph = replace(GRAPH, y=y)
    names = graph.class_names
    assert made(tmp_path, graph, classes=["other"], budget=5).classes == ("other", names[0], names[2])


def test_a_budget_is_five_a_class_where_classes_are_named(tmp_path: Path) -> None:
    assert made(tmp_path, unlabelled(GRAPH), classes=["a", "b"]).budget == 10


def test_it_is_told_what_was_decided(tmp_path: Path) -> None:
    told: list[Event] = []
    made(tmp_path, reporter=told.append)
    assert any(isinstance(event, Note) and event.message == "strategy gain: the default" for event in told)
    assert any(isinstance(event, Warned) and "left out of sight" in event.message for event in told)


@pytest.mark.parametrize(
    ("graph", "given", "said"),
    [
        (unlabelled(GRAPH), {}, "no budget and no classes are given"),
        (GRAPH, {"budget": 61}, "a budget of 61 is more than the 60 nodes that can be asked (0 have a label)"),
        (GRAPH, {"budget": 58, "audit": 3}, "a budget of 58 and an audit of 3 is more than the 60 nodes"),
        (GRAPH, {"budget": 3, "candidates": [0, 1]}, "a budget of 3 is more than the 2 nodes that can be asked"),
        (GRAPH, {"classes": "ab"}, "classes must be a list of names, got the text 'ab'"),
        (GRAPH, {"classes": ["a", "a"], "budget": 5}, "each another one"),
        (GRAPH, {"strategy": "age", "policy": DEFAULT_POLICY}, "a policy was given, but the strategy is 'age'"),
    ],
)
def test_what_cannot_be_made_is_refused_and_leaves_no_file(
    tmp_path: Path, graph: Any, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError) as refused:
        Session.create(tmp_path / "job.nodewise", graph, **given)
    assert said in str(refused.value) and list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_stays_and_the_graph_is_not_even_looked_for(tmp_path: Path) -> None:
    path = tmp_path / "job.nodewise"
    path.write_text("mine")
    with pytest.raises(InputError, match="there is a file .* already"):
        Session.create(path, "no such graph")
    assert path.read_text() == "mine"


def test_what_was_wanted_and_what_was_decided_make_a_sessions_settings() -> None:
    wanted = NewSettings(seed=7, audit=2)
    decided = SessionSettings.decide(
        wanted,
        budget=5,
        classes=("a",),
        strategy="gain",
        classifier="views",
        use_labels=True,
        features="raw",
        classifier_settings={},
        strategy_settings={},
    )
    assert (decided.seed, decided.audit, decided.budget, decided.classes) == (7, 2, 5, ("a",))
