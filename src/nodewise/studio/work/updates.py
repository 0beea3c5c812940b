"""What pages are told when something has changed, so that they need not ask all the time."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["Listener", "Updates"]

_PAUSE = 0.25
"""Seconds between two messages that the log has grown."""
_WAITING = 64
_LISTENERS = 200


class Updates:
    """Messages from the worker's thread to the pages: those of one session to its own, those of none to every page.

    `publish` may be called from any thread, everything else in the event loop. Messages are for those who listen now;
    one that is slow to read loses the oldest.
    """

    def __init__(self) -> None:
        self._listeners: set[Listener] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._last: dict[str, int | None] = {}
        self._pending: dict[str, asyncio.TimerHandle] = {}

    @property
    def listeners(self) -> int:
        """How many pages are connected."""
        return len(self._listeners)

    @property
    def full(self) -> bool:
        """Whether no further page is taken."""
        return len(self._listeners) >= _LISTENERS

    @property
    def watched(self) -> frozenset[str | None]:
        """The sessions that pages are connected for; None for those that are connected for none."""
        return frozenset(listener.session for listener in tuple(self._listeners))

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

    @contextmanager
    def listening(self, session: str | None) -> Iterator[Listener]:
        """A page that is told until the block ends.

        Args:
            session: whose messages it wants; None for all.
        """
        listener = Listener(session)
        self._listeners.add(listener)
        try:
            yield listener
        finally:
            self._listeners.discard(listener)

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
        for listener in self._listeners:
            if listener.session is None or message.get("session", listener.session) == listener.session:
                listener.put(message)


class Listener:
    """The messages that wait for one page.

    Args:
        session: whose they are; None for all.
    """

    def __init__(self, session: str | None) -> None:
        self.session = session
        self._messages: deque[dict[str, Any]] = deque(maxlen=_WAITING)
        self._there = asyncio.Event()

    def put(self, message: dict[str, Any]) -> None:
        """Keep a message, in place of the oldest where too many wait."""
        self._messages.append(message)
        self._there.set()

    async def next(self) -> dict[str, Any]:
        """The next message, as soon as there is one."""
        while not self._messages:
            self._there.clear()
            await self._there.wait()
        return self._messages.popleft()
