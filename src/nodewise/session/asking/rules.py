"""Who is asked what next, as far as the log alone can tell: open queries, second opinions, the audit, the budget.

It imports neither torch nor numpy; which fresh nodes the strategy wants is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nodewise.session.log.history import History, OpenQuery

__all__ = ["Plan", "Rules", "plan_queries"]


@dataclass(frozen=True)
class Rules:
    """What a session has settled on.

    Attributes:
        budget: nodes to be labelled.
        redundancy: votes that each node should have.
        release_after: seconds for which a query keeps others from being asked the same.
        audit: the nodes of the audit, in the order drawn.
        given: the nodes that were labelled before.
    """

    budget: int
    redundancy: int
    release_after: float
    audit: tuple[int, ...]
    given: frozenset[int]

    def told(self, history: History) -> dict[int, str]:
        """The labels that spend the budget and train the classifier, in order: told, not given before, not the audit's."""
        kept = self.given.union(self.audit)
        return {node: label for node, label in history.labels.items() if node not in kept}

    def audited(self, history: History) -> dict[int, str]:
        """The labels of the audit so far."""
        return {node: history.labels[node] for node in self.audit if node in history.labels}

    def done(self, history: History) -> bool:
        """Whether the budget is spent, the audit complete and every node seen by as many as it should be."""
        skipped: dict[int, int] = {}
        for nodes in history.skipped.values():
            for node in nodes:
                skipped[node] = skipped.get(node, 0) + 1
        if len(self.told(history)) < self.budget or any(node not in history.labels and node not in skipped for node in self.audit):
            return False
        return all(len(votes) + skipped.get(node, 0) >= self.redundancy for node, votes in history.votes.items() if node not in self.given)


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
    """

    open: Sequence[OpenQuery]
    second: Sequence[int]
    audit: Sequence[int]
    fresh: int
    out: frozenset[int]
    lack: str = ""


def plan_queries(history: History, rules: Rules, who: str, count: int, now: float) -> Plan:
    """Fill up to ``count`` queries: first what the annotator has, then second opinions, then the audit where it is due, then fresh nodes."""
    waiting = history.open_queries(rules.redundancy)
    live: dict[int, set[str]] = {}
    for query in waiting:
        if now - query.at <= rules.release_after and query.annotator != who:
            live.setdefault(query.node, set()).add(query.annotator)

    def room(node: int) -> bool:
        return len(history.votes.get(node, {})) + len(live.get(node, ())) < rules.redundancy

    def answered(node: int) -> bool:
        return who in history.votes.get(node, {}) or node in history.skipped.get(who, ())

    mine = [query for query in waiting if query.annotator == who and room(query.node)]
    have = {query.node for query in mine}
    second = []
    if rules.redundancy > 1:
        seen = {**dict.fromkeys(history.votes), **dict.fromkeys(live)}
        second = [node for node in seen if node not in have and node not in rules.given and room(node) and not answered(node)]
    second = second[: max(0, count - len(mine))]
    need = count - len(mine) - len(second)
    audit, fresh = _new(history, rules, {*have, *second, *live}, answered, need)
    out = frozenset(node for node in live if not room(node)) | have | set(second)
    lack = "" if len(audit) + fresh >= need else _lack(history, rules, live)
    return Plan(mine[:count], second, audit, fresh, out, lack)


def _new(history: History, rules: Rules, busy: set[int], answered, need: int) -> tuple[list[int], int]:  # type: ignore[no-untyped-def]
    """Audit nodes and how many fresh ones: the audit keeps pace with the budget, one ahead of it after the first label."""
    told = len(rules.told(history))
    audit_left = [node for node in rules.audit if node not in history.labels and node not in busy and not answered(node)]
    started = sum(1 for node in rules.audit if node in history.labels or node in busy)
    spent = told + sum(1 for node in busy if node not in history.labels and node not in rules.audit)
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
    return audit, fresh


def _lack(history: History, rules: Rules, live: Mapping[int, set[str]]) -> str:
    told = len(rules.told(history))
    if told >= rules.budget and not live:
        return f"the budget of {rules.budget} labels is spent: predict and export, or raise the budget to go on"
    people = sorted({who for names in live.values() for who in names})
    if people:
        return f"the last queries of the budget of {rules.budget} are out with {', '.join(people)}: wait for their answers, or raise the budget"
    return "what is left waits for another annotator's opinion"
