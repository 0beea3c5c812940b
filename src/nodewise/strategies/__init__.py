"""Query strategies, one file each, behind the one contract of `nodewise.environment.Strategy`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from nodewise.environment import Strategy
from nodewise.ground.errors import InputError, UnknownNameError
from nodewise.policy import Policy, find_policy
from nodewise.strategies.age import Age
from nodewise.strategies.anrmab import Anrmab
from nodewise.strategies.centrality import Centrality
from nodewise.strategies.coreset import Coreset
from nodewise.strategies.kcenter import KCenter
from nodewise.strategies.learned import Learned
from nodewise.strategies.random import Random
from nodewise.strategies.uncertainty import Uncertainty

__all__ = ["STRATEGIES", "Age", "Anrmab", "Centrality", "Coreset", "KCenter", "Learned", "Random", "Uncertainty", "make_strategy"]

STRATEGIES: dict[str, Callable[[], Strategy]] = {
    "random": Random,
    "uncertainty": Uncertainty,
    "centrality": Centrality,
    "centrality-pagerank": lambda: Centrality("pagerank"),
    "coreset": Coreset,
    "kcenter": KCenter,
    "age": Age,
    "anrmab": Anrmab,
    "policy": lambda: Learned(find_policy()),
}
"""Every strategy by the name that the command line uses."""


def make_strategy(name: str | Strategy | Policy, policy: str | Path | Policy | None = None) -> Strategy:
    """A strategy by name; a `Policy` or a `Strategy` is taken as it is.

    Args:
        name: one of `STRATEGIES`, a trained policy, or a strategy.
        policy: which policy ``"policy"`` uses: a shipped name, a file or a `Policy`; the default one if None.
    """
    if isinstance(name, Policy):
        return Learned(name)
    if not isinstance(name, str):
        return name
    if name not in STRATEGIES:
        raise UnknownNameError("strategy", name, STRATEGIES)
    if policy is not None and name != "policy":
        raise InputError(f"strategy {name!r} uses no policy, but one was given: leave it out, or choose the strategy 'policy'")
    if name == "policy":
        return Learned(policy if isinstance(policy, Policy) else find_policy(policy))
    return STRATEGIES[name]()
