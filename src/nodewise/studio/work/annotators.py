"""What others than the owner may change: annotators their own answers, reviewers what they settled, in the classes that
there are.

Nothing that the owner has decided. Everything here runs in the worker's thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nodewise.graph.checks import class_name
from nodewise.session.answers import probable_typo, valid_person
from nodewise.session.meaning.changes import read_set, undoable
from nodewise.studio.work.errors import ForbiddenError, TypoError

if TYPE_CHECKING:
    from nodewise.session import Session

__all__ = ["check_answers", "check_claimed_name", "check_classes", "check_undo"]

_OWN = {"annotator": frozenset({"tell", "bulk", "skip", "note"}), "reviewer": frozenset({"settle", "note"})}
"""The changes that annotators and reviewers make, and so may take back."""


def check_claimed_name(session: Session, name: str) -> None:
    """Refuse a name, said with a token that is nobody's own, of somebody who has given known answers.

    Under that name these could be read.

    Raises:
        ForbiddenError: it is such a name.
    """
    givers = {answer.by.casefold() for answer in session.refresh().known.answers.values()}
    if name.strip().casefold() in givers:
        raise ForbiddenError(f"{name.strip()!r} is the owner's name in this session: give your own")


def check_answers(
    session: Session, annotator: str, labels: Sequence[tuple[int, str | list[str]]], overrule: bool
) -> None:
    """Refuse answers that an annotator may not give.

    Raises:
        TypoError: a label looks like a misspelt class.
        ForbiddenError: a label is no class of the session, or the answers would decide against others.
    """
    if overrule:
        raise ForbiddenError(
            "annotators overrule nobody: tell your label without it, or ask the session's owner to decide"
        )
    check_classes(session, [label for _, label in labels])
    history, counts, who = session.refresh(), session.label_sets, valid_person(annotator)
    for node, label in labels:
        if history.overruled.get(node) == who and set(counts.get(node, ())) != set(_classes(session, label)):
            raise ForbiddenError(
                f"node {session.name_of(node)!r} was decided by overruling others: only the owner changes that"
            )


def check_classes(session: Session, labels: Sequence[str | list[str]]) -> None:
    """Refuse labels that would be new classes.

    Raises:
        TypoError: a label looks like a misspelt class.
        ForbiddenError: a label is no class of the session.
    """
    known = session.class_list
    for label in dict.fromkeys(name for said in labels for name in _classes(session, said)):
        if known.find(label) is None:
            if typo := probable_typo(label, session.classes):
                raise TypoError(label, typo.suggestions)
            raise ForbiddenError(
                f"{label!r} is no class of this session, and annotators add none: choose another, or ask its owner"
            )


def _classes(session: Session, label: str | list[str]) -> tuple[str, ...]:
    """The classes that a label names: one, or where a node may have several any number."""
    return read_set(label) if session.settings.several else (class_name(label),)


def check_undo(session: Session, annotator: str | None, event: int | None, role: str = "annotator") -> int:
    """The number of what the undo of an annotator or a reviewer would take back.

    Raises:
        ForbiddenError: it is somebody else's, a change that annotators may not make, or an answer on which a decision
            of the owner rests.
    """
    if annotator is None:
        raise ForbiddenError("annotators take back what they did themselves: say who you are (annotator)")
    who, log, history = valid_person(annotator), session.events, session.refresh()
    target = source = undoable(log, history, event, who)
    while source.kind == "undo":
        source = log[int(source.body["event"]) - 1]
    if source.kind not in _OWN[role]:
        raise ForbiddenError(
            f"event {target.id} changed the session itself ({source.kind}): only its owner takes that back"
        )
    for each in (target, source):
        if each.annotator != who:
            raise ForbiddenError(
                f"event {each.id} is by {each.annotator!r}: annotators take back their own alone; ask the owner"
            )
    if source.kind in ("tell", "bulk"):
        for node in source.body["nodes"] if source.kind == "bulk" else [source.body["node"]]:
            if node in history.settled or "overrule" in source.body:
                name = session.name_of(int(node))
                raise ForbiddenError(f"node {name!r} has been decided: only the owner takes back what was said of it")
    return target.id
