"""What the owner of a job does for the people in it, as events: rows are given to somebody and freed again, and known
answers show how right people are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nodewise.ground.errors import InputError
from nodewise.session.answers import Draft
from nodewise.session.meaning.changes import Answers, check_percent
from nodewise.session.meaning.given import is_said, read_given
from nodewise.session.meaning.rules import Moment

__all__ = ["Known", "Release", "assign", "may_be_given"]


def may_be_given(moment: Moment, who: str, nodes: Sequence[int]) -> list[int]:
    """Of these nodes those that can be given to an annotator: they have not said anything of it, an opinion is wanted,
    and nobody else has been given it.
    """
    history, rules = moment.history, moment.rules
    waiting = history.open_queries(rules.redundancy)
    have = {query.node for query in waiting if query.annotator == who}
    live = Counter(query.node for query in waiting if query.annotator != who and rules.is_reserved(query, moment.now))
    decided = set(history.settled) | set(history.overruled) | have | rules.gone | rules.given | rules.known
    skipped = history.skipped.get(who, frozenset())

    def is_free(node: int) -> bool:
        ballot = history.ballots.get(node, {})
        return (
            node not in decided
            and node not in skipped
            and who not in history.said_of(node)
            and len(ballot) + live[node] < rules.redundancy
        )

    return [node for node in dict.fromkeys(nodes) if is_free(node)]


def assign(giver: str, who: str, nodes: Sequence[int], most: int | None, moment: Moment) -> list[Draft]:
    """Rows that somebody gives to an annotator, as questions: those that can be given, ``most`` of them at most."""
    why = [f"{giver} has given it to you"]
    given = may_be_given(moment, who, nodes)[:most]
    return [Draft("ask", who, {"node": node, "audit": node in moment.rules.audit, "why": why}) for node in given]


@dataclass
class Release:
    """That questions which an annotator has not answered are free again.

    Attributes:
        by: who says so. who: whose questions.
        among: those about these nodes; None: all of them.
        count: how many were freed by what was drafted last.
    """

    by: str
    who: str
    among: Collection[int] | None = None
    count: int = 0

    def draft(self, moment: Moment) -> list[Draft]:
        """The same as one event; none where there is nothing to free."""
        waiting = moment.history.open_queries(moment.rules.redundancy)
        among = None if self.among is None else set(self.among)
        nodes = [q.node for q in waiting if q.annotator == self.who and (among is None or q.node in among)]
        self.count = len(nodes)
        about: dict[str, Any] = {"annotator": self.who} if among is None else {"annotator": self.who, "nodes": nodes}
        return [Draft("release", self.by, about)] if nodes else []


@dataclass(frozen=True)
class Known:
    """Rows whose answers somebody knows, as they are to be written.

    Attributes:
        said: node -> its label.
        beside: what else the event says: how often these rows are asked, whether they count, their column.
    """

    said: Mapping[int, object]
    beside: Mapping[str, Any]

    @classmethod
    def read(cls, moment: Moment, answers: Any, percent: int | None, counts: bool) -> Known:
        """What is known, from whatever holds it: as for `Session.set_known`, as are its arguments.

        Raises:
            InputError: no row that could be asked is among them, or the share of questions is none.
        """
        if percent is not None:
            check_percent(percent)
        contents, rules = moment.contents, moment.rules
        given = read_given(contents.graph, answers)
        said = {node: label for node, label in zip(given.nodes, given.labels, strict=True) if is_said(label)}
        column = answers if isinstance(answers, str) and answers in contents.graph.attributes else None
        if column is not None:  # those of its rows that can be asked
            taken = {*rules.audit, *rules.given, *rules.gone, *moment.history.ballots}
            said = {node: label for node, label in said.items() if node not in taken}
        if not said and (percent is None or len(given.nodes)):
            raise InputError("no answer is known of a row that could be asked: give at least one, node -> label")
        beside = {"percent": percent, "counts": counts or None, "column": column}
        return cls(said, {key: value for key, value in beside.items() if value is not None})

    def draft(self, who: str, moment: Moment) -> list[Draft]:
        """The same as one event.

        Raises:
            InputError: a row has a label already or is drawn for the audit, or a label is none of the classes.
        """
        body: dict[str, Any] = {"nodes": [], "labels": [], "classes": []}
        if self.said:
            known = Answers.check(moment.contents, list(self.said), list(self.said.values()), who, False, False, False)
            body = replace(known, closed=True).as_known(moment.history, moment.rules.audit, moment.rules.given)
        return [Draft("known", who, {**body, **self.beside})]
