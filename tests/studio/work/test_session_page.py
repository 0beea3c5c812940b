"""What a page sees of a session: nodes, what lies around them, the colours, what has happened; and who sees what."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodewise.session import Session
from nodewise.session.files.status import make_status
from nodewise.studio.layout.overview import GraphMap
from nodewise.studio.work.node_table import TableQuery
from nodewise.studio.work.pictures import Pictures
from nodewise.studio.work.reports import Reports
from nodewise.studio.work.row_facts import RowFilter
from nodewise.studio.work.session_page import SessionPage
from tests.session.jobs import answer_when_asked, small_job, unlabelled
from tests.small_graphs import block_graph
from tests.studio.jobs import named_graph

TEXTS = [f"a text of number {node}" for node in range(60)]


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    graph = named_graph(title=[f"Title {node}" for node in range(60)], text=TEXTS)
    with small_job(tmp_path / "job.nodewise", graph=graph, redundancy=2, audit=4, classes=["a", "b"]) as session:
        yield session


def page_of(session: Session) -> SessionPage:
    return SessionPage(session, Pictures(None), lambda: None)


def map_of(nodes: list[int]) -> GraphMap:
    at = np.arange(len(nodes), dtype=np.float32)
    return GraphMap(np.array(nodes), at, at, total=60, edges=np.zeros((0, 2), np.int64))


def test_a_card_tells_all_of_a_node_and_counts_its_votes(session: Session) -> None:
    page = page_of(session)
    empty = page.card(7)
    assert empty["name"] == "Paper 7" and empty["heading"] == "Title 7" and empty["text"] == TEXTS[7]
    assert empty["label"] is None and empty["votes"] == {} and empty["predicted"] is None and not empty["hidden"]
    session.tell(7, "a", "ada")
    session.tell(7, "a", "bob")
    session.add_note(7, "odd", "ada")
    session.skip(7, "cyd")
    card = page.card(7)
    assert card["label"] == "a" and card["from"] == "told" and card["votes"] == {"ada": "a", "bob": "a"}
    assert [(note["annotator"], note["text"]) for note in card["notes"]] == [("ada", "odd")]
    assert card["skipped_by"] == ["cyd"] and card["degree"] == int(session.graph.degree[7])
    names, shares = zip(*card["predicted"], strict=True)
    assert (
        set(names) == {"a", "b"} and sum(shares) == pytest.approx(1, abs=1e-5) and list(shares) == sorted(shares)[::-1]
    )
    prediction = session.predict()
    shares = zip(prediction.classes, prediction.probabilities[7].tolist(), strict=True)
    assert card["predicted"] == [
        [name, pytest.approx(share, abs=1e-6)] for name, share in sorted(shares, key=lambda each: -each[1])
    ]


def test_what_others_said_is_seen_nowhere_by_whose_opinion_is_wanted(session: Session) -> None:
    session.tell([20, 21, 22], ["a", "b", "a"], "ada")
    session.tell(21, "b", "bob")
    page = page_of(session)
    drawn = map_of([20, 21])
    seen = {
        "card": lambda who: page.card(20, who)["label"],
        "votes": lambda who: page.card(20, who)["votes"].get("ada"),
        "search": lambda who: page.search("Paper 20", 1, who)[0]["label"],
        "around": lambda who: next(
            each["label"] for each in page.neighbourhood(20, 1, 50, who)["nodes"] if each["node"] == 20
        ),
        "colours": lambda who: [None, "a", "b"][page.colours(drawn, who)["labelled"][0] + 1],
        "events": lambda who: next(
            each["label"] for each in page.events(50, None, False, who) if each["node"] == 20 and each["kind"] == "tell"
        ),
    }
    for where, look in seen.items():
        assert look("cyd") is None, where
        assert look("ada") == "a", f"{where}: her own"
        assert look(None) == "a", f"{where}: whoever only looks on"
    assert page.sight.kept_from("cyd") == {20, 22} and page.sight.kept_from("ada") == set()
    assert page.sight.kept_from(None) == set()
    session.settle(20, "b", "eve")
    assert page.card(20, "cyd")["label"] == "b", "nobody's opinion is wanted any more"


def test_no_prediction_is_seen_of_the_audit_nor_of_what_waits_for_an_opinion(session: Session) -> None:
    session.tell([20, 21], ["a", "b"], "ada")
    session.tell([20, 21], ["a", "b"], "bob")
    session.tell(30, "a", "ada")
    page = page_of(session)
    audit = sorted(page.sight.audit)
    assert len(audit) == 4 and page.sight.undecided(None) == {30, *audit}
    for node in (30, *audit):
        card = page.card(node)
        assert card["hidden"] and card["predicted"] is None
    around = {each["node"]: each for node in (30, *audit) for each in page.neighbourhood(node, 1, 50)["nodes"]}
    assert all(around[node]["predicted"] is None and around[node]["sure"] is None for node in (30, *audit))
    assert any(each["predicted"] is not None for each in around.values())
    colours = page.colours(map_of([30, *audit, 21]))
    assert colours["predicted"][:-1] == [-1] * 5 and colours["predicted"][-1] >= 0 and colours["sure"][0] == 0
    rows = page.table.rows(TableQuery(limit=60))["rows"]
    assert [row["node"] for row in rows if row["predicted"] is None] == sorted([30, *audit])


def test_who_is_asked_to_judge_blindly_sees_no_prediction_of_any_node(session: Session) -> None:
    for who in ("ada", "bob"):
        session.tell([20, 21, 22], ["a", "b", "a"], who)
    session.tell(30, "a", "ada")
    page = page_of(session)

    def predictions(who: str | None) -> list[int]:
        near = page.neighbourhood(20, 1, 50, who)["nodes"]
        return [
            sum(page.card(each["node"], who)["predicted"] is not None for each in near),
            sum(each["predicted"] is not None or each["sure"] is not None for each in near),
            sum(number >= 0 for number in page.colours(map_of(list(range(60))), who)["predicted"]),
            sum(row["predicted"] is not None for row in page.table.rows(TableQuery(limit=60), who)["rows"]),
            page.table.rows(TableQuery(RowFilter(label="a")), who)["total"] - 2,
        ]

    assert min(predictions("bob")) > 0, "nothing is asked of him yet"
    assert session.ask(1, "bob")[0].node == 30
    assert predictions("bob") == [0] * 5
    assert min(predictions("ada")) > 0
    for unnamed in (None, ""):
        assert predictions(unnamed) == [0] * 5, "it may be he who looks"
    session.tell(30, "b", "bob")
    assert min(predictions("bob")) > 0, "he has answered"


def test_what_others_said_and_took_back_is_not_told_to_whom_it_could_sway(session: Session) -> None:
    first = session.tell(30, "a", "ada")
    session.tell_bulk([40, 41], ["b", "b"], "ada")
    session.undo(first, "bob")
    page = page_of(session)
    for who, label in (("bob", None), ("ada", "a"), (None, "a")):
        listed = {(each["kind"], each["node"]): each["label"] for each in page.events(50, None, False, who)}
        assert listed["tell", 30] == listed["undo", 30] == label, who
        assert listed["bulk", None] == (None if label is None else "b")


def test_the_table_filters_searches_and_sorts(session: Session) -> None:
    for who in ("ada", "bob"):
        session.tell([20, 21, 22], ["a", "b", "a"], who)
    session.tell(23, "a", "ada")
    session.tell(23, "b", "bob")
    session.skip(24, "ada")
    table = page_of(session).table

    def nodes(**query: object) -> list[int]:
        wanted = RowFilter((query.pop("filter", "all"),), text=query.pop("text", ""))  # type: ignore[arg-type]
        return [row["node"] for row in table.rows(TableQuery(wanted, **query))["rows"]]  # type: ignore[arg-type]

    assert nodes(filter="labelled") == [20, 21, 22, 23] and 20 not in nodes(filter="unlabelled")
    assert nodes(filter="disagreement") == [23] and nodes(filter="skipped") == [24]
    assert nodes(filter="labelled", sort="label", descending=True)[0] == 21
    assert nodes(filter="labelled", sort="time", descending=True)[0] == 23
    assert nodes(text="of number 4") == [4, *range(40, 50)] and nodes(text="Paper 59") == [59]
    window = table.rows(TableQuery(offset=10, limit=5))
    assert window["total"] == 60 and [row["node"] for row in window["rows"]] == [10, 11, 12, 13, 14]
    first = table.rows(TableQuery(RowFilter(("labelled",)), limit=1))["rows"][0]
    assert first["by"] == "bob" and first["title"] == "Title 20" and not first["bulk"]


def test_what_has_happened_is_told_in_the_pages_words_newest_first(session: Session) -> None:
    page = page_of(session)
    session.ask(1, "ada")
    session.tell(20, "a", "ada")
    session.tell_bulk([30, 31], ["a", "b"], "bob")
    session.rename_class("b", "c", "eve")
    session.merge_classes("c", "a", "eve")
    session.set_budget(9, "eve")
    session.undo(annotator="eve")
    told = page.events(50, None, asks=False)
    assert [event["kind"] for event in told] == ["undo", "budget", "merge", "rename", "bulk", "tell"]
    assert [event["undone"] for event in told] == [False, True, False, False, False, False]
    undo, budget, merge, rename, bulk, tell = told
    assert undo["undoes"] == budget["event"] and budget["budget"] == 9
    assert (merge["label"], merge["into"]) == ("c", "a")
    assert rename["label"] == "c" and bulk["nodes"] == 2 and bulk["node"] is None
    assert (tell["node"], tell["name"], tell["label"], tell["annotator"]) == (20, "Paper 20", "a", "ada")
    assert [event["kind"] for event in page.events(50, None, asks=True)][-1] == "ask"
    assert [event["event"] for event in page.events(2, tell["event"] + 2, asks=False)] == [3, 2]


def test_a_card_says_what_models_say_but_not_where_a_prediction_is_kept_back(session: Session) -> None:
    session.suggest("assistant", dict.fromkeys(range(60), "a"), 0.5)
    page = page_of(session)
    (one,) = page.card(7)["suggested"]
    assert one == {"by": "assistant", "label": "a", "confidence": 0.5}
    assert page.events(5, None, False)[0]["kind"] == "suggest"
    audited = session.moment().contents.audit[0]
    assert page.card(audited)["hidden"] and not page.card(audited)["suggested"]


def test_the_table_lists_likely_mistakes_by_trust_and_where_models_differ(tmp_path: Path) -> None:
    graph = block_graph(60, classes=2, signal=4)
    assert graph.y is not None
    with small_job(tmp_path / "job.nodewise", graph=unlabelled(graph), budget=50, audit=4) as session:
        audit = session.moment().contents.audit
        told = [node for node in range(40) if node not in audit]
        said = {node: "ab"[int(graph.y[node])] for node in range(60)}
        wrong = told[:2]
        session.tell(told, [{"a": "b", "b": "a"}[said[node]] if node in wrong else said[node] for node in told])
        table = page_of(session).table
        rows = table.rows(TableQuery(RowFilter(("mistake",)), sort="trust"))["rows"]
        assert {row["node"] for row in rows[:2]} == set(wrong)
        listed = [row["trust"] for row in rows if row["trust"] is not None]
        assert listed == sorted(listed) and len(listed) >= 2
        assert table.rows(TableQuery(RowFilter(("model",))))["total"] == 0
        predicted = {
            row["node"]: row["predicted"] for row in table.rows(TableQuery(RowFilter(("unlabelled",))))["rows"]
        }
        other = {node: {"a": "b", "b": "a"}[predicted[node]] for node in (50, 51)}
        session.suggest("rules", {**other, 52: predicted[52], told[0]: "a", audit[0]: "a", audit[1]: "b"})
        rows = table.rows(TableQuery(RowFilter(("model",))), "ada")["rows"]
        assert [row["node"] for row in rows] == [50, 51]
        assert rows[0]["suggested"] == [{"by": "rules", "label": other[50]}]
        assert all(row["suggested"] == [] for row in table.rows(TableQuery(), "ada")["rows"] if row["node"] in audit)


def test_predictions_follow_what_models_say_before_the_first_label(session: Session) -> None:
    page = page_of(session)
    assert page.card(7)["predicted"] is None
    session.suggest("assistant", {node: "ab"[node % 2] for node in range(60)})
    assert page.card(7)["predicted"] is not None
    session.undo()
    assert page.card(7)["predicted"] is None


def test_a_label_of_a_known_row_counts_to_who_gave_it_as_any_other(session: Session) -> None:
    """In the number of labels of status, predictions and report; the owner's numbers do not move."""
    session.set_redundancy(1)
    session.set_known({30: "b"}, annotator="olga")
    session.tell([1, 2, 58, 59], ["a", "a", "b", "b"], "eve")
    page = page_of(session)
    page.reports = Reports(session, lambda event: None, lambda: 0.0)  # made anew each time

    def counts(who: str | None) -> list[Any]:
        page.predictions.want()
        status = make_status(page.sight.moment(who))
        report = page.report(who, lambda: None)
        return [status.told, status.balance["b"], page.made_from(who), report["labels"], report["curve"][-1]["labels"]]

    before, of_owner = counts("ada"), counts(None)
    assert before == of_owner
    version = page.predictions.version
    answer_when_asked(session, "ada", {30: "b"})
    assert counts("ada") == [number + 1 for number in before] and counts(None) == counts("bo") == of_owner
    assert page.predictions.version == version + 1, "they are made again, though nothing changes"
    session.undo(annotator="ada")
    assert counts("ada") == before
    session.tell(31, "b", "ada")
    assert counts("ada") == [number + 1 for number in before]


def test_what_others_said_of_a_row_that_waits_is_in_no_count_of_classes(session: Session) -> None:
    session.set_redundancy(2)
    session.tell([1, 2], ["a", "b"], "eve")
    sight = page_of(session).sight
    for who, balance in (("ada", {"a": 0, "b": 0}), ("eve", {"a": 1, "b": 1}), (None, {"a": 1, "b": 1})):
        assert make_status(sight.open_moment(who)).balance == balance, who
        assert make_status(sight.moment(who)).told == 2


def test_where_two_opinions_are_wanted_answers_after_ones_own_are_the_further_ones(session: Session) -> None:
    """Of a row with a known answer: nobody waits for ever for it, and nobody sees what was said before."""
    session.set_redundancy(2)
    session.set_known({30: "b"}, annotator="olga")
    for who, label in (("ada", "a"), ("bo", "b"), ("cy", "b")):
        answer_when_asked(session, who, {30: label})
    page = page_of(session)
    seen = {who: (page.card(30, who)["votes"], page.card(30, who)["hidden"]) for who in ("ada", "bo", "cy", "di")}
    assert seen == {
        "ada": ({"ada": "a", "bo": "b"}, False),
        "bo": ({"bo": "b", "cy": "b"}, False),
        "cy": ({"cy": "b"}, True),
        "di": ({}, False),
    }
    assert make_status(page.sight.moment("bo")).agreement == 1 and session.status().agreement is None
