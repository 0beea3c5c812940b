"""What people may say, and the events that it becomes: names, texts, labels, skips, notes.

It imports neither torch nor numpy.

What may stand in the log:

    ask        node and all that the query said
    tell       node, label, class [, overrule]      one answer; overrule: it counts whatever others said
    bulk       nodes, labels, classes [, overrule]  many answers given in one go, taken back as one
    skip       node
    settle     node, label, class                   what a disagreement comes to: it counts whatever the votes say,
    until it is settled again
    class      name, class                          a class declared before it is used
    rename     class, name
    merge      class, into                          the labels of one class count as another's
    describe   class or null, text                  a class's guideline, or the whole job's
    order      classes                              the order of the classes on a screen; their numbers stay
    note       node, text
    budget     budget
    redundancy redundancy                           how many are to label each node from now on
    release    annotator                            what they have not answered is free for others
    undo       event

A class is known by its number, which is given once and never again. Events written before there were numbers have the
name alone.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nodewise.ground.errors import InputError, UnknownNameError

__all__ = [
    "CHANGES",
    "FIRST_FORM",
    "KINDS",
    "LAST_CLASS",
    "MOST_OPINIONS",
    "Draft",
    "Event",
    "check_event",
    "needs_second_form",
    "probable_typo",
    "valid_person",
    "valid_text",
]

FIRST_FORM = frozenset({"ask", "tell", "skip", "undo", "class", "budget"})
"""The kinds of the file's first form."""
CHANGES = frozenset(
    {"tell", "bulk", "skip", "settle", "class", "rename", "merge", "describe", "order", "note", "budget", "redundancy"}
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


@dataclass(frozen=True)
class Draft:
    """An event before it is in the log."""

    kind: str
    annotator: str
    body: Mapping[str, Any]


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


def needs_second_form(draft: Draft) -> bool:
    """Whether a nodewise that knows the first form alone would misread the event."""
    return draft.kind not in FIRST_FORM or "overrule" in draft.body


def check_event(event: Event, nodes: int) -> str:
    """What is wrong with an event that nodewise would not have written; empty where nothing is.

    Args:
        event: from a file that may come from anywhere.
        nodes: how many nodes the graph has.
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


_OPTIONAL: dict[str, Callable[[Any], bool]] = {
    "class": _is_class,
    "overrule": lambda value: value is True,
    "audit": lambda value: isinstance(value, bool),
    "why": lambda value: _is_list(value, _is_text),
    "rank": lambda value: _is_int(value, 0, 2**53),
    "candidates": lambda value: _is_int(value, 0, 2**53),
    "score": lambda value: value is None or _is_number(value),
    "features": lambda value: isinstance(value, dict) and all(map(_is_number, value.values())),
    "predicted": _is_predicted,
}
"""What an event may say beside what it must."""
