"""Uncertainty: the node whose prediction is least sure first."""

from __future__ import annotations

import torch

from nodewise.environment import Environment, Observation
from nodewise.strategies.ties import break_ties

__all__ = ["Uncertainty"]


class Uncertainty:
    """The largest entropy of the predicted label distribution first (section 4.1), ties at random."""

    name = "uncertainty"
    capturable = True
    reads_budget = False

    def begin(self, environment: Environment) -> None:
        """Nothing to prepare."""

    def scores(self, observation: Observation) -> torch.Tensor:
        """Every node's entropy."""
        return break_ties(-observation.negative_entropy, observation)
