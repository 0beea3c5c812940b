"""Questions with known answers: mixed in by the seed, alike to others, scored, no labels unless told so."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodewise.fitted.jobs import fit_session
from nodewise.ground.errors import InputError, UnknownNameError
from nodewise.session import Session
from tests.session.jobs import small_job

KNOWN = {node: "a" if node < 30 else "b" for node in (2, 7, 12, 21, 33, 38, 44, 51)}


def control_job(path: Path, **options: Any) -> Session:
    session = small_job(path, **{"budget": 40, "control": 30, **options})
    session.set_known(KNOWN, "olga")
    return session


def asked_control(session: Session, who: str) -> list[int]:
    return [e.body["node"] for e in session.events if e.kind == "ask" and e.annotator == who and "control" in e.body]


def work(session: Session, who: str, questions: int, wrong: frozenset[int] = frozenset()) -> list[int]:
    """Somebody who knows the blocks, and says the other class of some rows; the rows that they were asked about."""
    rows = []
    for _ in range(questions):
        node = session.ask(annotator=who).node
        rows.append(node)
        session.tell(node, "ab"[(node >= 30) ^ (node in wrong)], who)
    return rows


def test_a_share_of_the_questions_is_drawn_from_them_by_the_seed(tmp_path: Path) -> None:
    first, second = control_job(tmp_path / "one"), control_job(tmp_path / "two")
    assert work(first, "ada", 20) == work(second, "ada", 20), "the same seed, the same questions"
    control = asked_control(first, "ada")
    assert 2 <= len(control) <= 8 and len(set(control)) == len(control) and set(control) <= set(KNOWN)
    with Session.open(tmp_path / "one") as reopened:
        assert reopened.ask(annotator="ada").node == second.ask(annotator="ada").node
    other = control_job(tmp_path / "three", seed=4)
    work(other, "ada", 20)
    assert asked_control(other, "ada") != control
    assert work(first, "bo", 5) != work(first, "cy", 5)
    none = control_job(tmp_path / "none", control=0)
    assert not set(work(none, "ada", 25)) & set(KNOWN), "without a share they are not asked, nor chosen otherwise"


def test_such_a_question_looks_like_any_other(tmp_path: Path) -> None:
    session = control_job(tmp_path / "job", control=50)
    session.tell([0, 59], ["a", "b"], "ada")
    shown = {}
    for _ in range(8):
        query = session.ask(annotator="ada")
        shown.setdefault(query.node in KNOWN, []).append(query.as_dict())
        session.tell(query.node, "ab"[query.node >= 30], "ada")
    (control, *_), (other, *_) = shown[True], shown[False]
    assert set(control) == set(other) and "control" not in control
    for key in ("audit", "random", "rank"):
        assert control[key] == other[key]
    assert control["why"][0].endswith("puts it first") and other["why"][0].endswith("puts it first")
    assert control["score"] is not None and control["predicted"]


def test_in_a_batch_such_a_question_has_the_rank_and_score_of_its_place(tmp_path: Path) -> None:
    batches = []
    for percent in (0, 50):
        session = control_job(tmp_path / str(percent), control=percent)
        session.tell([0, 59], ["a", "b"], "ada")
        batches.append(session.ask(8, annotator="ada"))
    plain, mixed = batches
    control = [place for place, query in enumerate(mixed) if query.node in KNOWN]
    assert control and control == [place for place, query in enumerate(mixed) if query.node != plain[place].node]
    assert [(q.rank, q.score, q.why[0]) for q in mixed] == [(q.rank, q.score, q.why[0]) for q in plain]
    assert len({query.rank for query in mixed}) == len({query.score for query in mixed}) == 8


def test_what_is_answered_there_trains_nothing_and_everybody_may_be_asked(tmp_path: Path) -> None:
    session = control_job(tmp_path / "job", control=50)
    for who in ("ada", "bo"):
        work(session, who, 10, wrong=frozenset(KNOWN) if who == "bo" else frozenset())
    both = set(asked_control(session, "ada")) & set(asked_control(session, "bo"))
    assert both, "a row with one label is enough, and yet both were asked, and differed without being refused"
    assert not {node for node, _ in session.history} & set(KNOWN)
    told = 20 - len(asked_control(session, "ada")) - len(asked_control(session, "bo"))
    assert session.status().told == told
    assert session.ask(annotator="olga").node not in KNOWN or "control" not in session.events[-1].body
    work(session, "olga", 8)
    assert asked_control(session, "olga") == [], "who knows the answers is not asked"


def test_each_ones_score_has_an_interval(tmp_path: Path) -> None:
    session = control_job(tmp_path / "job", control=50)
    work(session, "ada", 12)
    work(session, "bo", 12, wrong=frozenset({2, 7, 33}))
    reports = {each.annotator: each for each in session.person_reports()}
    ada, bo = reports["ada"].known, reports["bo"].known
    assert ada is not None and bo is not None
    assert (ada.mean, ada.nodes) == (1.0, len(asked_control(session, "ada")))
    wrong = len({2, 7, 33} & set(asked_control(session, "bo")))
    assert wrong and bo.mean == pytest.approx(1 - wrong / bo.nodes) and bo.low < bo.mean < bo.high < 1
    session.tell(7, "a", "bo")  # nobody has told them that they were wrong: whoever corrects themselves is right
    corrected = {each.annotator: each for each in session.person_reports()}["bo"].known
    assert corrected is not None and corrected.mean == pytest.approx(1 - (wrong - 1) / bo.nodes)
    session.merge_classes("b", "a")
    assert {each.known.mean for each in session.person_reports() if each.known} == {1.0}


def test_they_are_no_labels_unless_told_so_and_can_be_taken_back(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job", control=10)
    event = session.set_known({1: "a", 40: "b"}, "olga")
    assert session.labels == {} and set(session.rules().known) == {1, 40}
    session.undo(event)
    assert session.rules().known == frozenset() and session.rules().control == 10
    session.set_known({1: "a"}, "olga", percent=25, counts=True)
    assert session.labels == {1: "a"} and session.history == [] and session.rules().control == 25
    session.tell(1, "b", "ada")
    assert session.labels == {1: "a"}, "what the owner knows decides"
    session.set_known({}, percent=0)
    assert session.rules().control == 0
    session.undo()
    assert session.rules().control == 25
    with Session.open(tmp_path / "job") as again:
        assert again.rules() == session.rules()


def test_what_people_answer_there_is_no_label_anywhere(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job", budget=40)
    session.set_known(dict.fromkeys(range(6), "a"), "olga", percent=10)
    session.set_known({6: "a"}, "olga", counts=True)
    session.tell([10, 40], ["a", "b"], "ada")
    without = fit_session(session).probabilities
    session.tell(list(range(7)), ["b"] * 7, "ada")
    assert session.labels == {6: "a", 10: "a", 40: "b"} and session.label_sets[6] == ("a",)
    status = session.status()
    assert (status.told, status.bulk, status.balance) == (2, 1, {"a": 2, "b": 1})
    session.export(tmp_path / "table.csv")
    rows = list(csv.DictReader((tmp_path / "table.csv").read_text().splitlines()))
    labels = {int(row["node"]): (row["label"], row["from"]) for row in rows if row["label"] or row["from"]}
    assert labels == {6: ("a", "bulk"), 10: ("a", "told"), 40: ("b", "told")}
    session.export(tmp_path / "tasks.json", format="label-studio")
    tasks = json.loads((tmp_path / "tasks.json").read_text())
    assert [node for node, each in enumerate(tasks) if each.get("annotations")] == [6, 10, 40]
    np.testing.assert_array_equal(fit_session(session).probabilities, without)
    assert {each.counts for each in session.opinions() if each.node < 6} == {None}, "what was said is kept"


def test_a_job_that_takes_the_labels_over_gets_none_of_these_answers(tmp_path: Path) -> None:
    one, other = small_job(tmp_path / "one"), small_job(tmp_path / "other")
    other.set_known({1: "a", 2: "a"}, "olga", percent=10)
    other.set_known({3: "a"}, "olga", counts=True)
    other.tell([1, 2, 3, 4], ["b"] * 4, "ada")
    assert one.preview_join(other.path)["labels"] == 2
    assert one.join(other.path) == 2 and one.labels == {3: "a", 4: "b"}


def test_what_cannot_be_known_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job", audit=5)
    session.tell(3, "a")
    before = len(session.events)
    with pytest.raises(InputError, match="node '3' has a label already: known answers are for rows that nobody"):
        session.set_known({2: "a", 3: "b"})
    with pytest.raises(InputError, match="is drawn for the audit"):
        session.set_known({session.rules().audit[0]: "a"})
    with pytest.raises(UnknownNameError, match="unknown class 'c'"):
        session.set_known({2: "c"})
    with pytest.raises(InputError, match="0 to 50 may have known answers, got 60"):
        session.set_known({2: "a"}, percent=60)
    with pytest.raises(InputError, match="no answer is known"):
        session.set_known({2: None})
    with pytest.raises(InputError, match="at most 50"):
        small_job(tmp_path / "other", control=80)
    assert len(session.events) == before


def test_a_column_or_a_file_of_answers(tmp_path: Path) -> None:
    from tests.studio.jobs import named_graph

    graph = named_graph(gold=["a" if node % 10 == 0 else "" for node in range(60)])
    session = small_job(tmp_path / "job", graph=graph)
    session.tell(10, "b")
    session.set_known("gold")
    assert set(session.rules().known) == {0, 20, 30, 40, 50}, "a row that has a label is left out"
    (tmp_path / "more.csv").write_text("name,label\nPaper 5,b\nPaper 6,\n")
    session.set_known(tmp_path / "more.csv")
    assert session.refresh().known.answers[5].number == 2 and 6 not in session.refresh().known.answers
    assert session.refresh().known.columns == {"gold"}


def test_open_ones_wait_for_each_and_bulk_is_no_answer(tmp_path: Path) -> None:
    session = control_job(tmp_path / "job", control=50)
    node = -1
    while node not in KNOWN:
        node = session.ask(annotator="ada").node
        if node not in KNOWN:
            session.tell(node, "ab"[node >= 30], "ada")
    session.tell(node, "a", "bo")
    assert session.ask(annotator="ada").node == node, "that bo has answered it does not close it for ada"
    session.tell_bulk([node], "a", "ada")
    assert session.ask(annotator="ada").node == node
    session.set_redundancy(2)
    assert session.ask(annotator="cy").node != node, "nobody is asked about it for a second opinion"
    session.tell(node, "b", "ada")
    assert session.ask(annotator="ada").node != node
