"""Making a session: what is decided where the settings leave it open, and what is refused before a file is there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodewise.classifiers import DEFAULT_CLASSIFIER
from nodewise.graph import Graph
from nodewise.ground.errors import InputError, UnknownNameError
from nodewise.ground.events import Event, Note, Warned
from nodewise.policy import DEFAULT_POLICY
from nodewise.session import Session, SessionSettings
from nodewise.session.files.creation import choose_strategy
from nodewise.session.settings import NewSettings
from nodewise.strategies import DEFAULT_STRATEGY, Age
from tests.session.jobs import small_job, unlabelled
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
        (GRAPH, {"budget": 3, "candidates": [0]}, "a budget of 3 is more than the 1 node that can be asked"),
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


def test_labels_of_a_wholly_labelled_graph_are_not_looked_at(tmp_path: Path) -> None:
    said: list[Event] = []
    Session.create(tmp_path / "job", block_graph(60), budget=5, strategy="age", reporter=said.append)
    assert any(isinstance(event, Warned) and "left out of sight" in event.message for event in said)
    truth = block_graph(60)
    assert truth.y is not None
    queries = []
    for number, y in enumerate((truth.y, truth.y[::-1].copy())):
        session = Session.create(tmp_path / f"job{number}", replace(truth, y=y), budget=5, strategy="age")
        session.tell([1, 2], ["0", "1"], new_class=True)
        queries.append(session.ask().node)
    assert queries[0] == queries[1]


def test_the_default_is_the_closed_form_and_others_are_found_by_name(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job", strategy=None)
    assert (
        session.settings.strategy == "gain"
        and session.settings.classifier == "views"
        and session.settings.policy is None
    )
    dense = Graph.build(np.stack(np.triu_indices(40, 1)), 40, x=np.eye(40, dtype=np.float32))
    assert small_job(tmp_path / "forced", strategy="policy", graph=dense).settings.strategy == "policy"
    with pytest.raises(UnknownNameError, match="did you mean 'random'"):
        small_job(tmp_path / "wrong", strategy="randm")
    with pytest.raises(InputError, match="leave one of them out"):
        small_job(tmp_path / "both", strategy="age", policy="cora+citeseer")
    with pytest.raises(UnknownNameError, match="classifier"):
        small_job(tmp_path / "classifier", classifier="gcm")


def test_the_policy_lies_in_the_session(tmp_path: Path) -> None:
    from nodewise.policy import Policy, save_policy

    save_policy(Policy(seed=5), tmp_path / "mine.safetensors")
    session = small_job(tmp_path / "job", strategy=None, policy=tmp_path / "mine.safetensors")
    first = session.ask().node
    session.backup(tmp_path / "copy")
    (tmp_path / "mine.safetensors").unlink()
    copy = Session.open(tmp_path / "copy")
    copy.tell(first, "a")
    session.tell(first, "a")
    assert copy.ask().node == session.ask().node


def test_a_policy_as_a_strategy_lies_in_the_session_like_the_policy_itself(tmp_path: Path) -> None:
    from nodewise.policy import Policy
    from nodewise.strategies import Learned

    nodes = []
    for name, given in (("one", Policy(seed=5)), ("two", Learned(Policy(seed=5)))):
        with small_job(tmp_path / name, strategy=given) as session:
            assert (session.settings.strategy, session.settings.policy, session.settings.classifier) == (
                "policy",
                "given",
                "gcn",
            )
            session.tell(0, "a")
        with Session.open(tmp_path / name) as again:
            nodes.append(again.ask().node)
    assert nodes[0] == nodes[1]


def test_settings_out_of_range_are_refused_and_leave_no_file(tmp_path: Path) -> None:
    for wrong in (
        {"budget": 0},
        {"budget": 61},
        {"audit": -1},
        {"redundancy": 0},
        {"release_after": 0},
        {"seed": -1},
        {"classes": ["a", "a"]},
        {"classes": "ab"},
        {"candidates": [60]},
        {"candidates": [True, False]},
        {"candidates": [0, 1] * 30},
        {"candidates": [0.0, 1.0]},
        {"candidates": "3"},
        {"budget": True},
    ):
        with pytest.raises(InputError):
            small_job(tmp_path / "job", **wrong)
    assert list(tmp_path.iterdir()) == []
    session = small_job(tmp_path / "job", candidates=[3, 4, 5], budget=3)
    assert {query.node for query in session.ask(3)} == {3, 4, 5}
    masked = small_job(tmp_path / "masked", candidates=np.isin(np.arange(60), [3, 4, 5]), budget=3)
    assert {query.node for query in masked.ask(3)} == {3, 4, 5}
    for k in (0, -1, True, 1.0):
        with pytest.raises(InputError, match="number of queries"):
            session.ask(k)  # type: ignore[call-overload]
    with pytest.raises(InputError, match="annotator"):
        session.ask(annotator=" ")


def test_a_policy_far_from_home_is_said_to_be_so() -> None:
    ring = Graph.build(np.stack([np.arange(40), (np.arange(40) + 1) % 40]), 40)
    dense = Graph.build(np.stack(np.triu_indices(60, 1)), 60)
    assert choose_strategy(dense, "policy").reason.startswith("chosen by hand; this graph is much denser")
    near = choose_strategy(ring, "policy")
    assert near.reason == "chosen by hand" and near.weights is not None and near.made is None


def test_a_name_with_a_policy_in_it_is_the_strategy_policy() -> None:
    by_name, by_policy = (
        choose_strategy(block_graph(60), "policy:cora+citeseer"),
        choose_strategy(block_graph(60), policy="cora+citeseer"),
    )
    assert by_name == by_policy and by_name.policy == "cora+citeseer" and by_name.played_with is not None


@pytest.mark.parametrize("given", [{"classifier": "gcn"}, {"strategy": "age"}, {"strategy": "policy"}])
def test_who_cannot_deal_with_several_labels_is_refused_before_a_file_is_made(
    tmp_path: Path, given: dict[str, Any]
) -> None:
    with pytest.raises(InputError, match="cannot deal with several labels of a node"):
        Session.create(tmp_path / "job.nodewise", "overlapping", budget=5, **given)
    with pytest.raises(InputError, match="trust was asked for, which weighs labels of one class a node"):
        Session.create(tmp_path / "job.nodewise", "overlapping", budget=5, trust=True)
    with pytest.raises(InputError, match="cannot be called 'a;b' where a node may have several"):
        Session.create(tmp_path / "job.nodewise", block_graph(60), budget=5, several=True, classes=["a;b"])
    assert not list(tmp_path.iterdir())


def test_sets_of_classes_in_the_graph_make_a_job_of_several_labels(tmp_path: Path) -> None:
    y = [["a", "b"], [], *[None] * 10]
    graph = Graph.build([list(range(11)), list(range(1, 12))], y=y)
    with Session.create(tmp_path / "job.nodewise", graph, budget=5) as job:
        assert job.settings.several and job.label_sets == {0: ("a", "b"), 1: ()} and job.status().given == 2
    with Session.create(tmp_path / "plain.nodewise", block_graph(60), budget=5, use_labels=False) as job:
        assert not job.settings.several
