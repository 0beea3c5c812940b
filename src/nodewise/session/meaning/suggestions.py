"""What models say of the nodes: suggestions, kept separate from what people say.

A model is somebody else's: a language model, rules, last year's classifier. What it says comes as an event, the answers
themselves attached to it. Of several events of one model the latest answer on a node counts. Suggestions are nobody's
votes: they spend no budget, and no majority or agreement counts them.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from nodewise.contracts import Classifier, can, refusal
from nodewise.graph.checks import class_labels
from nodewise.graph.io.npz import UNPACKING
from nodewise.ground.errors import InputError
from nodewise.ground.events import count
from nodewise.session.answers import ClassList, Draft, Event, valid_person
from nodewise.session.log.database import damaged
from nodewise.session.log.log import Log
from nodewise.session.meaning.changes import check_undo, refuse_several
from nodewise.session.meaning.given import Given, answer_table, some_answers
from nodewise.session.meaning.history import History
from nodewise.session.settings import SessionSettings

__all__ = [
    "Said",
    "SuggestionReader",
    "Suggestions",
    "check_heard",
    "draft_suggestions",
    "draft_withdrawal",
    "read_suggestions",
    "suggested_columns",
    "swaying_columns",
    "without_nodes",
]

ATTACHED = "suggestions"
"""What the answers are attached to their event as."""
_MOST_FRESH = 1000
"""Classes that a job without any takes over from a model: one that answers in sentences would name thousands."""
_MOST_MODELS = 100
"""Models that a job hears: what each says of all nodes is held in memory."""
_HEAD = 1024
"""Bytes that an array has beside its numbers, at most."""


@dataclass(frozen=True, eq=False)
class Suggestions:
    """What one model says.

    Attributes:
        name: the model's.
        numbers: the number of the class that it names for each node, 0 where it says nothing: int64 [node].
        confidence: how sure it is, from 0 to 1: float32 [node].
        unnamed: answers that named none of the job's classes and were left out.
    """

    name: str
    numbers: npt.NDArray[np.int64]
    confidence: npt.NDArray[np.float32]
    unnamed: int = 0

    def labels(self, classes: ClassList) -> list[str]:
        """What it says of each node, by the names that classes have now, empty where it says nothing."""
        return [classes.name(number) if number else "" for number in self.numbers.tolist()]

    def resolved(self, classes: ClassList) -> npt.NDArray[np.int64]:
        """The numbers with merged classes as those that they count as: int64 [node]."""
        table = {number: classes.resolve(number) for number in np.unique(self.numbers).tolist() if number}
        return np.array([table.get(number, 0) for number in self.numbers.tolist()], np.int64)


class Said(NamedTuple):
    """What models say, as a learner takes it.

    Attributes:
        classes: the keys of the classes that they name.
        table: how sure each is of each of these, float32 [model, node, class].
    """

    classes: tuple[str, ...]
    table: npt.NDArray[np.float32]


def check_heard(settings: SessionSettings, path: Path, classifier: Classifier, name: str) -> None:
    """Refuse what a model says where the job cannot begin with it.

    Args:
        settings: the job's. path: its file. classifier: what learns in it. name: the model's.

    Raises:
        InputError: a node may have several classes, or the classifier cannot begin with what models say.
    """
    refuse_several(settings, path, "suggestions name one class a node")
    if not can(classifier, "own-centre"):
        raise refusal(classifier, "own-centre", f"{name!r} has suggestions")


def draft_suggestions(who: str, name: str, given: Given, history: History) -> list[Draft]:
    """What a model says, as an event.

    An answer that names no class of the job is left out and counted; where the job has no class yet, the model's are
    taken as its classes.

    Args:
        who: who has brought it. name: the model's.
        given: what it says.
        history: what the log means.

    Raises:
        InputError: a confidence is no number from 0 to 1, no answer names a class, or too many would be new.
    """
    named, known = valid_person(name, "a model"), [each.name for each in history.classes]
    if len({named, *(str(event.body["name"]) for event in history.suggested)}) > _MOST_MODELS:
        raise InputError(f"{_MOST_MODELS} models have said something already, and no more can be heard: undo one first")
    spelled, _ = class_labels([None if label == -1 else label for label in given.labels], known)
    sure = np.asarray(given.confidence or np.ones(len(spelled)), np.float32)
    if not np.isfinite(sure).all() or (sure < 0).any() or (sure > 1).any():
        wrong = float(sure[~(np.isfinite(sure) & (sure >= 0) & (sure <= 1))][0])
        raise InputError(f"a confidence must be a number from 0 to 1, got {wrong:g}")
    numbers = {label: history.classes.find(label) for label in dict.fromkeys(spelled) if label}
    if not known:
        former = {label: history.classes.former_number(label) for label in numbers}
        fresh = enumerate((label for label in numbers if former[label] is None), history.classes.next_number)
        numbers = former | {label: number for number, label in fresh}
        if len(numbers) > _MOST_FRESH:
            raise InputError(
                f"the answers of {named!r} name {len(numbers):,} different classes, and the job has none yet: at most"
                f" {_MOST_FRESH:,} are taken over; add the classes first, and other answers are left out"
            )
    used = {label: number for label, number in numbers.items() if number is not None}
    named_in = {given.nodes[index]: index for index, label in enumerate(spelled) if label in used}
    kept = list(named_in.values())  # of a node that is listed twice the later answer
    if not kept:
        raise InputError(
            f"no answer of {named!r} names a class of the job ({', '.join(known) or 'there are none'}), it says"
            f" {some_answers(spelled)}: check the spelling, or add the classes first"
        )
    order = {label: position for position, label in enumerate(used)}
    nodes = np.array([given.nodes[index] for index in kept], np.int32)
    packed = _packed(nodes, np.array([order[spelled[index]] for index in kept], np.int32), sure[kept])
    body = {
        "name": named,
        "labels": list(used),
        "classes": list(used.values()),
        "answers": len(kept),
        "unnamed": sum(bool(label) and label not in used for label in spelled),
        **({"columns": list(given.columns)} if given.columns else {}),
    }
    return [Draft("suggest", who, body, {ATTACHED: packed})]


def without_nodes(log: Log, event: Event, nodes: Collection[int], ever: int) -> tuple[int, bytes]:
    """What a model said in an event, less of some nodes: how many answers are left, and their bytes.

    Args:
        log: the open file. event: of the kind ``suggest``. ever: as for `SuggestionReader`.
    """
    where, which, sure = _unpacked(log, event, ever)
    left = ~np.isin(where, list(nodes))
    return int(left.sum()), _packed(where[left], which[left], sure[left])


def _packed(nodes: npt.NDArray[Any], answers: npt.NDArray[Any], confidence: npt.NDArray[Any]) -> bytes:
    packed = io.BytesIO()
    np.savez_compressed(packed, nodes=nodes, answers=answers, confidence=confidence)
    return packed.getvalue()


def draft_withdrawal(who: str, name: str, log: Sequence[Event], start: Sequence[str], history: History) -> list[Draft]:
    """All that a model has said, taken back.

    Args:
        who: who takes it back. name: the model's.
        log: all events. start: the classes that the job began with.
        history: what the log means.

    Raises:
        InputError: no model of that name has said anything.
        SessionError: two classes would have one name.
    """
    events = [event for event in history.suggested if event.body["name"] == name]
    if not events:
        known = ", ".join(dict.fromkeys(str(event.body["name"]) for event in history.suggested))
        raise InputError(f"no model {name!r} has said anything: those that have are {known or 'none'}")
    drafts = [Draft("undo", who, {"event": event.id}) for event in reversed(events)]
    for draft in drafts:
        check_undo(log, draft, start)
    return drafts


def suggested_columns(history: History) -> frozenset[str]:
    """The columns of the graph that hold what models say, or how sure they are: not for eyes that judge unswayed."""
    return frozenset(str(name) for event in history.suggested for name in event.body.get("columns", ()))


def swaying_columns(history: History) -> frozenset[str]:
    """The columns that hold known answers, or what models say: shown and sent to nobody, since they could sway."""
    return history.known.columns | suggested_columns(history)


class SuggestionReader:
    """What models say in a log, read once for each state of it.

    Args:
        log: the session's. nodes: how many the graph has.
        ever: how many rows have a number, those whose addition was taken back among them; as many by default.
    """

    def __init__(self, log: Log, nodes: int, ever: int | None = None) -> None:
        self._log, self._nodes, self._ever = log, nodes, nodes if ever is None else ever
        self._read: tuple[tuple[int, ...], tuple[Suggestions, ...]] = ((), ())
        self._said: tuple[object, ClassList, Said] | None = None

    def all(self, history: History) -> tuple[Suggestions, ...]:
        """What every model says, in the order of their first events."""
        events = tuple(event.id for event in history.suggested)
        if self._read[0] != events:
            self._read = (events, read_suggestions(self._log, history, self._nodes, self._ever))
        return self._read[1]

    def for_learner(self, history: History) -> Said | None:
        """The same as a learner takes it, by the keys of its classes; None where models say nothing."""
        suggestions, classes = self.all(history), history.classes
        if not suggestions:
            return None
        if self._said is None or self._said[0] is not suggestions or self._said[1] is not classes:
            resolved = [each.resolved(classes) for each in suggestions]
            numbers = sorted({number for each in resolved for number in np.unique(each).tolist() if number})
            table = answer_table(len(suggestions), self._nodes, len(numbers))
            for row, (each, found) in enumerate(zip(suggestions, resolved, strict=True)):
                for column, number in enumerate(numbers):
                    table[row, :, column] = np.where(found == number, each.confidence, 0)
            self._said = (suggestions, classes, Said(tuple(map(classes.key, numbers)), table))
        return self._said[2]

    def labels(self, history: History) -> dict[str, list[str]]:
        """Model -> what it says of each node, by the names that classes have now."""
        return {each.name: each.labels(history.classes) for each in self.all(history)}


def read_suggestions(log: Log, history: History, nodes: int, ever: int | None = None) -> tuple[Suggestions, ...]:
    """What every model says, in the order of their first events; nodes and ever as for `SuggestionReader`.

    Raises:
        SessionFileError: what is attached is not what nodewise writes.
    """
    by_name: dict[str, list[Event]] = {}
    for event in history.suggested:
        by_name.setdefault(str(event.body["name"]), []).append(event)
    if len(by_name) > _MOST_MODELS:
        raise damaged(log.path, f"{len(by_name):,} models have suggestions in it, at most {_MOST_MODELS} can be heard")
    found = []
    for name, events in by_name.items():
        numbers, sure = np.zeros(nodes, np.int64), np.zeros(nodes, np.float32)
        for event in events:
            parts = _unpacked(log, event, nodes if ever is None else ever)
            where, which, confidence = (part[parts[0] < nodes] for part in parts)
            numbers[where], sure[where] = np.asarray(event.body["classes"], np.int64)[which], confidence
        unnamed = sum(int(event.body.get("unnamed", 0)) for event in events)
        found.append(Suggestions(name, numbers, sure, unnamed))
    return tuple(found)


def _unpacked(log: Log, event: Event, nodes: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    try:
        with zipfile.ZipFile(io.BytesIO(log.attachment(event, ATTACHED))) as archive:
            where, which, sure = (
                _array(archive, name, int(event.body["answers"])) for name in ("nodes", "answers", "confidence")
            )
        whole = where.dtype == which.dtype == np.int32 and sure.dtype == np.float32
        whole = whole and where.ndim == 1 and where.shape == which.shape == sure.shape
        whole = whole and (not len(where) or (where.min() >= 0 and where.max() < nodes and which.min() >= 0))
        whole = whole and (not len(which) or which.max() < len(event.body["classes"]))
        if not whole or not np.isfinite(sure).all() or (sure < 0).any() or (sure > 1).any():
            raise ValueError("numbers are out of their range")
    except (*UNPACKING, MemoryError) as error:
        raise damaged(log.path, f"the suggestions of event {event.id} cannot be read: {error}") from error
    return where, which, sure


def _array(archive: zipfile.ZipFile, name: str, answers: int) -> npt.NDArray[Any]:
    """One of the arrays, of as many numbers of four bytes as there are answers; more is not unpacked."""
    member = archive.getinfo(f"{name}.npy")
    if member.file_size > 4 * answers + _HEAD:
        raise ValueError(f"{name} would take {member.file_size:,} bytes for {count(answers, 'answer')}")
    with archive.open(member) as stream:
        held: npt.NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
    return held
