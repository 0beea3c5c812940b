"""The websocket: who is told what, how often, and that what a page says there is of no consequence."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection

from nodewise.session import Session
from nodewise.studio.api.updates import serve
from nodewise.studio.work.updates import Updates
from tests.studio.jobs import job
from tests.studio.serving import API, Client, hear, running


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with running(tmp_path, job(tmp_path)) as client:
        yield client


def listen(client: Client, **options: Any) -> ClientConnection:
    return hear(f"ws://127.0.0.1:{client.base_url.port}{API}/updates", **options)


def heard(socket: ClientConnection) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(socket.recv())
    return found


def test_every_page_hears_of_a_change(client: Client) -> None:
    with listen(client) as one, listen(client) as other:
        while client.studio.updates.listeners < 2:
            time.sleep(0.01)
        client.say("/tell", labels=[{"node": 1, "label": "a"}])
        assert heard(one) == heard(other) == {"type": "changed", "session": "job", "last": 1}


def test_what_another_process_writes_is_heard_of(client: Client, tmp_path: Path) -> None:
    with listen(client) as socket, Session.open(tmp_path / "job.nodewise") as session:
        session.tell(5, "a", "the command line")
        assert heard(socket) == {"type": "changed", "session": "job", "last": 1}
    assert client.look("/status")["annotators"] == {"the command line": 1}


@pytest.mark.slow
def test_predictions_follow_by_themselves_while_a_page_is_open(client: Client) -> None:
    with listen(client) as socket:
        client.say("/tell", labels=[{"node": node, "label": "ab"[node % 2]} for node in range(6)])
        assert heard(socket)["last"] == 6
        while client.look("/status")["predictions_from"] is None:
            assert heard(socket) == {"type": "changed", "session": "job", "last": 6}
        assert client.look("/status")["predictions_from"] == 6


def test_another_session_is_announced(client: Client, tmp_path: Path) -> None:
    job(tmp_path, "other").close()
    with listen(client) as socket:
        client.say("/session/open", name="other")
        assert heard(socket) == {"type": "session", "name": "other"}


def test_a_page_of_a_session_hears_of_that_one_alone(client: Client, tmp_path: Path) -> None:
    job(tmp_path, "other").close()
    with hear(f"ws://127.0.0.1:{client.base_url.port}{API}/updates?session=other") as socket:
        while "other" not in client.studio.updates.watched:
            time.sleep(0.01)
        client.say("/tell", labels=[{"node": 1, "label": "a"}])
        client.say("/tell", session="other", labels=[{"node": 2, "label": "b"}])
        assert [heard(socket)["type"], heard(socket)] == ["session", {"type": "changed", "session": "other", "last": 1}]


def test_what_a_page_says_changes_nothing_and_too_much_of_it_ends_the_connection(client: Client) -> None:
    with listen(client) as socket:
        for said in ("hello", b"\x00\xff", '{"type": "tell", "labels": []}', "x" * 60_000):
            socket.send(said)
        client.say("/tell", labels=[{"node": 1, "label": "a"}])
        assert heard(socket)["last"] == 1
        socket.send("x" * 70_000)
        with pytest.raises(ConnectionClosed):
            socket.recv()
    assert client.look("/status")["last"] == 1


def test_a_page_that_goes_is_forgotten_and_the_others_hear_on(client: Client) -> None:
    updates = client.studio.updates
    with listen(client) as staying:
        with listen(client) as going:
            while updates.listeners < 2:
                time.sleep(0.01)
            client.say("/tell", labels=[{"node": 1, "label": "a"}])
            assert heard(going) == heard(staying)
        while updates.listeners > 1:
            time.sleep(0.01)
        client.say("/tell", labels=[{"node": 2, "label": "b"}])
        while (last := heard(staying)["last"]) < 2:
            pass
        assert last == 2 and updates.watched == {None}
    while updates.listeners:
        time.sleep(0.01)
    assert updates.watched == frozenset()


def test_beyond_the_most_pages_another_one_is_sent_away_and_those_that_listen_hear_on(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nodewise.studio.work.updates._LISTENERS", 1)
    with listen(client) as socket:
        while not client.studio.updates.full:
            time.sleep(0.01)
        with pytest.raises(InvalidStatus) as refused, listen(client):
            pass
        assert refused.value.response.status_code == 403
        client.say("/tell", labels=[{"node": 1, "label": "a"}])
        assert heard(socket)["last"] == 1


def test_another_origin_hears_nothing(client: Client) -> None:
    with pytest.raises(InvalidStatus) as refused, listen(client, origin="http://evil.example"):
        pass
    assert refused.value.response.status_code == 403


@pytest.mark.slow
def test_many_changes_are_few_messages_and_the_last_one_is_the_latest(client: Client) -> None:
    found: list[int] = []
    with listen(client) as socket:
        began = time.monotonic()
        hearing = threading.Thread(
            target=lambda: [found.append(heard(socket)["last"]) for _ in iter(lambda: found[-1:] == [40], True)]
        )
        hearing.start()
        for node in range(40):
            client.say("/skip", node=node)
        hearing.join()
        took = time.monotonic() - began
    assert found == sorted(found) and found[-1] == 40
    assert len(found) <= 2 + 4 * took  # at most four a second


def test_messages_to_a_slow_page_are_bounded() -> None:
    class Slow:
        """A page that reads nothing until it is let."""

        def __init__(self) -> None:
            self.go, self.sent = asyncio.Event(), list[Any]()

        async def accept(self) -> None:
            return

        async def receive(self) -> dict[str, str]:
            await asyncio.Event().wait()
            raise AssertionError

        async def send_json(self, message: Any) -> None:
            await self.go.wait()
            self.sent.append(message)

    async def scene() -> list[Any]:
        hub, page = Updates(), Slow()
        hub.start()
        serving = asyncio.create_task(serve(page, hub, None))  # type: ignore[arg-type]
        await asyncio.sleep(0)
        for number in range(1000):
            hub.publish({"type": "note", "text": str(number)})
        await asyncio.sleep(0.01)
        page.go.set()
        while not page.sent or page.sent[-1]["text"] != "999":
            await asyncio.sleep(0.01)
        serving.cancel()
        hub.stop()
        hub.publish({"type": "note", "text": "to nobody"})
        return page.sent

    assert len(asyncio.run(scene())) <= 66
