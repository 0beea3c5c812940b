"""Files that an open job takes in over HTTP: rows to add, to take out, to predict; another job; and backups."""

from __future__ import annotations

import csv
import io
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodewise.graph import Graph
from nodewise.session import Session
from nodewise.studio.api.responses import (
    AddedResponse,
    ChangedResponse,
    EventNumberResponse,
    JoinedResponse,
    JoinPreviewResponse,
    RowsPreviewResponse,
)
from nodewise.studio.work.session_page import SessionPage
from tests.studio.serving import API, Client, checked, running

CATS = [f"purr meow paw tail {number % 9} fur" for number in range(20)]
CARS = [f"road wheel motor brake {number % 9} drive" for number in range(20)]


def text_job(path: Path, **options: Any) -> Session:
    """A job of 40 texts of two classes, four of them labelled."""
    texts = [text for pair in zip(CATS, CARS, strict=True) for text in pair]
    session = Session.create(path, Graph.from_texts(texts, k=5), budget=20, classes=["cat", "car"], **options)
    session.tell([0, 1, 2, 3], ["cat", "car", "cat", "car"], "ada")
    return session


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with running(tmp_path, text_job(tmp_path / "job.nodewise")) as found:
        yield found


def send(client: Client, path: str, form: Any = None, status: int = 200, **parts: Any) -> Any:
    files = {key: value for key, value in parts.items() if isinstance(value, tuple)}
    answer = client.post(API + path, files=files, data={key: each for key, each in parts.items() if key not in files})
    assert answer.status_code == status, (answer.status_code, answer.text)
    return checked(answer.json(), form) if answer.headers["content-type"].startswith("application/json") else answer


ROWS = ("more.csv", b"text,colour\npurr meow paw,red\nroad wheel motor,blue\nmeow fur tail,green\n")


def test_rows_are_looked_at_added_predicted_and_taken_back(client: Client) -> None:
    seen = send(client, "/rows/preview", RowsPreviewResponse, rows=ROWS)
    assert (seen["rows"], seen["refused"], seen["already"]) == (3, None, 0)
    assert seen["columns"] == [{"name": "text", "use": "compared"}, {"name": "colour", "use": "not used"}]
    assert seen["examples"][1] == "road wheel motor" and client.look("/status")["nodes"] == 40
    added = send(client, "/rows", AddedResponse, rows=ROWS, annotator="ada")
    assert (added["first"], added["count"], added["status"]["nodes"]) == (40, 3, 43)
    card = client.look("/nodes/41")
    assert card["text"] == "road wheel motor" and card["predicted"][0][0] == "car"
    asked = {each["node"] for each in client.say("/ask", annotator="ada", k=50)["queries"]}
    assert asked & {40, 41, 42}
    again = send(client, "/rows/preview", rows=ROWS)
    assert again["already"] == 3
    client.say("/undo", annotator="ada", event=added["event"])
    assert len(client.look("/table", limit=100)["rows"]) == 40
    assert client.scratch_files == []


def test_rows_that_do_not_fit_are_refused_before_anything_is_written(client: Client) -> None:
    table = ("more.csv", b"title,body\na,b\nc,d\n")
    seen = send(client, "/rows/preview", RowsPreviewResponse, rows=table)
    assert "no column" in seen["refused"] or "give" in seen["refused"]
    before = client.look("/status")["last"]
    for path in ("/rows", "/rows/predict"):
        said = send(client, path, status=400, rows=table)["error"]
        assert "\n" not in said and "/tmp" not in said
    for name, content in (("rows.npy", b"no numbers"), ("rows.xlsx", b"no sheet"), ("rows.csv", b"")):
        assert send(client, "/rows", status=400, rows=(name, content))["error"]
    assert client.look("/status")["last"] == before and client.scratch_files == []


def test_rows_are_changed_after_it_was_seen_which_have_labels(client: Client) -> None:
    rows = ("corrected.csv", b"id,text,colour\n0,road wheel motor brake,red\n10,meow paw fur,blue\n12,same,\n")
    same = client.look("/nodes/12")["text"].encode()
    rows = (rows[0], rows[1].replace(b"same", same))
    seen = send(client, "/rows/preview", RowsPreviewResponse, rows=rows, purpose="change")
    assert (seen["rows"], seen["labelled"], seen["refused"]) == (2, 1, None)
    done = send(client, "/rows/change", ChangedResponse, rows=rows, annotator="ada")
    assert (done["count"], done["labelled"], done["status"]["outdated"]) == (2, 1, ["0"])
    assert client.look("/nodes/0")["text"] == "road wheel motor brake" and client.look("/nodes/0")["label"] == "cat"
    assert client.look("/events")["events"][0]["kind"] == "change"
    again = send(client, "/rows/preview", rows=rows, purpose="change")
    assert "nothing was changed" in again["refused"] and again["rows"] == 3
    for name, content in (("more.txt", b"a text\n"), ("more.csv", b"text\na\nb\n"), ("more.csv", b"id,text\n99,a\n")):
        assert send(client, "/rows/preview", rows=(name, content), purpose="change")["refused"]
        assert send(client, "/rows/change", status=400, rows=(name, content))["error"]
    client.say("/undo", event=done["event"])
    assert client.look("/nodes/0")["text"] != "road wheel motor brake" and client.look("/status")["outdated"] == []
    assert client.scratch_files == []


@pytest.mark.slow
def test_what_was_said_of_rows_whose_addition_is_taken_back_breaks_nothing(client: Client) -> None:
    added = send(client, "/rows", AddedResponse, rows=ROWS, annotator="ada")
    labels = [{"node": 41, "label": "car"}]
    client.say("/tell", annotator="ada", labels=labels)
    client.say("/notes", node=42, text="a note", annotator="ada")
    client.say("/undo", annotator="ada", event=added["event"])
    now = client.look("/status")
    assert (now["nodes"], now["told"]) == (40, 4)
    for path in ("/events", "/table", "/map", "/report", "/people"):
        client.look(path)
    assert "no node" in client.refused(404, "GET", "/nodes/41")
    assert client.refused(404, "POST", "/tell", json={"annotator": "ada", "labels": labels})


def test_rows_are_taken_out_by_number_and_brought_back(client: Client) -> None:
    done = client.say("/rows/remove", EventNumberResponse, rows=[0, 7], annotator="ada")
    assert done["status"]["told"] == 3
    nodes = {row["node"] for row in client.look("/table", limit=100)["rows"]}
    assert {0, 7}.isdisjoint(nodes) and len(nodes) == 38
    assert "taken out" in client.refused(
        400, "POST", "/tell", json={"annotator": "ada", "labels": [{"node": 7, "label": "cat"}]}
    )
    client.say("/undo", event=done["event"])
    assert client.look("/status")["told"] == 4
    assert "no node" in client.refused(400, "POST", "/rows/remove", json={"rows": [4711]})


def test_new_rows_are_predicted_into_a_table_and_not_added(client: Client) -> None:
    answer = send(client, "/rows/predict", rows=ROWS)
    assert "more-predictions.csv" in answer.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [row["predicted"] for row in rows] == ["cat", "car", "cat"]
    assert abs(sum(float(rows[0][name]) for name in ("cat", "car")) - 1) < 1e-3
    texts = send(client, "/rows/predict", rows=("more.txt", b"purr meow\nroad wheel\n"))
    assert [row["predicted"] for row in csv.DictReader(io.StringIO(texts.text))] == ["cat", "car"]
    assert client.look("/status")["nodes"] == 40 and client.scratch_files == []


def test_rows_are_predicted_by_a_models_answers_before_the_first_label(tmp_path: Path) -> None:
    texts = [text for pair in zip(CATS, CARS, strict=True) for text in pair]
    with running(
        tmp_path,
        Session.create(tmp_path / "job.nodewise", Graph.from_texts(texts, k=5), budget=9, classes=["cat", "car"]),
    ) as client:
        assert "before the first label" in send(client, "/rows/predict", status=400, rows=ROWS)["error"]
        said = [{"node": node, "label": ("cat", "car")[node % 2]} for node in range(40)]
        client.say("/suggestions", name="rules", labels=said)
        rows = list(csv.DictReader(io.StringIO(send(client, "/rows/predict", rows=ROWS).text)))
        assert [row["predicted"] for row in rows] == ["cat", "car", "cat"]


def test_rows_that_may_have_several_classes_are_predicted_by_each_class(tmp_path: Path) -> None:
    texts = [text for pair in zip(CATS, CARS, strict=True) for text in pair]
    session = Session.create(
        tmp_path / "job.nodewise", Graph.from_texts(texts, k=5), budget=9, classes=["cat", "car"], several=True
    )
    for node in range(6):
        session.tell(node, [("cat", "car")[node % 2]])
    with running(tmp_path, session) as client:
        rows = list(csv.DictReader(io.StringIO(send(client, "/rows/predict", rows=ROWS).text)))
        assert [row["predicted"] for row in rows] == ["cat", "car", "cat"]
        assert float(rows[0]["cat"]) > 0.5 > float(rows[0]["car"])


def test_too_many_rows_to_predict_are_refused(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nodewise.studio.work.row_files.PREDICTED", 2)
    assert "more than 2 rows" in send(client, "/rows/predict", status=400, rows=ROWS)["error"]
    assert client.scratch_files == []


def test_another_job_is_joined_after_its_conflicts_were_seen(client: Client, tmp_path: Path) -> None:
    with text_job(tmp_path / "theirs") as other:
        other.undo(event=1)
        other.tell([0, 5], ["car", "car"], "bob")
        other.tell(6, "lorry", "me")
    job = ("theirs.nodewise", (tmp_path / "theirs").read_bytes())
    seen = send(client, "/join/preview", JoinPreviewResponse, job=job, me="eve")
    assert (seen["labels"], seen["people"], seen["new"], seen["refused"]) == (3, ["bob", "eve"], ["lorry"], None)
    assert seen["conflicts"] == [{"node": 0, "name": "0", "votes": {"ada": "cat", "bob": "car"}}]
    assert client.look("/status")["told"] == 4
    done = send(client, "/join", JoinedResponse, job=job, annotator="ada", me="eve")
    assert (done["labels"], done["disagreements"]) == (3, 1)
    client.say("/settle", node=0, label="cat", annotator="ada")
    assert client.look("/status")["disagreements"] == {}
    assert "no label that is not here" in send(client, "/join/preview", job=job, me="eve")["refused"]
    assert "'theirs.nodewise'" in send(client, "/join", status=400, job=job, me="eve")["error"]
    assert client.scratch_files == []


def test_a_backup_opens_under_a_name_that_none_has(client: Client, tmp_path: Path) -> None:
    content = client.get(f"{API}/backup").content
    send(client, "/session/backup", status=201, job=("job.nodewise", content), name="again")
    assert client.look("/status", session="again")["told"] == 4
    before = (tmp_path / "again.nodewise").read_bytes()
    assert "already" in send(client, "/session/backup", status=409, job=("x", content[:-1]), name="again")["error"]
    assert (tmp_path / "again.nodewise").read_bytes() == before
    for name in ("../out", "a/b", ""):
        send(client, "/session/backup", status=400, job=("x", content), name=name)
    assert client.scratch_files == []


def test_nothing_of_a_backup_is_trusted(client: Client, tmp_path: Path) -> None:
    with text_job(tmp_path / "outside", embed_limit=10) as other:
        graph = other.path.with_name("outside.graph.npz")
        assert graph.exists()
    refers = ("b.nodewise", (tmp_path / "outside").read_bytes())
    assert "lies in a file of its own" in send(client, "/session/backup", status=409, job=refers, name="b")["error"]
    content = bytearray(client.get(f"{API}/backup").content)
    content[content.rindex(b'"label"') + 1] ^= 1
    for wrong in (b"", b"no session", bytes(content), b"SQLite format 3\x00" + b"x" * 4096):
        said = send(client, "/session/backup", status=409, job=("b.nodewise", wrong), name="b")["error"]
        assert "/tmp" not in said and "uploaded" not in said
    with sqlite3.connect(tmp_path / "plain.db") as plain:
        plain.execute("CREATE TABLE t (a)")
    plain.close()
    send(client, "/session/backup", status=409, job=("b", (tmp_path / "plain.db").read_bytes()), name="b")
    assert not (tmp_path / "b.nodewise").exists() and client.scratch_files == []


def test_several_columns_of_texts_are_put_together_for_new_rows_as_well(tmp_path: Path) -> None:
    table = "headline,story\n" + "".join(f"{text[:9]},{text}\n" for text in CATS[:10] + CARS[:10])
    with running(tmp_path) as client:
        send(
            client,
            "/session",
            status=201,
            nodes=("t.csv", table.encode()),
            name="joined",
            text=["headline", "story"],
            classes="cat,car",
        )
        rows = ("r.csv", b"headline,story\nmeow,purr paw tail\n")
        seen = send(client, "/rows/preview", rows=rows)
        assert seen["refused"] is None and {each["use"] for each in seen["columns"]} == {"compared"}
        send(client, "/rows", rows=rows)
        assert client.look("/nodes/20")["text"] == "meow\n\npurr paw tail"
        lacks = send(client, "/rows/preview", rows=("r.csv", b"story\npurr\n"))
        assert lacks["lacking"] == ["headline"] and "headline" in lacks["refused"]


def test_numbers_are_added_as_an_array(tmp_path: Path) -> None:
    from nodewise.graph import knn_graph

    x = np.random.default_rng(0).normal(size=(30, 4)).astype(np.float32)
    session = Session.create(tmp_path / "job.nodewise", knn_graph(x, 4), budget=5, classes=["a", "b"])
    held = io.BytesIO()
    np.save(held, x[:3])
    with running(tmp_path, session) as client:
        assert send(client, "/rows/preview", rows=("x.npy", held.getvalue()))["rows"] == 3
        assert send(client, "/rows", rows=("x.npy", held.getvalue()))["status"]["nodes"] == 33


def test_rows_and_labels_on_them_that_come_within_a_request_are_for_the_next_one(tmp_path: Path) -> None:
    """A page was handed out; before it is used another process adds rows and labels them."""
    from nodewise.studio.layout.overview import draw_map
    from nodewise.studio.work.pictures import Pictures

    with text_job(tmp_path / "job") as session, Session.open(tmp_path / "job") as other:
        page = SessionPage(session, Pictures(None), lambda: None)
        drawn = draw_map(session.graph, [], step=lambda: None)
        page.colours(drawn)
        other.add_rows(["purr meow", "road wheel"])
        other.tell([40, 41], ["cat", "car"], "bob")
        assert len(page.colours(drawn)["labelled"]) == 40
        assert page.neighbourhood(0, 2, 50)["nodes"] and page.card(39)["node"] == 39
        session.refresh()
        assert len(session.predict().names) == 42
