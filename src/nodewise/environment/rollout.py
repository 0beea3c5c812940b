"""The loop that lets a strategy choose all nodes of an episode."""

from __future__ import annotations

from collections.abc import Callable

import torch

from nodewise.contracts import Strategy
from nodewise.environment.environment import Environment
from nodewise.environment.splits import Splits
from nodewise.ground.errors import InputError

__all__ = ["choose", "rollout"]


def choose(scores: torch.Tensor, pool: torch.Tensor) -> torch.Tensor:
    """The pool node with the largest score in each run: int64 [run]. A score of -inf is the lowest, yet above any outside the pool."""
    return scores.clamp_min(torch.finfo(scores.dtype).min).masked_fill(~pool, -torch.inf).argmax(1)


def rollout(
    environment: Environment, strategy: Strategy, splits: Splits, seed: int, each_query: Callable[[int], None] | None = None
) -> torch.Tensor:
    """Play one episode of every run and let the learners finish (algorithm 2): they fit after each query.

    Args:
        each_query: called with the number of queries so far after each query and its fit; it may look, and must leave everything as it was.

    Returns:
        The nodes in the order in which they were asked: int64 [run, step].
    """
    with torch.no_grad():
        environment.reset(seed, splits)
        environment.begin(strategy)
        if environment.graph.device.type == "cuda" and strategy.recordable and getattr(environment.learner, "recordable", False):
            from nodewise.environment.replay import replay_episode

            replay_episode(environment, strategy, each_query)
        else:
            for done in range(1, environment.budget + 1):
                step(environment, strategy)
                if each_query is not None:
                    each_query(done)
            environment.learner.finish()
        return environment.queries.clone()


def step(environment: Environment, strategy: Strategy) -> None:
    """One query of every run: observe, choose, ask, fit."""
    scores = strategy.scores(environment.observe())
    if scores.shape != environment.pool.shape or not scores.is_floating_point():
        raise InputError(
            f"strategy {strategy.name!r} gave scores of shape {list(scores.shape)} and kind {scores.dtype}: "
            f"they must be floating-point numbers [run, node], here {list(environment.pool.shape)}"
        )
    if scores.device.type == "cpu" and bool(scores.masked_fill(~environment.pool, 0).isnan().any()):
        raise InputError(
            f"strategy {strategy.name!r} gave scores that are not numbers for nodes of the pool: each needs one, -inf for 'never'"
        )
    environment.query(choose(scores, environment.pool))
    environment.learner.fit()
