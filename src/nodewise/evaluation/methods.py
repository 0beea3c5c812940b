"""A strategy as a comparison names it: with the policy or the weights that it uses."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from nodewise.environment import Strategy
from nodewise.ground.errors import InputError
from nodewise.policy import DEFAULT_POLICY, Policy, find_policy
from nodewise.strategies import make_strategy

__all__ = ["Method"]


@dataclass(frozen=True)
class Method:
    """One row of a comparison.

    Attributes:
        strategy: a name that `make_strategy` knows.
        policy: for the strategy ``"policy"``: a shipped name, a file or a policy; None is the default one.
        weights: for the strategy ``"age"``: fixed weights of entropy, centrality and density; None: those that change with time.
        name: what to call it; made from the others if empty.
    """

    strategy: str
    policy: str | Path | Policy | None = None
    weights: tuple[float, float, float] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if self.policy is not None and self.strategy != "policy":
            raise InputError(f"strategy {self.strategy!r} takes no policy: only 'policy' does")
        if self.weights is not None and self.strategy != "age":
            raise InputError(f"strategy {self.strategy!r} takes no weights: only 'age' does")
        if not self.name:
            object.__setattr__(self, "name", self._own_name())

    @classmethod
    def parse(cls, text: str) -> Method:
        """A method as the command line writes it: ``random``, ``policy:mine.safetensors``, ``age:0.2/0.3/0.5``.

        Raises:
            InputError: what follows the colon does not fit the strategy.
        """
        strategy, colon, detail = text.partition(":")
        if not colon:
            return cls(strategy)
        if strategy == "policy" and detail:
            return cls(strategy, policy=detail)
        if strategy == "age":
            try:
                entropy, centrality, density = (float(part) for part in detail.split("/"))
            except ValueError:
                raise InputError(
                    f"strategy {text!r}: AGE's weights are three numbers joined by slashes, of entropy, centrality and density, such as age:0.2/0.3/0.5"
                ) from None
            return cls(strategy, weights=(entropy, centrality, density))
        raise InputError(f"strategy {text!r}: only policy:NAME|FILE and age:A/B/C take something after the colon")

    def make(self) -> Strategy:
        """The strategy, ready to run."""
        if self.weights is not None:
            from nodewise.strategies import Age

            return Age(self.weights)
        return make_strategy(self.strategy, self._policy if self.strategy == "policy" else None)

    def identity(self) -> dict[str, object]:
        """What the results depend on: the strategy, the policy's weights and settings, AGE's weights."""
        return {
            "strategy": self.strategy,
            "policy": _digest(self._policy) if self.strategy == "policy" else None,
            "weights": list(self.weights) if self.weights is not None else None,
        }

    @property
    def policy_name(self) -> str | None:
        """The policy's name, or its file's; None for other strategies."""
        if self.strategy != "policy":
            return None
        if isinstance(self.policy, Policy):
            return "given"
        return Path(self.policy or DEFAULT_POLICY).name.removesuffix(".safetensors")

    def _own_name(self) -> str:
        if self.strategy == "policy" and self.policy is not None:
            return f"policy {self.policy_name}"
        return self.strategy if self.weights is None else f"age {'/'.join(f'{weight:g}' for weight in self.weights)}"

    @cached_property
    def _policy(self) -> Policy:
        return self.policy if isinstance(self.policy, Policy) else find_policy(self.policy)


def _digest(policy: Policy) -> str:
    """A short name for a policy's weights and settings."""
    digest = hashlib.blake2b(repr(sorted(policy.settings.as_dict().items())).encode(), digest_size=8)
    for name, tensor in sorted(policy.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().float().numpy().tobytes())
    return digest.hexdigest()
