"""Queries drafted from a plan."""

from __future__ import annotations

from pathlib import Path

from nodewise.session.asking.query import draft_queries
from nodewise.session.meaning.rules import Plan, plan_queries
from tests.session.jobs import small_job


def test_what_is_owed_comes_without_a_learner_and_shows_no_prediction(tmp_path: Path) -> None:
    with small_job(tmp_path / "job", strategy="random", redundancy=2, audit=3, budget=1) as session:
        session.tell(session.ask(annotator="ada").node, "a", "ada")
        moment = session.moment()
        plan = plan_queries(moment.history, moment.rules, "bob", 2, moment.now)
        drafts, lack = draft_queries(moment, plan, "bob", None)
    assert lack == ""
    second, audit = drafts
    assert second.body["node"] in moment.labels and "1 of 2 annotators have labelled it" in second.body["why"][0]
    assert audit.body["node"] == moment.rules.audit[0] and audit.body["audit"] is True
    assert {draft.annotator for draft in drafts} == {"bob"} and all("predicted" not in draft.body for draft in drafts)


def test_an_audit_in_reserve_takes_the_place_of_a_node_that_is_not_there(tmp_path: Path) -> None:
    with small_job(tmp_path / "job", strategy="random", budget=2, audit=1, candidates=[3, 4, 5]) as session:
        learner = session.follow(session.refresh())
        plan = Plan((), (), (), fresh=3, out=frozenset({3, 4, 5}), reserve=(session.rules().audit[0],))
        drafts, lack = draft_queries(session.moment(), plan, "me", learner)
    assert [draft.body["node"] for draft in drafts] == list(session.rules().audit)
    assert lack == "no node is left that may be asked"
