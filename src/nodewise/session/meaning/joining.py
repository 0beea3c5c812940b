"""Two jobs of the same rows become one: what the labels of the other are here, with who gave them and when."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nodewise.graph import Graph
from nodewise.ground.errors import InputError
from nodewise.session.answers import Draft, Event, attached, closed_list, effective
from nodewise.session.meaning.history import History, Vote, extend_history

__all__ = ["OtherJob", "additions", "check_same_rows", "draft_join", "foresee_join"]


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
    says something else there, the later answer counts. Answers to questions whose answers the owner knows are no
    labels there, and none here; what the owner knows is one where it counts.

    Args:
        who: who joins them.
        other: the job.
        events: the log here.
        audit: the nodes of the audit here: what another job says of them is no answer to its questions, and counts as
            labelled in bulk.
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
        if node in there.known.counting:
            answer = there.known.counting[node]
            ballot = {answer.by: Vote(answer.number, bulk=True)}
        elif node in there.known.answers:
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


def foresee_join(
    draft: Draft, events: Sequence[Event], history: History, name_of: Callable[[int], str]
) -> dict[str, Any]:
    """What a join that is not written yet brings: labels, people, classes that are new, and where people disagree then.

    Args:
        draft: as `draft_join` made it.
        events: the log here.
        history: what it means.
        name_of: what a node is called.
    """
    event = Event(history.last + 1, 0.0, draft.annotator, draft.kind, draft.body)
    after = extend_history(history, [*events, event])
    return {
        "labels": len(draft.body["nodes"]),
        "people": sorted(set(draft.body["annotators"])),
        "new": [each.name for each in after.classes if each.number not in history.classes.numbers],
        "conflicts": [
            {"node": node, "name": name_of(node), "votes": votes}
            for node, votes in after.disagreements.items()
            if history.disagreements.get(node) != votes
        ],
    }


def additions(events: Sequence[Event]) -> list[str]:
    """The rows that a log has added, in order, those that were taken back among them: each addition by its digest."""
    return [attached(event.body)["rows"] for event in events if event.kind == "rows"]


def check_same_rows(path: Path, here: Graph, there: Graph, added: Sequence[str], added_there: Sequence[str]) -> None:
    """Refuse to join a job whose rows are others.

    Args:
        path: its file.
        here: what this job was begun with; there: what that one was begun with.
        added: what was added here since; added_there: the same of the other job.

    Raises:
        InputError: they were begun with different rows, or rows were added there that are not here.
    """
    if here.fingerprint != there.fingerprint or here.node_names != there.node_names:
        raise InputError(
            f"the rows of {str(path)!r} are not those of this job: two jobs that were begun with the same graph can be"
            " joined"
        )
    if list(added_there) != list(added[: len(added_there)]):
        raise InputError(
            f"rows were added to {str(path)!r} that are not here, or in another order: add the same rows here first"
        )


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
