"""What people say and change, decided on what the log means, as events: labels, skips, classes, what is taken back.

Each is checked: what comes of it must make sense.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

from nodewise.contracts import Classifier, can, refusal
from nodewise.graph.checks import class_labels, class_name
from nodewise.graph.label_sets import SEPARATORS
from nodewise.ground.errors import AlreadyLabelledError, InputError, SessionError, UnknownNameError, WrongTypeError
from nodewise.ground.events import count
from nodewise.session.answers import (
    MOST_CONTROL,
    MOST_OPINIONS,
    SEPARATOR,
    Answer,
    Draft,
    Event,
    closed_list,
    probable_typo,
    undone,
    valid_person,
    valid_text,
)
from nodewise.session.log.contents import Contents
from nodewise.session.meaning.history import History, read_history
from nodewise.session.settings import SessionSettings

__all__ = [
    "Answers",
    "change_budget",
    "change_redundancy",
    "check_percent",
    "check_undo",
    "declare",
    "describe",
    "known_number",
    "member_name",
    "merge",
    "note",
    "order",
    "read_set",
    "refuse_several",
    "remove",
    "rename",
    "servable",
    "settle",
    "skip",
    "undo",
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
        several: whether a node may have several classes.
        labels: the classes of each node: one, or any number where it may have several.
        counted: the labels that were given as whole numbers, which may be meant as classes' numbers.
    """

    nodes: Sequence[int]
    names: Sequence[str]
    labels: Sequence[tuple[str, ...]]
    annotator: str
    new_class: bool
    overrule: bool
    alone: bool
    closed: bool
    several: bool = False
    counted: frozenset[str] = frozenset()

    @classmethod
    def check(
        cls,
        contents: Contents,
        nodes: Any,
        label: object,
        annotator: str,
        new_class: bool,
        overrule: bool,
        alone: bool,
        listed_nodes: bool = False,
    ) -> Answers:
        """Answers on nodes that there are, one label each, or one set of classes.

        Args:
            contents: the graph, for its nodes.
            nodes: by indices, names or a mask.
            label: one for all, or one for each; where a node may have several classes, of several nodes a list holds
                one answer for each, and a text or a set is meant for all.
            annotator, new_class, overrule, alone: see above.
            listed_nodes: whether a list of nodes was given, also of one: a list that holds a set is then an answer for
                each.

        Raises:
            InputError: says what is wrong.
        """
        who = valid_person(annotator)
        indices = contents.find_all(nodes)
        several = contents.settings.several
        one = isinstance(label, (str, bytes)) or not hasattr(label, "__len__") or getattr(label, "ndim", 1) == 0
        nested = listed_nodes and not one and _is_nested(label)
        one = one or (several and ((len(indices) == 1 and not nested) or isinstance(label, (set, frozenset))))
        labels = [label] * len(indices) if one else list(label)  # type: ignore[call-overload]
        if len(indices) != len(labels):
            one_each = (
                "" if listed_nodes or several else "; a row has one class here, sets are for jobs made with several"
            )
            raise InputError(
                f"{count(len(indices), 'node')} but {count(len(labels), 'label')}: give one for each{one_each}"
            )
        if not indices:
            raise InputError("no node is named: give at least one")
        names = [contents.name_of(node) for node in indices]
        closed = contents.settings.closed_classes
        said = [read_set(each) if several else (class_name(each),) for each in labels]
        counted = frozenset(str(each) for label in labels for each in _members(label) if isinstance(each, Integral))
        return cls(indices, names, said, who, new_class, overrule, alone, closed, several, counted)

    def as_tells(self, history: History) -> list[Draft]:
        """One event for each node."""
        beside = {"overrule": True} if self.overrule else {}
        return [
            Draft("tell", self.annotator, {"node": node, "label": label, "class": number, **beside})
            for node, (label, number) in zip(self.nodes, self._as_logged(history), strict=True)
        ]

    def as_bulk(self, history: History) -> list[Draft]:
        """One event for all."""
        labels, numbers = zip(*self._as_logged(history), strict=True)
        beside = {"overrule": True} if self.overrule else {}
        return [
            Draft(
                "bulk",
                self.annotator,
                {"nodes": list(self.nodes), "labels": list(labels), "classes": list(numbers), **beside},
            )
        ]

    def as_known(self, history: History, audit: Collection[int], given: Collection[int]) -> dict[str, list[Any]]:
        """The same as what is known of the nodes: no labels, but what answers are held against.

        Args:
            history: what the log means.
            audit: the nodes that are drawn at random to measure the accuracy. given: those with a label from before.

        Raises:
            InputError: a node is one of these, or somebody has labelled it.
        """
        for node, name in zip(self.nodes, self.names, strict=True):
            if node in audit or node in given or (node in history.ballots and node not in history.known.answers):
                what = "is drawn for the audit" if node in audit else "has a label already"
                raise InputError(
                    f"node {name!r} {what}: known answers are for rows that nobody has labelled; leave it out"
                )
        labels, numbers = zip(*self._as_logged(history), strict=True)
        return {"nodes": list(self.nodes), "labels": list(labels), "classes": list(numbers)}

    def _as_logged(self, history: History) -> list[tuple[Any, Any]]:
        """What each node is labelled with, by name and number as in the log: lists where a node may have several."""
        found = self._classes(history)
        if self.several:
            return [([name for name, _ in each], [number for _, number in each]) for each in found]
        return [each[0] for each in found]

    def _classes(self, history: History) -> list[list[tuple[str, int]]]:
        """The classes that each node is labelled with, each by its name and number.

        Raises:
            UnknownNameError: a label is probably misspelt, or none of a closed list.
            InputError: a label is a word for nothing and no class.
            AlreadyLabelledError: somebody else has labelled a node otherwise.
        """
        if out := [name for node, name in zip(self.nodes, self.names, strict=True) if node in history.gone]:
            raise InputError(f"node {out[0]!r} was taken out of the job: undo that first to label it")
        classes = history.classes
        known = {each.name: each.number for each in classes}
        numbered: dict[str, tuple[str, int]] = {}
        added = 0
        for label in dict.fromkeys(label for labels in self.labels for label in labels):
            said, number = label, known.get(label)
            if number is None and (not self.new_class or classes.has_name(label)):
                number = classes.find(label)  # by the name of a class that was merged, or by a former name
            if number is None and not self.new_class:
                label = _as_in_a_column(label, list(known))
                number = known.get(label)
            if number is None:
                if label in self.counted and not self.new_class:
                    _refuse_number(label, list(known))
                if self.several and not self.new_class:
                    _refuse_joined(label, list(known))
                _refuse_new(label, list(known), self.new_class, self.closed)
                number = classes.former_number(label)
                if number is None:
                    number, added = classes.next_number + added, added + 1
                known[label] = number
            numbered[said] = label, number
        found = [list(dict.fromkeys(numbered[label] for label in labels)) for labels in self.labels]
        if self.several:  # two names of one class are one class
            found = [
                list({classes.resolve(number): (name, number) for name, number in each}.values()) for each in found
            ]
        numbers: list[Answer] = [tuple(number for _, number in each) for each in found]
        if not self.several:
            numbers = [each[0][1] for each in found]
        self._refuse_unsettling(history, numbers)
        if self.alone and not self.overrule:
            self._refuse_overruling(history, numbers)
        return found

    def _refuse_unsettling(self, history: History, numbers: Sequence[Answer]) -> None:
        """What was settled is changed by settling it again, not by a vote."""
        resolve, name = history.classes.resolve, history.classes.name
        for node, called, number in zip(self.nodes, self.names, numbers, strict=True):
            settled, who = history.settled.get(node, (number, ""))
            if node not in history.known.answers and resolve(settled) != resolve(number):
                raise InputError(
                    f"{who!r} has settled that node {called!r} is {name(settled)!r}: to change it, settle it again, or"
                    " undo that event"
                )

    def _refuse_overruling(self, history: History, numbers: Sequence[Answer]) -> None:
        """Whoever has overruled already decides; else nobody else may have said something different."""
        resolve = history.classes.resolve
        for node, name, number in zip(self.nodes, self.names, numbers, strict=True):
            opened = history.known.opened.get(node)
            if opened is not None and self.annotator in opened.earlier:  # to them it is theirs
                continue
            if history.overruled.get(node) != self.annotator and node not in history.known.answers:
                votes = {
                    who: resolve(vote.number)
                    for who, vote in history.ballots.get(node, {}).items()
                    if who != self.annotator
                }
                against = [who for who, other in votes.items() if other != resolve(number)]
                if against:
                    other = history.decider(node) if history.decider(node) in against else against[0]
                    raise AlreadyLabelledError(name, history.classes.name(votes[str(other)]), str(other))


def skip(who: str, nodes: Mapping[int, str], history: History) -> list[Draft]:
    """That an annotator cannot label nodes: one event, whether one or many.

    Args:
        who: the annotator.
        nodes: which, and what each is called.
        history: what the log means.
    """
    for node, name in nodes.items():
        if who in history.ballots.get(node, {}):
            raise InputError(
                f"{who!r} has labelled node {name!r}, so it cannot be skipped: undo that first, or tell another label"
            )
    return [Draft("skip", who, _about(list(nodes)))]


def note(who: str, nodes: Sequence[int], text: str, history: History) -> list[Draft]:
    """What somebody writes to nodes: one event, whether to one or many."""
    return [Draft("note", who, {**_about(nodes), "text": valid_text(text)})]


def _about(nodes: Sequence[int]) -> dict[str, Any]:
    """The nodes of an event: one by itself, as files had it from the beginning, or several.

    Raises:
        InputError: there is none.
    """
    if not nodes:
        raise InputError("there is no node to write this to: give at least one")
    return {"node": nodes[0]} if len(nodes) == 1 else {"nodes": list(nodes)}


def settle(who: str, node: int, name: str, label: object, history: History, *, several: bool = False) -> list[Draft]:
    """What a disagreement about a node comes to.

    Args:
        who: the annotator.
        node: which.
        name: what the node is called.
        label: the class that counts.
        history: what the log means.
        several: whether a node may have several classes.
    """
    if node not in history.ballots or node in history.known.answers:  # in the same words: a reviewer may read them
        raise InputError(
            f"nobody has labelled node {name!r}, or its answer is known, so there is nothing to settle: tell its label"
        )
    if several:
        numbers = sorted({known_number(history, one) for one in read_set(label)})
        names = [history.classes.name(number) for number in numbers]
        return [Draft("settle", who, {"node": node, "label": names, "class": numbers})]
    number = known_number(history, label)
    return [Draft("settle", who, {"node": node, "label": history.classes.name(number), "class": number})]


def declare(
    who: str, name: str, new_class: bool, closed: bool, history: History, *, several: bool = False
) -> list[Draft]:
    """A class that nobody has used yet, where the list of classes is not closed.

    One that looks like a known class misspelt only where that is said to be meant.
    """
    text = member_name(name) if several else class_name(name)
    classes = history.classes
    if classes.has_name(text):
        raise InputError(f"there is a class {text!r} already: use it, or give another name")
    names = [each.name for each in classes]
    if not new_class:
        text = _as_in_a_column(text, names)
    _refuse_new(text, names, new_class, closed)
    return [Draft("class", who, {"name": text, "class": classes.former_number(text) or classes.next_number})]


def rename(who: str, name: str, new_name: str, history: History, *, several: bool = False) -> list[Draft]:
    """Another name for a class."""
    number, text = known_number(history, name), (member_name if several else class_name)(new_name)
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


def check_percent(percent: object) -> None:
    """Refuse a share of questions with known answers that there cannot be."""
    if isinstance(percent, bool) or not isinstance(percent, int) or not 0 <= percent <= MOST_CONTROL:
        raise InputError(
            f"of a hundred questions 0 to {MOST_CONTROL} may have known answers, got {percent!r}: give a whole number"
        )


def refuse_several(settings: SessionSettings, path: Path, why: str) -> None:
    """Refuse a job in which a node may have several classes, for what knows one alone."""
    if settings.several:
        raise InputError(f"nodes of the session {str(path)!r} may have several classes, and {why}")


def servable(classifier: str | Classifier | None, drafts: Sequence[Draft], history: History) -> Sequence[Draft]:
    """The same events, if the caller's own classifier, where there is one, can go on with them.

    Raises:
        InputError: they bring a class, and the classifier knows those of the start alone.
    """
    if classifier is None or isinstance(classifier, str) or can(classifier, "grow-classes"):
        return drafts
    for draft in drafts:
        lists, one = draft.kind in ("bulk", "suggest", "join"), draft.kind in ("tell", "class")
        given = draft.body.get("classes", []) if lists else [draft.body.get("class")] if one else []
        if not {number for each in given for number in (each if isinstance(each, list) else [each])} <= set(
            history.classes.names
        ):
            raise refusal(classifier, "grow-classes", "the job has begun with others")
    return drafts


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


def undo(
    events: Sequence[Event], history: History, number: int | None, annotator: str | None, start: Sequence[str]
) -> list[Draft]:
    """That something is taken back, by its annotator unless somebody else is named; else as `undoable`.

    Args:
        start: the classes that the job began with.
    """
    target = undoable(events, history, number, annotator)
    draft = Draft("undo", annotator or target.annotator, {"event": target.id})
    check_undo(events, draft, start)
    return [draft]


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
        held = f"the log holds 1 to {len(events)}" if events else "the log is empty"
        raise InputError(f"there is no event {number!r} to undo: {held}")
    target = events[number - 1]
    if target.kind == "ask":
        raise InputError(f"event {number} is a query, which cannot be undone: skip its node instead")
    if target.kind in ("erase", "erased"):
        raise InputError(f"event {number} is one of rows that were erased, which cannot be undone")
    if target.kind == "release":
        raise InputError(f"event {number} freed queries, which cannot be undone: ask again")
    if number in undone(events):
        raise InputError(f"event {number} has been undone already: to have it back, undo the undo")
    return target


def read_set(said: object) -> tuple[str, ...]:
    """The classes that somebody names where a node may have several: a list or a set, or a text with ``;`` between.

    An empty list, or the separator alone, is none of them.

    Raises:
        InputError: something in it is no class's name.
    """
    if isinstance(said, str) and SEPARATOR in said:
        return tuple(dict.fromkeys(class_name(part) for part in said.split(SEPARATOR) if part.strip()))
    if isinstance(said, (str, bytes)) or not hasattr(said, "__iter__"):
        return (class_name(said),)
    if isinstance(said, Mapping):
        raise InputError(
            f"a set of classes is a list of their names, received {str(said)[:80]}: give those that it has"
        )
    members = list(said)
    if isinstance(said, (set, frozenset)):
        members.sort(key=str)
    if any(hasattr(each, "__iter__") and not isinstance(each, (str, bytes)) for each in members):
        raise InputError(
            f"a set of classes holds a list itself, {str(said)[:80]}: give the names alone, such as ['a', 'b']"
        )
    return tuple(dict.fromkeys(map(member_name, members)))


def _members(label: Any) -> Iterable[Any]:
    """What a label holds: the members of a set, or itself."""
    return [label] if isinstance(label, (str, bytes)) or not hasattr(label, "__iter__") else label


def _is_nested(label: Any) -> bool:
    """Whether a list holds one answer, itself a set of classes or a text of several, rather than names of classes."""
    if len(label) != 1:
        return False
    (only,) = label
    return SEPARATOR in only if isinstance(only, str) else hasattr(only, "__iter__")


def member_name(name: object) -> str:
    """A class's name where a node may have several: it cannot hold what stands between them.

    Raises:
        InputError: it does.
    """
    text = class_name(name)
    if SEPARATOR in text:
        raise InputError(
            f"a class cannot be called {text!r} where a node may have several: {SEPARATOR!r} stands between the names"
            " of a node's classes; give it another name"
        )
    return text


def known_number(history: History, name: object) -> int:
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


def _refuse_number(label: str, classes: Sequence[str]) -> None:
    """Refuse a whole number that counts through classes of which none is called by a number, such as 0 for the
    first: it would become a class of its own.
    """
    if int(label) <= len(classes) and classes and not any(name.isdecimal() for name in classes):
        hint = "A class is told by its name, not by its number. If it is a new class, say so: new_class=True."
        raise UnknownNameError("class", label, classes, hint)


def _refuse_joined(label: str, classes: Collection[str]) -> None:
    """Refuse known classes with another mark between them than the one that parts them, such as ``a,b``: they would
    become a class of its own.
    """
    for mark in SEPARATORS:
        parts = [part.strip() for part in label.split(mark)]
        if len(parts) > 1 and set(parts) <= set(classes):
            hint = f"Several are written {SEPARATOR.join(parts)!r}. If it is a new class, say so: new_class=True."
            raise UnknownNameError("class", label, list(classes), hint)
