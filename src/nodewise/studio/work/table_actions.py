"""What can be done at once with the rows that a filter of the table finds: planned, shown, then done as one change.

Everything here runs in the worker's thread.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nodewise.ground.errors import InputError
from nodewise.session.answers import SEPARATOR, valid_person, valid_text
from nodewise.session.meaning.team import may_be_given
from nodewise.studio.work.errors import ConflictError

if TYPE_CHECKING:
    from nodewise.studio.work.open_session import OpenSession

__all__ = ["Action", "Plan", "Wish", "act", "plan"]

Action = Literal["label", "confirm", "skip", "note", "assign", "remove"]
MOST = 20_000
"""Rows that one action takes; more are said to be left for the next."""
_EXAMPLES = 8


@dataclass(frozen=True)
class Wish:
    """What somebody wants done with rows.

    Attributes:
        action: ``label``: give them a class; ``confirm``: give each the class that is predicted for it.
        annotator: who.
        label: the class, for ``label``. text: the note, for ``note``. to: who gets them, for ``assign``.
        most: rows at most.
    """

    action: Action
    annotator: str
    label: str = ""
    text: str = ""
    to: str = ""
    most: int = MOST


@dataclass(frozen=True)
class Plan:
    """What would be done.

    Attributes:
        nodes: the rows that change.
        labels: the class that each is given, where the action gives one.
        found: how many rows there were.
        left_out: why rows are left alone -> how many.
        replaced: how many of one's own labels are replaced.
    """

    wish: Wish
    nodes: Sequence[int]
    labels: Sequence[str] = ()
    found: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    replaced: int = 0

    @property
    def digest(self) -> str:
        """Tells this plan from every other: what was shown is what is done, or nothing."""
        wish = self.wish
        said = [wish.action, wish.annotator, wish.label, wish.text, wish.to, list(self.nodes), list(self.labels)]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:32]

    def as_dict(self, opened: OpenSession) -> dict[str, Any]:
        """As JSON can hold it, with some of the rows as examples."""
        facts, _ = opened.page.table.facts(self.wish.annotator)
        names = facts.names
        given: Sequence[str | None] = self.labels or [None] * len(self.nodes)
        return {
            "action": self.wish.action,
            "found": self.found,
            "rows": len(self.nodes),
            "classes": dict(Counter(self.labels)),
            "replaced": self.replaced,
            "left_out": [{"why": why, "rows": rows} for why, rows in self.left_out.items()],
            "examples": [
                {
                    "node": node,
                    "name": opened.session.name_of(node),
                    "title": opened.page.caption(node),
                    "before": names[int(facts.label[node])] if facts.label[node] >= 0 else None,
                    "after": label,
                }
                for node, label in list(zip(self.nodes, given, strict=True))[:_EXAMPLES]
            ],
            "digest": self.digest,
        }


def plan(opened: OpenSession, wish: Wish, found: Sequence[int]) -> Plan:
    """What would be done with these rows: with which of them, and why the others are left alone.

    Rows whose answer must not be swayed are left alone: those of the audit that have no answer yet, and those that wait
    for a second opinion. Nobody's label is overruled.

    Raises:
        InputError: something that the action needs is missing.
    """
    session = opened.session
    who = valid_person(wish.annotator)
    facts, _ = opened.page.table.facts(wish.annotator)
    history = facts.history
    left: Counter[str] = Counter()
    rows = np.asarray(found, dtype=np.int64)
    gone = np.isin(rows, list(history.gone))
    left["taken out of the job"] = int(gone.sum())
    rows = rows[~gone]
    taken: list[int] = []
    labels: list[str] = []
    replaced = 0
    if wish.action in ("label", "confirm"):
        open_rows = facts.seen[rows]
        left["to be judged one by one: audit, or a second opinion"] = int((~open_rows).sum())
        rows = rows[open_rows]
    if wish.action == "confirm":
        labelled, unknown = facts.label[rows] >= 0, facts.predicted[rows] < 0
        left["labelled already"] = int(labelled.sum())
        left["without a prediction"] = int((unknown & ~labelled).sum())
        taken = rows[~labelled & ~unknown].tolist()
        names = facts.names
        labels = [names[int(facts.predicted[node])] for node in taken]
    elif wish.action == "label":
        if not wish.label.strip():
            raise InputError("no class is given for these rows: name one (label)")
        alone, several = session.rules().redundancy == 1, session.settings.several

        def is_same(said: str | None) -> bool:
            if said is None or not several:
                return said == wish.label
            return set(said.split(SEPARATOR)) == set(wish.label.split(SEPARATOR))

        for node in rows.tolist():
            votes, own = history.votes.get(node, {}), history.votes.get(node, {}).get(who)
            differing = alone and any(not is_same(said) for other, said in votes.items() if other != who)
            if node in history.settled and not is_same(history.labels[node]):
                left["settled otherwise"] += 1
            elif differing and history.overruled.get(node) != who:
                left["labelled otherwise by somebody else"] += 1
            elif is_same(own):
                left["labelled so already"] += 1
            else:
                replaced += own is not None
                taken.append(node)
        labels = [wish.label] * len(taken)
    elif wish.action == "skip":
        skipped = history.skipped.get(who, frozenset())
        for node in rows.tolist():
            if who in history.votes.get(node, {}):
                left["labelled by you"] += 1
            elif node in skipped:
                left["skipped by you already"] += 1
            else:
                taken.append(node)
    elif wish.action == "note":
        if not valid_text(wish.text):
            raise InputError("the note is empty: write something (text)")
        taken = rows.tolist()
    elif wish.action == "assign":
        to = valid_person(wish.to)
        taken = may_be_given(session.moment(), to, rows.tolist())
        left["with somebody already, or in need of no further opinion"] = len(rows) - len(taken)
    else:
        taken = rows.tolist()
    over = max(0, len(taken) - wish.most)
    left[f"beyond the {wish.most:,} rows of one action"] = over
    keep = len(taken) - over
    return Plan(wish, taken[:keep], labels[:keep], len(found), +left, replaced)


def act(opened: OpenSession, planned: Plan, digest: str) -> dict[str, Any]:
    """Do what was planned, as one change.

    Args:
        opened: the session.
        planned: the plan, made now.
        digest: that of the plan that somebody has seen and agreed to.

    Returns:
        The number of the event that takes it back, None where rows were given to somebody, which `release` takes back;
        and the rows.

    Raises:
        ConflictError: the plan is another one now, or there is nothing to do.
    """
    wish, nodes = planned.wish, list(planned.nodes)
    if digest != planned.digest:
        raise ConflictError("labels or predictions have changed since this was shown: look at it again, then do it")
    if not nodes:
        raise ConflictError("there is no row that this would change: choose others")
    event: int | None = None
    if wish.action in ("label", "confirm"):
        event = opened.tell_bulk(wish.annotator, list(zip(nodes, planned.labels, strict=True)), False, False)
    elif wish.action == "skip":
        event = opened.change(lambda session: session.skip(nodes, wish.annotator))
    elif wish.action == "note":
        event = opened.change(lambda session: session.add_note(nodes, wish.text, wish.annotator))
    elif wish.action == "remove":
        event = opened.change(lambda session: session.remove_rows(nodes, wish.annotator))
    else:
        nodes = opened.change(lambda session: session.assign(nodes, wish.to, wish.annotator))
    return {"event": event, "nodes": nodes}
