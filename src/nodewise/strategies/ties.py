"""Ties at random: of equally wanted nodes none comes first for its place in the graph."""

from __future__ import annotations

import torch

from nodewise.environment import Observation

__all__ = ["break_ties"]


def break_ties(scores: torch.Tensor, observation: Observation) -> torch.Tensor:
    """The same scores with noise added to those that share the pool's maximum, so that one of them is chosen at random: [run, node].

    The order of all other nodes stays as it is.
    """
    best = scores.masked_fill(~observation.pool, -torch.inf).amax(1, keepdim=True)
    return torch.where(scores == best, scores + observation.noise, scores)
