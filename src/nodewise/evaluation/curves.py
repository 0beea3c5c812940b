"""Scores at several budgets from one rollout: at each budget the classifier is copied and the copy trained its closing epochs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch

from nodewise.environment import CLOSING_EPOCHS, Environment, Scores, Splits, Strategy, rollout
from nodewise.ground.errors import InputError

__all__ = ["Curve", "reads_budget", "rollout_curve"]


class Curve(NamedTuple):
    """Scores of every run on its test nodes at each budget, and what was asked.

    Attributes:
        scores: by budget.
        queries: the nodes in the order asked: int64 [run, step].
    """

    scores: dict[int, Scores]
    queries: torch.Tensor


def reads_budget(strategy: Strategy) -> bool:
    """Whether a strategy's choices depend on how many queries there will be in all.

    A strategy says so by its attribute ``reads_budget``; one that does not say is taken to read it.
    """
    return bool(getattr(strategy, "reads_budget", True))


def rollout_curve(
    environment: Environment, strategy: Strategy, splits: Splits, seed: int, budgets: Sequence[int], closing_epochs: int = CLOSING_EPOCHS
) -> Curve:
    """Plays one episode of every run up to the environment's budget and scores it at each of the budgets on the way.

    The scores are those that episodes of these budgets have, for the first queries of a longer episode are a shorter episode, and a
    snapshot brings the classifier back after its closing epochs. That does not hold for a strategy that reads the budget.

    Args:
        environment: its budget is the largest of ``budgets``.
        splits, seed: as `rollout` takes them.
        budgets: where to score.

    Raises:
        InputError: the budgets do not fit the environment, or several were given for a strategy that reads the budget.
    """
    wanted = sorted(set(budgets))
    if not wanted or wanted[0] < 1 or wanted[-1] != environment.budget:
        raise InputError(
            f"the largest budget must be the environment's {environment.budget} and the smallest at least 1, got {list(budgets)}"
        )
    if len(wanted) > 1 and reads_budget(strategy):
        raise InputError(f"strategy {strategy.name!r} looks at its budget, so one rollout cannot give {wanted}: play one for each")
    found: dict[int, Scores] = {}

    def score_copy(queries: int) -> None:
        if queries in wanted[:-1]:
            kept = environment.classifier.snapshot()
            environment.train(closing_epochs)
            found[queries] = environment.score(splits.test)
            environment.classifier.restore(kept)

    queries = rollout(environment, strategy, splits, seed, closing_epochs, score_copy if len(wanted) > 1 else None)
    with torch.no_grad():
        found[environment.budget] = environment.score(splits.test)
    return Curve(found, queries)
