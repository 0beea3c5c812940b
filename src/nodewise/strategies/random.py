"""Random selection: what labelling without a strategy is."""

from __future__ import annotations

import torch

from nodewise.environment import Environment, Observation

__all__ = ["Random"]


class Random:
    """Every node of the pool is as likely as any other."""

    name = "random"
    capturable = True
    reads_budget = False

    def begin(self, environment: Environment) -> None:
        """Nothing to prepare."""

    def scores(self, observation: Observation) -> torch.Tensor:
        """Uniform numbers."""
        return observation.noise
