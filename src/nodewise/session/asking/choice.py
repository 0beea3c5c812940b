"""Which strategy a session uses where nobody names one, and why, in words."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nodewise.graph import Graph
from nodewise.ground.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from nodewise.environment import Strategy
    from nodewise.policy import Policy

__all__ = ["Choice", "choose_strategy", "make_stored_strategy"]

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
    """

    strategy: str
    policy: str | None
    weights: bytes | None
    reason: str


def choose_strategy(graph: Graph, strategy: str | None = None, policy: str | Path | Policy | None = None) -> Choice:
    """The strategy that is asked for, else the default policy where the graph is like those that it was trained on, else AGE.

    On graphs much denser than its training graphs a policy loses to random selection: the degree that it reads is clipped, and it asks hub
    after hub. So without a wish the average degree decides.

    Raises:
        UnknownNameError: there is no such strategy or policy.
    """
    from nodewise.policy import DEFAULT_POLICY, Policy, find_policy
    from nodewise.strategies import STRATEGIES

    if strategy is not None and strategy not in STRATEGIES:
        raise UnknownNameError("strategy", strategy, STRATEGIES)
    if strategy is not None and strategy != "policy":
        if policy is not None:
            raise InputError(f"a policy was given, but the strategy is {strategy!r}: leave one of them out, or use the strategy 'policy'")
        return Choice(strategy, None, None, "chosen by hand")
    chosen = policy if isinstance(policy, Policy) else find_policy(policy)
    name = "given" if isinstance(policy, Policy) else str(policy or DEFAULT_POLICY)
    if strategy is None and policy is None:
        reason = _misfit(graph, chosen)
        if reason:
            return Choice("age", None, None, reason)
        return Choice(
            "policy", name, _packed(chosen), f"the default: the policy {name}, whose training graphs are about as dense as this one"
        )
    return Choice("policy", name, _packed(chosen), "chosen by hand")


def make_stored_strategy(name: str, weights: bytes | None) -> Strategy:
    """The strategy of a session from what its file holds."""
    from nodewise.policy import load_policy
    from nodewise.strategies import Learned, make_strategy

    if name != "policy" or weights is None:
        return make_strategy(name)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "policy.safetensors"
        file.write_bytes(weights)
        return Learned(load_policy(file))


def _packed(policy: Policy) -> bytes:
    from nodewise.policy import save_policy

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "policy.safetensors"
        save_policy(policy, file)
        return file.read_bytes()


def _misfit(graph: Graph, policy: Policy) -> str:
    degrees = [float(source["average_degree"]) for source in policy.origin.get("source_graphs", []) if "average_degree" in source]
    here = 2 * graph.num_edges / graph.num_nodes
    if not degrees or min(degrees) / _TOLERANCE <= here <= max(max(degrees) * _TOLERANCE, policy.settings.state.degree_alpha):
        return ""
    denser = "denser" if here > max(degrees) else "sparser"
    return (
        f"age, since this graph is much {denser} than those that the default policy was trained on: its nodes have {here:.1f} neighbours on "
        f"average, there {min(degrees):.1f} to {max(degrees):.1f}, and on such graphs a policy can do worse than chance"
    )
