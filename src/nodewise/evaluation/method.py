"""Who is compared: a strategy with its settings and its name in the results, and the classifier that goes with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from nodewise.classifiers import make_classifier
from nodewise.contracts import Classifier, Strategy
from nodewise.ground.errors import InputError
from nodewise.policy import DEFAULT_POLICY, Policy
from nodewise.strategies import DEFAULT_STRATEGY, Learned, make_strategy, parse_strategy

__all__ = ["Method", "choose_classifier", "policy_name"]


@dataclass(frozen=True)
class Method:
    """One row of a comparison.

    Attributes:
        strategy: what `make_strategy` takes: a name, ``policy:FILE``, ``package.module:Name``, a strategy or a policy;
            None: the default.
        policy: for the strategy ``"policy"``: a shipped name, a file or a policy; None is the default one.
        weights: for the strategy ``"age"``: fixed weights of entropy, centrality and density; None: those that change
            with time.
        settings: further settings of the strategy.
        name: what to call it; made from the others if empty.
    """

    strategy: str | Strategy | Policy | None = None
    policy: str | Path | Policy | None = None
    weights: tuple[float, float, float] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""

    def __post_init__(self) -> None:
        if self.policy is not None and self.strategy not in ("policy", None):
            raise InputError(f"strategy {self.strategy!r} takes no policy: only 'policy' does")
        if self.weights is not None and self.strategy != "age":
            raise InputError(f"strategy {self.strategy!r} takes no weights: only 'age' does")
        if not self.name:
            object.__setattr__(self, "name", self._own_name())

    @classmethod
    def of(cls, given: Method | str | Strategy | Policy) -> Method:
        """What a caller means by an entry of a list of strategies."""
        return given if isinstance(given, Method) else cls(given)

    @cached_property
    def resolved(self) -> Strategy:
        """The strategy, made once, ready to run."""
        weights = {} if self.weights is None else {"weights": self.weights}
        return make_strategy(self.strategy, self.policy, {**weights, **self.settings})

    @property
    def policy_name(self) -> str | None:
        """The policy's name, or its file's; None for other strategies."""
        name = policy_name(self.strategy, self.policy)
        return None if name is None else Path(name).name.removesuffix(".safetensors")

    def _own_name(self) -> str:
        if self.weights is not None:
            return f"age {'/'.join(f'{weight:g}' for weight in self.weights)}"
        policy, given = self.policy_name, self.strategy
        if policy is not None:
            named = self.policy is not None or isinstance(given, Policy) or (isinstance(given, str) and ":" in given)
            return f"policy {policy}" if named else "policy"
        name = self.resolved.name
        if given == "age" or not isinstance(given, str) or not given.startswith("age:"):
            return (
                name
                if not self.settings
                else f"{name} {', '.join(f'{key}={value}' for key, value in self.settings.items())}"
            )
        return given.replace(":", " ")


def choose_classifier(
    classifier: str | Classifier | None, strategy: Strategy, settings: Mapping[str, Any] | None = None
) -> Classifier:
    """The classifier that is asked for, else the own one of the strategy's policy, else the default."""
    if classifier is None and isinstance(strategy, Learned):
        name, own = strategy.policy.classifier
        return make_classifier(name, {**own, **(settings or {})}, imports=False)
    return make_classifier(classifier, settings)


def policy_name(strategy: object, policy: str | Path | Policy | None) -> str | None:
    """The policy that a strategy uses, as the caller named it; None where it uses none."""
    if isinstance(strategy, (Policy, Learned)) or isinstance(policy, Policy):
        return "given"
    if strategy is None:
        strategy = DEFAULT_STRATEGY if policy is None else "policy"
    name, settings = parse_strategy(strategy) if isinstance(strategy, str) else ("", {})
    return str(policy or settings.get("policy") or DEFAULT_POLICY) if name == "policy" else None
