"""What is known of a job at one moment, its rules, and who is to be asked what: read off its file alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nodewise.session.log.contents import Contents
from nodewise.session.meaning.history import History, Label, OpenQuery, TrainingLabels

__all__ = ["Moment", "Plan", "Rules", "plan_queries"]

_CLOCK_SKEW = 300.0
"""Seconds by which the clocks of two machines may differ."""


@dataclass(frozen=True)
class Rules:
    """What a session has settled on.

    Attributes:
        budget: nodes to be labelled.
        redundancy: votes that each node should have.
        release_after: seconds for which a query keeps others from being asked the same.
        audit: the nodes of the audit, in the order drawn.
        given: the nodes that were labelled before.
        gone: the nodes that were taken out.
    """

    budget: int
    redundancy: int
    release_after: float
    audit: tuple[int, ...]
    given: frozenset[int]
    gone: frozenset[int] = frozenset()

    @classmethod
    def of(cls, contents: Contents, history: History) -> Rules:
        """The rules as they were last set."""
        settings = contents.settings
        budget, redundancy = history.budget or settings.budget, history.redundancy or settings.redundancy
        audit, given, gone = contents.audit, frozenset(contents.given), history.gone
        if gone:
            audit, given = tuple(node for node in audit if node not in gone), given - gone
        return cls(budget, redundancy, settings.release_after, audit, given, gone)

    def trained(self, history: History) -> dict[int, int]:
        """The classes that train the classifier, by number, in order.

        Told, one by one or in bulk, not given before, not the audit's.
        """
        kept = self.given.union(self.audit, self.gone)
        return {node: number for node, number in history.numbers.items() if node not in kept}

    def told(self, history: History) -> dict[int, int]:
        """The classes that spend the budget, by number, in order.

        Those that train, less what was told in bulk alone.
        """
        return {node: number for node, number in self.trained(history).items() if node not in history.bulk}

    def audited(self, history: History) -> dict[int, int]:
        """The classes of the audit so far, by number; what was told in bulk alone is no answer to a question."""
        return {
            node: history.numbers[node] for node in self.audit if node in history.numbers and node not in history.bulk
        }

    def done(self, history: History, left: Collection[int]) -> bool:
        """Whether there is nothing more to ask.

        The budget is spent, or every node is labelled or skipped by somebody; the audit is complete in the same sense;
        and every node that was told one by one has been seen by as many as it should be.

        Args:
            history: what the log means.
            left: the nodes that may be asked and have no label yet.
        """
        skipped = Counter(node for nodes in history.skipped.values() for node in nodes)
        audited = self.audited(history)
        if any(node not in audited and node not in skipped for node in self.audit):
            return False
        if len(self.told(history)) < self.budget and any(
            node not in skipped and node not in self.audit for node in left
        ):
            return False
        exempt = self.given | history.bulk | set(history.overruled) | set(history.settled) | self.gone
        return all(
            len(votes) + skipped[node] >= self.redundancy
            for node, votes in history.ballots.items()
            if node not in exempt
        )

    def is_reserved(self, query: OpenQuery, now: float) -> bool:
        """Whether an open query keeps others from being asked the same.

        One from the future was asked before a clock was set back: it does not.
        """
        return -_CLOCK_SKEW <= now - query.at <= self.release_after


@dataclass(frozen=True, eq=False)
class Moment:
    """What is known of a job at one moment: whoever works on it gets this and not the session.

    Attributes:
        contents: what the file holds beside the events.
        history: what the events mean.
        rules: budget, redundancy and audit as they are now.
        now: the time, in seconds since 1970.
    """

    contents: Contents
    history: History
    rules: Rules
    now: float

    @classmethod
    def at(cls, contents: Contents, history: History, now: float) -> Moment:
        """What a history means at a time, under the rules that it has set."""
        return cls(contents, history, Rules.of(contents, history), now)

    @cached_property
    def labels(self) -> dict[int, str]:
        """node -> label that counts: the majority's where somebody has told it, else the one given with the graph."""
        name = self.history.classes.name
        given = {first: name(number) for number, first in enumerate(self.contents.first_classes, 1)}
        labels = {**{node: given[first] for node, first in self.contents.given.items()}, **self.history.labels}
        return {node: label for node, label in labels.items() if node not in self.rules.gone}

    @property
    def rows(self) -> list[int]:
        """The nodes that are in the job: all but those that were taken out."""
        return [node for node in range(self.contents.graph.num_nodes) if node not in self.rules.gone]

    @property
    def audit_labels(self) -> dict[int, str]:
        """The audit's labels so far: node -> label."""
        return {node: self.history.labels[node] for node in self.rules.audited(self.history)}

    @property
    def done(self) -> bool:
        """Whether there is nothing left to ask; see `Rules.done`."""
        free = self.contents.free.copy()
        free[list(self.history.numbers)] = False
        return self.rules.done(self.history, np.flatnonzero(free).tolist())

    def training_labels(self) -> TrainingLabels:
        """The labels told, in order, and those given with the graph as they stand now."""
        history, classes = self.history, self.history.classes
        told = tuple(Label(node, classes.key(number)) for node, number in self.rules.trained(history).items())
        starting = {name: number for number, name in enumerate(self.contents.first_classes, 1)}
        given = tuple(
            Label(node, classes.key(history.numbers.get(node, starting[name])))
            for node, name in self.contents.given.items()
            if node not in self.rules.gone
        )
        return TrainingLabels(told, given)


@dataclass(frozen=True)
class Plan:
    """What to give an annotator.

    Attributes:
        open: queries that they have already, to be given again.
        second: nodes that need their opinion beside others'.
        audit: nodes of the audit.
        fresh: how many nodes the strategy is to choose, at most.
        out: nodes that are with annotators now and not to be asked of this one.
        lack: why there are fewer than asked for.
        reserve: further nodes of the audit, for when there are not as many fresh ones.
    """

    open: Sequence[OpenQuery]
    second: Sequence[int]
    audit: Sequence[int]
    fresh: int
    out: frozenset[int]
    lack: str = ""
    reserve: Sequence[int] = ()


def plan_queries(history: History, rules: Rules, who: str, count: int, now: float) -> Plan:
    """Fill up to ``count`` queries.

    First what the annotator has, then second opinions, then the audit where it is due, then fresh nodes.
    """
    waiting = history.open_queries(rules.redundancy)
    live: dict[int, set[str]] = {}
    for query in waiting:
        if query.annotator != who and rules.is_reserved(query, now):
            live.setdefault(query.node, set()).add(query.annotator)

    audit_nodes = frozenset(rules.audit)

    def ballot(node: int) -> Collection[str]:
        votes = history.ballots.get(node, {})
        return [voter for voter, vote in votes.items() if not vote.bulk] if node in audit_nodes else votes

    def room(node: int) -> bool:
        return (
            node not in history.overruled
            and node not in history.settled
            and len(ballot(node)) + len(live.get(node, ())) < rules.redundancy
        )

    def answered(node: int) -> bool:
        return who in ballot(node) or node in history.skipped.get(who, ())

    mine = [query for query in waiting if query.annotator == who and room(query.node)]
    have = {query.node for query in mine}
    second = []
    if rules.redundancy > 1:
        seen = {**dict.fromkeys(history.ballots), **dict.fromkeys(live)}
        exempt = have | rules.given | history.bulk | rules.gone
        second = [node for node in seen if node not in exempt and room(node) and not answered(node)]
    second = second[: max(0, count - len(mine))]
    need = count - len(mine) - len(second)
    audit, fresh, reserve = _new(history, rules, {*have, *second, *live}, answered, need)
    out = frozenset(node for node in live if not room(node)) | have | set(second)
    lack = "" if len(audit) + fresh >= need else _lack(history, rules, live)
    return Plan(mine[:count], second, audit, fresh, out, lack, reserve)


def _new(history: History, rules: Rules, busy: set[int], answered, need: int) -> tuple[list[int], int, list[int]]:  # type: ignore[no-untyped-def]
    """Audit nodes, how many fresh ones, and audit nodes that are left.

    The audit keeps pace with the budget, one ahead after the first label.
    """
    told = len(rules.told(history))
    audited = rules.audited(history)
    audit_left = [node for node in rules.audit if node not in audited and node not in busy and not answered(node)]
    started = sum(1 for node in rules.audit if node in audited or node in busy)
    spent = told + sum(1 for node in busy if node not in history.numbers and node not in rules.audit)
    audit: list[int] = []
    fresh = 0
    while len(audit) + fresh < need:
        due = -(-len(rules.audit) * min(told + fresh, rules.budget) // rules.budget)
        room = spent + fresh < rules.budget
        if audit_left and (started + len(audit) < due or not room):
            audit.append(audit_left.pop(0))
        elif room:
            fresh += 1
        else:
            break
    return audit, fresh, audit_left


def _lack(history: History, rules: Rules, live: Mapping[int, set[str]]) -> str:
    told = len(rules.told(history))
    if told >= rules.budget and not live:
        return f"the budget of {rules.budget} labels is spent: predict and export, or raise the budget to go on"
    people = sorted({who for names in live.values() for who in names})
    if people:
        return (
            f"the last queries of the budget of {rules.budget} are out with {', '.join(people)}: wait for their"
            " answers, or raise the budget"
        )
    return "what is left waits for another annotator's opinion"
