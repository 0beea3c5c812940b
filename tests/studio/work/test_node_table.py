"""The table's filters together, the list that one reads on in, the job's own columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodewise.graph import Graph
from nodewise.session import Session
from nodewise.studio.work.node_table import NodeTable, TableQuery
from nodewise.studio.work.pictures import Pictures
from nodewise.studio.work.row_facts import RowFilter
from nodewise.studio.work.session_page import SessionPage
from tests.session.jobs import small_job
from tests.studio.jobs import named_graph


def table_of(session: Session) -> NodeTable:
    return SessionPage(session, Pictures(None), lambda: None).table


def nodes(table: NodeTable, wanted: RowFilter, who: str | None = None, **query: Any) -> list[int]:
    return [row["node"] for row in table.rows(TableQuery(wanted, **query), who)["rows"]]


@pytest.fixture
def session(tmp_path: Path) -> Session:
    graph = named_graph(price=[str(9 - n % 10) if n < 50 else "" for n in range(60)], place=["here", "There"] * 30)
    return small_job(tmp_path / "job.nodewise", graph=graph, budget=30)


def test_filters_are_combined(session: Session) -> None:
    with session:
        session.tell([1, 2, 3], ["a", "b", "a"], "ada")
        session.tell([4, 58], ["a", "b"], "bob")
        session.add_note([2, 4, 9], "odd", "eve")
        session.skip([10, 11], "ada")
        table = table_of(session)
        assert nodes(table, RowFilter(("labelled", "noted"))) == [2, 4]
        assert nodes(table, RowFilter(("labelled", "noted"), by="bob")) == [4]
        assert nodes(table, RowFilter(("labelled",), label="a", by="ada")) == [1, 3]
        assert nodes(table, RowFilter(("skipped",))) == [10, 11] and nodes(table, RowFilter(("noted", "skipped"))) == []
        assert nodes(table, RowFilter(("noted",), text="Paper 9")) == [9]
        sure = {row["node"]: row["sure"] for row in table.rows(TableQuery())["rows"] if row["label"] is None}
        middle = sorted(sure.values())[len(sure) // 2]
        rows = table.rows(TableQuery(RowFilter(("unlabelled",), most=middle)))["rows"]
        assert rows and all(row["sure"] <= middle + 1e-4 for row in rows) and len(rows) < len(sure)
        session.suggest("rules", {20: "a", 21: "b"})
        assert nodes(table, RowFilter(said_by="rules")) == [20, 21] and nodes(table, RowFilter(said_by="none")) == []
        session.undo(annotator="eve")
        assert nodes(table, RowFilter(("noted",))) == [], "a note on three rows is one change"


def test_rows_stay_where_they_are_while_one_reads_and_say_whether_they_still_fit(session: Session) -> None:
    with session:
        session.tell([0, 59], ["a", "b"])
        table = table_of(session)
        open_rows = RowFilter(("unlabelled",))
        first = table.rows(TableQuery(open_rows, limit=4), "me")
        assert [row["node"] for row in first["rows"]] == [1, 2, 3, 4] and all(row["fits"] for row in first["rows"])
        session.tell(2, "a")
        again = table.rows(TableQuery(open_rows, limit=4, listing=first["listing"]), "me")
        assert [(row["node"], row["fits"]) for row in again["rows"]] == [(1, True), (2, False), (3, True), (4, True)]
        assert again["total"] == 58 and again["listing"] == first["listing"]
        assert table.found(TableQuery(open_rows, listing=first["listing"]), "me").tolist()[:3] == [1, 3, 4]
        anew = table.rows(TableQuery(open_rows, limit=4), "me")
        assert [row["node"] for row in anew["rows"]] == [1, 3, 4, 5] and anew["listing"] != first["listing"]
        other = table.rows(TableQuery(RowFilter(("labelled",)), listing=first["listing"]), "me")
        assert [row["node"] for row in other["rows"]] == [0, 2, 59], "a list of another question is made anew"
        theirs = table.rows(TableQuery(open_rows, limit=4, listing=first["listing"]), "bob")
        assert theirs["listing"] != first["listing"], "and so is somebody else's"


def test_a_list_that_was_found_by_predictions_is_not_read_on_by_who_must_not_see_them(tmp_path: Path) -> None:
    with small_job(tmp_path / "job.nodewise", budget=30, audit=5) as session:
        session.tell([0, 1, 58, 59], ["a", "a", "b", "b"])
        table, sure = table_of(session), RowFilter(least=0.0)
        listing = table.rows(TableQuery(sure), "ada")
        assert listing["total"] > 40
        while not session.ask(1, "ada")[0].audit:
            session.tell(session.ask(1, "ada")[0].node, "a", "ada")
        assert table.rows(TableQuery(sure, listing=listing["listing"]), "ada")["total"] == 0


def test_own_columns_are_shown_and_sorted_by_number_or_text_empty_ones_last(session: Session) -> None:
    with session:
        table = table_of(session)
        found = table.rows(TableQuery(sort="column", column="price", columns=("price", "nothing")))
        assert found["columns"] == ["price", "place"] and found["rows"][0]["cells"] == {"price": "0"}
        assert [row["cells"]["price"] for row in found["rows"]][-10:] == [""] * 10
        assert nodes(table, RowFilter(), sort="column", column="place")[:3] == [0, 2, 4]
        assert nodes(table, RowFilter(), sort="column", column="not there")[:3] == [0, 1, 2]


def test_rows_of_sets_of_classes_are_found_by_each_class(tmp_path: Path) -> None:
    with small_job(tmp_path / "job.nodewise", budget=30, several=True) as session:
        session.tell(3, ["a", "b"])
        session.tell(4, ["a"])
        session.tell(5, [])
        table = table_of(session)
        assert nodes(table, RowFilter(("labelled",))) == [3, 4, 5]
        assert nodes(table, RowFilter(("labelled",), label="b")) == [3]
        assert table.rows(TableQuery(RowFilter(("labelled",))))["rows"][0]["label"] == "a;b"


@pytest.mark.slow
def test_two_hundred_thousand_rows_with_labels_are_filtered_and_sorted(tmp_path: Path) -> None:
    size = 200_000
    graph = Graph.build(
        np.stack([np.arange(size), (np.arange(size) + 1) % size]),
        size,
        x=np.ones((size, 2), np.float32),
        y=np.where(np.arange(size) % 2, np.arange(size) % 3, -1),
        class_names=["a", "b", "c"],
    )
    with Session.create(tmp_path / "job.nodewise", graph, budget=5) as session:
        table = table_of(session)
        found = table.rows(TableQuery(RowFilter(("labelled",)), sort="label", descending=True, offset=99_990, limit=10))
        assert found["total"] == size // 2 and {row["label"] for row in found["rows"]} == {"a"}
