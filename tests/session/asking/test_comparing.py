"""What is said of a node on a large graph, from a few nodes, against the same from all of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nodewise.classifiers.views import construction
from nodewise.session import Session
from nodewise.session.asking import comparing
from nodewise.session.learning import learner as learning
from nodewise.strategies import sampled
from tests.session.asking.test_explain import answered


def ask(session: Session) -> tuple[np.ndarray, dict[str, float], tuple[str, ...]]:
    query = session.ask()
    return np.array(list(query.features.values())), dict(query.predicted), query.why


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "MANY_NODES", 30)
    monkeypatch.setattr(comparing, "MANY_NODES", 30)


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
    monkeypatch.setattr(sampled, "LARGE_POOL", 30)
    monkeypatch.setattr(sampled, "_FEWEST", 5)
    monkeypatch.setattr(construction, "SAMPLED", 20)
    session = answered(tmp_path / "job", 8)
    query = session.ask()
    own = session.follow(session.refresh())
    assert own.learner._mean is None and "leading" not in own.learner.views.__dict__  # type: ignore[attr-defined]
    assert query.candidates <= 20 and f"of {query.candidates} candidates" in query.why[0]
    everything = session.predict()
    assert own.learner._mean is not None  # type: ignore[attr-defined]
    assert everything.probabilities[query.node].max() == pytest.approx(query.sure, abs=1e-4)
    assert len(session.ask(k=3)) == 3
