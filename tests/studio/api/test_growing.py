"""A job that grows while its page is open: rows that another process adds are there at the next request."""

from __future__ import annotations

from pathlib import Path

from nodewise.graph import Graph
from nodewise.session import Session
from nodewise.studio.api.responses import EventsResponse
from tests.studio.serving import running


def test_rows_that_another_process_adds_are_seen(tmp_path: Path) -> None:
    texts = [f"purr meow {number % 7}" if number % 2 else f"road wheel {number % 7}" for number in range(40)]
    path = tmp_path / "job.nodewise"
    session = Session.create(path, Graph.from_texts(texts, k=5), budget=10, classes=["cat", "car"])
    with running(tmp_path, session) as client:
        client.say("/tell", annotator="ada", labels=[{"node": 1, "label": "cat"}, {"node": 0, "label": "car"}])
        client.look("/map/colours")
        with Session.open(path) as other:
            other.add_rows(["purr purr meow", "wheel on a road"])
            other.remove_rows([5])
        assert client.look("/status")["nodes"] == 42
        assert client.look("/nodes/41")["text"] == "wheel on a road"
        client.say("/tell", annotator="ada", labels=[{"node": 41, "label": "car"}])
        kinds = [(event["kind"], event["nodes"]) for event in client.look("/events", EventsResponse)["events"]]
        assert ("rows", 2) in kinds and ("remove", 1) in kinds
        assert client.look("/nodes/41/neighbourhood")["nodes"][0]["label"] == "car"
