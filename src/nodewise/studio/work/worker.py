"""The one thread in which a session is used.

What is urgent first, and a long job lets what is urgent go before it goes on.
"""

from __future__ import annotations

import asyncio
import heapq
import threading
from collections.abc import Callable
from concurrent.futures import Future
from enum import IntEnum
from typing import Any, TypeVar

from nodewise.studio.work.errors import BusyError, StoppedError

__all__ = ["Priority", "Worker"]

T = TypeVar("T")


class Priority(IntEnum):
    """How urgent a job is; the smaller the sooner."""

    ANSWER = 0
    """Ask, tell, skip, undo: somebody waits to go on."""
    READ = 1
    """What a page shows, read off the log."""
    PREDICT = 2
    """Predictions and exports, which need them: a classifier of their own learns."""
    BACKGROUND = 3
    """Reports, which have another classifier of their own.

    And opening another session, which nothing may be in the middle of.
    """


class Worker:
    """A thread that does one job after another.

    Args:
        name: the thread's name.
        limit: jobs that may wait.
    """

    def __init__(self, name: str, limit: int = 256) -> None:
        self._waiting: list[tuple[int, int, Future[Any], Callable[[], Any]]] = []
        self._number, self._limit, self._level = 0, limit, len(Priority)
        self._wake = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def submit(self, priority: Priority, job: Callable[[], T]) -> Future[T]:
        """Put a job into the queue; among equally urgent ones the first comes first.

        Raises:
            BusyError: too many wait.
            StoppedError: the worker is closed.
        """
        future: Future[T] = Future()
        with self._wake:
            if self._closing:
                raise StoppedError("the studio is being shut down: start it again to go on")
            if len(self._waiting) >= self._limit:
                raise BusyError(
                    f"the studio has {self._limit} requests to answer before this one: try again in a moment"
                )
            self._number += 1
            heapq.heappush(self._waiting, (int(priority), self._number, future, job))
            self._wake.notify()
        return future

    async def run(self, priority: Priority, job: Callable[[], T]) -> T:
        """Have a job done, without blocking the event loop.

        A job that nobody waits for any more when its turn comes is left out.
        """
        return await asyncio.wrap_future(self.submit(priority, job))

    def give_way(self) -> None:
        """Called by a long job between two steps: does what is more urgent than it, then returns.

        Raises:
            StoppedError: the worker is being closed, so the job is to end here.
        """
        while True:
            with self._wake:
                if self._closing:
                    raise StoppedError("the studio is being shut down: start it again to go on")
                if not self._waiting or self._waiting[0][0] >= self._level:
                    return
                entry = heapq.heappop(self._waiting)
            self._do(entry)

    def refuse(self) -> None:
        """Take nothing more: jobs that wait are refused, the one at hand is finished, or ends where it next gives
        way.
        """
        with self._wake:
            self._closing = True
            left, self._waiting = self._waiting, []
            self._wake.notify()
        for _, _, future, _ in left:
            if future.set_running_or_notify_cancel():
                future.set_exception(StoppedError("the studio is being shut down: start it again to go on"))

    def close(self, timeout: float | None = None) -> None:
        """End the thread, after the job at hand."""
        self.refuse()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout)

    def _work(self) -> None:
        while True:
            with self._wake:
                while not self._waiting and not self._closing:
                    self._wake.wait()
                if self._closing:
                    return
                entry = heapq.heappop(self._waiting)
            self._do(entry)

    def _do(self, entry: tuple[int, int, Future[Any], Callable[[], Any]]) -> None:
        priority, _, future, job = entry
        if not future.set_running_or_notify_cancel():
            return
        before, self._level = self._level, priority
        try:
            result = job()
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(result)
        finally:
            self._level = before
