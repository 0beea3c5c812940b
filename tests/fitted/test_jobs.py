"""A session's learner that is taken along: its settings, what it leaves out, and whose code it runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import nodewise as nw
from nodewise.cli.app import main
from nodewise.fitted.jobs import fit_session
from nodewise.ground.errors import SessionError
from tests.fitted.test_fitted import clouds

TEXTS = ["a cat purrs", "the dog and the cat", "a dog barks", "stock and bond", "bond and money", "money in a stock"]


def test_the_fitted_learner_predicts_as_the_session_does_with_models_and_trust(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    graph = nw.Graph.from_texts(TEXTS, k=3)
    with nw.Session.create(
        tmp_path / "job.nodewise", graph, budget=6, classes=["pet", "money"], trust=True, redundancy=2
    ) as session:
        session.suggest("rules", {1: "pet", 4: "money", 5: "pet"}, 0.75)
        np.testing.assert_allclose(fit_session(session).probabilities, session.predict().probabilities, atol=1e-6)
        session.tell([0, 3, 1, 2], ["pet", "money", "money", "pet"], "ada")
        session.tell([0, 3, 1, 2], ["pet", "money", "pet", "money"], "bob")
        session.settle(1, "money")
        fitted, told = fit_session(session), session.predict().probabilities
        np.testing.assert_allclose(fitted.probabilities, told, atol=1e-6)
        assert fitted.extras.trust is not None and fitted.extras.trust.confirmed.sum() == 3
    assert main(["session", "export-fitted", str(tmp_path / "job.nodewise"), str(tmp_path / "job.fitted")]) == 0
    assert "with what rules said" in " ".join(capfd.readouterr().out.split())
    np.testing.assert_allclose(nw.load_fitted(tmp_path / "job.fitted").probabilities, told, atol=1e-6)


def test_a_job_of_several_labels_a_row_is_taken_along_and_predicts_new_rows(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    graph = nw.Graph.from_texts(TEXTS, k=3)
    path = tmp_path / "job.nodewise"
    with nw.Session.create(path, graph, budget=6, classes=["pet", "money"], several=True) as session:
        for node, names in ((0, ["pet"]), (3, ["money"]), (4, ["money"]), (2, ["pet"]), (5, ["money", "pet"]), (1, [])):
            session.tell(node, names)
        told, fitted = session.predict(), fit_session(session)
        np.testing.assert_allclose(fitted.probabilities, told.probabilities, atol=1e-6)
        assert fitted.predict().sets == told.sets
        expected = [";".join(names) for names in fitted.predict(["a cat purrs", "stock and bond"]).sets]
        assert expected == ["pet", "money"]
    (tmp_path / "new.txt").write_text("a cat purrs\nstock and bond\n")
    assert main(["session", "export-fitted", str(path), str(tmp_path / "job.fitted")]) == 0
    assert main(["predict", str(tmp_path / "job.fitted"), str(tmp_path / "new.txt")]) == 0
    lines = capfd.readouterr().out.splitlines()[-3:]
    assert lines[0] == "row,predicted,probability,pet,money,note"
    assert [line.split(",")[1] for line in lines[1:]] == expected


def test_what_trains_nothing_in_the_session_trains_nothing_in_the_fitted_learner(tmp_path: Path) -> None:
    x, y = clouds()
    names = [f"c{one}" for one in y]
    with nw.Session.create(
        tmp_path / "job.nodewise", nw.knn_graph(x, 5), budget=20, classes=["c0", "c1", "c2"], audit=20
    ) as session:
        session.suggest("rules", {node: names[node - 1] for node in range(1, 60)})
        for node in range(30):
            session.tell(node, names[node])
        session.remove_rows([2, 5])
        assert len(session.moment().audit_labels) > 3, "some of them are the audit's"
        fitted = fit_session(session)
        np.testing.assert_allclose(fitted.probabilities, session.predict().probabilities, atol=1e-6)
        assert not set(fitted.labels) & {*session.moment().audit_labels, 2, 5}


def test_no_code_is_imported_that_the_file_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "stranger.py").write_text("raise AssertionError('it was imported')")
    monkeypatch.syspath_prepend(tmp_path)
    graph = nw.Graph.from_texts(TEXTS, k=3)
    with nw.Session.create(tmp_path / "job.nodewise", graph, budget=4, classes=["pet", "money"]) as session:
        session.tell(0, "pet")
        object.__setattr__(session.settings, "classifier", "stranger:Classifier")
        with pytest.raises(SessionError, match="is not to be had here"):
            fit_session(session)
