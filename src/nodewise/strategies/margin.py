"""Margin: the node whose two likeliest classes are closest first."""

from __future__ import annotations

import torch

from nodewise.contracts import Observation, Strategy
from nodewise.environment.runs import break_ties

__all__ = ["Margin"]


class Margin(Strategy):
    """The smallest difference between the two largest predicted probabilities first, ties at random.

    Scheffer, Decomain & Wrobel, "Active hidden Markov models for information extraction" (2001); Settles' survey (2009,
    section 3.1): arg min p(first class) − p(second class). With a single class all nodes are alike. Departures: none.
    """

    name = "margin"
    version = 2
    recordable = True
    reads_budget = False
    stateless = True

    def scores(self, observation: Observation) -> torch.Tensor:
        """Minus every node's margin."""
        best = observation.probabilities.topk(min(2, observation.num_classes), -1).values
        return break_ties(best[..., -1] - best[..., 0], observation)
