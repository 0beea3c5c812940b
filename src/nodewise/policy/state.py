"""The state of section 3.2: named features of every node, from which the policy chooses."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

import torch

from nodewise.contracts import Observation
from nodewise.ground.errors import InputError, UnknownNameError
from nodewise.ground.plugins import find_plugin

__all__ = ["PAPER_FEATURES", "STATE_FEATURES", "StateSettings", "register_state_feature", "state"]

PAPER_FEATURES = ("entropy", "degree", "kl_from_neighbours", "kl_to_neighbours", "labelled")
"""The paper's five, in the released policies' order."""


@dataclass(frozen=True)
class StateSettings:
    """Which features make the state, in order, and how they are scaled.

    Attributes:
        features: names from `STATE_FEATURES`.
        degree_alpha: the degree that counts as 1; larger ones are clipped.
        kl_scaling: ``"max"`` divides each divergence by its maximum over the run's graph (the released policies),
            ``"none"`` leaves it as it is (the paper).
    """

    features: tuple[str, ...] = PAPER_FEATURES
    degree_alpha: float = 20.0
    kl_scaling: Literal["max", "none"] = "max"

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", tuple(self.features))
        for name in self.features:
            if name not in STATE_FEATURES:  # or offered by an installed package; nothing else is imported, since policy files name features
                STATE_FEATURES[name] = find_plugin("state feature", str(name), STATE_FEATURES, GROUP, imports=False)
        if not self.features or len(set(self.features)) < len(self.features):
            raise InputError(f"state features must be at least one and each only once, got {self.features}")
        if not self.degree_alpha > 0 or self.kl_scaling not in ("max", "none"):
            raise InputError(f"degree_alpha must be above 0 and kl_scaling max or none, got {self.degree_alpha} and {self.kl_scaling!r}")

    def without(self, names: Iterable[str]) -> StateSettings:
        """The same settings with some features left out; a name that is not among them is refused."""
        dropped = set(names)
        if unknown := sorted(dropped.difference(self.features)):
            raise UnknownNameError("state feature", unknown[0], self.features)
        return StateSettings(tuple(f for f in self.features if f not in dropped), self.degree_alpha, self.kl_scaling)

    def as_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {**asdict(self), "features": list(self.features)}


StateFeature = Callable[[Observation, StateSettings], torch.Tensor]
GROUP = "nodewise.state_features"
"""The group of entry points under which installed packages offer state features."""

STATE_FEATURES: dict[str, StateFeature] = {}
"""Every feature by name: a function of the observation and the settings that gives [run, node] (or what broadcasts to it)."""


def register_state_feature(name: str) -> Callable[[StateFeature], StateFeature]:
    """Add a feature under a name; policies that use it carry the name in their file.

    Where a GPU records a step, the feature must read `Observation.step`, a tensor, and not `Observation.step_number`, which raises an error then.
    """

    def add(function: StateFeature) -> StateFeature:
        STATE_FEATURES[name] = function
        return function

    return add


def state(observation: Observation, settings: StateSettings) -> torch.Tensor:
    """The state of every node: [run, node, feature]."""
    shape = observation.pool.shape
    columns = [STATE_FEATURES[name](observation, settings).expand(shape) for name in settings.features]
    return torch.stack(columns, -1)


@register_state_feature("entropy")
def _entropy(observation: Observation, settings: StateSettings) -> torch.Tensor:
    """s(v) = −Σ_c p_c(v) log p_c(v) / log C, the entropy of the prediction p(v) over C classes, between 0 and 1 (section 3.2, uncertainty)."""
    # with a single class there is nothing to be unsure of: log 1 = 0 would divide by zero
    return observation.negative_entropy / -math.log(max(observation.num_classes, 2))


@register_state_feature("degree")
def _degree(observation: Observation, settings: StateSettings) -> torch.Tensor:
    """s(v) = min(|N(v)| / α, 1), with N(v) the neighbours of v and α = 20 (section 3.2, centrality)."""
    return (observation.graph.degree / settings.degree_alpha).clamp_max(1)


def _scaled(divergence: torch.Tensor, settings: StateSettings) -> torch.Tensor:
    """The divergence as it is (the paper), or divided by its maximum over the run's nodes (the released policies)."""
    if settings.kl_scaling == "none":
        return divergence
    # where all predictions are alike, what is left is rounding, positive or negative, and must not be blown up
    return divergence / divergence.amax(1, keepdim=True).clamp_min(1e-6)


@register_state_feature("kl_from_neighbours")
def _kl_from_neighbours(observation: Observation, settings: StateSettings) -> torch.Tensor:
    """s(v) = 1/|N(v)| Σ_{u ∈ N(v)} KL(p(u) ‖ p(v)): how the neighbours' predictions differ from the node's (section 3.2, divergence)."""
    return _scaled(observation.divergences[1], settings)


@register_state_feature("kl_to_neighbours")
def _kl_to_neighbours(observation: Observation, settings: StateSettings) -> torch.Tensor:
    """s(v) = 1/|N(v)| Σ_{u ∈ N(v)} KL(p(v) ‖ p(u)): how the node's prediction differs from its neighbours' (section 3.2, divergence)."""
    return _scaled(observation.divergences[0], settings)


@register_state_feature("labelled")
def _labelled(observation: Observation, settings: StateSettings) -> torch.Tensor:
    """s(v) = 1 if v has been labelled, else 0 (section 3.2, the indicator)."""
    return observation.labelled.to(observation.graph.dtype)
