"""A session's learner that is taken along: its settings, what it leaves out, and whose code it runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import nodewise as nw
from nodewise.cli.app import main
from nodewise.fitted.jobs import fit_session, left_out_of
from nodewise.ground.errors import SessionError

TEXTS = ["a cat purrs", "the dog and the cat", "a dog barks", "stock and bond", "bond and money", "money in a stock"]


def test_the_fitted_learner_predicts_as_the_session_does_and_says_what_it_lacks(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    graph = nw.Graph.from_texts(TEXTS, k=3)
    with nw.Session.create(tmp_path / "job.nodewise", graph, budget=4, classes=["pet", "money"]) as session:
        session.tell([0, 3], ["pet", "money"])
        np.testing.assert_allclose(fit_session(session).probabilities, session.predict().probabilities, atol=1e-6)
        assert left_out_of(session) == ""
        session.suggest("rules", {1: "pet"})
        assert "what rules said is left out" in left_out_of(session)
    assert main(["session", "export-fitted", str(tmp_path / "job.nodewise"), str(tmp_path / "job.fitted")]) == 0
    assert "what rules said is left out" in " ".join(capfd.readouterr().err.split())


def test_that_labels_are_doubted_is_said_to_be_left_out(tmp_path: Path) -> None:
    graph = nw.Graph.from_texts(TEXTS, k=3)
    with nw.Session.create(tmp_path / "job.nodewise", graph, budget=4, classes=["pet", "money"], trust=True) as session:
        assert "how far the job trusts them is left out, so its predictions can differ" in left_out_of(session)
        session.suggest("rules", {1: "pet"})
        assert "what rules said is left out; each label counts whole" in left_out_of(session)


def test_no_code_is_imported_that_the_file_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "stranger.py").write_text("raise AssertionError('it was imported')")
    monkeypatch.syspath_prepend(tmp_path)
    graph = nw.Graph.from_texts(TEXTS, k=3)
    with nw.Session.create(tmp_path / "job.nodewise", graph, budget=4, classes=["pet", "money"]) as session:
        session.tell(0, "pet")
        object.__setattr__(session.settings, "classifier", "stranger:Classifier")
        with pytest.raises(SessionError, match="is not to be had here"):
            fit_session(session)
