"""Uncertainty: the node whose prediction is least sure first."""

from __future__ import annotations

import torch

from nodewise.contracts import Capability, Observation, Strategy
from nodewise.environment.runs import break_ties

__all__ = ["Uncertainty"]


class Uncertainty(Strategy):
    """The largest entropy of the predicted label distribution first, ties at random.

    Settles, "Active learning literature survey" (2009): arg max −Σ_c p_c log p_c; so Hu et al. (2020), section 4.1.
    Departures: none.
    """

    name = "uncertainty"
    version = 2
    recordable = True
    reads_budget = False
    stateless = True
    capabilities = frozenset[Capability]({"several-labels"})

    def scores(self, observation: Observation) -> torch.Tensor:
        """Every node's entropy."""
        return break_ties(-observation.negative_entropy, observation)
