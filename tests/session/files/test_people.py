"""Who said what, what can be said of each person, and rows given to one of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodewise.ground.errors import InputError, SessionError
from nodewise.session.files.people import answer_rows
from tests.session.jobs import small_job


def test_time_agreement_and_what_was_settled_are_told_of_each_person(tmp_path: Path) -> None:
    with small_job(tmp_path / "job.nodewise", redundancy=2) as session:
        first = session.ask(1, "ada")[0].node
        session.tell(first, "a", "ada")
        session.tell(first, "b", "bob")
        session.tell([20, 21], ["a", "b"], "ada")
        session.tell([20, 21], ["a", "b"], "bob")
        session.tell_bulk([30, 31], ["a", "a"], "bob")
        session.skip(40, "cyd")
        session.undo(session.tell(41, "b", "cyd"))
        session.settle(first, "a", "rita")
        reports = {each.annotator: each for each in session.person_reports()}
        ada, bob, cyd = reports["ada"], reports["bob"], reports["cyd"]
        assert (ada.labels, ada.shared, ada.settled, ada.right) == (3, 3, 1, 1)
        assert ada.agreement == pytest.approx(2 / 3) and ada.seconds is not None and ada.seconds >= 0
        assert (bob.labels, bob.bulk, bob.right, bob.seconds) == (3, 2, 0, None), "he was not asked"
        assert (cyd.labels, cyd.skipped, cyd.agreement) == (0, 1, None)
        said = session.opinions()
        assert [(each.annotator, each.label, each.counts) for each in said if each.node == first] == [
            ("ada", "a", "a"),
            ("bob", "b", "a"),
        ]
        assert len(said) == 8 and not any(each.node == 41 for each in said), "what was taken back is not said"
        head, rows = answer_rows(said)
        assert len(rows) == 8 and all(len(row) == len(head) for row in rows)


def test_rows_given_to_somebody_are_asked_of_them_first_and_of_nobody_else_until_freed(tmp_path: Path) -> None:
    with small_job(tmp_path / "job.nodewise", budget=5) as session:
        session.tell(7, "a", "bob")
        assert session.assign([5, 7, 9, 5, 11], "ada", "olga", most=3) == [5, 9, 11], "one that is labelled is left out"
        assert session.assign([9, 13], "bob", "olga") == [13], "nor is one that another has"
        asked = session.ask(2, "ada")
        assert [query.node for query in asked] == [5, 9] and asked[0].why == ("olga has given it to you",)
        assert {query.node for query in session.ask(4, "bob")}.isdisjoint({5, 9, 11})
        session.tell(5, "a", "ada")
        assert session.assign([5], "ada") == [], "she has answered it"
        assert session.ask(1, "ada")[0].node == 9
        assert session.release("ada", "olga") == 2
        assert session.assign([9], "bob") == [9]
        with pytest.raises(InputError):
            session.assign([600], "ada")
        for node in (20, 21, 22, 23, 24):
            session.tell(node, "b", "bob")
        with pytest.raises(SessionError, match="budget"):
            session.ask(1, "cyd")
        assert session.assign([50], "cyd") == [50] and session.ask(1, "cyd")[0].node == 50, "also beyond the budget"


def test_a_row_given_for_a_second_opinion_or_of_the_audit_is_asked_as_such(tmp_path: Path) -> None:
    with small_job(tmp_path / "job.nodewise", redundancy=2, audit=4) as session:
        session.tell(3, "a", "ada")
        node = session.rules().audit[0]
        assert session.assign([3, node], "bob") == [3, node]
        assert [query.audit for query in session.ask(2, "bob")] == [3 in session.rules().audit, True]
        assert session.assign([3], "ada") == []
