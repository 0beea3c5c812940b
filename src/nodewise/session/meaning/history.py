"""What the log means: labels by majority in the order first told, classes, skips, open queries, notes.

It imports neither torch nor numpy.

An event counts unless an undo that counts itself takes it back; an undo may be undone. Every annotator has one vote a
node, the last one that counts; saying the same again is no new vote. A node's label is the one with most votes; between
equals the one whose oldest standing vote is the oldest. A vote that overrules decides alone, until its annotator
changes it or another overrules. What was settled stands whatever the votes say, until it is settled otherwise. A node's
position in the history is that of its first vote that counts: a label that is changed stays where it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from nodewise.ground.errors import SessionError
from nodewise.session.answers import CHANGES, LAST_CLASS, Event

__all__ = [
    "ClassList",
    "History",
    "Label",
    "LabelClass",
    "Note",
    "OpenQuery",
    "TrainingLabels",
    "Vote",
    "extend_history",
    "majority",
    "read_history",
    "undone",
]


@dataclass(frozen=True)
class LabelClass:
    """One class.

    Attributes:
        number: 1, 2, 3 … for the life of the session and for everybody; never given to another class.
        name: what it is called now.
        description: its guideline: what belongs to it.
    """

    number: int
    name: str
    description: str = ""


@dataclass(frozen=True)
class ClassList:
    """The classes at one moment. Iterating gives those that a label can name, by their numbers.

    Attributes:
        first_names: number -> the name that the class was first known by, for every number ever given, also those that
            were taken back.
        names: number -> what the class is called now, of those that are there, merged ones included.
        merged: number of a class -> number of the class that its labels count as.
        descriptions: number -> guideline.
        aliases: former name -> number.
        shown: numbers in the order that somebody has put them in; those left out follow by number.
    """

    first_names: Mapping[int, str] = field(default_factory=dict)
    names: Mapping[int, str] = field(default_factory=dict)
    merged: Mapping[int, int] = field(default_factory=dict)
    descriptions: Mapping[int, str] = field(default_factory=dict)
    aliases: Mapping[str, int] = field(default_factory=dict)
    shown: tuple[int, ...] = ()

    def __iter__(self) -> Iterator[LabelClass]:
        return (LabelClass(number, self.names[number], self.descriptions.get(number, "")) for number in self.numbers)

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the classes that a label can name."""
        return tuple(sorted(number for number in self.names if number not in self.merged))

    @property
    def in_order(self) -> tuple[LabelClass, ...]:
        """The classes as a screen shows them: in the order made by hand, the others after them."""
        by_number = {each.number: each for each in self}
        first = [number for number in dict.fromkeys(self.shown) if number in by_number]
        return tuple(by_number[number] for number in (*first, *(number for number in by_number if number not in first)))

    @cached_property
    def next_number(self) -> int:
        """The number of the next new class.

        Raises:
            SessionError: there are no more, which only a forged file can bring about.
        """
        number = max(self.first_names, default=0) + 1
        if number > LAST_CLASS:
            raise SessionError(
                f"the session has a class with the number {number - 1}, so none can be added: make a new session"
            )
        return number

    def resolve(self, number: int) -> int:
        """The class that labels of a class count as: itself, unless it was merged."""
        while number in self.merged:
            number = self.merged[number]
        return number

    def name(self, number: int) -> str:
        """What labels of a class are called now."""
        number = self.resolve(number)
        return self.names.get(number, self.first_names.get(number, str(number)))

    def find(self, name: str) -> int | None:
        """The number of the class that is called so, or was: None where there is none."""
        return self._by_name.get(name, self.aliases.get(name))

    def has_name(self, name: str) -> bool:
        """Whether there is a class of exactly this name, merged ones included."""
        return name in self._by_name

    def former_number(self, name: str) -> int | None:
        """The number of a class of this name that was taken back: it comes back under the number that it had.

        None where there was none.
        """
        return next(
            (number for number, first in self.first_names.items() if first == name and number not in self.names), None
        )

    def key(self, number: int) -> str:
        """What the classifier knows a class by: its first name, so that a rename changes no prediction."""
        return self._keys.get(self.resolve(number), str(number))

    def number_of_key(self, key: str) -> int | None:
        """The class that a key of the classifier stands for, merged ones resolved."""
        number = self._by_key.get(key)
        return None if number is None else self.resolve(number)

    @cached_property
    def duplicates(self) -> Sequence[str]:
        """Names that more than one class has; only taking back a rename can bring them about."""
        names = [self.names[number] for number in self.numbers]
        return sorted({name for name in names if names.count(name) > 1})

    @cached_property
    def _by_name(self) -> dict[str, int]:
        merged = {self.names[number]: number for number in sorted(self.names, reverse=True) if number in self.merged}
        return {**merged, **{self.names[number]: number for number in reversed(self.numbers)}}

    @cached_property
    def _keys(self) -> dict[int, str]:
        keys: dict[int, str] = {}
        taken: set[str] = set()
        for number in sorted(self.first_names):
            name = self.first_names[number]
            keys[number] = f"{name}\0{number}" if name in taken else name
            taken.add(name)
        return keys

    @cached_property
    def _by_key(self) -> dict[str, int]:
        return {key: number for number, key in self._keys.items()}


class Label(NamedTuple):
    """A node and what the classifier knows its class by: a label that counts."""

    node: int
    label: str


class TrainingLabels(NamedTuple):
    """The labels that train.

    Attributes:
        told: those that people told, in order.
        given: those that were there before, as they stand now.
    """

    told: tuple[Label, ...]
    given: tuple[Label, ...]


class Vote(NamedTuple):
    """What an annotator says of a node: the class's number, and whether it was said of many nodes in one go."""

    number: int
    bulk: bool = False


@dataclass(frozen=True)
class Note:
    """What somebody has written to a node."""

    event: int
    at: float
    annotator: str
    text: str


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
        ballots: node -> annotator -> vote, nodes in the order first told, a node's votes by age.
        numbers: node -> number of the class that counts, in the same order.
        overruled: node -> the annotator whose vote decides alone.
        settled: node -> what a disagreement has come to, and who has settled it.
        skipped: annotator -> the nodes that they could not label.
        asked: every query, the oldest first, answered or not.
        released: annotator -> the last event that freed their queries.
        classes: the classes.
        guideline: what everybody should know of the job.
        notes: node -> what was written to it.
        budget: the budget as it was last set, or None if it never was.
        redundancy: how many are to label each node, as it was last set, or None if it never was.
        changes: the events that an undo can take back, in order.
    """

    last: int = 0
    ballots: Mapping[int, Mapping[str, Vote]] = field(default_factory=dict)
    numbers: Mapping[int, int] = field(default_factory=dict)
    overruled: Mapping[int, str] = field(default_factory=dict)
    settled: Mapping[int, tuple[int, str]] = field(default_factory=dict)
    skipped: Mapping[str, frozenset[int]] = field(default_factory=dict)
    asked: Sequence[OpenQuery] = ()
    released: Mapping[str, int] = field(default_factory=dict)
    classes: ClassList = field(default_factory=ClassList)
    guideline: str = ""
    notes: Mapping[int, tuple[Note, ...]] = field(default_factory=dict)
    budget: int | None = None
    redundancy: int | None = None
    changes: Sequence[Event] = ()

    @cached_property
    def votes(self) -> Mapping[int, Mapping[str, str]]:
        """node -> annotator -> label, by the names that classes have now."""
        return {
            node: {who: self.classes.name(vote.number) for who, vote in by.items()} for node, by in self.ballots.items()
        }

    @cached_property
    def labels(self) -> Mapping[int, str]:
        """node -> the label that counts, in the order first told, by the names that classes have now."""
        return {node: self.classes.name(number) for node, number in self.numbers.items()}

    @cached_property
    def bulk(self) -> frozenset[int]:
        """The nodes that were labelled in bulk alone: nobody has answered for them one by one."""
        return frozenset(node for node, by in self.ballots.items() if all(vote.bulk for vote in by.values()))

    @property
    def disagreements(self) -> dict[int, dict[str, str]]:
        """The nodes whose annotators say different things, and that nobody has settled: node -> annotator -> label."""
        return {
            node: dict(votes)
            for node, votes in self.votes.items()
            if len(set(votes.values())) > 1 and node not in self.settled
        }

    def open_queries(self, redundancy: int = 1) -> list[OpenQuery]:
        """The queries that still wait.

        The annotator has neither told nor skipped the node nor left, and it has fewer votes than it should.
        """
        waiting: dict[tuple[str, int], OpenQuery] = {}
        for query in self.asked:
            ballot: Collection[str] = self.ballots.get(query.node, {})
            if query.body.get("audit"):  # what was told in bulk is no answer to a question of the audit
                ballot = [who for who, vote in self.ballots.get(query.node, {}).items() if not vote.bulk]
            answered = query.annotator in ballot or query.node in self.skipped.get(query.annotator, ())
            settled = len(ballot) >= redundancy or query.node in self.overruled or query.node in self.settled
            if not answered and not settled and query.event > self.released.get(query.annotator, 0):
                waiting[query.annotator, query.node] = query  # asked again, the later one counts
        return sorted(waiting.values(), key=lambda query: query.event)

    def decider(self, node: int) -> str | None:
        """Who gives a node its label: who settled it, whose vote overrules, else the oldest standing vote for it.

        None without a label.
        """
        if node in self.settled and node in self.ballots:
            return self.settled[node][1]
        if node in self.overruled:
            return self.overruled[node]
        resolve = self.classes.resolve
        ballot = self.ballots.get(node, {})
        return next((who for who, vote in ballot.items() if resolve(vote.number) == self.numbers[node]), None)


def read_history(events: Iterable[Event], start: Sequence[str] = ()) -> History:
    """What the log means.

    Args:
        events: the log.
        start: the classes that there were before it, in order.
    """
    listed = list(events)
    names = dict(enumerate(dict.fromkeys(start), 1))
    builder = _Builder(History(classes=ClassList(first_names=names, names=names)))
    builder.number(listed)
    for event in effective(listed):
        builder.take(event)
    return builder.history(listed[-1].id if listed else 0)


def extend_history(history: History, events: Sequence[Event], start: Sequence[str] = ()) -> History:
    """What the log means, from what it meant at an earlier event.

    The same as `read_history`, and as quick for a long log as for a short one.

    Args:
        history: the meaning of the first events.
        events: all events. Where one of the new ones is an undo, everything is read anew.
        start: as for `read_history`.
    """
    new = events[history.last :]
    if any(event.kind == "undo" for event in new):
        return read_history(events, start)
    builder = _Builder(history)
    builder.number(new)
    for event in new:
        builder.take(event)
    return builder.history(events[-1].id if events else 0)


def effective(events: Sequence[Event]) -> list[Event]:
    """The events that no undo takes back, undos left out."""
    gone = undone(events)
    return [event for event in events if event.kind != "undo" and event.id not in gone]


def majority(votes: Mapping[str, int]) -> int:
    """The class with most votes; between equals the one whose oldest standing vote is the oldest."""
    if len(votes) == 1:
        return next(iter(votes.values()))
    counted = Counter(votes.values())
    best = max(counted.values())
    return next(number for number in votes.values() if counted[number] == best)


def undone(events: Sequence[Event]) -> set[int]:
    """The numbers of the events that an undo takes back which is not taken back itself."""
    gone: set[int] = set()
    for event in reversed(events):
        if event.kind == "undo" and event.id not in gone:
            gone.add(int(event.body["event"]))
    return gone


class _Builder:
    """A history that grows; what is in its dictionaries is replaced, never changed, so that the one it began with keeps
    its own.
    """

    def __init__(self, before: History) -> None:
        self._before = before
        self._ballots: dict[int, Mapping[str, Vote]] = dict(before.ballots)
        self._overruled = dict(before.overruled)
        self._settled = dict(before.settled)
        self._skipped = dict(before.skipped)
        self._asked = list(before.asked)
        self._released = dict(before.released)
        self._notes = dict(before.notes)
        self._changes = list(before.changes)
        self._guideline, self._budget, self._redundancy = before.guideline, before.budget, before.redundancy
        known = before.classes
        self._first_names, self._names, self._merged = dict(known.first_names), dict(known.names), dict(known.merged)
        self._descriptions, self._aliases, self._shown = dict(known.descriptions), dict(known.aliases), known.shown
        self._by_first_name = {name: number for number, name in reversed(self._first_names.items())}
        self._touched: dict[int, None] = {}
        self._classes_changed = self._merges_changed = False

    def number(self, events: Iterable[Event]) -> None:
        """Give numbers to the classes of all events, also of those that were taken back, so that no number is ever
        given twice.
        """
        for event in events:
            if event.kind in ("tell", "class", "bulk", "settle"):
                for number, name in self._classes_of(event):
                    if number not in self._first_names:
                        self._first_names[number] = name
                        self._by_first_name.setdefault(name, number)
                        self._classes_changed = True

    def take(self, event: Event) -> None:
        body, who = event.body, event.annotator
        if event.kind == "tell":
            ((number, name),) = self._classes_of(event)
            self._vote(int(body["node"]), who, number, name, bulk=False, overrule="overrule" in body)
        elif event.kind == "bulk":
            for node, (number, name) in zip(body["nodes"], self._classes_of(event), strict=True):
                self._vote(int(node), who, number, name, bulk=True, overrule="overrule" in body)
        elif event.kind == "skip":
            self._skipped[who] = self._skipped.get(who, frozenset()) | {int(body["node"])}
        elif event.kind == "class":
            ((number, name),) = self._classes_of(event)
            self._declare(number, name)
        elif event.kind == "settle":
            ((number, name),) = self._classes_of(event)
            self._declare(number, name)
            self._settled[int(body["node"])] = number, who
            if int(body["node"]) in self._ballots:
                self._touched[int(body["node"])] = None
        elif event.kind == "budget":
            self._budget = int(body["budget"])
        elif event.kind == "redundancy":
            self._redundancy = int(body["redundancy"])
        elif event.kind == "note":
            note = Note(event.id, event.at, who, str(body["text"]))
            self._notes[int(body["node"])] = (*self._notes.get(int(body["node"]), ()), note)
        elif event.kind == "ask":
            self._asked.append(OpenQuery(event.id, event.at, who, int(body["node"]), body))
        elif event.kind == "release":
            self._released[str(body["annotator"])] = event.id
        elif event.kind in ("rename", "merge", "describe", "order"):
            self._change_classes(event.kind, body)
        if event.kind in CHANGES:
            self._changes.append(event)

    def history(self, last: int) -> History:
        classes = self._before.classes
        if self._classes_changed:
            classes = ClassList(
                self._first_names, self._names, self._merged, self._descriptions, self._aliases, self._shown
            )
        numbers = self._before.numbers
        if self._touched or self._merges_changed:
            changed: Iterable[int] = self._ballots if self._merges_changed else self._touched
            numbers = {**numbers, **{node: self._count(classes, node) for node in changed}}
        return replace(
            self._before,
            last=last,
            ballots=self._ballots,
            numbers=numbers,
            overruled=self._overruled,
            settled=self._settled,
            skipped=self._skipped,
            asked=self._asked,
            released=self._released,
            classes=classes,
            guideline=self._guideline,
            notes=self._notes,
            budget=self._budget,
            redundancy=self._redundancy,
            changes=self._changes,
        )

    def _classes_of(self, event: Event) -> list[tuple[int, str]]:
        """The classes that an event speaks of: number and name.

        One from before there were numbers has the number of its name.
        """
        body = event.body
        if event.kind == "bulk":
            return [(int(number), str(name)) for number, name in zip(body["classes"], body["labels"], strict=True)]
        name = str(body["name"] if event.kind == "class" else body["label"])
        number = body.get("class") or self._by_first_name.get(name) or max(self._first_names, default=0) + 1
        return [(int(number), name)]

    def _declare(self, number: int, name: str) -> None:
        if number not in self._names:
            self._names[number] = self._first_names.get(number, name)
            self._classes_changed = True

    def _vote(self, node: int, who: str, number: int, name: str, *, bulk: bool, overrule: bool) -> None:
        self._declare(number, name)
        before = self._ballots.get(node, {})
        old = before.get(who)
        if not before:
            self._ballots[node] = {who: Vote(number, bulk)}
        elif old is not None and self._resolve(old.number) == self._resolve(
            number
        ):  # no new vote, but perhaps one that is now meant for this node
            self._ballots[node] = {**before, who: Vote(number, old.bulk and bulk)}
        else:  # a change of mind is a later vote
            self._ballots[node] = {
                **{other: vote for other, vote in before.items() if other != who},
                who: Vote(number, bulk),
            }
        if overrule:
            self._overruled[node] = who
        if who in self._skipped:
            self._skipped[who] -= {node}
        self._touched[node] = None

    def _resolve(self, number: int) -> int:
        while number in self._merged:
            number = self._merged[number]
        return number

    def _change_classes(self, kind: str, body: Mapping[str, Any]) -> None:
        self._classes_changed = True
        if kind == "rename" and body["class"] in self._names:
            self._aliases[self._names[body["class"]]] = body["class"]
            self._names[body["class"]] = body["name"]
        elif kind == "merge":
            number, into = self._resolve(body["class"]), self._resolve(body["into"])
            if number != into and {number, into} <= set(self._names):
                self._merged[number] = into
                self._merges_changed = True
        elif kind == "describe":
            if body["class"] is None:
                self._guideline = body["text"]
            else:
                self._descriptions[body["class"]] = body["text"]
        elif kind == "order":
            self._shown = tuple(body["classes"])

    def _count(self, classes: ClassList, node: int) -> int:
        if node in self._settled:
            return classes.resolve(self._settled[node][0])
        ballot, chief = self._ballots[node], self._overruled.get(node)
        if chief is not None and chief in ballot:
            return classes.resolve(ballot[chief].number)
        return majority({who: classes.resolve(vote.number) for who, vote in ballot.items()})
