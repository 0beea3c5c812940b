"""What is known of a job at one moment, its rules, and who is to be asked what: read off its file alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from nodewise.ground.compute import derive_seed
from nodewise.session.answers import Answer, ClassList, numbers_of
from nodewise.session.log.contents import Contents
from nodewise.session.meaning.history import History, OpenQuery

__all__ = ["Label", "Moment", "Plan", "Rules", "TrainingLabels", "plan_queries", "standing_classes"]

_CLOCK_SKEW = 300.0
"""Seconds by which the clocks of two machines may differ."""


class Label(NamedTuple):
    """A node and what the classifier knows its class by, or its classes where it may have several: a label that
    counts.
    """

    node: int
    label: str | tuple[str, ...]

    @property
    def classes(self) -> tuple[str, ...]:
        """What the classifier knows its classes by."""
        return self.label if isinstance(self.label, tuple) else (self.label,)


class TrainingLabels(NamedTuple):
    """The labels that train.

    Attributes:
        told: those that people told, in order.
        given: those that were there before, as they stand now.
    """

    told: tuple[Label, ...]
    given: tuple[Label, ...]


def standing_classes(start: tuple[str, ...], classes: ClassList) -> tuple[str, ...]:
    """What the classifier knows the classes of the start by that still count.

    One that was merged counts no more: what its labels count as stands in its place.
    """
    if not classes.merged:
        return start
    numbers = {key: classes.number_of_key(key) for key in start}
    now = {key: key if number is None else classes.key(number) for key, number in numbers.items()}
    return tuple(dict.fromkeys([*(key for key, other in now.items() if key == other), *now.values()]))


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
        known: the nodes whose answers the owner knows; like the audit's they train nothing.
        control: how many of a hundred questions are about these.
        seed: what chooses among them.
        look_every: every how many questions one looks for a class that nobody has named; 0: never.
    """

    budget: int
    redundancy: int
    release_after: float
    audit: tuple[int, ...]
    given: frozenset[int]
    gone: frozenset[int] = frozenset()
    known: frozenset[int] = frozenset()
    control: int = 0
    seed: int = 0
    look_every: int = 0

    @classmethod
    def of(cls, contents: Contents, history: History) -> Rules:
        """The rules as they were last set."""
        settings = contents.settings
        budget, redundancy = history.budget or settings.budget, history.redundancy or settings.redundancy
        audit, given, gone = contents.audit, frozenset(contents.given), history.gone
        if gone:
            audit, given = tuple(node for node in audit if node not in gone), given - gone
        control = settings.control if history.known.percent is None else history.known.percent
        known = frozenset(history.known.answers) - gone
        seed, look = settings.seed, settings.look_for_classes
        return cls(budget, redundancy, settings.release_after, audit, given, gone, known, control, seed, look)

    def trained(self, history: History) -> dict[int, Answer]:
        """The classes that train the classifier, by number, in order.

        Told, one by one or in bulk, not given before, not the audit's, not of a row whose answer is known.
        """
        kept = self.given.union(self.audit, self.gone, self.known)
        return {node: number for node, number in history.numbers.items() if node not in kept}

    def told(self, history: History) -> dict[int, Answer]:
        """The classes that spend the budget, by number, in order.

        Those that train, less what was labelled in bulk alone.
        """
        return {node: number for node, number in self.trained(history).items() if node not in history.bulk}

    def audited(self, history: History) -> dict[int, Answer]:
        """The classes of the audit so far, by number; what was labelled in bulk alone is no answer to a question."""
        return {
            node: history.numbers[node] for node in self.audit if node in history.numbers and node not in history.bulk
        }

    def done(self, history: History, left: Collection[int]) -> bool:
        """Whether there is nothing more to ask.

        The budget is spent, or every node is labelled or skipped by somebody; the audit is complete in the same sense;
        and every node that was labelled one by one has been seen by as many as it should be.

        Args:
            history: what the log means.
            left: the nodes that may be asked and have no label yet.
        """
        skipped = Counter(node for nodes in history.skipped.values() for node in nodes)
        audited = self.audited(history)
        if any(node not in audited and node not in skipped for node in self.audit):
            return False
        if len(self.told(history)) < self.budget and any(
            node not in skipped and node not in self.audit and node not in self.known for node in left
        ):
            return False
        exempt = self.given | history.bulk | set(history.overruled) | set(history.settled) | self.gone | self.known
        return all(
            len(history.said_of(node)) + skipped[node] >= self.redundancy
            for node in history.ballots
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
        """node -> label that counts: the majority's where somebody has labelled it, else the one given with the graph.

        Of a node whose answer the owner knows it is that answer where it counts; what people say of it is no label.
        """
        name = self.history.classes.name
        return {node: name(answer) for node, answer in self.answers.items()}

    @cached_property
    def answers(self) -> dict[int, Answer]:
        """The same by number."""
        resolve = self.history.classes.resolve
        answers = {**{node: resolve(answer) for node, answer in self.given_answers.items()}, **self.history.numbers}
        known, gone = self.history.known, self.rules.gone
        if not known.answers and not known.opened:
            return {node: answer for node, answer in answers.items() if node not in gone}
        return {
            node: resolve(known.counting[node].number) if node in known.counting else answer
            for node, answer in answers.items()
            if node not in gone and (node not in known.answers or node in known.counting)
        }

    @property
    def label_sets(self) -> dict[int, tuple[str, ...]]:
        """node -> the names of the classes that count."""
        name = self.history.classes.name
        return {node: tuple(map(name, numbers_of(answer))) for node, answer in self.answers.items()}

    @cached_property
    def given_answers(self) -> dict[int, Answer]:
        """node -> the label that it had before the session, by the number that its class was given."""
        starting = {name: number for number, name in enumerate(self.contents.first_classes, 1)}
        return {
            node: starting[said] if isinstance(said, str) else tuple(sorted(starting[name] for name in said))
            for node, said in self.contents.given.items()
        }

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
        free[[node for node in self.history.numbers if node < len(free)]] = False
        return self.rules.done(self.history, np.flatnonzero(free).tolist())

    def training_labels(self) -> TrainingLabels:
        """People's labels, in order, and those given with the graph as they stand now."""
        history, classes = self.history, self.history.classes
        trained = self.rules.trained(history)
        keys = {number: classes.key(number) for number in set(trained.values())}
        learned = tuple(Label(node, keys[number]) for node, number in trained.items())
        given = tuple(
            Label(node, classes.key(history.numbers.get(node, answer)))
            for node, answer in self.given_answers.items()
            if node not in self.rules.gone
        )
        return TrainingLabels(learned, given)


@dataclass(frozen=True)
class Plan:
    """What to give an annotator.

    Attributes:
        open: queries that they have already, to be given again.
        second: nodes that need their opinion beside others'.
        audit: nodes of the audit.
        fresh: how many nodes the strategy is to choose, at most.
        control: nodes whose answers are known, each with its place among these; they look like the strategy's own.
        out: nodes that are with annotators now and not to be asked of this one.
        lack: why there are fewer than asked for.
        reserve: further nodes of the audit, for when there are not as many fresh ones.
        looking: places among the fresh nodes that go to rows unlike all labelled ones, where there are any.
    """

    open: Sequence[OpenQuery]
    second: Sequence[int]
    audit: Sequence[int]
    fresh: int
    out: frozenset[int]
    lack: str = ""
    reserve: Sequence[int] = ()
    control: Sequence[tuple[int, int]] = ()
    looking: Sequence[int] = ()


def plan_queries(history: History, rules: Rules, who: str, count: int, now: float) -> Plan:
    """Fill up to ``count`` queries.

    First what the annotator has, then second opinions, then the audit where it is due, then fresh nodes.
    """
    waiting = history.open_queries(rules.redundancy)
    live: dict[int, set[str]] = {}
    for query in waiting:
        if query.annotator != who and rules.is_reserved(query, now):
            live.setdefault(query.node, set()).add(query.annotator)

    one_by_one = rules.known.union(rules.audit)

    def ballot(node: int) -> Collection[str]:
        votes = history.ballots.get(node, {})
        return [voter for voter, vote in votes.items() if not vote.bulk] if node in one_by_one else votes

    def room(node: int) -> bool:
        return node in rules.known or (
            node not in history.overruled
            and node not in history.settled
            and len(ballot(node)) + len(live.get(node, ())) < rules.redundancy
        )

    def answered(node: int) -> bool:
        earlier = node in history.known.opened and who in history.said_of(node)
        return earlier or who in ballot(node) or node in history.skipped.get(who, ())

    mine = [query for query in waiting if query.annotator == who and room(query.node)]
    have = {query.node for query in mine}
    second = []
    if rules.redundancy > 1:
        seen = {**dict.fromkeys(history.ballots), **dict.fromkeys(live)}
        exempt = have | rules.given | history.bulk | rules.gone | rules.known
        second = [node for node in seen if node not in exempt and room(node) and not answered(node)]
    second = second[: max(0, count - len(mine))]
    need = count - len(mine) - len(second)
    audit, fresh, reserve = _new(history, rules, {*have, *second, *live}, answered, need)
    out = frozenset(node for node in live if not room(node)) | have | set(second)
    lack = "" if len(audit) + fresh >= need else _lack(history, rules, live)
    looking = _looking(history, rules, fresh)
    places = [place for place in range(fresh) if place not in looking]
    control = _control(history, rules, who, places, lambda node: node in have or answered(node))
    return Plan(mine[:count], second, audit, fresh - len(control), out, lack, reserve, control, looking)


def _new(
    history: History, rules: Rules, busy: set[int], answered: Callable[[int], bool], need: int
) -> tuple[list[int], int, list[int]]:
    """Audit nodes, how many fresh ones, and audit nodes that are left.

    The audit keeps pace with the budget, one ahead after the first label.
    """
    labels = len(rules.told(history))
    audited = rules.audited(history)
    audit_left = [node for node in rules.audit if node not in audited and node not in busy and not answered(node)]
    started = sum(1 for node in rules.audit if node in audited or node in busy)
    spent = labels + sum(1 for node in busy if node not in history.numbers and node not in rules.audit)
    audit: list[int] = []
    fresh = 0
    while len(audit) + fresh < need:
        due = -(-len(rules.audit) * min(labels + fresh, rules.budget) // rules.budget)
        room = spent + fresh < rules.budget
        if audit_left and (started + len(audit) < due or not room):
            audit.append(audit_left.pop(0))
        elif room:
            fresh += 1
        else:
            break
    return audit, fresh, audit_left


def _looking(history: History, rules: Rules, fresh: int) -> list[int]:
    """Which of so many fresh questions are due to look for a class that nobody has named: their places.

    Every so many-th of all questions that the strategy chose, or that stand in the place of one: the log decides.
    """
    if not rules.look_every or not fresh:
        return []
    before = sum("rank" in query.body for query in history.asked)
    return [place for place in range(fresh) if (before + place + 1) % rules.look_every == 0]


def _control(
    history: History, rules: Rules, who: str, places: Sequence[int], taken: Callable[[int], bool]
) -> list[tuple[int, int]]:
    """Which of the fresh questions at these places are about nodes whose answers are known: place and node of each.

    The seed, the annotator and how often they were asked before decide, so that nobody can foresee it and a replay
    finds the same.
    """
    if not rules.control or not rules.known or not places:
        return []
    left = [node for node in sorted(rules.known) if history.known.answers[node].by != who and not taken(node)]
    begun = [node for node in left if rules.redundancy > 1 and history.ballots.get(node)]
    new = [node for node in left if node not in begun]
    asked = sum(query.annotator == who for query in history.asked)
    chosen = []
    for place in places:
        path = ("control", who, asked + place)
        rows = begun or new  # where several opinions are wanted, those that somebody waits for come first
        if rows and derive_seed(rules.seed, *path) % 100 < rules.control:
            chosen.append((place, rows.pop(derive_seed(rules.seed, *path, "row") % len(rows))))
    return chosen


def _lack(history: History, rules: Rules, live: Mapping[int, set[str]]) -> str:
    labels = len(rules.told(history))
    if labels >= rules.budget and not live:
        return f"the budget of {rules.budget} labels is spent: predict and export, or raise the budget to go on"
    people = sorted({who for names in live.values() for who in names})
    if people:
        return (
            f"the last questions are out with {', '.join(people)}: wait for their answers, free their rows, or raise"
            f" the budget of {rules.budget}"
        )
    return "what is left waits for another annotator's opinion"
