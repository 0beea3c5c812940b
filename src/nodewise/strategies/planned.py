"""Strategies that choose all nodes before the first query, from the graph alone."""

from __future__ import annotations

from abc import abstractmethod
from typing import cast

import torch

from nodewise.contracts import Capability, Observation, Strategy

__all__ = ["Planned", "in_order"]


class Planned(Strategy):
    """All nodes are chosen when an episode begins, whatever the answers, and given out in order.

    What is chosen depends on the budget and on the pool of each run. Where the pool loses a node in other ways than by
    a query, its turn is passed over.
    """

    recordable = True
    reads_budget = True
    capabilities = frozenset[Capability]({"several-queries"})

    @abstractmethod
    def plan(self, observation: Observation) -> torch.Tensor:
        """Every node's place in the plan as a score, the largest first: [run, node]."""

    def begin(self, observation: Observation) -> None:
        """Make the plan."""
        plan, memory = self.plan(observation), observation.memory
        if "plan" not in memory or memory["plan"].shape != plan.shape:
            memory["plan"] = torch.empty_like(plan)  # which a recorded step reads: later plans lie in the same place
        memory["plan"].copy_(plan)

    def scores(self, observation: Observation) -> torch.Tensor:
        """The plan."""
        return cast(torch.Tensor, observation.memory["plan"]).clone()

    def batch(self, observation: Observation, count: int) -> torch.Tensor | None:
        """The next nodes of the plan: int64 [run, count]."""
        left = self.scores(observation).masked_fill(~observation.pool, -torch.inf)
        return left.topk(min(count, int(observation.pool.sum(1).min())), 1).indices


def in_order(nodes: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
    """Scores by which nodes come one after another, int64 [run, place], and all others after them at random.

    [run, node].
    """
    places = torch.arange(nodes.shape[1], 0, -1, device=nodes.device, dtype=noise.dtype)
    return noise.scatter(1, nodes, places.expand_as(nodes))
