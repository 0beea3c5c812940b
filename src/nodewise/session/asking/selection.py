"""Who is asked what next: open queries, second opinions, the audit.

And the nodes that the session's strategy wants, spread over graph and classes.

torch is loaded only where the strategy has to choose.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from nodewise.graph import Graph
from nodewise.ground.errors import InputError, SessionError
from nodewise.ground.files import scratch_folder
from nodewise.ground.identity import code_changed, code_of
from nodewise.session.log.history import History, OpenQuery
from nodewise.session.log.log import Draft

if TYPE_CHECKING:
    from nodewise.contracts import Classifier, Strategy
    from nodewise.policy import Policy
    from nodewise.session.session import Session
    from nodewise.session.settings import SessionSettings

__all__ = [
    "Choice",
    "Plan",
    "Rules",
    "changed_code",
    "choose_strategy",
    "diverse_batch",
    "draft_queries",
    "plan_queries",
    "stored_classifier",
    "stored_strategy",
]

_CLOCK_SKEW = 300.0
"""Seconds by which the clocks of two machines may differ."""
Plugged = TypeVar("Plugged", "Classifier", "Strategy")
_TOLERANCE = 2.0
"""A graph is outside a policy's source graphs when its average degree is this many times beyond theirs.

A denser one only if most of its nodes have more neighbours than the policy can tell apart as well (20): up to there the
policies were measured to win, on graphs of 4.5 to 14.4."""


def draft_queries(
    session: Session, history: History, who: str, count: int
) -> tuple[Sequence[OpenQuery], list[Draft], str]:
    """The annotator's open queries, new ones to be logged, and why there are not more.

    torch is loaded only where the strategy has to choose.
    """
    plan = plan_queries(history, session.rules(), who, count, session.now())
    bodies = [_second(session, history, node) for node in plan.second] + [_audit(node) for node in plan.audit]
    lack = plan.lack
    if plan.fresh:
        fresh = _fresh(session, history, plan, who)
        reserve = plan.reserve[: plan.fresh - len(fresh)]
        bodies += [*fresh, *map(_audit, reserve)]
        if len(fresh) + len(reserve) < plan.fresh:
            lack = "no node is left that may be asked"
    return plan.open, [Draft("ask", who, body) for body in bodies], lack


def diverse_batch(
    scores: npt.NDArray[np.float64],
    allowed: npt.NDArray[np.bool_],
    count: int,
    neighbours: Callable[[int], npt.NDArray[np.int64]],
    predicted: npt.NDArray[np.int64],
    taken: Iterable[int] = (),
) -> list[int]:
    """Up to ``count`` nodes, greedily by score.

    A node is passed over as long as there are others if it is a neighbour of one that is in the batch or with an
    annotator already, or if its predicted class has had its share of the batch, ``count`` / classes rounded up. So the
    first of a batch is the node that a single query would ask.

    Args:
        scores: how much each node is wanted, [node]; equal ones are taken in the order of the nodes.
        allowed: the nodes that may be asked, [node].
        count: how many are wanted.
        neighbours: the neighbours of a node.
        predicted: the class that is predicted for each node, [node].
        taken: nodes that are out with annotators now.
    """
    order = np.flatnonzero(allowed)
    order = order[np.argsort(-scores[order], kind="stable")]
    near: set[int] = set()
    for node in taken:
        near.update(neighbours(node).tolist())
    share = -(-count // max(1, len(np.unique(predicted[allowed])) if allowed.any() else 1))
    chosen: list[int] = []
    classes: Counter[int] = Counter()
    passed: list[int] = []
    for node in order.tolist():
        if len(chosen) == count:
            break
        if node in near or classes[int(predicted[node])] >= share:
            passed.append(node)
            continue
        chosen.append(node)
        classes[int(predicted[node])] += 1
        near.update(neighbours(node).tolist())
    return chosen + passed[: count - len(chosen)]


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

    def trained(self, history: History) -> dict[int, int]:
        """The classes that train the classifier, by number, in order.

        Told, one by one or in bulk, not given before, not the audit's.
        """
        kept = self.given.union(self.audit)
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
        exempt = self.given | history.bulk | set(history.overruled) | set(history.settled)
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
        exempt = have | rules.given | history.bulk
        second = [node for node in seen if node not in exempt and room(node) and not answered(node)]
    second = second[: max(0, count - len(mine))]
    need = count - len(mine) - len(second)
    audit, fresh, reserve = _new(history, rules, {*have, *second, *live}, answered, need)
    out = frozenset(node for node in live if not room(node)) | have | set(second)
    lack = "" if len(audit) + fresh >= need else _lack(history, rules, live)
    return Plan(mine[:count], second, audit, fresh, out, lack, reserve)


class Choice(NamedTuple):
    """A strategy for a session.

    Attributes:
        strategy: its name.
        policy: the policy's name or file, where it is the learned one.
        weights: the policy's file, to be stored with the session.
        reason: why, in words.
        made: the strategy itself, where it is not the learned one.
        played_with: name and settings of the classifier that the policy brings along.
    """

    strategy: str
    policy: str | None
    weights: bytes | None
    reason: str
    made: Strategy | None = None
    played_with: tuple[str, dict[str, Any]] | None = None


def choose_strategy(
    graph: Graph,
    strategy: str | Strategy | Policy | None = None,
    policy: str | Path | Policy | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Choice:
    """The strategy that is asked for, else the default one.

    Raises:
        UnknownNameError: there is no such strategy or policy.
    """
    from nodewise.policy import DEFAULT_POLICY, Policy, find_policy
    from nodewise.strategies import DEFAULT_STRATEGY, Learned, make_strategy

    if isinstance(strategy, Learned):
        strategy = strategy.policy
    if isinstance(strategy, Policy):
        strategy, policy = "policy", strategy
    if isinstance(strategy, str) and strategy.startswith("policy:") and policy is None:
        strategy, policy = "policy", strategy.partition(":")[2]
    if strategy is None and policy is None:
        return Choice(DEFAULT_STRATEGY, None, None, "the default", make_strategy(DEFAULT_STRATEGY, settings=settings))
    if strategy is not None and strategy != "policy":
        if policy is not None:
            raise InputError(
                f"a policy was given, but the strategy is {strategy!r}: leave one of them out, or use the strategy"
                " 'policy'"
            )
        made = make_strategy(strategy, settings=settings)
        name = strategy if isinstance(strategy, str) and ":" not in strategy else made.name
        return Choice(name, None, None, "chosen by hand", made)
    chosen = policy if isinstance(policy, Policy) else find_policy(policy)
    name = "given" if isinstance(policy, Policy) else str(policy or DEFAULT_POLICY)
    return Choice("policy", name, _packed(chosen), _warned(graph, chosen), None, chosen.classifier)


def stored_strategy(settings: SessionSettings, weights: bytes | None, given: str | Strategy | None = None) -> Strategy:
    """The strategy of a session from what its file holds; nothing is imported for it.

    Args:
        weights: the policy's file.
        given: the caller's own, which must be the one that the session was begun with.
    """
    from nodewise.policy import load_policy
    from nodewise.strategies import Learned, make_strategy

    if given is not None:
        return _same(
            "strategy",
            make_strategy(given, settings=_kept(given, settings.strategy_settings)),
            settings.strategy,
            settings.strategy_settings,
            isinstance(given, str),
        )
    if settings.strategy != "policy" or weights is None:
        return _resolved(
            "strategy", lambda: make_strategy(settings.strategy, settings=settings.strategy_settings, imports=False)
        )
    with scratch_folder() as folder:
        file = folder / "policy.safetensors"
        file.write_bytes(weights)
        return Learned(load_policy(file))


def stored_classifier(settings: SessionSettings, given: str | Classifier | None = None) -> Classifier:
    """The classifier of a session from what its file holds; nothing is imported for it."""
    from nodewise.classifiers import make_classifier

    if given is not None:
        return _same(
            "classifier",
            make_classifier(given, _kept(given, settings.classifier_settings)),
            settings.classifier,
            settings.classifier_settings,
            isinstance(given, str),
        )
    return _resolved(
        "classifier", lambda: make_classifier(settings.classifier, settings.classifier_settings, imports=False)
    )


def changed_code(settings: SessionSettings, classifier: Classifier, strategy: Strategy) -> list[str]:
    """What a user should know where the code of a session's classifier or strategy is not what it was begun with.

    Nothing where neither a version nor a digest tells it.
    """
    said = []
    for kind, thing, begun in (
        ("classifier", classifier, settings.classifier_digest),
        ("strategy", strategy, settings.strategy_digest),
    ):
        now = code_of(thing)
        if code_changed(begun, now):
            said.append(
                f"the code of the {kind} {thing.name!r} has changed since the session was begun ({begun}, now {now}):"
                " what is asked and predicted may differ from before; the labels are not touched. To go on exactly as"
                " begun, install the version that it was begun with"
            )
    return said


def _fresh(session: Session, history: History, plan: Plan, who: str) -> list[dict[str, Any]]:
    import torch

    from nodewise.session.asking.query import Explainer

    learner = session.follow(history)
    learner.set_budget(session.rules().budget)
    allowed = learner.environment.pool[0].numpy().copy()
    allowed[[*plan.out, *history.skipped.get(who, ())]] = False
    if not allowed.any():
        return []
    waiting = [
        node for node in sorted(plan.out) if learner.environment.pool[0, node]
    ]  # labels of an audit are not waited for: they train nothing
    chosen = learner.batch(plan.fresh, torch.from_numpy(allowed), waiting)
    if chosen is None:
        chosen = diverse_batch(
            learner.scores().double().numpy(),
            allowed,
            plan.fresh,
            learner.tensors.neighbours,
            learner.probabilities().argmax(-1).numpy(),
            plan.out,
        )
    name = session.settings.strategy if session.settings.policy is None else f"the policy {session.settings.policy}"
    explainer = Explainer(learner, allowed, name, history.classes, session.name_of)
    return [{"node": node, **explainer.body(node)} for node in chosen]


def _audit(node: int) -> dict[str, Any]:
    why = "drawn at random for the audit: its label measures the accuracy and trains nothing, so no prediction is shown"
    return {"node": node, "audit": True, "why": [why]}


def _second(session: Session, history: History, node: int) -> dict[str, Any]:
    have = len(history.ballots.get(node, {}))
    why = (
        f"another opinion: {have} of {session.rules().redundancy} annotators have labelled it, so no prediction is"
        " shown"
    )
    return {"node": node, "audit": node in session.rules().audit, "why": [why]}


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


def _resolved(kind: str, make: Callable[[], Plugged]) -> Plugged:
    try:
        return make()
    except InputError as error:
        raise SessionError(
            f"the session's {kind} is not to be had here: {error} Session.open(…, {kind}=…) takes your own, as does"
            f" --{kind} package.module:Name."
        ) from None


def _kept(given: object, settings: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The settings that the session was begun with, for what is given by name."""
    return settings if isinstance(given, str) else None


def _same(kind: str, thing: Plugged, name: str, settings: Mapping[str, Any], named: bool) -> Plugged:
    """The thing, if it is the one that the session was begun with.

    What is ``named`` has a setting that came after that at its default.
    """
    own = json.loads(json.dumps(dict(thing.identity())))
    seen = {key: value for key, value in own.items() if key in settings} if named else own
    if thing.name != name or (seen != dict(settings) and settings):
        raise SessionError(
            f"the session was begun with the {kind} {name!r} and the settings {dict(settings)}, not with {thing.name!r}"
            f" and {own}: give that one"
        )
    return thing


def _packed(policy: Policy) -> bytes:
    from nodewise.policy import save_policy

    with scratch_folder() as folder:
        file = folder / "policy.safetensors"
        save_policy(policy, file)
        return file.read_bytes()


def _warned(graph: Graph, policy: Policy) -> str:
    """Why this strategy: chosen by hand.

    On a graph unlike those that the policy was trained on, with what that may mean.
    """
    degrees = [
        float(source["average_degree"])
        for source in policy.origin.get("source_graphs", [])
        if "average_degree" in source
    ]
    here = 2 * graph.num_edges / graph.num_nodes
    if not degrees or min(degrees) / _TOLERANCE <= here <= max(
        max(degrees) * _TOLERANCE, policy.settings.state.degree_alpha
    ):
        return "chosen by hand"
    denser = "denser" if here > max(degrees) else "sparser"
    return (
        f"chosen by hand; this graph is much {denser} than those that the policy was trained on: its nodes have"
        f" {here:.1f} neighbours on average, there {min(degrees):.1f} to {max(degrees):.1f}, and on such graphs a"
        " policy can do worse than chance"
    )
