"""What models say, over HTTP: looked at, brought from a file or a column, reported, taken back, never in the way of a
blind question.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nodewise.graph import Graph
from nodewise.session import Session
from nodewise.studio.api.responses import EventNumberResponse
from nodewise.studio.api.suggestion_responses import (
    SuggestedEventResponse,
    SuggestionPreviewResponse,
    SuggestionsResponse,
    WithdrawnResponse,
)
from nodewise.studio.guard.people import People
from tests.studio.api.test_rows import CARS, CATS
from tests.studio.serving import API, Client, checked, running

KINDS = ["cat", "car"] * 20


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    """A job of 40 texts with a column of a model's answers and one of how sure it is; two labels."""
    columns = {
        "machine": ["car" if node == 4 else "a cat?" if node == 6 else kind for node, kind in enumerate(KINDS)],
        "certainty": ["0.5"] * 40,
        "colour": ["red"] * 40,
    }
    texts = [text for pair in zip(CATS, CARS, strict=True) for text in pair]
    graph = Graph.from_texts(texts, k=5, attributes=columns)
    session = Session.create(tmp_path / "job.nodewise", graph, budget=20, classes=["cat", "car"], audit=4)
    free = [node for node in range(40) if node not in session.rules().audit]
    session.tell(free[:2], [KINDS[node] for node in free[:2]], "ada")
    with running(tmp_path, session) as found:
        yield found


def send(client: Client, path: str, form: Any = None, status: int = 200, **parts: Any) -> Any:
    """Send a form, with or without a file."""
    files = {key: value if isinstance(value, tuple) else (None, value) for key, value in parts.items()}
    answer = client.post(API + path, files=files)
    assert answer.status_code == status, (answer.status_code, answer.text)
    return checked(answer.json(), form)


def answers(**wrong: str) -> tuple[str, bytes]:
    """A file of answers, right but for some."""
    lines = [f"{node},{wrong.get(f'n{node}', kind)},0.75" for node, kind in enumerate(KINDS)]
    return "answers.csv", ("row,said,sure\n" + "\n".join(lines) + "\n").encode()


CHOSEN = {"node": "row", "label": "said", "confidence": "sure"}


def test_a_file_is_looked_at_brought_reported_and_withdrawn(client: Client) -> None:
    file = answers(n5="cat", n7="no idea")
    seen = send(client, "/suggestions/preview", SuggestionPreviewResponse, rows=file, name="helper")
    assert seen["columns"] == ["row", "said", "sure"] and "suggestions need one that names the node" in seen["refused"]
    assert "answers.csv" in seen["refused"] and "/tmp" not in seen["refused"]
    seen = send(client, "/suggestions/preview", SuggestionPreviewResponse, rows=file, name="helper", **CHOSEN)
    assert (seen["refused"], seen["rows"], seen["answers"], seen["unnamed"]) == (None, 40, 39, 1)
    assert seen["classes"] == {"cat": 21, "car": 18} and seen["examples"] == ["no idea"] and seen["replaced"] == 0
    assert not client.look("/suggestions", SuggestionsResponse)["models"]
    brought = send(
        client, "/suggestions/bring", SuggestedEventResponse, rows=file, name="helper", annotator="ada", **CHOSEN
    )
    assert brought["answers"] == 39
    assert client.look("/nodes/5")["suggested"] == [{"by": "helper", "label": "cat", "confidence": 0.75}]
    (model,) = client.look("/suggestions", SuggestionsResponse)["models"]
    assert (model["answers"], model["unnamed"], model["by_labels"]["nodes"]) == (39, 1, 2)
    seen = send(client, "/suggestions/preview", rows=answers(), name="helper", **CHOSEN)
    assert seen["replaced"] == 1
    gone = client.say("/suggestions/withdraw", WithdrawnResponse, name="helper", annotator="ada")
    assert len(gone["events"]) == 1 and not client.look("/suggestions")["models"]
    assert client.look("/nodes/5")["suggested"] == []
    client.say("/undo", annotator="ada", event=gone["events"][0])
    assert client.look("/suggestions")["models"][0]["answers"] == 39
    assert client.scratch_files == []


def test_a_column_of_the_rows_is_brought_and_no_longer_shown_as_a_column(client: Client) -> None:
    assert client.look("/suggestions")["columns"] == ["machine", "certainty", "colour"]
    assert client.look("/nodes/9")["attributes"]["machine"] == "car"
    column = {"name": "machine", "label": "machine", "confidence": "certainty"}
    seen = send(client, "/suggestions/preview", SuggestionPreviewResponse, **column)
    assert (seen["answers"], seen["unnamed"], seen["examples"], seen["columns"]) == (39, 1, ["a cat?"], [])
    send(client, "/suggestions/bring", **column)
    assert client.look("/suggestions")["columns"] == ["colour"]
    card = client.look("/nodes/9")
    assert card["suggested"] == [{"by": "machine", "label": "car", "confidence": 0.5}]
    assert card["attributes"] == {"colour": "red"}
    table = client.look("/table", columns=["machine", "colour"], sort="column", column="machine", limit=5)
    assert set(table["rows"][0]["cells"]) == {"colour"}
    assert "machine" not in table["columns"]


def test_whoever_judges_unswayed_sees_neither_answer_nor_column(client: Client) -> None:
    send(client, "/suggestions/bring", name="machine", label="machine")
    asked = client.say("/ask", annotator="eve", k=30)["queries"]
    audited = [query for query in asked if query["audit"]]
    assert audited
    for query in audited:
        assert query["card"]["hidden"] and not query["card"]["suggested"]
        assert "machine" not in query["card"]["attributes"]
    rows = client.look("/table", annotator="eve", limit=40)["rows"]
    assert all(row["suggested"] == [] for row in rows)


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({"label": "nothing"}, "the rows have no column 'nothing': choose one of machine, certainty, colour"),
        ({"label": "colour"}, "no answer of 'helper' names a class of the job"),
        ({"label": "machine", "confidence": "colour"}, "the column 'colour' must hold numbers from 0 to 1"),
    ],
)
def test_what_does_not_fit_is_told_and_leaves_nothing(client: Client, given: dict[str, str], wrong: str) -> None:
    before = client.look("/status")["last"]
    assert wrong in send(client, "/suggestions/preview", name="helper", **given)["refused"]
    assert wrong in send(client, "/suggestions/bring", status=400, name="helper", **given)["error"]
    said = client.refused(400, "POST", "/suggestions/withdraw", json={"name": "helper"})
    assert said == "no model 'helper' has said anything: those that have are none"
    assert client.look("/status")["last"] == before


def test_answers_come_row_by_row_and_the_export_says_who_stands_behind_each(client: Client) -> None:
    labels = [{"node": node, "label": "cat"} for node in range(40)]
    client.say("/suggestions", EventNumberResponse, name="assistant", labels=labels, confidence=0.5)
    seen = [card for node in range(40) if not (card := client.look(f"/nodes/{node}"))["hidden"]]
    assert len(seen) == 36
    assert all(card["suggested"] == [{"by": "assistant", "label": "cat", "confidence": 0.5}] for card in seen)
    found = client.look("/suggestions", SuggestionsResponse)
    assert found["models"][0]["name"] == "assistant" and found["differing"]
    assert all(one["says"] != one["predicted"] for one in found["differing"])
    rows: list[dict[str, Any]] = list(csv.DictReader(io.StringIO(client.get("/api/v1/export/csv").text)))
    behind = {row["stands behind"] for row in rows}
    assert behind == {"person", "learner", "learner and model assistant"}
    for row in rows:
        if row["stands behind"] == "learner":
            assert row["predicted"] != "cat" == row["assistant says"]


@pytest.mark.slow
def test_what_models_say_is_brought_under_the_name_of_the_link_at_creation_and_later(tmp_path: Path) -> None:
    token = People(tmp_path).add("olga", "owner")
    rows = "text,said\n" + "".join(f"{text},{kind}\n" for text, kind in zip(CATS, ["cat"] * len(CATS), strict=True))
    with running(tmp_path, token="the-owners-token") as client:
        client.headers["Authorization"] = f"Bearer {token}"
        form = {"name": "made", "text": "text", "suggestions": "said", "classes": "cat,car", "annotator": "otto"}
        made = client.post(f"{API}/session", files={"nodes": ("t.csv", rows.encode())}, data=form)
        assert made.status_code == 201, made.text
        brought = {"session": "made", "name": "again", "label": "said", "annotator": "otto"}
        answer = client.post(f"{API}/suggestions/bring", files={key: (None, said) for key, said in brought.items()})
        assert answer.status_code == 200, answer.text
        events = client.look("/events", session="made")["events"]
        assert [(each["kind"], each["annotator"]) for each in events] == [("suggest", "olga")] * 2
