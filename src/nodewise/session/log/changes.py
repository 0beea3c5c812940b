"""Changes to the classes, and what is taken back, as events: each checks that what comes of it makes sense."""

from __future__ import annotations

from collections.abc import Sequence

from nodewise.graph.checks import class_name
from nodewise.ground.errors import InputError, SessionError, UnknownNameError
from nodewise.session.asking.query import probable_typo, valid_text
from nodewise.session.log.form import Draft, Event
from nodewise.session.log.history import History, read_history, undone

__all__ = ["check_undo", "declare", "describe", "known_number", "merge", "order", "rename", "undoable"]


def declare(who: str, name: str, new_class: bool, history: History) -> list[Draft]:
    """A class that nobody has used yet.

    One that looks like a known class misspelt only where that is said to be meant.
    """
    text = class_name(name)
    classes = history.classes
    if classes.is_told(text):
        raise InputError(f"there is a class {text!r} already: use it, or give another name")
    if not new_class and (typo := probable_typo(text, [each.name for each in classes])):
        raise typo
    return [Draft("class", who, {"name": text, "class": classes.former_number(text) or classes.next_number})]


def rename(who: str, name: str, new_name: str, history: History) -> list[Draft]:
    """Another name for a class."""
    number, text = known_number(history, name), class_name(new_name)
    if history.classes.is_told(text):
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
        raise InputError(f"the order must be a list of classes, got the text {names!r}: give [{names!r}, …]")
    numbers = [known_number(history, name) for name in names]
    if len(set(numbers)) < len(numbers):
        raise InputError(f"the order names a class twice: {list(names)}")
    return [Draft("order", who, {"classes": numbers})]


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
        raise InputError(f"there is no event {number!r} to undo: the log holds 1 to {len(events)}")
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
