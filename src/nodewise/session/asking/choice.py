"""Which strategy a session uses where nobody names one, and why, in words."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from nodewise.graph import Graph
from nodewise.ground.errors import InputError, SessionError
from nodewise.ground.files import scratch_folder

if TYPE_CHECKING:
    from nodewise.contracts import Classifier, Strategy
    from nodewise.policy import Policy
    from nodewise.session.settings import SessionSettings

Plugged = TypeVar("Plugged", "Classifier", "Strategy")

__all__ = ["Choice", "choose_strategy", "stored_classifier", "stored_strategy"]

_TOLERANCE = 2.0
"""A graph is outside a policy's source graphs when its average degree is this many times beyond theirs; a denser one only if most of its nodes have
more neighbours than the policy can tell apart as well (20): up to there the policies were measured to win, on graphs of 4.5 to 14.4."""


class Choice(NamedTuple):
    """A strategy for a session.

    Attributes:
        strategy: its name.
        policy: the policy's name or file, where it is the learned one.
        weights: the policy's file, to be stored with the session.
        reason: why, in words.
        made: the strategy itself, where it is not the learned one.
        trained_with: name and settings of the classifier that the policy was trained with.
    """

    strategy: str
    policy: str | None
    weights: bytes | None
    reason: str
    made: Strategy | None = None
    trained_with: tuple[str, dict[str, Any]] | None = None


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
    from nodewise.strategies import DEFAULT_STRATEGY, make_strategy

    if isinstance(strategy, Policy):
        strategy, policy = "policy", strategy
    if isinstance(strategy, str) and strategy.startswith("policy:") and policy is None:
        strategy, policy = "policy", strategy.partition(":")[2]
    if strategy is None and policy is None:
        return Choice(DEFAULT_STRATEGY, None, None, "the default", make_strategy(DEFAULT_STRATEGY, settings=settings))
    if strategy is not None and strategy != "policy":
        if policy is not None:
            raise InputError(f"a policy was given, but the strategy is {strategy!r}: leave one of them out, or use the strategy 'policy'")
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
        )
    if settings.strategy != "policy" or weights is None:
        return _resolved("strategy", lambda: make_strategy(settings.strategy, settings=settings.strategy_settings, imports=False))
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
        )
    return _resolved("classifier", lambda: make_classifier(settings.classifier, settings.classifier_settings, imports=False))


def _resolved(kind: str, make: Callable[[], Plugged]) -> Plugged:
    try:
        return make()
    except InputError as error:
        raise SessionError(
            f"the session's {kind} is not to be had here: {error} Session.open(…, {kind}=…) takes your own, as does --{kind} package.module:Name."
        ) from None


def _kept(given: object, settings: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The settings that the session was begun with, for what is given by name."""
    return settings if isinstance(given, str) else None


def _same(kind: str, thing: Plugged, name: str, settings: Mapping[str, Any]) -> Plugged:
    own = json.loads(json.dumps(dict(thing.identity())))
    if thing.name != name or (own != dict(settings) and settings):
        raise SessionError(
            f"the session was begun with the {kind} {name!r} and the settings {dict(settings)}, not with {thing.name!r} and {own}: give that one"
        )
    return thing


def _packed(policy: Policy) -> bytes:
    from nodewise.policy import save_policy

    with scratch_folder() as folder:
        file = folder / "policy.safetensors"
        save_policy(policy, file)
        return file.read_bytes()


def _warned(graph: Graph, policy: Policy) -> str:
    """Why this strategy: chosen by hand; on a graph unlike those that the policy was trained on, with what that may mean."""
    degrees = [float(source["average_degree"]) for source in policy.origin.get("source_graphs", []) if "average_degree" in source]
    here = 2 * graph.num_edges / graph.num_nodes
    if not degrees or min(degrees) / _TOLERANCE <= here <= max(max(degrees) * _TOLERANCE, policy.settings.state.degree_alpha):
        return "chosen by hand"
    denser = "denser" if here > max(degrees) else "sparser"
    return (
        f"chosen by hand; this graph is much {denser} than those that the policy was trained on: its nodes have {here:.1f} neighbours on "
        f"average, there {min(degrees):.1f} to {max(degrees):.1f}, and on such graphs a policy can do worse than chance"
    )
