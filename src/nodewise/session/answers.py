"""What people may say, and the events that it becomes: names, texts, labels, skips, notes; and the classes that a label
can name.

It imports neither torch nor numpy.

What may stand in the log:

    ask        node and all that the query said
    tell       node, label, class [, overrule]      one answer; overrule: it counts whatever others said
    bulk       nodes, labels, classes [, overrule]  many answers given in one go, taken back as one
    skip       node
    settle     node, label, class                   what a disagreement comes to, whatever the votes say
    class      name, class                          a class declared before it is used
    rename     class, name
    merge      class, into                          the labels of one class count as another's
    describe   class or null, text                  a class's guideline, or the whole job's
    order      classes                              the order of the classes on a screen; their numbers stay
    note       node, text
    budget     budget
    redundancy redundancy                           how many are to label each node from now on
    suggest    name, labels, classes, answers, unnamed   what a model says: the classes that it names, how many of its
                                                    answers name one and how many none; the answers are attached
    rows       first, count, audit                  rows added to the graph, attached to the event; those of the audit
    remove     nodes                                rows taken out: not asked, not trained on, not exported
    join       from, nodes, labels, classes,        the answers of another job of the same rows, taken back as one
               annotators, times, bulk
    release    annotator                            what they have not answered is free for others
    undo       event

What is too large for an event is attached to it: ``attached`` in its body has the SHA-256 of each part by its kind.

A class is known by its number, which is given once and never again. Events written before there were numbers have the
name alone.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from nodewise.ground.errors import InputError, SessionError, UnknownNameError

__all__ = [
    "CHANGES",
    "FIRST_FORM",
    "KINDS",
    "LAST_CLASS",
    "MOST_OPINIONS",
    "THIRD_FORM",
    "ClassList",
    "Draft",
    "Event",
    "LabelClass",
    "attached",
    "check_event",
    "closed_list",
    "form_needed",
    "probable_typo",
    "valid_person",
    "valid_text",
]

FIRST_FORM = frozenset({"ask", "tell", "skip", "undo", "class", "budget"})
"""The kinds of the file's first form."""
THIRD_FORM = frozenset({"rows", "remove", "join", "suggest"})
"""The kinds that only a file of the third form may hold, attached parts or not."""
CHANGES = (
    frozenset(
        {
            "tell",
            "bulk",
            "skip",
            "settle",
            "class",
            "rename",
            "merge",
            "describe",
            "order",
            "note",
            "budget",
            "redundancy",
        }
    )
    | THIRD_FORM
)
"""The kinds that an undo can take back."""
KINDS = CHANGES | {"ask", "undo", "release"}
"""What an event may be."""
MOST_OPINIONS = 100
"""How many may be asked to label each node."""
LAST_CLASS = 10**9
"""The last number that a class may have."""
_LONGEST_TEXT = 20_000
_LONGEST_NAME = 200
_MOST_ATTACHMENTS = 16
_MOST_ROWS = 10**8
_JOINED = ("nodes", "labels", "classes", "annotators", "times", "bulk")


@dataclass(frozen=True)
class Draft:
    """An event before it is in the log.

    Attributes:
        attachments: kind of a part -> its bytes, for what is too large for the body; the log adds ``attached`` to the
            body, kind -> SHA-256.
    """

    kind: str
    annotator: str
    body: Mapping[str, Any]
    attachments: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Event:
    """One thing that happened.

    Attributes:
        id: 1, 2, 3 … in the order of the log.
        at: seconds since 1970.
    """

    id: int
    at: float
    annotator: str
    kind: str
    body: Mapping[str, Any]


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


def form_needed(draft: Draft) -> int:
    """The first form of the file that can hold the event: a nodewise that knows older ones alone would misread it."""
    if draft.attachments or draft.kind in THIRD_FORM:
        return 3
    return 2 if draft.kind not in FIRST_FORM or "overrule" in draft.body else 1


def attached(body: Mapping[str, Any]) -> dict[str, str]:
    """What is attached to an event: kind -> SHA-256.

    Raises:
        ValueError: the body does not say it as nodewise does.
    """
    parts = body.get("attached", {})
    if not _is_attached(parts):
        raise ValueError(f"what is attached is given as {str(parts)[:40]!r}")
    return dict(parts)


def check_event(event: Event, nodes: int) -> str:
    """What is wrong with an event that nodewise would not have written; empty where nothing is.

    Args:
        event: from a file that may come from anywhere.
        nodes: how many nodes the graph has when it happens.
    """
    if event.kind not in KINDS:
        return f"it is of the kind {event.kind[:40]!r}, which this version does not know"

    def is_node(value: object) -> bool:
        return _is_int(value, 0, nodes - 1)

    checks: dict[str, dict[str, Callable[[Any], bool]]] = {
        "ask": {"node": is_node},
        "tell": {"node": is_node, "label": _is_name},
        "bulk": {
            "nodes": lambda value: _is_list(value, is_node),
            "labels": lambda value: _is_list(value, _is_name),
            "classes": lambda value: _is_list(value, _is_class),
        },
        "skip": {"node": is_node},
        "settle": {"node": is_node, "label": _is_name, "class": _is_class},
        "class": {"name": _is_name},
        "rename": {"class": _is_class, "name": _is_name},
        "merge": {"class": _is_class, "into": _is_class},
        "describe": {"class": lambda value: value is None or _is_class(value), "text": _is_text},
        "order": {"classes": lambda value: _is_list(value, _is_class)},
        "note": {"node": is_node, "text": _is_text},
        "budget": {"budget": lambda value: _is_int(value, 1, nodes)},
        "redundancy": {"redundancy": lambda value: _is_int(value, 1, MOST_OPINIONS)},
        "suggest": {
            "name": _is_name,
            "labels": lambda value: _is_list(value, _is_name),
            "classes": lambda value: _is_list(value, _is_class),
            "answers": lambda value: _is_int(value, 1, nodes),
            "attached": lambda value: _is_attached(value) and "suggestions" in value,
        },
        "rows": {
            "first": lambda value: _is_int(value, nodes, nodes),
            "count": lambda value: _is_int(value, 1, _MOST_ROWS),
            "audit": lambda value: _is_list(value, lambda node: _is_int(node, nodes, nodes + _MOST_ROWS)),
            "attached": lambda value: _is_attached(value) and set(value) == {"rows"},
        },
        "join": {
            "from": _is_name,
            "nodes": lambda value: _is_list(value, is_node),
            "labels": lambda value: _is_list(value, _is_name),
            "classes": lambda value: _is_list(value, _is_class),
            "annotators": lambda value: _is_list(value, _is_name),
            "times": lambda value: _is_list(value, _is_number),
            "bulk": lambda value: _is_list(value, lambda each: isinstance(each, bool)),
        },
        "remove": {"nodes": lambda value: _is_list(value, is_node)},
        "release": {"annotator": _is_name},
        "undo": {"event": lambda value: _is_int(value, 1, event.id - 1)},
    }
    wrong = [key for key, holds in checks[event.kind].items() if key not in event.body or not holds(event.body[key])]
    wrong += [
        key
        for key, holds in _OPTIONAL.items()
        if key in event.body and key not in checks[event.kind] and not holds(event.body[key])
    ]
    if event.kind == "bulk" and not wrong and len({len(event.body[key]) for key in ("nodes", "labels", "classes")}) > 1:
        wrong.append("nodes")
    if event.kind == "join" and not wrong and len({len(event.body[key]) for key in _JOINED}) > 1:
        wrong.append("nodes")
    if event.kind == "suggest" and not wrong and len(event.body["labels"]) != len(event.body["classes"]):
        wrong.append("labels")
    return f"its {wrong[0]} is {str(event.body.get(wrong[0]))[:40]!r}" if wrong else ""


def _is_text(value: object) -> bool:
    """Whether something is a text of a bearable length."""
    return isinstance(value, str) and len(value) <= _LONGEST_TEXT


def valid_person(name: object) -> str:
    """An annotator's name, without blanks at its ends: 1 to 200 printable characters.

    Raises:
        InputError: it is empty, longer, or holds what cannot be seen.
    """
    text = str(name).strip()
    if not text or len(text) > _LONGEST_NAME or not text.isprintable():
        raise InputError(f"an annotator needs a name of 1 to {_LONGEST_NAME} printable characters, got {text[:40]!r}")
    return text


def valid_text(text: object) -> str:
    """A note or a guideline: any text of up to 20,000 characters, without blanks at its ends.

    Raises:
        InputError: it is longer, or not a text.
    """
    if not isinstance(text, str) or not _is_text(text):
        raise InputError(f"a note or a guideline must be a text of at most 20,000 characters, got {str(text)[:40]!r}")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(
            f"a note or a guideline must be text in UTF-8, got {text[:40]!r}: it holds bytes of another encoding; save"
            " or type it as UTF-8"
        ) from None
    return text.strip()


def probable_typo(label: str, classes: Sequence[str]) -> UnknownNameError | None:
    """The error for a label that looks like a known class misspelt; None where it looks like a class of its own.

    Names that differ in their numbers, such as ``year 1`` and ``year 2``, are classes of their own.
    """
    folded = {name.casefold(): name for name in classes}
    near = [folded[name] for name in difflib.get_close_matches(label.casefold(), folded, n=3, cutoff=0.75)]
    near = [name for name in near if re.findall(r"\d+", name) == re.findall(r"\d+", label)]
    if not near:
        return None
    return UnknownNameError("class", label, near, "If it is a new class, say so: --new-class, or new_class=True.")


def closed_list(label: str, classes: Sequence[str]) -> UnknownNameError:
    """The error for a label that is none of the classes, where the session takes no others."""
    return UnknownNameError(
        "class", label, classes, f"This session takes no others than its {len(classes)}: its list of classes is closed."
    )


def _is_int(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _is_number(value: object) -> bool:
    return (
        isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300 and math.isfinite(value)
    )


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and len(value) <= _LONGEST_TEXT


def _is_class(value: object) -> bool:
    return _is_int(value, 1, LAST_CLASS)


def _is_list(value: object, holds: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and all(map(holds, value))


def _is_predicted(value: object) -> bool:
    return _is_list(
        value,
        lambda pair: isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) and _is_number(pair[1]),
    )


def _is_attached(value: object) -> bool:
    return (
        isinstance(value, dict)
        and len(value) <= _MOST_ATTACHMENTS
        and all(re.fullmatch(r"[a-z-]{1,40}", kind) for kind in value)
        and all(isinstance(digest, str) and re.fullmatch(r"[0-9a-f]{64}", digest) for digest in value.values())
    )


_OPTIONAL: dict[str, Callable[[Any], bool]] = {
    "attached": _is_attached,
    "class": _is_class,
    "overrule": lambda value: value is True,
    "audit": lambda value: isinstance(value, bool),
    "why": lambda value: _is_list(value, _is_text),
    "rank": lambda value: _is_int(value, 0, 2**53),
    "candidates": lambda value: _is_int(value, 0, 2**53),
    "unnamed": lambda value: _is_int(value, 0, 2**53),
    "score": lambda value: value is None or _is_number(value),
    "features": lambda value: isinstance(value, dict) and all(map(_is_number, value.values())),
    "predicted": _is_predicted,
}
"""What an event may say beside what it must."""
