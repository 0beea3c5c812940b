"""The list of jobs: what each session's file says of itself, without its graph being read.

Copies of them, and the archive.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from nodewise.ground.errors import NodewiseError
from nodewise.session.answers import check_event
from nodewise.session.log.contents import check_added
from nodewise.session.log.database import damaged
from nodewise.session.log.log import Log
from nodewise.session.meaning.history import read_history
from nodewise.session.settings import SessionSettings
from nodewise.studio.settings import ENDING
from nodewise.studio.work.errors import ConflictError

__all__ = ["ARCHIVE", "BESIDE", "JobList", "check_free", "move_job"]

ARCHIVE = "archive"
"""The folder beside the sessions that archived ones lie in."""

BESIDE = ("", ".graph.npz")
"""What belongs to a session: its file, and a graph that is too large to lie in it."""
_ANY_NODE = 2**40
"""A number of nodes that no graph has."""


class JobList:
    """What there is to tell of sessions that nobody needs to open for it; a file that has not changed is read once.

    Args:
        folder: where the sessions lie.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[Path, tuple[tuple[int, int], dict[str, Any], int]] = {}

    def describe(self, names: list[str], owner: bool = True) -> list[dict[str, Any]]:
        """Each session: rows, labels of the budget, when it last changed, strategy, classifier, bytes.

        What is wrong where it cannot be read. To others than the owner each answer of a row whose answer is known
        counts as a label, so that the number does not tell them such a row by not rising.
        """
        return [self._describe(self._folder / f"{name}{ENDING}", name, owner) for name in names]

    def archived(self, owner: bool = True) -> list[dict[str, Any]]:
        """The same of those in the archive."""
        files = sorted((self._folder / ARCHIVE).glob(f"*{ENDING}"))
        return [
            self._describe(path, path.name.removesuffix(ENDING), owner)
            for path in files
            if path.is_file() and not path.name.startswith(".")
        ]

    def _describe(self, path: Path, name: str, owner: bool) -> dict[str, Any]:
        try:
            facts = path.stat()
        except OSError:
            return {**_NOTHING, "name": name, "problem": "its file is not there any more"}
        state = facts.st_mtime_ns, facts.st_size
        if path not in self._read or self._read[path][0] != state:
            summary, uncounted = _summary(path)
            summary = {**_NOTHING, "name": name, "bytes": facts.st_size, "changed": facts.st_mtime, **summary}
            self._read[path] = state, summary, uncounted
        _, summary, uncounted = self._read[path]
        return summary if owner else {**summary, "labels": summary["labels"] + uncounted}


_NOTHING: dict[str, Any] = {
    "name": "",
    "rows": None,
    "labels": 0,
    "budget": None,
    "classes": 0,
    "changed": None,
    "strategy": None,
    "classifier": None,
    "bytes": 0,
    "problem": None,
}


def _summary(path: Path) -> tuple[dict[str, Any], int]:
    """What the log says; and how many answers one by one there are of rows whose answers are known.

    Labels are those that spend the budget: neither in bulk nor of the audit.
    """
    try:
        with Log.open(path) as log:
            settings = SessionSettings.from_dict(log.settings.get("settings", {}))
            stored = log.settings.get("graph")
            rows = stored.get("nodes") if isinstance(stored, dict) else None
            added = _check_events(log, rows if isinstance(rows, int) else None, settings.several)
            history = read_history(log.events, settings.classes)
            audit = {query.node for query in history.asked if query.body.get("audit")}
            known = history.known.answers
            of_known = [history.ballots[node] for node in known.keys() & history.ballots.keys() - history.gone]
            summary = {
                "rows": rows + added - len(history.gone) if isinstance(rows, int) else None,
                "labels": len(set(history.numbers) - history.bulk - audit - history.gone - set(known)),
                "budget": history.budget or settings.budget,
                "classes": len(history.classes),
                "strategy": settings.policy or settings.strategy,
                "classifier": settings.classifier,
                **({"changed": log.events[-1].at} if log.events else {}),
            }
            answered = sum(not vote.bulk for ballot in of_known for vote in ballot.values())
            earlier = sum(
                who not in history.ballots.get(node, {})
                for node, one in history.known.opened.items()
                for who in one.earlier
                if node not in history.gone
            )
            return summary, answered + earlier
    except NodewiseError as error:
        return {"problem": " ".join(str(error).split())}, 0


def _check_events(log: Log, nodes: int | None, several: bool) -> int:
    """How many rows the events add; refuses those that nodewise would not have written, as opening the session does.

    Args:
        log: the open file.
        nodes: how many nodes there were at first; None where the file does not say it.
        several: whether a node may have several classes.
    """
    added = 0
    for event in log.events:
        first = event.body.get("first")
        if nodes is None and event.kind == "rows" and isinstance(first, int):
            nodes = first
        if wrong := check_event(event, _ANY_NODE if nodes is None else nodes + added, several):
            raise damaged(log.path, f"event {event.id} is not one that nodewise writes: {wrong}")
        added += int(event.body["count"]) if event.kind == "rows" else 0
    check_added(log, added)
    return added


def check_free(target: Path) -> None:
    """Refuse to move a session to where something lies.

    Raises:
        ConflictError: something lies there.
    """
    for ending in BESIDE:
        if target.with_name(target.name + ending).exists():
            raise ConflictError(
                f"there is a file {target.name + ending!r} in {target.parent.name!r} already: rename one of the two"
                " first"
            )


def move_job(source: Path, target: Path) -> None:
    """Move a session's file, with a graph that lies beside it, to where nothing lies yet.

    Raises:
        ConflictError: something lies there.
    """
    check_free(target)
    for ending in reversed(BESIDE):
        beside = source.with_name(source.name + ending)
        if beside.exists():
            shutil.move(beside, target.with_name(target.name + ending))
