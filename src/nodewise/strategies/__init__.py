"""Query strategies, one file each, behind the one contract of `nodewise.contracts.Strategy`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from nodewise.contracts import Strategy, check_capabilities
from nodewise.ground.errors import InputError
from nodewise.ground.plugins import check_name, list_plugins, own_object, resolve_plugin
from nodewise.policy import Policy, find_policy
from nodewise.policy.policy import Learned
from nodewise.strategies.age import Age
from nodewise.strategies.anrmab import Anrmab
from nodewise.strategies.badge import Badge
from nodewise.strategies.bald import Bald
from nodewise.strategies.centrality import Centrality
from nodewise.strategies.coreset import Coreset
from nodewise.strategies.diffusal import DiffusAl
from nodewise.strategies.expected_error import ExpectedError
from nodewise.strategies.featprop import FeatProp
from nodewise.strategies.gain import Gain
from nodewise.strategies.grain import Grain
from nodewise.strategies.graphpart import GraphPart
from nodewise.strategies.igp import Igp
from nodewise.strategies.kcenter import KCenter
from nodewise.strategies.least_confidence import LeastConfidence
from nodewise.strategies.margin import Margin
from nodewise.strategies.random import Random
from nodewise.strategies.rim import Rim
from nodewise.strategies.typiclust import TypiClust
from nodewise.strategies.uncertainty import Uncertainty

__all__ = [
    "DEFAULT_STRATEGY",
    "STRATEGIES",
    "Age",
    "Anrmab",
    "Badge",
    "Bald",
    "Centrality",
    "Coreset",
    "DiffusAl",
    "ExpectedError",
    "FeatProp",
    "Gain",
    "Grain",
    "GraphPart",
    "Igp",
    "KCenter",
    "Learned",
    "LeastConfidence",
    "Margin",
    "Random",
    "Rim",
    "TypiClust",
    "Uncertainty",
    "list_strategies",
    "make_strategy",
    "parse_strategy",
]


def _learned(policy: str | Path | Policy | None = None) -> Strategy:
    return Learned(policy if isinstance(policy, Policy) else find_policy(policy))


def _pagerank(measure: Literal["degree", "pagerank"] = "pagerank") -> Strategy:
    return Centrality(measure)


def _graphpart_far(far: bool = True) -> Strategy:
    return GraphPart(far)


def _grain_nn(diversity: Literal["ball", "nn"] = "nn", gamma: float = 1.0, radius: float = 0.05) -> Strategy:
    return Grain(diversity, gamma, radius)


def _bald_dropout(members: int = 16, ridge: float = 0.3, temperature: float = 2.0, dropout: float = 0.2) -> Strategy:
    return Bald(members, ridge, temperature, dropout)


STRATEGIES: dict[str, Callable[..., Strategy]] = {
    "gain": Gain,
    "random": Random,
    "uncertainty": Uncertainty,
    "centrality": Centrality,
    "centrality-pagerank": _pagerank,
    "coreset": Coreset,
    "kcenter": KCenter,
    "age": Age,
    "anrmab": Anrmab,
    "margin": Margin,
    "least-confidence": LeastConfidence,
    "typiclust": TypiClust,
    "featprop": FeatProp,
    "badge": Badge,
    "graphpart": GraphPart,
    "graphpart-far": _graphpart_far,
    "grain-ball": Grain,
    "grain-nn": _grain_nn,
    "expected-error": ExpectedError,
    "rim": Rim,
    "igp": Igp,
    "bald": Bald,
    "bald-dropout": _bald_dropout,
    "diffusal": DiffusAl,
    "policy": _learned,
}
"""Every strategy by the name that the command line uses."""

DEFAULT_STRATEGY = "gain"

GROUP = "nodewise.strategies"
"""The group of entry points under which installed packages offer strategies."""


def list_strategies() -> list[str]:
    """The names there are."""
    return list_plugins(STRATEGIES, GROUP)


def make_strategy(
    strategy: str | Strategy | Policy | None = None,
    policy: str | Path | Policy | None = None,
    settings: Mapping[str, Any] | None = None,
    *,
    imports: bool = True,
) -> Strategy:
    """A strategy by name, with settings; a `Policy` or an object of one's own is taken as it is.

    Args:
        strategy: one of `STRATEGIES`, an entry point's name, ``package.module:Name``, a trained policy, or a strategy;
            None: the default, or ``"policy"`` where one is given. As the command line writes them:
            ``policy:mine.safetensors``, ``age:0.2/0.3/0.5``.
        policy: which policy ``"policy"`` uses: a shipped name, a file or a `Policy`; the default one if None.
        settings: what it is made with, by name.
        imports: whether ``package.module:Name`` may be imported.

    Raises:
        UnknownNameError: there is no such strategy, or it has no such setting.
        InputError: it does not keep the contract, or a policy is given to one that uses none.
    """
    if isinstance(strategy, Policy):
        return Learned(strategy)
    if strategy is None:
        strategy = DEFAULT_STRATEGY if policy is None else "policy"
    if isinstance(strategy, str):
        name, more = parse_strategy(strategy)
        if policy is not None and name != "policy":
            raise InputError(
                f"strategy {name!r} uses no policy, but one was given: leave it out, or choose the strategy 'policy'"
            )
        if policy is not None:
            more["policy"] = policy
        made = resolve_plugin("strategy", name, STRATEGIES, GROUP, {**more, **(settings or {})}, imports=imports)
    else:
        made = own_object("strategy", strategy, settings)
    if not isinstance(made, Strategy):
        raise InputError(
            f"{made!r} is no strategy: it needs a name, recordable, reads_budget, stateless, capabilities and the"
            " methods begin, scores, identity and bytes_per_run; inherit from nodewise.contracts.Strategy"
        )
    check_name(made, "strategy")
    check_capabilities(made, "strategy", made.name)
    return made


def parse_strategy(text: str) -> tuple[str, dict[str, Any]]:
    """A strategy's name and what follows the colon: ``policy:NAME|FILE``, ``age:A/B/C``.

    A registered name before the colon wins.
    """
    name, colon, detail = text.partition(":")
    if not colon or name not in STRATEGIES:
        return text, {}
    if name == "policy" and detail:
        return name, {"policy": detail}
    if name == "age":
        try:
            entropy, centrality, density = (float(part) for part in detail.split("/"))
        except ValueError:
            raise InputError(
                f"strategy {text!r}: AGE's weights are three numbers joined by slashes, of entropy, centrality and"
                " density, such as age:0.2/0.3/0.5"
            ) from None
        return name, {"weights": (entropy, centrality, density)}
    raise InputError(f"strategy {text!r}: only policy:NAME|FILE and age:A/B/C take something after the colon")
