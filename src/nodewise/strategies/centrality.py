"""Centrality: the best connected node first."""

from __future__ import annotations

from typing import Any, Literal, cast

import torch

from nodewise.contracts import Capability, Observation, Strategy
from nodewise.ground.errors import InputError

__all__ = ["Centrality"]


class Centrality(Strategy):
    """The largest degree or PageRank first, ties at random.

    Degree as Hu et al. (2020), section 4.1, say; PageRank (Page et al. 1999) as their released program has it.
    Departures: none.
    """

    name = "centrality"
    version = 1
    recordable = True
    reads_budget = False
    stateless = True
    capabilities = frozenset[Capability]({"several-labels"})

    def __init__(self, measure: Literal["degree", "pagerank"] = "degree") -> None:
        if measure not in ("degree", "pagerank"):
            raise InputError(f"unknown centrality {measure!r}: use degree or pagerank")
        self.measure = measure
        if measure == "pagerank":
            self.name = "centrality-pagerank"

    def identity(self) -> dict[str, Any]:
        """The measure."""
        return {"measure": self.measure}

    def begin(self, observation: Observation) -> None:
        """Rank the nodes, once for the graph."""
        graph = observation.graph
        observation.memory["ranks"] = graph.degree_rank if self.measure == "degree" else graph.pagerank_rank

    def scores(self, observation: Observation) -> torch.Tensor:
        """The node's rank among the graph's distinct values, plus noise below one."""
        return cast(torch.Tensor, observation.memory["ranks"]) + 0.5 * observation.noise
