"""What the library tells: typed events, which the command line draws and the studio streams, a bar for scripts, and how
counts and lists are said.
"""

from __future__ import annotations

import logging
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from html import escape
from typing import Protocol, TextIO

__all__ = [
    "Event",
    "Note",
    "Progress",
    "Reporter",
    "Silent",
    "TextBar",
    "Warned",
    "count",
    "html_table",
    "listed",
    "listening",
    "percent",
    "told_apart",
]

_WIDTH = 24


@dataclass(frozen=True)
class Event:
    """Something worth telling a person or a log."""


@dataclass(frozen=True)
class Progress(Event):
    """How far a task is.

    Attributes:
        task: what is being done, such as ``"train"``; stays the same while it lasts.
        done: units finished.
        total: units in all, or None when unknown.
        values: figures of the moment, such as the reward on each graph.
    """

    task: str
    done: int
    total: int | None = None
    values: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Note(Event):
    """A plain sentence."""

    message: str


@dataclass(frozen=True)
class Warned(Event):
    """Something that the user should know: data dropped, a default that may not fit."""

    message: str


class Reporter(Protocol):
    """Takes events. Must be cheap, and must not raise."""

    def __call__(self, event: Event, /) -> None: ...


_LOGGER = logging.getLogger("nodewise")
_LOGGER.addHandler(logging.NullHandler())  # silent, until somebody sets logging up


class Silent:
    """The reporter where nobody gives one: it hands words to the logger ``nodewise``, which is silent by default."""

    def __call__(self, event: Event, /) -> None:
        if isinstance(event, (Note, Warned)):
            _LOGGER.log(logging.WARNING if isinstance(event, Warned) else logging.INFO, "%s", event.message)


class TextBar:
    """Draws progress on one line that is written over, where the stream is a terminal or a notebook's.

    Elsewhere a line every ten seconds.

    Args:
        stream: where to; standard error by default.
        clock: tells the time in seconds.
    """

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._clock = stream or sys.stderr, clock
        self._live = self._stream.isatty() or type(self._stream).__module__.startswith("ipykernel")
        self._task, self._began, self._drawn, self._length = "", 0.0, 0.0, 0

    def __call__(self, event: Event, /) -> None:
        if isinstance(event, Progress):
            self._draw(event)
        elif isinstance(event, (Note, Warned)):
            self.close()
            self._write(f"{'warning: ' if isinstance(event, Warned) else ''}{event.message}\n")

    def close(self) -> None:
        """End the line that is being drawn."""
        if self._length:
            self._write("\n")
        self._task, self._length = "", 0

    def _draw(self, event: Progress) -> None:
        now = self._clock()
        if event.task != self._task:
            self.close()
            self._task, self._began, self._drawn = event.task, now, -1.0 if self._live else now
        finished = event.total is not None and event.done >= event.total
        if not finished and now - self._drawn < (0.1 if self._live else 10.0):
            return
        self._drawn = now
        text = _line(event, now - self._began)
        if self._live:
            self._write("\r" + text.ljust(self._length))
            self._length = len(text)
            if finished:
                self.close()
        else:
            self._write(f"{text}\n")

    def _write(self, text: str) -> None:
        with suppress(OSError, ValueError):  # a stream that is gone is no reason to lose the work
            self._stream.write(text)
            self._stream.flush()


@contextmanager
def listening(reporter: Reporter | None, progress: bool) -> Iterator[Reporter]:
    """The reporter that a call tells its events to.

    The caller's, a bar if asked for, both, or Python warnings where there is neither.
    """
    bar = TextBar() if progress else None
    listeners = [one for one in (reporter, bar) if one is not None]

    def tell(event: Event, /) -> None:
        for one in listeners:
            one(event)

    try:
        yield tell if listeners else _Warnings()
    finally:
        if bar is not None:
            bar.close()


def count(number: int, thing: str, things: str = "") -> str:
    """``"1 edge"``, ``"12,345 edges"``."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def percent(share: float, digits: int = 0) -> str:
    """``"60 %"`` of 0.6, as the studio's page writes it."""
    return f"{share:.{digits}%}".replace("%", " %")


def html_table(title: str, rows: Mapping[str, str]) -> str:
    """A small table for notebooks, a fact a row; whatever comes from the data is escaped."""
    cells = "".join(
        f"<tr><th style='text-align:left'>{escape(key)}</th><td style='text-align:left'>{escape(value)}</td></tr>"
        for key, value in rows.items()
    )
    return f"<table><caption>{escape(title)}</caption>{cells}</table>"


def listed(names: Iterable[object], most: int = 8) -> str:
    """The names, quoted, with commas; beyond `most` only their number is given."""
    every = list(names)
    shown = ", ".join(repr(str(name)) for name in every[:most])
    return shown + (f" and {len(every) - most} more" if len(every) > most else "")


def told_apart(names: Sequence[str], keep: Sequence[bool] = ()) -> list[str]:
    """The names, a number after each that an earlier one has: ``["g", "g 2"]`` of two that are "g"; none is new twice.

    Args:
        keep: which stay as they are; by default none must.
    """
    taken, met, called = set(names), set[str](), list[str]()
    for name, kept in zip(names, keep or [False] * len(names), strict=True):
        free, number = name, 2
        while name in met and not kept and free in taken:
            free, number = f"{name} {number}", number + 1
        met.add(name)
        taken.add(free)
        called.append(free)
    return called


class _Warnings:
    """Where nobody listens, what the caller should know is a Python warning."""

    def __call__(self, event: Event, /) -> None:
        if isinstance(event, Warned):
            warnings.warn(event.message, stacklevel=4)


def _line(event: Progress, seconds: float) -> str:
    figures = "  ".join(f"{name} {value:.4g}" for name, value in event.values.items())
    if not event.total:
        return f"{event.task}: {event.done}  {seconds:.0f} s  {figures}".rstrip()
    share = min(1.0, event.done / event.total)
    bar = "█" * round(_WIDTH * share) + "░" * (_WIDTH - round(_WIDTH * share))
    left = f", {seconds * (1 / share - 1):.0f} s left" if 0 < share < 1 else ""
    return f"{event.task}: {bar} {event.done}/{event.total}  {seconds:.0f} s{left}  {figures}".rstrip()
