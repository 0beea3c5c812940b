"""Rows unlike all labelled ones: by hand, where a class hides that nobody has named, and where it cannot be told."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from nodewise.contracts import SharesPosterior
from nodewise.session import Session
from nodewise.session.learning.unlike import _unexplained, rows_unlike_labels
from tests.session.jobs import small_job, texts_of_three_kinds


def labelled_job(folder: Path, count: int = 24, **options: Any) -> tuple[Session, list[int]]:
    graph, kinds = texts_of_three_kinds()
    session = Session.create(folder / "job.nodewise", graph, budget=60, classes=["a", "b"], seed=0, **options)
    nodes = [node for node, kind in enumerate(kinds) if kind < 2][:count]
    names = [["ab"[kinds[node]]] if options.get("several") else "ab"[kinds[node]] for node in nodes]
    session.tell(nodes, names)
    return session, kinds


def test_what_is_unexplained_is_the_formula(tmp_path: Path) -> None:
    with labelled_job(tmp_path)[0] as session:
        learner = session.follow(session.refresh())
        posterior = cast(SharesPosterior, learner.learner).ridge_posterior()
        fit, views = posterior.solution(), posterior.views
        labelled = posterior.posterior.nodes[0, : learner.count].numpy()
        weights, ridges = fit.weights[0].double().numpy(), fit.ridges[0].double().numpy()
        expected = np.zeros(120)
        for view in range(len(weights)):
            rows = views.columns[:, view, : views.leading_columns].double().numpy()
            inverse = np.linalg.inv(np.eye(rows.shape[1]) + rows[labelled].T @ rows[labelled] / ridges[view])
            share = np.einsum("ni,ij,nj->n", rows, inverse, rows) / np.maximum((rows**2).sum(1), 1e-12)
            expected += weights[view] / weights.sum() * share
        np.testing.assert_allclose(_unexplained(posterior), expected, rtol=1e-4, atol=1e-5)
        found = rows_unlike_labels(learner)
        assert found is not None and not set(found.tolist()) & set(labelled.tolist())
        others = np.setdiff1d(np.arange(120), labelled)
        lower, upper = np.quantile(expected[others], [0.25, 0.75])
        assert (np.diff(expected[found]) <= 1e-5).all(), "the most unlike first"
        assert (expected[found] > upper + (upper - lower) - 1e-5).all()


@pytest.mark.parametrize("several", [False, True])
def test_a_class_that_nobody_named_is_among_them_and_the_report_counts_them(tmp_path: Path, several: bool) -> None:
    session, kinds = labelled_job(tmp_path, several=several)
    with session:
        found = session.unlike_labels()
        assert {kinds[node] for node in found[:4]} == {2}, "texts of the third kind come first"
        report = session.stop_report()
        assert report.unlike == len(found) > 0
        assert any("unlike all labelled rows: look there for a class" in line for line in report.words)
        session.remove_rows(found[:1])
        assert session.unlike_labels()[:3] == found[1:4]


def test_rows_of_the_audit_are_not_listed_before_or_after_their_answers(tmp_path: Path) -> None:
    session, kinds = labelled_job(tmp_path, 60, audit=40)
    with session:
        found, audit = rows_unlike_labels(session.follow(session.refresh())), set(session.rules().audit)
        assert found is not None and audit & set(found.tolist()), "some stand out, and are left out"
        assert session.unlike_labels() == [node for node in found.tolist() if node not in audit]
        assert session.stop_report().unlike == len(session.unlike_labels())
        session.tell(sorted(audit), ["ab"[kinds[node] % 2] for node in sorted(audit)])
        assert session.unlike_labels() and not audit & set(session.unlike_labels())


def test_it_is_not_told_of_few_labels_nor_by_a_classifier_without_views(tmp_path: Path) -> None:
    with labelled_job(tmp_path, 19)[0] as session:
        assert session.unlike_labels() == [] and session.stop_report().unlike is None
    with small_job(tmp_path / "gcn.nodewise", classifier="gcn", budget=40) as session:
        assert session.unlike_labels() == []
        session.tell(list(range(25)), ["a"] * 25)
        assert session.unlike_labels() == []
