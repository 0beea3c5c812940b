"""Draws the library's events: progress bars on a terminal, plain lines in a pipe or a log."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING

from nodewise.ground.events import Event, Note, Progress, Warned

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import TaskID

__all__ = ["BarReporter", "LineReporter", "printable"]


class BarReporter:
    """One bar for each task, with its figures of the moment; to be used as a context."""

    def __init__(self, console: Console) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars

        self._bars = Bars(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[figures]}", markup=False),
            console=console,
        )
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> BarReporter:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def __call__(self, event: Event, /) -> None:
        if isinstance(event, Progress):
            if event.task not in self._tasks:
                self._tasks[event.task] = self._bars.add_task(printable(event.task), total=event.total, figures="")
            self._bars.update(self._tasks[event.task], completed=event.done, total=event.total, figures=_figures(event))
        else:
            text, style = _sentence(event)
            self._bars.console.print(text, style=style, soft_wrap=True)


class LineReporter:
    """A line for each event; progress at most once in ``every`` seconds, and when a task ends that took a second or
    more.

    Args:
        console: where the lines go.
        every: seconds between two lines of progress of the same task.
        clock: tells the time in seconds.
    """

    def __init__(self, console: Console, every: float = 10.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._console, self._every, self._clock = console, every, clock
        self._began: dict[str, float] = {}
        self._said: dict[str, float] = {}

    def __call__(self, event: Event, /) -> None:
        if isinstance(event, Progress):
            now = self._clock()
            began = self._began.setdefault(event.task, now)
            finished = event.total is not None and event.done >= event.total
            if now - (began if finished else self._said.get(event.task, began)) < (1.0 if finished else self._every):
                return
            self._said[event.task] = now
            total = "" if event.total is None else f"/{event.total}"
            text = f"{event.task}: {event.done}{total} {_figures(event)}".rstrip()
        else:
            text, _ = _sentence(event)
        with suppress(OSError):  # nobody reads any more: no reason to lose the work
            self._console.file.write(printable(text) + "\n")
            self._console.file.flush()


def printable(text: str) -> str:
    """The text on one line, control characters gone, so that a name in a file cannot steer the terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _sentence(event: Event) -> tuple[str, str]:
    if isinstance(event, Warned):
        return f"warning: {printable(event.message)}", "yellow"
    return printable(event.message if isinstance(event, Note) else str(event)), "dim"


def _figures(event: Progress) -> str:
    return printable("  ".join(f"{name} {value:.4g}" for name, value in event.values.items()))
