"""The parts of a running studio."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from nodewise import __version__
from nodewise.studio.settings import StudioSettings
from nodewise.studio.updates import Updates
from nodewise.studio.worker import Priority, Worker
from nodewise.studio.workplace import Workplace

if TYPE_CHECKING:
    from nodewise.session import Session

__all__ = ["Studio"]

_LOOK = 1.0
"""Seconds between two looks at the log, for what other processes have written."""


class Studio:
    """The worker, the workplace and the messages to the pages.

    Args:
        settings: the studio's.
        session: the session to begin with, already open; it is closed when the studio is.
    """

    def __init__(self, settings: StudioSettings, session: Session | None = None) -> None:
        self.settings = settings
        self.updates = Updates()
        self.worker = Worker("nodewise studio")
        self.workplace = Workplace(settings, self.updates.publish, self.worker.give_way)
        if session is not None:
            self.workplace.take(session)
        self._looking: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to look at the log."""
        self.updates.start()
        self._looking = asyncio.create_task(self._look())

    async def stop(self) -> None:
        """End the worker and let go of the session."""
        if self._looking is not None:
            self._looking.cancel()
            with suppress(asyncio.CancelledError):
                await self._looking
        self.updates.stop()
        await asyncio.to_thread(self.worker.close)
        self.workplace.close()

    def describe(self) -> dict[str, Any]:
        """Which session is open and which there are."""
        place = self.workplace
        session = None
        if place.is_open:
            session = {"name": place.name, "graph": place.session.graph.name, "file": place.session.path.name}
        return {
            "version": __version__, "session": session, "sessions": place.sessions(), "can_create": True,
            "limits": {"upload_bytes": self.settings.upload_bytes},
        }  # fmt: skip

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(_LOOK)
            with suppress(Exception):  # what is wrong is told to whoever asks next
                await self.worker.run(Priority.READ, self.workplace.poll)
