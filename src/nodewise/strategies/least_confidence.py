"""Least confidence: the node whose likeliest class is least likely first."""

from __future__ import annotations

import torch

from nodewise.contracts import Observation, Strategy
from nodewise.environment.runs import break_ties

__all__ = ["LeastConfidence"]


class LeastConfidence(Strategy):
    """The smallest largest predicted probability first, ties at random.

    Lewis & Gale, "A sequential algorithm for training text classifiers" (SIGIR 1994); Culotta & McCallum (AAAI 2005):
    arg max 1 − max_c p_c. Departures: none.
    """

    name = "least-confidence"
    version = 2
    recordable = True
    reads_budget = False
    stateless = True

    def scores(self, observation: Observation) -> torch.Tensor:
        """Minus every node's largest probability."""
        return break_ties(-observation.probabilities.amax(-1), observation)
