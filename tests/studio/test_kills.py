"""The whole studio killed at random moments while clients tell labels: nothing that was acknowledged is lost, nothing
goes on differently.

Beside the studio runs a mirror: a session in this process that nobody disturbs and that does, event by event, what the
studio's log says. Its queries are chosen anew, so each query in the log is compared with the one that an undisturbed
session gives after the same history.
"""

from __future__ import annotations

import random
import threading
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the studio: pip install 'nodewise[studio]'")

import httpx

from nodewise.session import Session
from nodewise.session.answers import Event
from nodewise.session.log.log import Log
from tests.session.jobs import small_job, unlabelled
from tests.small_graphs import block_graph
from tests.studio.browsing import Server

KILLS = 20
CLIENTS = 5
NODES = 1500


class Annotator(threading.Thread):
    """A client that asks, tells one label, several or many in bulk, skips and takes back, as long as it may; it notes
    what the studio has acknowledged.

    Attributes:
        acknowledged: event's number -> kind, node and label; for what was taken back, the number of the event that was.
        bulk: event's number -> the nodes that were labelled in bulk.
        batches: names under which labels were sent together, whether or not an answer came.
        odd: answers that should not be.
    """

    def __init__(self, name: str, address: str, go: threading.Event) -> None:
        super().__init__(name=name)
        self.go, self.idle, self.ended = go, threading.Event(), False
        self._client = httpx.Client(base_url=f"{address}/api/v1", timeout=120)
        self._random = random.Random(name)
        self.acknowledged: dict[int, tuple[str, int, str]] = {}
        self.bulk: dict[int, list[int]] = {}
        self.taken_back: list[int] = []
        self.batches: list[str] = []
        self.odd: list[str] = []

    def run(self) -> None:
        while not self.ended:
            if not self.go.is_set():
                self.idle.set()
                self.go.wait()
                self.idle.clear()
                continue
            try:
                self._act()
            except httpx.TransportError:
                threading.Event().wait(0.01)
        self.idle.set()
        self._client.close()

    def _act(self) -> None:
        threading.Event().wait(self._random.random() * 0.3)
        chance = self._random.random()
        if chance < 0.1:
            batch = [(node, "ab"[node % 2]) for node in self._random.sample(range(NODES), 4)]
            self.batches.append(f"{self.name}, batch {len(self.batches)}")
            told = self._send(
                "/tell", self.batches[-1], labels=[{"node": node, "label": label} for node, label in batch]
            )
            if told is not None:
                self.acknowledged.update(
                    {event: ("tell", *one) for event, one in zip(told["events"], batch, strict=True)}
                )
        elif chance < 0.2:
            nodes = self._random.sample(range(NODES), 12)
            labels = [{"node": node, "label": "ab"[node % 2]} for node in nodes]
            if (told := self._send("/bulk", labels=labels)) is not None:
                self.bulk[told["event"]] = nodes
        elif chance < 0.25:
            if (back := self._send("/undo")) is not None:
                self.taken_back.append(back["undone"]["event"])
        elif (asked := self._send("/ask")) is not None:
            node = asked["queries"][0]["node"]
            self.acknowledged[asked["queries"][0]["event"]] = ("ask", node, "")
            if chance < 0.3:
                if (skipped := self._send("/skip", node=node)) is not None:
                    self.acknowledged[skipped["event"]] = ("skip", node, "")
            elif (told := self._send("/tell", labels=[{"node": node, "label": "ab"[node % 2]}])) is not None:
                self.acknowledged[told["events"][0]] = ("tell", node, "ab"[node % 2])

    def _send(self, path: str, who: str | None = None, **body: Any) -> Any:
        answer = self._client.post(path, json={"annotator": who or self.name, **body})
        if answer.status_code == 200:
            return answer.json()
        if answer.status_code != 409 and not (path == "/skip" and answer.status_code == 400):
            self.odd.append(f"{path} {answer.status_code}: {answer.text}")
        return None


def follow(mirror: Session, events: list[Event]) -> None:
    """Has the undisturbed session do the same; its queries must be the same."""
    for event in events:
        body = event.body
        if event.kind == "ask":
            query = mirror.ask(annotator=event.annotator)
            assert (query.event, query.node) == (
                event.id,
                body["node"],
            ), "an undisturbed session would have asked something else"
        elif event.kind == "tell":
            assert mirror.tell(body["node"], body["label"], event.annotator) == event.id
        elif event.kind == "bulk":
            assert mirror.tell_bulk(body["nodes"], body["labels"], event.annotator) == event.id
        elif event.kind == "skip":
            assert mirror.skip(body["node"], event.annotator) == event.id
        else:
            assert event.kind == "undo" and mirror.undo(body["event"], event.annotator).id == body["event"]


def check(events: dict[int, Event], clients: list[Annotator]) -> None:
    """Everything acknowledged is in the log, and what was sent together is there together or not at all."""
    assert sorted(events) == list(range(1, len(events) + 1))
    back = [event.body["event"] for event in events.values() if event.kind == "undo"]
    for client in clients:
        assert not client.odd
        for number, (kind, node, label) in client.acknowledged.items():
            event = events[number]
            assert (event.kind, event.body["node"], event.body.get("label", "")) == (kind, node, label)
            assert event.annotator.startswith(client.name)
        assert all(
            events[number].kind == "bulk" and events[number].body["nodes"] == nodes
            for number, nodes in client.bulk.items()
        )
        assert set(client.taken_back) <= set(back)
        for batch in client.batches:
            assert sum(event.annotator == batch for event in events.values()) in {
                0,
                4,
            }, "labels that were told together are torn apart"


def done(clients: list[Annotator]) -> tuple[int, int]:
    """How many answers, and how many in bulk, the studio has acknowledged."""
    return sum(len(client.acknowledged) for client in clients), sum(len(client.bulk) for client in clients)


@pytest.mark.long
def test_twenty_kills_of_the_studio_lose_no_label_and_change_no_query(tmp_path: Path) -> None:
    options: dict[str, Any] = {"graph": unlabelled(block_graph(NODES)), "budget": NODES, "strategy": "age"}
    small_job(tmp_path / "job.nodewise", **options).close()
    mirror = small_job(tmp_path / "mirror.nodewise", **options)
    moments = random.Random(11)
    server = Server(tmp_path, "job.nodewise")
    go = threading.Event()
    clients = [Annotator(f"annotator {number}", server.address, go) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    seen = 0
    try:
        for kill in range(KILLS):
            before = done(clients)
            go.set()
            while kill % 5 and any(
                now < then + more for now, then, more in zip(done(clients), before, (8, 1), strict=True)
            ):
                threading.Event().wait(0.01)  # however slow the machine is, most kills come after some work
            threading.Event().wait(moments.random() * (0.2 if kill % 5 == 0 else 1.5))
            server.kill()
            go.clear()
            for client in clients:
                client.idle.wait()
            with Log.open(tmp_path / "job.nodewise") as log:
                events = list(log.events)
            check({event.id: event for event in events}, clients)
            follow(mirror, events[seen:])
            server.start()
            asked = server.post("/ask", annotator=f"judge {kill}")["queries"][0]
            query = mirror.ask(annotator=f"judge {kill}")
            assert (asked["node"], asked["event"]) == (
                query.node,
                query.event,
            ), "the next query is not the one of an undisturbed session"
            assert server.get("/status")["last"] == query.event
            seen = query.event
        assert sum(len(client.acknowledged) for client in clients) > 5 * KILLS, (
            "the clients told too little for the test to mean anything"
        )
        assert sum(len(client.bulk) for client in clients) > KILLS / 2
    finally:
        for client in clients:
            client.ended = True
        go.set()
        for client in clients:
            client.join()
        server.stop()
        mirror.close()
