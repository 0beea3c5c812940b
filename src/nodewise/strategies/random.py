"""Random selection: what labelling without a strategy is."""

from __future__ import annotations

import torch

from nodewise.contracts import Capability, Observation, Strategy

__all__ = ["Random"]


class Random(Strategy):
    """Every node of the pool is as likely as any other."""

    name = "random"
    version = 1
    recordable = True
    reads_budget = False
    stateless = True
    capabilities = frozenset[Capability]({"several-labels"})

    def scores(self, observation: Observation) -> torch.Tensor:
        """Uniform numbers."""
        return observation.noise
