"""Which nodes are asked next, as queries for the log: second opinions, the audit, and what the strategy wants.

torch is loaded only where the strategy has to choose.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from nodewise.session.answers import Draft
from nodewise.session.meaning.rules import Moment, Plan

if TYPE_CHECKING:
    from nodewise.session.learning.learner import SessionLearner

__all__ = ["diverse_batch", "draft_queries"]


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


def _fresh(moment: Moment, plan: Plan, who: str, learner: SessionLearner) -> list[dict[str, Any]]:
    """The nodes that the strategy wants, spread over graph and classes where it has not thought of that itself."""
    import torch

    from nodewise.session.asking.reasons import Explainer

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
