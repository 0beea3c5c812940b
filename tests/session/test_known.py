"""Questions with known answers: mixed in by the seed, alike to others, scored, no labels unless told so."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodewise.fitted.jobs import fit_session
from nodewise.ground.errors import InputError, SessionError, UnknownNameError
from nodewise.session import Session
from nodewise.session.answers import Draft
from tests.session.jobs import answer_when_asked, small_job

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
    answer_when_asked(session, "ada", dict.fromkeys(range(7), "b"))
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
    answer_when_asked(other, "ada", {1: "b", 2: "b"})
    other.tell([3, 4], ["b", "b"], "ada")
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


def test_open_ones_wait_for_each_until_somebody_labels_the_row_unasked(tmp_path: Path) -> None:
    session = control_job(tmp_path / "job", control=50)
    node = -1
    while node not in KNOWN:
        node = session.ask(annotator="ada").node
        if node not in KNOWN:
            session.tell(node, "ab"[node >= 30], "ada")
    answer_when_asked(session, "bo", {node: "a"})
    assert session.ask(annotator="ada").node == node, "that bo has answered it does not close it for ada"
    session.set_redundancy(2)
    assert session.ask(annotator="cy").node != node, "nobody is asked about it for a second opinion"
    session.set_redundancy(1)
    session.tell_bulk([node], "a", "ada")
    assert session.ask(annotator="ada").node != node, "a label in bulk ends the question, as any other"
    session.undo(annotator="ada")
    assert session.ask(annotator="ada").node == node
    session.tell(node, "b", "ada")
    assert session.ask(annotator="ada").node != node and node in session.rules().known


def opened_by(session: Session, way: str) -> None:
    """Ada labels rows 2 and 33, whose answers are known in one job and not in the other, in one way or another."""
    rows = {2: "a", 33: "a"}
    if way == "told":
        session.tell(list(rows), list(rows.values()), "ada")
    elif way == "in bulk":
        session.tell_bulk(list(rows), "a", "ada")
    elif way == "skipped first":
        session.skip(list(rows), "ada")
        session.tell(list(rows), list(rows.values()), "ada")
    elif way == "by two names":
        session.tell(2, "a", "ada")
        session.tell(33, "a", "ada again")
    elif way == "taken back and told again":
        session.tell(list(rows), list(rows.values()), "ada")
        session.undo(annotator="ada")
        session.tell(33, "a", "ada")
    elif way == "told otherwise":
        session.tell(list(rows), ["b", "b"], "ada")
        session.tell(list(rows), list(rows.values()), "ada")
    elif way == "by another job":
        other = small_job(session.path.with_name("other"), budget=40)
        other.tell(list(rows), list(rows.values()), "ada")
        session.join(other.path)


@pytest.mark.parametrize("opinions", [1, 2])
@pytest.mark.parametrize(
    "way",
    [
        *("told", "in bulk", "skipped first", "by two names", "taken back and told again", "told otherwise"),
        "by another job",
    ],
)
def test_a_label_that_nobody_was_asked_for_makes_the_row_an_ordinary_one(
    way: str, opinions: int, tmp_path: Path
) -> None:
    """All that is predicted, counted and asked afterwards is as where nothing was ever known of these rows."""
    found = []
    for known in (True, False):
        folder = tmp_path / str(known)
        folder.mkdir()
        with small_job(folder / "job", budget=40, redundancy=opinions) as session:
            session.tell([0, 59], ["a", "b"], "ada")
            if known:
                session.set_known({2: "b", 33: "b"}, "olga")
                answer_when_asked(session, "bo", {2: "b", 33: "b"})  # which ada cannot see, before or after
                assert session.history == [(0, "a"), (59, "b")] and session.rules().known == {2, 33}
            opened_by(session, way)
            assert session.rules().known == frozenset()
            status = session.status()
            found.append(
                {
                    "order": session.history,
                    "labels": session.labels,
                    "counted": (status.told, status.bulk, status.balance, status.done, status.disagreements),
                    "probabilities": session.predict().probabilities.tolist(),
                    "asked": session.ask(3, "ada")[0].as_dict() | {"event": 0},
                    "second": [query.node for query in session.ask(3, "cy")],
                }
            )
            with Session.open(session.path) as again:
                assert (again.history, again.rules()) == (session.history, session.rules())
    assert found[0] == found[1]


def test_taking_the_label_back_makes_it_a_known_one_again(tmp_path: Path) -> None:
    session = control_job(tmp_path / "job")
    answer_when_asked(session, "bo", {2: "b"})
    before = session.refresh()
    session.tell_bulk(list(range(60)), "a", "ada")
    assert session.rules().known == frozenset() and len(session.labels) == 60
    session.undo(annotator="ada")
    after = session.refresh()
    assert (after.known, after.ballots, after.numbers) == (before.known, before.ballots, before.numbers)
    assert session.rules().known == set(KNOWN) and session.labels == {}


def test_answers_given_before_are_scored_as_they_were_and_kept(tmp_path: Path) -> None:
    session = control_job(tmp_path / "job")
    answer_when_asked(session, "bo", {2: "b", 7: "a"})
    session.tell(2, "a", "di")  # was never asked: it says nothing of how right di is
    session.tell(2, "a", "bo")  # what others said may be seen now: no correction counts any more
    session.ask(1, "cy")
    asked = asked_control(session, "cy")
    for node in [2, *asked]:
        session.skip(node, "cy") if node in asked else None
        session.tell(node, "a" if node == 2 else "b", "cy")
    scores = {each.annotator: each.known for each in session.person_reports()}
    assert scores["di"] is None and scores["bo"] is not None
    assert (scores["bo"].mean, scores["bo"].nodes) == (0.5, 2)
    if asked:  # whoever skips a question and labels its row has answered it
        assert scores["cy"] is not None and scores["cy"].nodes == len(asked)
    assert {(each.annotator, each.label) for each in session.opinions() if each.node == 2} >= {("bo", "a"), ("di", "a")}
    assert session.labels[2] == "a"


def test_what_the_owner_knows_and_counts_stays_the_label_and_is_not_trained_on(tmp_path: Path) -> None:
    session, other = small_job(tmp_path / "job"), small_job(tmp_path / "other")
    session.set_known({1: "a"}, "olga", counts=True)
    session.tell([1, 40], ["b", "b"], "ada")
    assert session.labels == {1: "a", 40: "b"} and session.history == [(1, "b"), (40, "b")]
    assert session.status().balance == {"a": 1, "b": 1}
    other.join(session.path)
    assert other.labels == {1: "a", 40: "b"}


def test_who_answered_before_is_not_asked_again_and_nobody_is_waited_for(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job", budget=1, redundancy=2)
    session.set_known({2: "a"}, "olga")
    answer_when_asked(session, "bo", {2: "a"})
    session.tell(2, "b", "ada")
    assert [query.node for query in session.ask(1, "cy")] == [2], "a second opinion is wanted"
    session.release("cy")
    with pytest.raises(SessionError, match="waits for another|budget"):
        session.ask(1, "bo")
    assert session.assign([2], "bo") == [] and session.moment().done


def test_nothing_is_settled_where_the_answer_is_known_and_nobody_is_refused_for_it(tmp_path: Path) -> None:
    """A refusal would tell: a reviewer that somebody has answered there, an annotator what was settled."""
    session = small_job(tmp_path / "job")
    session.set_known({2: "a"}, "olga")
    with pytest.raises(InputError) as nobody:
        session.settle(2, "a", "rea")
    answer_when_asked(session, "bo", {2: "b"})
    with pytest.raises(InputError) as somebody:
        session.settle(2, "a", "rea")
    assert str(nobody.value) == str(somebody.value)
    settled = Draft("settle", "olga", {"node": 2, "label": "a", "class": 1})  # as files of before may have it
    session._change_now(lambda moment: [settled])
    answer_when_asked(session, "cy", {2: "b"})
    session.tell(2, "b", "ada")
    assert session.labels == {2: "b"} and session.refresh().settled == {}
