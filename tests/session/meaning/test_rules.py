"""Who is to be asked what, by hand; and what a moment says of a job."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from nodewise.session.answers import Event
from nodewise.session.meaning.history import read_history
from nodewise.session.meaning.rules import Moment, Rules, plan_queries
from tests.session.jobs import small_job, unlabelled
from tests.session.meaning.test_history import asked, log, told
from tests.small_graphs import block_graph


def rules(**changes: Any) -> Rules:
    return Rules(
        **{"budget": 10, "redundancy": 1, "release_after": 100.0, "audit": (), "given": frozenset(), **changes}
    )


def test_a_plan_gives_open_queries_again_and_counts_those_of_others() -> None:
    history = read_history(log(asked(1, "ada"), asked(2, "bob")))
    plan = plan_queries(history, rules(), "ada", 3, now=3)
    assert [query.node for query in plan.open] == [1] and plan.fresh == 2 and plan.out == {1, 2}
    assert plan_queries(history, rules(budget=2), "ada", 3, now=3).fresh == 0
    assert "out with bob" in plan_queries(history, rules(budget=2), "ada", 3, now=3).lack
    late = plan_queries(history, rules(budget=2), "eve", 3, now=500)
    assert late.fresh == 2 and late.out == frozenset()


def test_an_expired_query_that_went_to_another_is_not_given_again() -> None:
    history = read_history([*log(asked(1, "ada")), Event(2, 400.0, "bob", "ask", {"node": 1})])
    assert plan_queries(history, rules(), "ada", 1, now=401).open == []
    assert [query.node for query in plan_queries(history, rules(), "bob", 1, now=401).open] == [1]


def test_the_audit_keeps_pace_with_the_budget() -> None:
    audit = (50, 51, 52, 53)
    assert plan_queries(read_history([]), rules(audit=audit), "me", 1, 0).audit == []
    history = read_history(log(*(told(n, "a") for n in range(5))))
    assert list(plan_queries(history, rules(audit=audit), "me", 2, 0).audit) == [50, 51]
    spent = read_history(log(*(told(n, "a") for n in range(10)), told(50, "a")))
    plan = plan_queries(spent, rules(audit=audit), "me", 9, 0)
    assert list(plan.audit) == [51, 52, 53] and plan.fresh == 0 and not rules(audit=audit).done(spent, range(60))
    finished = read_history(
        log(*(told(n, "a") for n in range(10)), *(told(n, "a") for n in audit[:3]), ("skip", "me", {"node": 53}))
    )
    assert rules(audit=audit).done(finished, range(60)) and list(rules(audit=audit).audited(finished)) == [50, 51, 52]


def test_given_labels_spend_no_budget() -> None:
    history = read_history(log(told(1, "a"), told(2, "b")))
    assert rules(given=frozenset({1})).told(history) == {2: 2}


def test_second_opinions_come_first_and_never_from_the_same_person() -> None:
    history = read_history(log(told(1, "a", "ada"), told(2, "a", "bob")))
    assert list(plan_queries(history, rules(redundancy=2), "ada", 2, 0).second) == [2]
    plan = plan_queries(history, rules(redundancy=2), "eve", 3, 0)
    assert list(plan.second) == [1, 2] and plan.fresh == 1
    assert not rules(budget=2, redundancy=2).done(history, range(60)) and rules(budget=2).done(history, range(60))


def test_a_moment_has_the_rules_that_were_last_set_and_does_not_change(tmp_path: Path) -> None:
    with small_job(tmp_path / "job", strategy="random", budget=3) as session:
        before = session.moment()
        session.set_budget(7)
        session.set_redundancy(2)
        session.tell(4, "a")
        after = session.moment()
    assert (before.rules.budget, before.rules.redundancy, before.labels) == (3, 1, {})
    assert (after.rules.budget, after.rules.redundancy, after.labels) == (7, 2, {4: "a"})
    assert before.contents is after.contents and not after.done


def test_labels_that_were_given_train_under_the_name_that_their_class_has_now(tmp_path: Path) -> None:
    graph = replace(
        unlabelled(block_graph(60)), y=np.where(np.arange(60) < 2, [0, 1] * 30, -1), class_names=("cat", "dog")
    )
    with small_job(tmp_path / "job", graph=graph, classes=None, strategy="random", audit=1) as session:
        session.rename_class("cat", "feline")
        session.tell(1, "feline")  # given as a dog
        session.tell(5, "dog")
        audited = session.rules().audit[0]
        session.tell(audited, "dog")
        moment: Moment = session.moment()
    assert moment.labels == {0: "feline", 1: "feline", 5: "dog", audited: "dog"}
    assert moment.audit_labels == {audited: "dog"}
    told_labels, given = moment.training_labels()
    assert told_labels == ((5, "dog"),) and given == ((0, "cat"), (1, "cat"))  # known to the classifier by first names
