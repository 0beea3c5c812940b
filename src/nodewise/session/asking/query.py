"""Queries: drafted for the log, which nodes and why; and as they were asked, read from it again.

torch is loaded only where the strategy has to choose.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nodewise.session.answers import Draft
from nodewise.session.meaning.history import ClassList, OpenQuery
from nodewise.session.meaning.rules import Moment, Plan

if TYPE_CHECKING:
    from nodewise.session.learning.learner import SessionLearner

__all__ = ["Query", "draft_queries"]


@dataclass(frozen=True)
class Query:
    """A node that the session asks about, as it was when it was asked.

    Attributes:
        node: its index.
        name: its name, or its index as text.
        annotator: who is asked.
        event: the query's number in the log.
        audit: whether it was drawn at random to measure the accuracy; then no prediction is shown, so that it cannot
            sway the answer.
        why: the reasons, in words.
        rank: its rank among the candidates by the strategy's score, the best is 1; 0 for an audit.
        candidates: how many there were.
        score: the strategy's score, or None for an audit.
        features: the state features by name, as the policy reads them.
        predicted: class -> probability, the most likely first; empty before the first label and for an audit.
    """

    node: int
    name: str
    annotator: str
    event: int
    audit: bool
    why: tuple[str, ...]
    rank: int
    candidates: int
    score: float | None
    features: Mapping[str, float]
    predicted: Mapping[str, float]

    @property
    def sure(self) -> float | None:
        """The probability of the most likely class, or None where nothing is predicted."""
        return next(iter(self.predicted.values()), None)

    @property
    def guess(self) -> str | None:
        """The most likely class, or None where nothing is predicted."""
        return next(iter(self.predicted), None)

    def as_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {
            "node": self.node,
            "name": self.name,
            "annotator": self.annotator,
            "event": self.event,
            **self.body(),
            "guess": self.guess,
            "sure": self.sure,
        }

    def body(self) -> dict[str, Any]:
        """What the log keeps beside node, annotator and number."""
        return {
            "audit": self.audit,
            "why": list(self.why),
            "rank": self.rank,
            "candidates": self.candidates,
            "score": self.score,
            "features": dict(self.features),
            "predicted": [[name, chance] for name, chance in self.predicted.items()],
        }

    @classmethod
    def from_log(cls, logged: OpenQuery, name: str, classes: ClassList) -> Query:
        """The query as the log has kept it, with the names that classes have now."""
        body = logged.body
        predicted: dict[str, float] = {}
        for written, chance in body.get("predicted", ()):
            number = classes.find(str(written))
            now = str(written) if number is None else classes.name(number)
            predicted[now] = predicted.get(now, 0.0) + float(chance)
        return cls(
            node=logged.node,
            name=name,
            annotator=logged.annotator,
            event=logged.event,
            audit=bool(body.get("audit", False)),
            why=tuple(body.get("why", ())),
            rank=int(body.get("rank", 0)),
            candidates=int(body.get("candidates", 0)),
            score=body.get("score"),
            features=dict(body.get("features", {})),
            predicted=predicted,
        )


def draft_queries(moment: Moment, plan: Plan, who: str, learner: SessionLearner | None) -> tuple[list[Draft], str]:
    """New queries, to be logged, and why there are not more.

    Args:
        moment: what is known now.
        plan: what the annotator is to be given.
        who: the annotator.
        learner: it has learned the labels that count; not needed where the plan wants no fresh nodes.
    """
    bodies = [_second(moment, node) for node in plan.second] + [_audit(node) for node in plan.audit]
    lack = plan.lack
    if plan.fresh:
        fresh = [] if learner is None else _fresh(moment, plan, who, learner)
        reserve = plan.reserve[: plan.fresh - len(fresh)]
        bodies += [*fresh, *map(_audit, reserve)]
        if len(fresh) + len(reserve) < plan.fresh:
            lack = "no node is left that may be asked"
    return [Draft("ask", who, body) for body in bodies], lack


def _fresh(moment: Moment, plan: Plan, who: str, learner: SessionLearner) -> list[dict[str, Any]]:
    """The nodes that the strategy wants, spread over graph and classes where it has not thought of that itself."""
    import torch

    from nodewise.session.asking.reasons import Explainer
    from nodewise.session.asking.selection import diverse_batch

    history, settings = moment.history, moment.contents.settings
    learner.set_budget(moment.rules.budget)
    allowed = learner.environment.pool[0].numpy().copy()
    allowed[[*plan.out, *history.skipped.get(who, ())]] = False
    if not allowed.any():
        return []
    # labels of an audit are not waited for: they train nothing
    waiting = [node for node in sorted(plan.out) if learner.environment.pool[0, node]]
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
    name = settings.strategy if settings.policy is None else f"the policy {settings.policy}"
    explainer = Explainer(learner, allowed, name, history.classes, moment.contents.name_of)
    return [{"node": node, **explainer.body(node)} for node in chosen]


def _audit(node: int) -> dict[str, Any]:
    why = "drawn at random for the audit: its label measures the accuracy and trains nothing, so no prediction is shown"
    return {"node": node, "audit": True, "why": [why]}


def _second(moment: Moment, node: int) -> dict[str, Any]:
    have = len(moment.history.ballots.get(node, {}))
    why = f"another opinion: {have} of {moment.rules.redundancy} annotators have labelled it, so no prediction is shown"
    return {"node": node, "audit": node in moment.rules.audit, "why": [why]}
