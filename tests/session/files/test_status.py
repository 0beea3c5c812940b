"""How far a job is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.session.jobs import small_job


def test_status_tells_who_agrees_on_which_class_and_leaves_bulk_answers_out(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job", redundancy=2)
    for who, labels in (("ada", "aabbab"), ("bob", "aabbba")):
        session.tell(list(range(6)), list(labels), who)
    session.tell_bulk([0, 1, 2, 3, 4, 5], "b", "eve")
    kappa = session.status().kappa
    assert kappa is not None and kappa.nodes == 6 and kappa.share == pytest.approx(4 / 6)
    assert kappa.cohen == (("ada", "bob", 6, pytest.approx(1 / 3)),) and kappa.fleiss == pytest.approx(1 / 3)
    assert kappa.classes == {"a": pytest.approx(1 / 3), "b": pytest.approx(1 / 3)}
    assert session.status().as_dict()["kappa"]["cohen"][0]["annotators"] == ["ada", "bob"]
