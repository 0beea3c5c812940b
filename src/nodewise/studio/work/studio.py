"""The parts of a running studio, and its pulse."""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodewise import __version__
from nodewise.studio.settings import StudioSettings
from nodewise.studio.work.faults import Faults
from nodewise.studio.work.jobs import JobList
from nodewise.studio.work.scratch import Scratch
from nodewise.studio.work.session_pool import SessionPool
from nodewise.studio.work.tickets import Tickets
from nodewise.studio.work.updates import Updates
from nodewise.studio.work.worker import Priority, Worker

if TYPE_CHECKING:
    from nodewise.session import Session
    from nodewise.studio.layout.overview import GraphMap
    from nodewise.studio.work.open_session import OpenSession

__all__ = ["Studio"]

_LOOK = 1.0
"""Seconds between two looks at the log, for what other processes have written."""
_REST = 0.1


class Studio:
    """The worker that uses the sessions, the builder that makes graphs and maps beside it, and the messages to the
    pages.

    Args:
        settings: the studio's.
        session: the session to begin with, already open; it is closed when the studio is.
    """

    def __init__(self, settings: StudioSettings, session: Session | None = None) -> None:
        self.settings = settings
        self.updates = Updates()
        self._beating: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._news = asyncio.Event()
        self._scratch: Scratch | None = None
        self.tickets, self._faults = Tickets(), Faults()
        self.worker, self.builder = Worker("nodewise studio"), Worker("nodewise builder", limit=20)
        self.sessions = SessionPool(settings, self._publish, self.worker.give_way)
        self.jobs = JobList(settings.folder)
        if session is not None:
            self.sessions.take(session)

    @property
    def scratch(self) -> Path:
        """The folder for what is on its way, while the studio runs."""
        assert self._scratch is not None
        return self._scratch.path

    async def start(self) -> None:
        """Begin to look at the log."""
        self._scratch = Scratch()
        self._loop = asyncio.get_running_loop()
        self.updates.start()
        self._beating = asyncio.create_task(self._beat())

    def refuse(self) -> None:
        """Take nothing more: what waits is refused, long work ends at its next step. Every label is in the file."""
        self.worker.refuse()
        self.builder.refuse()

    async def stop(self) -> None:
        """End the threads, let go of the sessions and of everything uploaded."""
        if self._beating is not None:
            self._beating.cancel()
            with suppress(asyncio.CancelledError):
                await self._beating
        self._loop = None
        self.updates.stop()
        await asyncio.to_thread(self._end)

    def _end(self) -> None:
        self.builder.close(timeout=5.0)
        self.worker.close()
        self.sessions.close()
        if self._scratch is not None:
            self._scratch.remove()

    def describe(self) -> dict[str, Any]:
        """Which session is meant where none is named, and which there are."""
        default = self.sessions.default
        return {
            "version": __version__,
            "session": None if default is None else self.sessions.get(default).describe(),
            "sessions": self.sessions.names(),
            "can_create": os.access(self.settings.folder, os.W_OK),
            "limits": {"upload_bytes": self.settings.upload_bytes},
        }

    async def map(self, name: str | None = None, ticket: str | None = None) -> GraphMap:
        """The map of a session's graph, drawn once by the builder: the worker is not kept from its work.

        Raises:
            CancelledWorkError: its ticket was cancelled; whoever asks next has it drawn.
        """
        from nodewise.studio.layout.overview import draw_map

        page = await self.worker.run(Priority.READ, lambda: self.sessions.get(name).page)
        if page.map is not None:
            return page.map
        labelled = await self.worker.run(Priority.READ, lambda: _labelled(page.session))

        def step() -> None:
            self.builder.give_way()
            self.tickets.check(ticket, "drawing the map")

        def draw() -> GraphMap:
            if page.map is None:
                page.map = draw_map(page.session.graph, labelled, step=step)
            return page.map

        return await self.builder.run(Priority.BACKGROUND, draw)

    def _publish(self, message: dict[str, Any]) -> None:
        self.updates.publish(message)
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._news.set)

    async def _beat(self) -> None:
        """Sees every second, and after every change, whether logs have grown and predictions are to be made again.

        What goes wrong with a session is logged, and said to whoever asks for it next.
        """
        renewing: Future[None] | None = None

        def look() -> list[OpenSession]:
            watched, due = self.updates.watched, []
            for session in self.sessions.opened():
                with self._faults.logged(f"looking at the session {session.name!r}"):
                    if session.look(session.name in watched or None in watched):
                        due.append(session)
            return due

        def renew(session: OpenSession) -> None:
            with self._faults.logged(f"predicting for the session {session.name!r}"):
                session.renew()

        def close_unused() -> None:
            with self._faults.logged("closing sessions that nobody uses"):
                self.sessions.close_unused(self.updates.watched)

        while True:
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._news.wait(), _LOOK)
            self._news.clear()
            with self._faults.logged("looking at the sessions"):
                due = await self.worker.run(Priority.READ, look)
                if due and (renewing is None or renewing.done()):
                    renewing = self.worker.submit(Priority.PREDICT, partial(renew, due[0]))
                if self.sessions.too_many:
                    self.worker.submit(Priority.BACKGROUND, close_unused)
            await asyncio.sleep(_REST)


def _labelled(session: Session) -> list[int]:
    """The nodes that have a label which everybody may know of."""
    known = session.rules().known
    return [node for node in session.labels if node not in known]
