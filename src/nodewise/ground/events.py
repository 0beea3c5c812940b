"""Typed progress events: the library reports them, the command line draws them, the studio streams them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

__all__ = ["Event", "Note", "Progress", "Reporter", "Silent", "Warned"]


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


class Silent:
    """The reporter that says nothing."""

    def __call__(self, event: Event, /) -> None:
        return None
