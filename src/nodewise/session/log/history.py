"""What the log means: labels by majority in the order first told, skips, open queries. It imports neither torch nor numpy.

An event counts unless an undo that counts itself takes it back; an undo may be undone. Every annotator has one vote a node, the last one that
counts. A node's label is the one with most votes; between equals the one that was told first. A node's position in the history is that of its first
vote that counts: a label that is changed stays where it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from nodewise.ground.errors import InputError, SessionError
from nodewise.session.log.log import Event

__all__ = ["KINDS", "History", "Label", "OpenQuery", "extend_history", "majority", "read_history", "undoable", "undone"]

KINDS = ("ask", "tell", "skip", "undo", "class", "budget")
"""What an event may be."""


class Label(NamedTuple):
    """A node and the name of its class: a label that counts."""

    node: int
    label: str


@dataclass(frozen=True)
class OpenQuery:
    """A query that its annotator has not answered yet.

    Attributes:
        event: its number in the log.
        at: when it was asked, in seconds since 1970.
        body: the query as it was logged.
    """

    event: int
    at: float
    annotator: str
    node: int
    body: Mapping[str, Any]


@dataclass(frozen=True)
class History:
    """What the log says, at one moment.

    Attributes:
        last: the last event's number.
        votes: node -> annotator -> label, nodes in the order first told.
        labels: node -> the majority's label, in the same order.
        skipped: annotator -> the nodes that they could not tell.
        asked: every query, the oldest first, answered or not.
        classes: names that came up after the start, in the order of the log.
        budget: the budget as it was last set, or None if it never was.
        changes: numbers of the events that an undo can take back, in order.
    """

    last: int
    votes: Mapping[int, Mapping[str, str]]
    labels: Mapping[int, str]
    skipped: Mapping[str, frozenset[int]]
    asked: Sequence[OpenQuery]
    classes: tuple[str, ...]
    budget: int | None
    changes: Sequence[Event]

    def open_queries(self, redundancy: int = 1) -> list[OpenQuery]:
        """The queries that still wait: the annotator has neither told nor skipped the node, and it has fewer votes than it should."""
        waiting: dict[tuple[str, int], OpenQuery] = {}
        for query in self.asked:
            votes = self.votes.get(query.node, {})
            answered = query.annotator in votes or query.node in self.skipped.get(query.annotator, ())
            if not answered and len(votes) < redundancy:
                waiting[query.annotator, query.node] = query  # asked again, the later one counts
        return sorted(waiting.values(), key=lambda query: query.event)

    @property
    def disagreements(self) -> dict[int, dict[str, str]]:
        """The nodes whose annotators say different things: node -> annotator -> label."""
        return {node: dict(votes) for node, votes in self.votes.items() if len(set(votes.values())) > 1}


def read_history(events: Iterable[Event]) -> History:
    """What the log means."""
    listed = list(events)
    builder = _Builder({}, {}, [], {}, [], None)
    for event in effective(listed):
        builder.take(event)
    return builder.history({node: majority(by) for node, by in builder.votes.items()}, listed[-1].id if listed else 0)


def extend_history(history: History, events: Sequence[Event]) -> History:
    """What the log means, from what it meant at an earlier event: the same as `read_history`, and as quick for a long log as for a short one.

    Args:
        history: the meaning of the first events.
        events: all events. Where one of the new ones is an undo, everything is read anew.
    """
    new = events[history.last :]
    if any(event.kind == "undo" for event in new):
        return read_history(events)
    classes = dict.fromkeys(history.classes)
    builder = _Builder(dict(history.votes), dict(history.skipped), list(history.asked), classes, list(history.changes), history.budget)
    labels = dict(history.labels) if any(event.kind == "tell" for event in new) else history.labels
    for event in new:
        builder.take(event)
        if event.kind == "tell":
            node = int(event.body["node"])
            assert isinstance(labels, dict)
            labels[node] = majority(builder.votes[node])
    return builder.history(labels, events[-1].id if events else 0)


@dataclass
class _Builder:
    """The history of the events so far; what is in the dictionaries is replaced, never changed, so that an earlier history keeps its own."""

    votes: dict[int, Mapping[str, str]]
    skipped: dict[str, frozenset[int]]
    asked: list[OpenQuery]
    classes: dict[str, None]
    changes: list[Event]
    budget: int | None

    def take(self, event: Event) -> None:
        body, who = event.body, event.annotator
        if event.kind == "tell":
            node, label = int(body["node"]), str(body["label"])
            before = self.votes.get(node, {})
            self.votes[node] = {
                **{other: vote for other, vote in before.items() if other != who},
                who: label,
            }  # a change of mind is a later vote
            self.classes.setdefault(label)
            if who in self.skipped:
                self.skipped[who] -= {node}
        elif event.kind == "skip":
            self.skipped[who] = self.skipped.get(who, frozenset()) | {int(body["node"])}
        elif event.kind == "class":
            self.classes.setdefault(str(body["name"]))
        elif event.kind == "budget":
            self.budget = int(body["budget"])
        elif event.kind == "ask":
            self.asked.append(OpenQuery(event.id, event.at, who, int(body["node"]), body))
        if event.kind in ("tell", "skip", "class", "budget"):
            self.changes.append(event)

    def history(self, labels: Mapping[int, str], last: int) -> History:
        return History(last, self.votes, labels, self.skipped, self.asked, tuple(self.classes), self.budget, self.changes)


def effective(events: Sequence[Event]) -> list[Event]:
    """The events that no undo takes back, undos left out."""
    gone = undone(events)
    return [event for event in events if event.kind != "undo" and event.id not in gone]


def majority(votes: Mapping[str, str]) -> str:
    """The label with most votes; between equals the one whose oldest standing vote is the oldest."""
    if len(votes) == 1:
        return next(iter(votes.values()))
    counted = Counter(votes.values())
    best = max(counted.values())
    return next(label for label in votes.values() if counted[label] == best)


def undoable(events: Sequence[Event], history: History, number: int | None, annotator: str | None) -> Event:
    """The event that an undo takes back.

    Args:
        events: the log.
        history: what it means.
        number: the event's number, or None for the last change.
        annotator: whose last change, or None for anybody's.

    Raises:
        SessionError: there is nothing to take back.
        InputError: that event cannot be taken back.
    """
    if number is None:
        own = [event for event in history.changes if annotator is None or event.annotator == annotator]
        if not own:
            raise SessionError("there is nothing to undo" + (f" of {annotator!r}" if annotator is not None else ""))
        return own[-1]
    if not 1 <= number <= len(events):
        raise InputError(f"there is no event {number!r} to undo: the log holds 1 to {len(events)}")
    target = events[number - 1]
    if target.kind == "ask":
        raise InputError(f"event {number} is a query, which cannot be undone: skip its node instead")
    if number in undone(events):
        raise InputError(f"event {number} has been undone already: to have it back, undo the undo")
    return target


def undone(events: Sequence[Event]) -> set[int]:
    """The numbers of the events that an undo takes back which is not taken back itself."""
    gone: set[int] = set()
    for event in reversed(events):
        if event.kind == "undo" and event.id not in gone:
            gone.add(int(event.body["event"]))
    return gone
