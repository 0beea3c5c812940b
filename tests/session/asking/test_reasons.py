"""Reasons in a person's words, from all nodes or from a few of very many."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nodewise.classifiers.views import graph_views
from nodewise.graph import Graph
from nodewise.session import Session
from nodewise.session.learning import learner as learning
from nodewise.strategies import gain, sampled
from tests.session.jobs import small_job, unlabelled
from tests.small_graphs import block_graph


def answered(path: Path, count: int, **options: object) -> Session:
    """A job on the small graph of which so many questions were answered rightly."""
    truth = block_graph(60)
    assert truth.y is not None
    session = small_job(path, strategy="gain", classes=list(truth.class_names), **options)
    for _ in range(count):
        node = session.ask().node
        session.tell(node, truth.class_names[truth.y[node]])
    return session


def test_labels_that_speak_for_the_class_are_named_and_are_of_the_class(tmp_path: Path) -> None:
    names = tuple(f"paper {node:02}" for node in range(60))
    session = answered(tmp_path / "job", 0, graph=replace(unlabelled(block_graph(60)), node_names=names))
    truth = block_graph(60)
    assert truth.y is not None
    kinds = set()
    adjacency = truth.adjacency()
    for _ in range(18):
        query = session.ask()
        for line in query.why:
            if (said := re.match(r"(\S+) is predicted because of (.*)", line)) is None:
                continue
            assert said[1] == query.guess
            for kind, listed in re.findall(
                r"(its labelled neighbours?|the similar nodes?) ((?:paper \d+(?:, | and )?)+)", said[2]
            ):
                kinds.add(kind.rstrip("s"))
                for name in re.findall(r"paper (\d+)", listed):
                    assert truth.class_names[truth.y[int(name)]] == query.guess and int(name) in session.labels
                    assert bool(adjacency[query.node, int(name)]) == kind.startswith("its labelled neighbour")
        session.tell(query.node, truth.class_names[truth.y[query.node]])
    assert kinds == {"its labelled neighbour", "the similar node"}


def test_how_many_nodes_a_label_would_decide(tmp_path: Path) -> None:
    session = answered(tmp_path / "job", 0)
    assert "nothing is labelled yet" in " ".join(session.ask().why)
    session = answered(tmp_path / "other", 8)
    (said,) = (line for line in session.ask().why if "its label would decide" in line)
    amount = re.search(r"about (\d+) nodes", said)
    assert amount is None or 2 <= int(amount[1]) < 60


@pytest.mark.parametrize("classifier", ["views", "gcn"])
def test_no_figure_needs_a_textbook(classifier: str, tmp_path: Path) -> None:
    session = answered(tmp_path / "job", 5, classifier=classifier)
    words = " ".join(session.ask().why)
    assert "entropy" not in words and "divergence" not in words
    assert "the classifier is" in words and "its neighbours are predicted" in words
    assert ("its label would decide" in words) == (classifier == "views")


def test_evidence_adds_up_to_the_prediction(tmp_path: Path) -> None:
    session = answered(tmp_path / "job", 12)
    learner = session.follow(session.refresh()).learner
    mean, base = learner.mean()[0], learner.solution().base[0]  # type: ignore[attr-defined]
    for node in range(0, 60, 7):
        best = int(mean[node].argmax())
        evidence = learner.evidence(node)  # type: ignore[attr-defined]
        assert {other for other, _ in evidence} == set(session.labels)
        assert sum(much for _, much in evidence) == pytest.approx(float(mean[node, best] - base[best]), abs=1e-4)


def test_a_label_at_a_hub_decides_more_than_one_far_away(tmp_path: Path) -> None:
    edges = [(0, other) for other in range(1, 12)] + [(20, 21)]
    session = small_job(tmp_path / "job", graph=Graph.build(np.array(edges).T, 24), strategy="gain")
    learner = session.follow(session.refresh()).learner
    assert learner.reach(0) > learner.reach(21) > 0  # type: ignore[attr-defined]


def ask(session: Session) -> tuple[np.ndarray, dict[str, float], tuple[str, ...]]:
    query = session.ask()
    return np.array(list(query.features.values())), dict(query.predicted), query.why


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "MANY_NODES", 30)


@pytest.mark.parametrize("labels", [0, 8])
def test_a_query_says_the_same_on_a_large_graph(labels: int, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    features, predicted, why = ask(answered(tmp_path / "one", labels))
    request.getfixturevalue("large")
    few = ask(answered(tmp_path / "other", labels))
    if labels:  # without any, all predictions are alike, and divergences are rounding
        np.testing.assert_allclose(few[0], features, atol=2e-3)
    assert few[1] == pytest.approx(predicted, abs=1e-3) and few[2] == why


@pytest.mark.usefixtures("large")
def test_nothing_of_all_nodes_is_computed_for_a_query(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gain, "LARGE_POOL", 30)
    monkeypatch.setattr(sampled, "_FEWEST", 5)
    monkeypatch.setattr(graph_views, "SAMPLED", 20)
    session = answered(tmp_path / "job", 8)
    query = session.ask()
    own = session.follow(session.refresh())
    assert own.learner._mean is None and "leading" not in own.learner.views.__dict__  # type: ignore[attr-defined]
    assert query.candidates <= 20 and f"of the {query.candidates} nodes that could be asked" in query.why[0]
    everything = session.predict()
    assert own.learner._mean is not None  # type: ignore[attr-defined]
    assert everything.probabilities[query.node].max() == pytest.approx(query.sure, abs=1e-4)
    assert len(session.ask(k=3)) == 3


@pytest.mark.parametrize("classifier", ["views", "gcn"])
def test_a_random_question_says_that_it_is_one_and_the_log_keeps_it(classifier: str, tmp_path: Path) -> None:
    session = small_job(tmp_path / "job", strategy="gain", budget=40, classifier=classifier)
    first = session.ask()
    assert not first.random
    session.skip(first.node)
    rng = np.random.default_rng(5)
    session.tell(list(range(30)), [["a", "b"][number] for number in rng.integers(0, 2, 30)])
    queries = session.ask(3)
    for query in queries:
        assert query.random and query.rank == 0 and query.score is None and query.as_dict()["random"] is True
        assert query.why[0] == (
            "the labels so far do not show that anything but the classes' shares can be learned, so this question is a"
            " random one: it keeps the shares of the classes true"
        )
        assert not any("gives it" in line for line in query.why)
    assert session.status().random["me"] == [query.name for query in queries]
    session.close()
    with Session.open(tmp_path / "job") as again:
        assert again.ask(3) == queries  # read from the log
        assert again.status().as_dict()["random"] == {"me": [query.name for query in queries]}


def test_a_question_that_was_chosen_is_not_called_random(tmp_path: Path) -> None:
    truth = block_graph(60, signal=4.0)
    assert truth.y is not None
    session = small_job(
        tmp_path / "job", graph=unlabelled(truth), strategy="gain", classes=list(truth.class_names), budget=40
    )
    session.tell(list(range(24)), [truth.class_names[number] for number in truth.y[:24]])
    query = session.ask()
    assert not query.random and query.rank == 1 and query.score is not None and "gain puts it first" in query.why[0]
    assert session.status().random == {} and session.stop_report().why_random is None


def test_one_class_of_several_with_labels_is_said_to_be_the_only_one(tmp_path: Path) -> None:
    """Whatever the order of the classes; nothing is taken for sure that no label speaks of."""
    for number, classes in enumerate((["a", "b", "c"], ["c", "b", "a"])):
        session = small_job(tmp_path / str(number), strategy="gain", classes=classes)
        assert session.ask().unknown
        session.skip(session.ask().node)
        session.tell(7, "b")
        query = session.ask()
        assert query.predicted == {"b": 1.0, "a": 0.0, "c": 0.0} and query.guess == "b" and not query.unknown
        assert "so far only b has labels, so nothing else can be predicted" in query.why
        assert not any("the classifier is" in line for line in query.why)
        prediction = session.predict()
        assert set(prediction.names) == {"b"} and (prediction.probabilities.max(1) == 1).all()
        assert not np.delete(prediction.probabilities, prediction.classes.index("b"), 1).any()
        session.tell(query.node, "c")
        assert set(session.predict().names) <= {"b", "c"}
        assert any("the classifier is" in line for line in session.ask().why)
