"""Centrality: the best connected node first."""

from __future__ import annotations

from typing import Literal

import torch

from nodewise.environment import Environment, Observation
from nodewise.ground.errors import InputError

__all__ = ["Centrality"]


class Centrality:
    """The largest degree (the paper's section 4.1) or PageRank (the released code) first, ties at random."""

    name = "centrality"
    capturable = True
    reads_budget = False

    def __init__(self, measure: Literal["degree", "pagerank"] = "degree") -> None:
        if measure not in ("degree", "pagerank"):
            raise InputError(f"unknown centrality {measure!r}: use degree or pagerank")
        self.measure = measure
        if measure == "pagerank":
            self.name = "centrality-pagerank"

    def begin(self, environment: Environment) -> None:
        """Rank the nodes, once for the graph."""
        self._ranks = environment.graph.degree_rank if self.measure == "degree" else environment.graph.pagerank_rank

    def scores(self, observation: Observation) -> torch.Tensor:
        """The node's rank among the graph's distinct values, plus noise below one."""
        return self._ranks + 0.5 * observation.noise
