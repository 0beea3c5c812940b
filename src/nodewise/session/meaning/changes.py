"""What people say and change, decided on what the log means, as events: labels, skips, classes, what is taken back.

Each is checked: what comes of it must make sense.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nodewise.graph.checks import class_labels, class_name
from nodewise.ground.errors import AlreadyLabelledError, InputError, SessionError, UnknownNameError, WrongTypeError
from nodewise.ground.events import count
from nodewise.session.answers import (
    MOST_OPINIONS,
    Draft,
    Event,
    closed_list,
    probable_typo,
    valid_person,
    valid_text,
)
from nodewise.session.log.contents import Contents
from nodewise.session.meaning.history import History, read_history, undone

__all__ = [
    "Answers",
    "change_budget",
    "change_redundancy",
    "check_undo",
    "declare",
    "describe",
    "known_number",
    "merge",
    "note",
    "order",
    "remove",
    "rename",
    "settle",
    "skip",
    "undoable",
]


@dataclass(frozen=True)
class Answers:
    """Labels for nodes, as one annotator gives them.

    Attributes:
        names: what the nodes are called, for messages.
        new_class: whether a label may be a new class though it looks like a misspelt one.
        overrule: whether they count whatever others have said.
        alone: whether one label a node is enough, so that another's is not changed unknowingly.
        closed: whether a label must be one of the classes that there are.
    """

    nodes: Sequence[int]
    names: Sequence[str]
    labels: Sequence[str]
    annotator: str
    new_class: bool
    overrule: bool
    alone: bool
    closed: bool

    @classmethod
    def check(
        cls,
        contents: Contents,
        nodes: Sequence[int | str],
        label: object,
        annotator: str,
        new_class: bool,
        overrule: bool,
        alone: bool,
    ) -> Answers:
        """Answers on nodes that there are, one label each.

        Args:
            contents: the graph, for its nodes.
            nodes: by index or name.
            label: one for all, or one for each.
            annotator, new_class, overrule, alone: see above.

        Raises:
            InputError: says what is wrong.
        """
        who = valid_person(annotator)
        listed: list[Any] = list(nodes)
        one = isinstance(label, (str, bytes)) or not hasattr(label, "__len__") or getattr(label, "ndim", 1) == 0
        labels = [label] * len(listed) if one else list(label)  # type: ignore[call-overload]
        if len(listed) != len(labels):
            raise InputError(
                f"{count(len(listed), 'node')} but {count(len(labels), 'label')} were told: give one for each"
            )
        if not listed:
            raise InputError("no node was told: give at least one")
        indices = [contents.find(node) for node in listed]
        names = [contents.name_of(node) for node in indices]
        closed = contents.settings.closed_classes
        return cls(indices, names, [class_name(name) for name in labels], who, new_class, overrule, alone, closed)

    def as_tells(self, history: History) -> list[Draft]:
        """One event for each node."""
        classes = self._classes(history)
        beside = {"overrule": True} if self.overrule else {}
        return [
            Draft("tell", self.annotator, {"node": node, "label": label, "class": number, **beside})
            for node, (label, number) in zip(self.nodes, classes, strict=True)
        ]

    def as_bulk(self, history: History) -> list[Draft]:
        """One event for all."""
        labels, numbers = zip(*self._classes(history), strict=True)
        beside = {"overrule": True} if self.overrule else {}
        return [
            Draft(
                "bulk",
                self.annotator,
                {"nodes": list(self.nodes), "labels": list(labels), "classes": list(numbers), **beside},
            )
        ]

    def _classes(self, history: History) -> list[tuple[str, int]]:
        """The classes told, each by its name and number.

        Raises:
            UnknownNameError: a label is probably misspelt, or none of a closed list.
            InputError: a label is a word for nothing and no class.
            AlreadyLabelledError: somebody else has labelled a node otherwise.
        """
        if out := [name for node, name in zip(self.nodes, self.names, strict=True) if node in history.gone]:
            raise InputError(f"node {out[0]!r} was taken out of the job: undo that first to label it")
        classes = history.classes
        known = {each.name: each.number for each in classes}
        found: list[tuple[str, int]] = []
        added = 0
        for label in self.labels:
            number = known.get(label)
            if number is None and (not self.new_class or classes.has_name(label)):
                number = classes.find(label)  # by the name of a class that was merged, or by a former name
            if number is None and not self.new_class:
                label = _as_in_a_column(label, list(known))
                number = known.get(label)
            if number is None:
                _refuse_new(label, list(known), self.new_class, self.closed)
                number = classes.former_number(label)
                if number is None:
                    number, added = classes.next_number + added, added + 1
                known[label] = number
            found.append((label, number))
        numbers = [number for _, number in found]
        self._refuse_unsettling(history, numbers)
        if self.alone and not self.overrule:
            self._refuse_overruling(history, numbers)
        return found

    def _refuse_unsettling(self, history: History, numbers: Sequence[int]) -> None:
        """What was settled is changed by settling it again, not by a vote."""
        resolve, name = history.classes.resolve, history.classes.name
        for node, called, number in zip(self.nodes, self.names, numbers, strict=True):
            settled, who = history.settled.get(node, (number, ""))
            if resolve(settled) != resolve(number):
                raise InputError(
                    f"{who!r} has settled that node {called!r} is {name(settled)!r}: to change it, settle it again, or"
                    " undo that event"
                )

    def _refuse_overruling(self, history: History, numbers: Sequence[int]) -> None:
        """Whoever has overruled already decides; else nobody else may have said something different."""
        resolve = history.classes.resolve
        for node, name, number in zip(self.nodes, self.names, numbers, strict=True):
            if history.overruled.get(node) != self.annotator:
                votes = {
                    who: resolve(vote.number)
                    for who, vote in history.ballots.get(node, {}).items()
                    if who != self.annotator
                }
                against = [who for who, other in votes.items() if other != resolve(number)]
                if against:
                    other = history.decider(node) if history.decider(node) in against else against[0]
                    raise AlreadyLabelledError(name, history.classes.name(votes[str(other)]), str(other))


def skip(who: str, node: int, name: str, history: History) -> list[Draft]:
    """That an annotator cannot label a node.

    Args:
        who: the annotator.
        node: which.
        name: what the node is called.
        history: what the log means.
    """
    if who in history.ballots.get(node, {}):
        raise InputError(
            f"{who!r} has labelled node {name!r}, so it cannot be skipped: undo that first, or tell another label"
        )
    return [Draft("skip", who, {"node": node})]


def note(who: str, node: int, text: str, history: History) -> list[Draft]:
    """What somebody writes to a node."""
    return [Draft("note", who, {"node": node, "text": valid_text(text)})]


def settle(who: str, node: int, name: str, label: str, history: History) -> list[Draft]:
    """What a disagreement comes to; the arguments as for `skip`."""
    if node not in history.ballots:
        raise InputError(f"nobody has labelled node {name!r}, so there is nothing to settle: tell its label")
    number = known_number(history, label)
    return [Draft("settle", who, {"node": node, "label": history.classes.name(number), "class": number})]


def declare(who: str, name: str, new_class: bool, closed: bool, history: History) -> list[Draft]:
    """A class that nobody has used yet, where the list of classes is not closed.

    One that looks like a known class misspelt only where that is said to be meant.
    """
    text = class_name(name)
    classes = history.classes
    if classes.has_name(text):
        raise InputError(f"there is a class {text!r} already: use it, or give another name")
    names = [each.name for each in classes]
    if not new_class:
        text = _as_in_a_column(text, names)
    _refuse_new(text, names, new_class, closed)
    return [Draft("class", who, {"name": text, "class": classes.former_number(text) or classes.next_number})]


def rename(who: str, name: str, new_name: str, history: History) -> list[Draft]:
    """Another name for a class."""
    number, text = known_number(history, name), class_name(new_name)
    if history.classes.has_name(text):
        raise InputError(f"there is a class {text!r} already: to make one class of both, merge them")
    return [Draft("rename", who, {"class": number, "name": text})]


def merge(who: str, name: str, into: str, history: History) -> list[Draft]:
    """Two classes that become one."""
    number, target = known_number(history, name), known_number(history, into)
    if number == target:
        raise InputError(f"{name!r} and {into!r} are one class already: give two different ones")
    return [Draft("merge", who, {"class": number, "into": target})]


def describe(who: str, name: str | None, text: str, history: History) -> list[Draft]:
    """A class's guideline, or the job's."""
    return [
        Draft(
            "describe", who, {"class": None if name is None else known_number(history, name), "text": valid_text(text)}
        )
    ]


def order(who: str, names: Sequence[str], history: History) -> list[Draft]:
    """The order of the classes on a screen."""
    if isinstance(names, str):
        raise WrongTypeError(f"the order must be a list of classes, got the text {names!r}: give [{names!r}, …]")
    numbers = [known_number(history, name) for name in names]
    if len(set(numbers)) < len(numbers):
        raise InputError(f"the order names a class twice: {list(names)}")
    return [Draft("order", who, {"classes": numbers})]


def remove(who: str, nodes: Sequence[int], history: History) -> list[Draft]:
    """Rows that are taken out."""
    left = [node for node in dict.fromkeys(nodes) if node not in history.gone]
    if not left:
        raise InputError("there is no row to take out: give at least one that is still in the job")
    return [Draft("remove", who, {"nodes": left})]


def change_budget(who: str, budget: int, nodes: int, history: History) -> list[Draft]:
    """Another budget, for a graph of that many nodes."""
    if isinstance(budget, bool) or not isinstance(budget, int) or not 1 <= budget <= nodes:
        raise InputError(f"a budget must be a whole number from 1 to the graph's {nodes} nodes, got {budget!r}")
    return [Draft("budget", who, {"budget": budget})]


def change_redundancy(who: str, redundancy: int, history: History) -> list[Draft]:
    """Another number of annotators that are to label each node."""
    if isinstance(redundancy, bool) or not isinstance(redundancy, int) or not 1 <= redundancy <= MOST_OPINIONS:
        raise InputError(f"labels for each node must be a whole number from 1 to {MOST_OPINIONS}, got {redundancy!r}")
    return [Draft("redundancy", who, {"redundancy": redundancy})]


def check_undo(events: Sequence[Event], draft: Draft, start: Sequence[str]) -> None:
    """Refuse to take something back where two classes would then have one name.

    Raises:
        SessionError: says which name.
    """
    if any(event.kind in ("rename", "merge") for event in events):
        after = read_history([*events, Event(len(events) + 1, 0.0, draft.annotator, draft.kind, draft.body)], start)
        if after.classes.duplicates:
            raise SessionError(
                f"with event {draft.body['event']} taken back two classes would be called"
                f" {after.classes.duplicates[0]!r}: rename one of them first"
            )


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
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= len(events):
        held = f"the log holds 1 to {len(events)}" if events else "nothing has been told yet"
        raise InputError(f"there is no event {number!r} to undo: {held}")
    target = events[number - 1]
    if target.kind == "ask":
        raise InputError(f"event {number} is a query, which cannot be undone: skip its node instead")
    if target.kind == "release":
        raise InputError(f"event {number} freed queries, which cannot be undone: ask again")
    if number in undone(events):
        raise InputError(f"event {number} has been undone already: to have it back, undo the undo")
    return target


def known_number(history: History, name: str) -> int:
    """The number of a class that there is.

    Raises:
        UnknownNameError: there is none of that name.
    """
    number = history.classes.find(class_name(name))
    if number is None:
        raise UnknownNameError("class", str(name), [each.name for each in history.classes])
    return history.classes.resolve(number)


def _as_in_a_column(label: str, classes: Sequence[str]) -> str:
    """A label that is no class yet, spelled as the labels of a table are: ``1.0`` is ``1`` among whole numbers.

    Raises:
        InputError: it is a word for nothing.
    """
    ((spelled,), _) = class_labels([label], classes)
    if not spelled:
        raise InputError(
            f"{label!r} means unlabelled and is no class here: skip the node, or if it is a new class, say so:"
            " --new-class, or new_class=True"
        )
    return spelled


def _refuse_new(label: str, classes: Sequence[str], meant: bool, closed: bool) -> None:
    """Refuse a new class where the list of classes is closed, or where it is probably a known one misspelt."""
    if closed:
        raise closed_list(label, classes)
    if not meant and (typo := probable_typo(label, classes)):
        raise typo
