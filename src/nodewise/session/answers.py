"""What people may say, and the events that it becomes: names, texts, labels, skips, notes; and the classes that a label
can name.

It imports neither torch nor numpy.

What may stand in the log:

    ask        node and all that the query said
    tell       node, label, class [, overrule]      one answer; overrule: it counts whatever others said
    bulk       nodes, labels, classes [, overrule]  many answers given in one go, taken back as one
    skip       node or nodes                        several are skipped, and taken back, as one
    settle     node, label, class                   what a disagreement comes to, whatever the votes say
    class      name, class                          a class declared before it is used
    rename     class, name
    merge      class, into                          the labels of one class count as another's
    describe   class or null, text                  a class's guideline, or the whole job's
    order      classes                              the order of the classes on a screen; their numbers stay
    note       node or nodes, text
    budget     budget
    redundancy redundancy                           how many are to label each node from now on
    suggest    name, labels, classes, answers, unnamed   what a model says: the classes that it names, how many of its
                                                    answers name one and how many none; the answers are attached
    rows       first, count, audit                  rows added to the graph, attached to the event; those of the audit
    change     nodes                                rows that are others now, attached to the event
    remove     nodes                                rows taken out: not asked, not trained on, not exported
    join       from, nodes, labels, classes,        the answers of another job of the same rows, taken back as one
               annotators, times, bulk
    release    annotator [, nodes]                  what they have not answered, all or these nodes, is free for others
    erase      nodes                                rows of which nothing is left in the file but their numbers
    erased     was                                  what was said of such rows alone, where it stood
    known      nodes, labels, classes [, percent]   what the owner knows of rows, asked to see how right people are, in
               [, counts] [, column]                how many of a hundred questions; if they are labels, too; from where
    undo       event

An event of which a part was erased names the classes that it said in ``erased``, so that none loses its number.

Where a node may have several classes, ``label`` and ``class`` of a tell and a settle are lists, as are those that
``labels`` and ``classes`` of a bulk hold; an empty one is an answer: none of the classes.

What is too large for an event is attached to it: ``attached`` in its body has the SHA-256 of each part by its kind.

A class is known by its number, which is given once and never again. Events written before there were numbers have the
name alone.
"""

from __future__ import annotations

import difflib
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args, overload

from nodewise.ground.errors import InputError, SessionError, UnknownNameError, WrongTypeError

__all__ = [
    "ANNOTATOR",
    "CHANGES",
    "FIRST_FORM",
    "KINDS",
    "LAST_CLASS",
    "MOST_CONTROL",
    "MOST_OPINIONS",
    "SEPARATOR",
    "THIRD_FORM",
    "Answer",
    "ClassList",
    "Draft",
    "Event",
    "EventKind",
    "LabelClass",
    "Said",
    "attached",
    "check_event",
    "closed_list",
    "effective",
    "form_needed",
    "majority",
    "nodes_of",
    "numbers_of",
    "probable_typo",
    "said_of",
    "undone",
    "valid_person",
    "valid_text",
]

ANNOTATOR = "me"
"""Who is meant where nobody is named."""

FIRST_FORM = frozenset({"ask", "tell", "skip", "undo", "class", "budget"})
"""The kinds of the file's first form."""
THIRD_FORM = frozenset({"rows", "change", "remove", "join", "suggest", "known"})
"""The kinds that only a file of the third form may hold, attached parts or not."""
_OfNodes = Literal["ask", "tell", "bulk", "skip", "settle", "note", "release", "undo"]
_OfClasses = Literal["class", "rename", "merge", "describe", "order"]
_OfTheJob = Literal["budget", "redundancy", "known", "suggest", "join", "rows", "change", "remove", "erase", "erased"]
EventKind = Literal[_OfNodes, _OfClasses, _OfTheJob]
"""What an event may be."""
KINDS: frozenset[str] = frozenset(get_args(EventKind))
"""The same, to look in."""
CHANGES = KINDS - {"ask", "release", "undo", "erase", "erased"}
"""The kinds that an undo can take back."""
MOST_OPINIONS = 100
"""How many may be asked to label each node."""
MOST_CONTROL = 50
"""How many of a hundred questions may have known answers."""
LAST_CLASS = 10**9
"""The last number that a class may have."""
SEPARATOR = ";"
"""What stands between the classes of a node in a text; alone it means none of them. No class of a job in which a node
may have several has it in its name. It is the first of `nodewise.graph.label_sets`."""
Answer = int | tuple[int, ...]
"""What is said of a node: the number of its class; where it may have several, their numbers in order."""
Said = tuple[Answer, tuple[str, ...]]
"""The same with the names of the classes."""
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
    """One thing that happened: its number, 1, 2, 3 … in the order of the log, and when, in seconds since 1970."""

    id: int
    at: float
    annotator: str
    kind: str
    body: Mapping[str, Any]


@dataclass(frozen=True)
class LabelClass:
    """One class: its number, which is given to no other for the life of the session, what it is called now, and its
    guideline: what belongs to it.
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

    @overload
    def resolve(self, number: int) -> int: ...

    @overload
    def resolve(self, number: tuple[int, ...]) -> tuple[int, ...]: ...

    def resolve(self, number: Answer) -> Answer:
        """The class that labels of a class count as, itself unless it was merged; of several classes each."""
        if isinstance(number, tuple):
            return tuple(sorted({self.resolve(each) for each in number}))
        while number in self.merged:
            number = self.merged[number]
        return number

    def name(self, number: Answer) -> str:
        """What labels of a class are called now; of several classes the names with `SEPARATOR` between them."""
        if isinstance(number, tuple):
            return SEPARATOR.join(map(self.name, self.resolve(number))) or SEPARATOR
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

    @overload
    def key(self, number: int) -> str: ...

    @overload
    def key(self, number: tuple[int, ...]) -> tuple[str, ...]: ...

    def key(self, number: Answer) -> str | tuple[str, ...]:
        """What the classifier knows a class by: its first name, so that a rename changes no prediction."""
        if isinstance(number, tuple):
            return tuple(map(self.key, self.resolve(number)))
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


def said_of(number: int | Sequence[int], name: str | Sequence[str]) -> Said:
    """What is said by a class's number and name, or by those of several classes, in the order of the numbers."""
    if isinstance(number, int):
        return number, (str(name),)
    pairs = sorted(zip(map(int, number), map(str, name), strict=True))
    return tuple(each for each, _ in pairs), tuple(each for _, each in pairs)


def numbers_of(answer: Answer) -> tuple[int, ...]:
    """The numbers of all classes that an answer names."""
    return answer if isinstance(answer, tuple) else (answer,)


def nodes_of(body: Mapping[str, Any]) -> list[int]:
    """The nodes that an event speaks of, one or several."""
    return list(map(int, body["nodes"])) if "nodes" in body else [int(body["node"])]


def majority(votes: Mapping[str, Answer]) -> Answer:
    """The class with most votes; between equals the one whose oldest standing vote is the oldest.

    Of sets of classes each class that most votes name; of one that half of them name the oldest vote decides.
    """
    first = next(iter(votes.values()))
    if len(votes) == 1:
        return first
    if isinstance(first, tuple):
        named = Counter(number for vote in votes.values() for number in numbers_of(vote))
        half = len(votes) / 2
        return tuple(sorted(number for number, by in named.items() if by > half or (by == half and number in first)))
    counted = Counter(votes.values())
    best = max(counted.values())
    return next(number for number in votes.values() if counted[number] == best)


def form_needed(draft: Draft) -> int:
    """The first form of the file that can hold the event: a nodewise that knows older ones alone would misread it."""
    many = draft.kind in ("skip", "note", "release") and "nodes" in draft.body
    if draft.attachments or draft.kind in THIRD_FORM or isinstance(draft.body.get("label"), list) or many:
        return 3
    return 2 if draft.kind not in FIRST_FORM or "overrule" in draft.body else 1


def effective(events: Sequence[Event]) -> list[Event]:
    """The events that no undo takes back, undos left out."""
    gone = undone(events)
    return [event for event in events if event.kind != "undo" and event.id not in gone]


def undone(events: Sequence[Event]) -> set[int]:
    """The numbers of the events that an undo takes back which is not taken back itself."""
    gone: set[int] = set()
    for event in reversed(events):
        if event.kind == "undo" and event.id not in gone:
            gone.add(int(event.body["event"]))
    return gone


def attached(body: Mapping[str, Any]) -> dict[str, str]:
    """What is attached to an event: kind -> SHA-256; a ValueError where the body does not say it as nodewise does."""
    parts = body.get("attached", {})
    if not _is_attached(parts):
        raise ValueError(f"what is attached is given as {str(parts)[:40]!r}")
    return dict(parts)


def check_event(event: Event, nodes: int, several: bool = False) -> str:
    """What is wrong with an event that nodewise would not have written; empty where nothing is.

    Args:
        event: from a file that may come from anywhere.
        nodes: how many nodes the graph has when it happens.
        several: whether a node may have several classes.
    """
    if event.kind not in KINDS:
        return f"it is of the kind {event.kind[:40]!r}, which this version does not know"

    def is_node(value: object) -> bool:
        return _is_int(value, 0, nodes - 1)

    def is_nodes(value: object) -> bool:
        return _is_list(value, is_node)

    some: dict[str, Callable[[Any], bool]] = {"nodes": is_nodes} if "nodes" in event.body else {}
    is_label: Callable[[Any], bool] = _is_names if several else _is_name
    is_class: Callable[[Any], bool] = _is_classes if several else _is_class
    telling = {"node": is_node, "label": is_label, **({"class": is_class} if several else {})}

    listing: dict[str, Callable[[Any], bool]] = {
        "nodes": is_nodes,
        "labels": lambda value: _is_list(value, is_label),
        "classes": lambda value: _is_list(value, is_class),
    }
    checks: dict[str, dict[str, Callable[[Any], bool]]] = {
        "ask": {"node": is_node},
        "tell": telling,
        "bulk": listing,
        "skip": some or {"node": is_node},
        "settle": {"node": is_node, "label": is_label, "class": is_class},
        "class": {"name": _is_name},
        "rename": {"class": _is_class, "name": _is_name},
        "merge": {"class": _is_class, "into": _is_class},
        "describe": {"class": lambda value: value is None or _is_class(value), "text": _is_text},
        "order": {"classes": lambda value: _is_list(value, _is_class)},
        "note": {**(some or {"node": is_node}), "text": _is_text},
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
            "nodes": is_nodes,
            "labels": lambda value: _is_list(value, _is_name),
            "classes": lambda value: _is_list(value, _is_class),
            "annotators": lambda value: _is_list(value, _is_name),
            "times": lambda value: _is_list(value, _is_number),
            "bulk": lambda value: _is_list(value, lambda each: isinstance(each, bool)),
        },
        "change": {
            "nodes": lambda value: is_nodes(value) and 0 < len(value) == len(set(value)),
            "attached": lambda value: _is_attached(value) and set(value) == {"rows"},
        },
        "remove": {"nodes": is_nodes},
        "erase": {"nodes": is_nodes},
        "erased": {"was": _is_name},
        "known": listing,
        "release": {"annotator": _is_name, **some},
        "undo": {"event": lambda value: _is_int(value, 1, event.id - 1)},
    }
    wrong = [key for key, holds in checks[event.kind].items() if key not in event.body or not holds(event.body[key])]
    wrong += [
        key
        for key, holds in _OPTIONAL.items()
        if key in event.body and key not in checks[event.kind] and not holds(event.body[key])
    ]
    wrong += [key for key in _OF_SOME_KINDS if key in event.body and key not in checks[event.kind]]
    listed = event.kind in ("bulk", "known")
    if listed and not wrong and len({len(event.body[key]) for key in ("nodes", "labels", "classes")}) > 1:
        wrong.append("nodes")
    if several and event.kind in ("join", "suggest"):
        wrong.append("kind")
    if several and not wrong and event.kind in ("tell", "settle", "bulk", "known") and not _same_lengths(event):
        wrong.append("labels" if listed else "label")
    if event.kind == "join" and not wrong and len({len(event.body[key]) for key in _JOINED}) > 1:
        wrong.append("nodes")
    if event.kind == "suggest" and not wrong and len(event.body["labels"]) != len(event.body["classes"]):
        wrong.append("labels")
    return f"its {wrong[0]} is {str(event.body.get(wrong[0]))[:40]!r}" if wrong else ""


def _is_text(value: object) -> bool:
    """Whether something is a text of a bearable length."""
    return isinstance(value, str) and len(value) <= _LONGEST_TEXT


def valid_person(name: object, who: str = "an annotator") -> str:
    """The name of an annotator, or of a model, without blanks at its ends: 1 to 200 printable characters.

    Raises:
        InputError: it is no text, empty, longer, or holds what cannot be seen.
    """
    if not isinstance(name, str):
        raise WrongTypeError(f"{who} is named by a text, got {name!r:.40}: give a name such as 'ada'")
    if not (text := name.strip()) or len(text) > _LONGEST_NAME or not text.isprintable():
        raise InputError(f"{who} needs a name of 1 to {_LONGEST_NAME} printable characters, got {text[:40]!r}")
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
        wrong = f"a note or a guideline must be text in UTF-8, got {text[:40]!r}: it holds bytes of another encoding"
        raise InputError(f"{wrong}; save or type it as UTF-8") from None
    return text.strip()


def probable_typo(label: str, classes: Sequence[str]) -> UnknownNameError | None:
    """The error for a label that looks like a known class misspelt; None where it looks like a class of its own.

    Names that differ in their numbers or single letters, such as ``year 1`` and ``year 2`` or ``group a`` and
    ``group b``, are classes of their own.
    """
    folded = {name.casefold(): name for name in classes}
    near = [folded[name] for name in difflib.get_close_matches(label.casefold(), folded, n=3, cutoff=0.75)]
    near = [name for name in near if _counted(name) == _counted(label)]
    if not near:
        return None
    return UnknownNameError("class", label, near, "If it is a new class, say so: --new-class, or new_class=True.")


def _counted(name: str) -> list[str]:
    """The numbers and single letters in a name, by which people count their classes."""
    return re.findall(r"\d+|\b[^\W\d_]\b", name.casefold())


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


def _is_names(value: object) -> bool:
    return _is_list(value, _is_name)


def _is_classes(value: object) -> bool:
    return _is_list(value, _is_class) and isinstance(value, list) and len(set(value)) == len(value)


def _same_lengths(event: Event) -> bool:
    """Whether each set of classes has as many names as numbers."""
    if event.kind in ("bulk", "known"):
        pairs = zip(event.body["labels"], event.body["classes"], strict=True)
        return all(len(names) == len(numbers) for names, numbers in pairs)
    return len(event.body["label"]) == len(event.body["class"])


def _same_number(value: Mapping[str, Any]) -> bool:
    return _is_list(value.get("classes"), _is_class) and len(value["classes"]) == len(value["labels"])


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
    "erased": lambda value: isinstance(value, dict) and _is_names(value.get("labels")) and _same_number(value),
    "class": _is_class,
    **dict.fromkeys(("control", "counts", "overrule", "unlike"), lambda value: value is True),
    "audit": lambda value: isinstance(value, bool),
    "column": _is_name,
    "percent": lambda value: _is_int(value, 0, MOST_CONTROL),
    "why": lambda value: _is_list(value, _is_text),
    "rank": lambda value: _is_int(value, 0, 2**53),
    "candidates": lambda value: _is_int(value, 0, 2**53),
    "unnamed": lambda value: _is_int(value, 0, 2**53),
    "score": lambda value: value is None or _is_number(value),
    "features": lambda value: isinstance(value, dict) and all(map(_is_number, value.values())),
    "predicted": _is_predicted,
    "given": _is_names,
    "columns": lambda value: _is_list(value, _is_text),
}
"""What an event may say beside what it must."""

_OF_SOME_KINDS = ("node", "nodes", "into", "text", "budget", "redundancy", "count")
"""What an event says only if its kind must."""
