"""The websocket that tells pages when something has changed, so that they need not ask all the time."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

from fastapi import APIRouter, WebSocket, WebSocketDisconnect

__all__ = ["Updates", "router"]

router = APIRouter()

_PAUSE = 0.25
"""Seconds between two messages that the log has grown."""
_WAITING = 64
_CLIENTS = 200


class Updates:
    """Messages from the worker's thread to the pages: those of one session to its own, those of none to every page.

    `publish` may be called from any thread. Messages are for those who listen now; one that is slow to read loses the
    oldest.
    """

    def __init__(self) -> None:
        self._clients: set[_Client] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._last: dict[str, int | None] = {}
        self._pending: dict[str, asyncio.TimerHandle] = {}

    @property
    def listeners(self) -> int:
        """How many pages are connected."""
        return len(self._clients)

    @property
    def watched(self) -> frozenset[str | None]:
        """The sessions that pages are connected for; None for those that are connected for none."""
        return frozenset(client.session for client in tuple(self._clients))

    def start(self) -> None:
        """Called in the event loop before anything is published."""
        self._loop = asyncio.get_running_loop()

    def stop(self) -> None:
        """Nothing is published any more."""
        for timer in self._pending.values():
            timer.cancel()
        self._loop, self._pending = None, {}

    def publish(self, message: dict[str, Any]) -> None:
        """Tell the pages of the session that the message names."""
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._take, message)

    def _take(self, message: dict[str, Any]) -> None:
        if message["type"] != "changed":
            self._send(message)
            return
        session = message["session"]
        if session in self._pending:
            self._last[session] = message["last"]
        elif self._loop is not None:
            self._send(message)
            self._pending[session] = self._loop.call_later(_PAUSE, self._rested, session)

    def _rested(self, session: str) -> None:
        self._pending.pop(session, None)
        last = self._last.pop(session, None)
        if last is not None:
            self._take({"type": "changed", "session": session, "last": last})

    def _send(self, message: dict[str, Any]) -> None:
        for client in self._clients:
            if client.session is None or message.get("session", client.session) == client.session:
                client.put(message)

    async def serve(self, socket: WebSocket, session: str | None) -> None:
        """Send to one page until it goes.

        Args:
            socket: the page's.
            session: whose messages it wants; None for all.
        """
        if len(self._clients) >= _CLIENTS:
            await socket.close(1013, "too many pages are open")
            return
        await socket.accept()
        client = _Client(session)
        self._clients.add(client)
        listening = asyncio.create_task(_listen(socket))
        sending = asyncio.create_task(client.send_all(socket))
        try:
            await asyncio.wait({listening, sending}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._clients.discard(client)
            for task in (listening, sending):
                task.cancel()
            await asyncio.gather(listening, sending, return_exceptions=True)


class _Client:
    def __init__(self, session: str | None) -> None:
        self.session = session
        self._messages: deque[dict[str, Any]] = deque(maxlen=_WAITING)
        self._there = asyncio.Event()

    def put(self, message: dict[str, Any]) -> None:
        self._messages.append(message)
        self._there.set()

    async def send_all(self, socket: WebSocket) -> None:
        while True:
            await self._there.wait()
            self._there.clear()
            while self._messages:
                await socket.send_json(self._messages.popleft())


async def _listen(socket: WebSocket) -> None:
    """Reads until the page goes; what it says is of no interest."""
    try:
        while True:
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                return
    except (WebSocketDisconnect, RuntimeError):
        return


@router.websocket("/api/v1/updates")
async def updates(socket: WebSocket) -> None:
    """Tells what changes."""
    hub: Updates = socket.app.state.studio.updates
    await hub.serve(socket, socket.query_params.get("session"))
