"""Strategies, and the loop that lets one of them choose all nodes of an episode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import torch

from nodewise.environment.environment import Environment
from nodewise.environment.observation import Observation
from nodewise.environment.splits import Splits

__all__ = ["CLOSING_EPOCHS", "Strategy", "choose", "rollout"]

CLOSING_EPOCHS = 35
"""Epochs after the last query: what "until convergence" was in the released code."""


@runtime_checkable
class Strategy(Protocol):
    """A rule that says which node of the pool to ask next.

    Attributes:
        name: what it is called on the command line and in results.
        capturable: whether a step does the same device work every time, so that a GPU may record it once and replay it:
            no Python state that changes from step to step, no transfer to the host.
    """

    name: str
    capturable: bool

    def begin(self, environment: Environment) -> None:
        """Called after every reset, before the first choice."""

    def scores(self, observation: Observation) -> torch.Tensor:
        """How much each node is wanted, [run, node]; the largest in the pool is asked. Values outside the pool are ignored."""


def choose(scores: torch.Tensor, pool: torch.Tensor) -> torch.Tensor:
    """The pool node with the largest score in each run: int64 [run]. A score of -inf is the lowest, yet above any outside the pool."""
    return scores.clamp_min(torch.finfo(scores.dtype).min).masked_fill(~pool, -torch.inf).argmax(1)


def rollout(
    environment: Environment,
    strategy: Strategy,
    splits: Splits,
    seed: int,
    closing_epochs: int = CLOSING_EPOCHS,
    each_query: Callable[[int], None] | None = None,
) -> torch.Tensor:
    """Play one episode of every run and train the classifiers to the end (algorithm 2).

    One epoch after each query, ``closing_epochs`` after the last.

    Args:
        each_query: called with the number of queries so far after each query and its epoch; it may look, and must leave everything as it was.

    Returns:
        The nodes in the order in which they were asked: int64 [run, step].
    """
    with torch.no_grad():
        environment.reset(seed, splits)
        strategy.begin(environment)
        if environment.graph.device.type == "cuda" and strategy.capturable:
            from nodewise.environment.replay import replay_episode

            replay_episode(environment, strategy, closing_epochs, each_query)
        else:
            for done in range(1, environment.budget + 1):
                step(environment, strategy)
                if each_query is not None:
                    each_query(done)
            environment.train(closing_epochs)
        return environment.queried.nodes.clone()


def step(environment: Environment, strategy: Strategy) -> None:
    """One query of every run: observe, choose, ask, train one epoch."""
    observation = environment.observe()
    environment.query(choose(strategy.scores(observation), environment.pool))
    environment.train()
