"""TypiClust: the most typical node of each cluster (Hacohen, Dekel & Weinshall 2022)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch

from nodewise.contracts import Observation
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.events import Reporter
from nodewise.strategies.medoids import cluster_bytes, cluster_order, cluster_shared
from nodewise.strategies.planned import Planned
from nodewise.strategies.propagated import propagated_features

__all__ = ["TypiClust", "typicality"]

_CLUSTERS, _SMALL, _NEIGHBOURS = 500, 5, 20
"""Clusters at most; members up to which a cluster comes after all others; neighbours that typicality looks at."""

_AMONG, _BLOCK = 2**15, 2**24
"""Nodes among which neighbours are looked for at most, evenly spaced; distances that are made at once."""


def typicality(points: torch.Tensor, neighbours: int = _NEIGHBOURS) -> torch.Tensor:
    """One over the mean distance to a node's nearest others: [node, width] to [node].

    Among more than 32,768 nodes, neighbours are looked for among so many that lie evenly spaced in the graph's order.
    """
    among = torch.arange(0, len(points), -(-len(points) // _AMONG), device=points.device)
    others = points[among]
    lengths, size, parts = others.square().sum(1), max(1, _BLOCK // len(others)), []
    for first in range(0, len(points), size):
        rows = points[first : first + size]
        squared = torch.addmm(lengths, rows, others.T, alpha=-2).add_(rows.square().sum(1, keepdim=True))
        own = among == torch.arange(first, first + len(rows), device=points.device)[:, None]
        nearest = squared.masked_fill_(own, torch.inf).topk(min(neighbours, len(others) - 1), 1, largest=False).values
        parts.append(nearest.clamp_min_(0).sqrt_().clamp_max(torch.finfo(points.dtype).max).mean(1))
    return 1 / (torch.cat(parts) + 1e-5)


class TypiClust(Planned):
    """The most typical node of each of as many clusters as there are queries, from the largest cluster on.

    Hacohen, Dekel & Weinshall, "Active learning on a budget: opposite strategies suit high and low budgets" (ICML
    2022): features, which nothing was labelled for, are clustered into as many clusters as there will be labels, at
    most 500; of each cluster without a label, the largest first, the node of highest typicality is asked, typicality(v)
    = (1/K Σ_{u among the K nearest of v} ‖z_v − z_u‖)⁻¹ with K = 20. Clusters of five members and fewer are passed
    over until all others have given a node.

    Departures: the features are propagated, Z = Â² X, where the paper has an embedding of images that learned without
    labels; all nodes of the graph are clustered and asked are those of the pool; neighbours are looked for in the whole
    graph, as the formula says, and not in the node's cluster alone, as the released program does.
    """

    name = "typiclust"
    version = 1

    def bytes_per_run(self, graph: GraphTensors, budget: int) -> int:
        """Distances to all centres."""
        return cluster_bytes(graph.num_nodes, min(budget, _CLUSTERS))

    def plan(self, observation: Observation) -> torch.Tensor:
        """The most typical node of each cluster, large clusters first."""
        points, shape = propagated_features(observation.graph), observation.pool.shape
        count = min(observation.budget, _CLUSTERS, len(points))
        clusters = cluster_shared(points, count, lambda number: observation.uniform(f"typiclust {number}", *shape))
        sizes = observation.noise.new_zeros(shape[0], count)
        sizes.scatter_add_(1, clusters.members, torch.ones_like(observation.noise))
        typical: torch.Tensor = observation.graph.prepared_by(_Typicality())
        return cluster_order(
            clusters.members,
            torch.where(sizes > _SMALL, sizes + len(points), sizes),
            typical.expand(shape),
            observation.pool,
            observation.noise,
        )


@dataclass(frozen=True)
class _Typicality:
    """Typicality of every node, made once for a graph."""

    neighbours: int = _NEIGHBOURS

    def identity(self) -> Mapping[str, Any]:
        return asdict(self)

    def prepare(self, graph: GraphTensors, reporter: Reporter | None = None) -> torch.Tensor:
        return typicality(propagated_features(graph), self.neighbours)
