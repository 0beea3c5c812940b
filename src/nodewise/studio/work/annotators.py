"""What annotators may change, where the owner has another token: their own answers, in the classes that there are.

Nothing that the owner has decided. Everything here runs in the worker's thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nodewise.graph.checks import class_name
from nodewise.session.answers import probable_typo, valid_person
from nodewise.session.meaning.changes import undoable
from nodewise.studio.work.errors import ForbiddenError, TypoError

if TYPE_CHECKING:
    from nodewise.session import Session

__all__ = ["check_answers", "check_undo"]

_OWN = frozenset({"tell", "bulk", "skip", "note"})
"""The changes that annotators make, and so may take back."""


def check_answers(session: Session, annotator: str, labels: Sequence[tuple[int, str]], overrule: bool) -> None:
    """Refuse answers that an annotator may not give.

    Raises:
        TypoError: a label looks like a misspelt class.
        ForbiddenError: a label is no class of the session, or the answers would decide against others.
    """
    if overrule:
        raise ForbiddenError(
            "annotators overrule nobody: tell your label without it, or ask the session's owner to decide"
        )
    known = session.class_list
    for label in dict.fromkeys(class_name(label) for _, label in labels):
        if known.find(label) is None:
            if typo := probable_typo(label, session.classes):
                raise TypoError(label, typo.suggestions)
            raise ForbiddenError(
                f"{label!r} is no class of this session, and annotators add none: choose another, or ask its owner"
            )
    history, who = session.refresh(), valid_person(annotator)
    for node, label in labels:
        if history.overruled.get(node) == who and history.labels.get(node) != class_name(label):
            raise ForbiddenError(
                f"node {session.name_of(node)!r} was decided by overruling others: only the owner changes that"
            )


def check_undo(session: Session, annotator: str | None, event: int | None) -> int:
    """The number of what an annotator's undo would take back.

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
    if source.kind not in _OWN:
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
