"""Two jobs of the same rows become one: what the labels of the other are here, with who gave them and when."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nodewise.ground.errors import InputError
from nodewise.session.answers import Draft, Event, closed_list
from nodewise.session.meaning.history import History, effective

__all__ = ["OtherJob", "draft_join"]


@dataclass(frozen=True)
class OtherJob:
    """A job whose labels are taken over.

    Attributes:
        name: of its file.
        history: what its log means.
        events: its log.
        people: annotator there -> who they are here; the others keep their names.
    """

    name: str
    history: History
    events: Sequence[Event]
    people: Mapping[str, str]


def draft_join(
    who: str, other: OtherJob, events: Sequence[Event], audit: Collection[int], closed: bool, history: History
) -> list[Draft]:
    """The labels of another job that this one lacks, as one event.

    Classes are those of the same name. What somebody has said here already is not said again; where the same person
    says something else there, the later answer counts.

    Args:
        who: who joins them.
        other: the job.
        events: the log here.
        audit: the nodes of the audit here: what another job says of them is no answer to its questions, and counts as
            told in bulk.
        closed: whether a label must be one of the classes that there are.
        history: what the log here means.

    Raises:
        InputError: there is nothing that is not here already.
        UnknownNameError: it has a class that a closed list lacks.
    """
    classes, there = history.classes, other.history
    known, added = {each.name: each.number for each in classes}, 0
    here_at, there_at = _times(events), _times(other.events)
    body: dict[str, list[Any]] = {key: [] for key in ("nodes", "labels", "classes", "annotators", "times", "bulk")}
    for node, ballot in there.ballots.items():
        if node in there.gone or node in history.gone:
            continue
        for person, vote in ballot.items():
            label, name = there.classes.name(vote.number), other.people.get(person, person)
            number = known.get(label) or classes.find(label)
            mine = history.ballots.get(node, {}).get(name)
            at = there_at.get((node, person), 0.0)
            if mine is not None and (
                (number is not None and classes.resolve(mine.number) == classes.resolve(number))
                or at <= here_at.get((node, name), 0.0)
            ):
                continue
            if number is None:
                if closed:
                    raise closed_list(label, [each.name for each in classes])
                number = classes.former_number(label)
                if number is None:
                    number, added = classes.next_number + added, added + 1
                known[label] = number
            for key, value in zip(body, (node, label, number, name, at, vote.bulk or node in audit), strict=True):
                body[key].append(value)
    if not body["nodes"]:
        raise InputError(f"the job {other.name!r} has no label that is not here already: nothing was joined")
    return [Draft("join", who, {"from": other.name, **body})]


def _times(events: Sequence[Event]) -> dict[tuple[int, str], float]:
    """When each annotator has last said something of each node."""
    times: dict[tuple[int, str], float] = {}
    for event in effective(events):
        if event.kind == "tell":
            times[int(event.body["node"]), event.annotator] = event.at
        elif event.kind == "bulk":
            times.update({(int(node), event.annotator): event.at for node in event.body["nodes"]})
        elif event.kind == "join":
            given = zip(event.body["nodes"], event.body["annotators"], event.body["times"], strict=True)
            times.update({(int(node), who): at for node, who, at in given})
    return times
