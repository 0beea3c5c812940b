"""GraphPart: the middles of clusters in each part of the graph (Ma et al. 2022), and its far form."""

from __future__ import annotations

from typing import Any

import torch

from nodewise.contracts import Observation
from nodewise.graph.tensors import GraphTensors
from nodewise.strategies.medoids import cluster_bytes, cluster_shared
from nodewise.strategies.partition import Partition
from nodewise.strategies.planned import Planned
from nodewise.strategies.propagated import propagated_features

__all__ = ["GraphPart"]


class GraphPart(Planned):
    """The graph is divided into parts, the queries evenly among these, and each part's are its clusters' middles.

    Ma, Ma & Mei, "Partition-based active learning for graph neural networks" (2022): communities by greedy modularity
    (Clauset, Newman & Moore 2004) are joined to K parts by their mean features, always the two with the smallest
    n m / (n + m) ‖c − d‖; of b queries each part gets b / K, and in each the propagated features Z = Â² X are clustered
    into so many clusters, of which the nodes nearest to the centres are asked. With b < K there are b parts. The
    far form keeps the parts' queries away from each other: in place of ‖z − c‖, the smallest ‖z − c‖ − min_u ‖z − z_u‖
    is asked, u the queries in the parts before, where a part has more than one query.

    Departures: of pairs of communities that gain the same, those whose propagated features are more alike join first,
    where the released program takes the lower numbers; above 512 communities the smallest join the nearest of the 512
    largest before; nodes without neighbours are communities, where the program leaves them in the largest part; K is
    the number of classes, where the program has a number for each of its graphs, chosen by hand (7 for Cora, which has
    seven classes, 14 for CiteSeer); k-means stands for k-medoids, as in the program; nodes must lie in the pool. Parts
    take turns, the largest first, and in each the largest clusters come first.

    Args:
        far: whether queries in different parts are kept away from each other.
    """

    name = "graphpart"
    version = 2

    def __init__(self, far: bool = False) -> None:
        self.far = far
        if far:
            self.name = "graphpart-far"

    def identity(self) -> dict[str, Any]:
        """Which of the two forms."""
        return {"far": self.far}

    def bytes_per_run(self, graph: GraphTensors, budget: int) -> int:
        """Distances to all centres."""
        return cluster_bytes(graph.num_nodes, budget)

    def plan(self, observation: Observation) -> torch.Tensor:
        """The nodes of the pool nearest to the clusters' centres, part by part."""
        graph, shape, budget = observation.graph, observation.pool.shape, observation.budget
        points = propagated_features(graph)
        parts = Partition.of(graph).parts(min(budget, max(2, observation.num_classes)))
        plan, left = observation.noise.clone(), observation.pool.clone()
        nearest = plan.new_zeros(shape)  # the distance to the nearest query in the parts before
        for turn, part in enumerate(parts):
            index = torch.from_numpy(part).to(graph.device)
            inside = points[index] - points[index].mean(0)
            count = min(budget // len(parts) + (turn < budget % len(parts)), len(part))
            distances = _centre_distances(observation, inside, index, count, turn)
            asked = []
            for number in range(count):
                distance, here = distances[:, number], left[:, index]
                if self.far and budget > len(parts):
                    distance = distance - nearest[:, index]
                distance = distance.masked_fill(~here, torch.inf)
                equal = distance == distance.amin(1, keepdim=True)
                node = index[torch.where(equal, observation.noise[:, index], -1).argmax(1)][:, None]
                place = float(len(parts) * (budget - number) - turn + 1)  # noise, of all others, is below one
                plan = torch.where(here.any(1, keepdim=True), plan.scatter(1, node, place), plan)
                left.scatter_(1, node, False)
                asked.append(node)
            if self.far:
                nearest = _nearest(points, torch.cat(asked, 1), nearest if turn else None)
        return plan


def _centre_distances(
    observation: Observation, points: torch.Tensor, index: torch.Tensor, count: int, turn: int
) -> torch.Tensor:
    """Distances of a part's nodes to the centres of its clusters, the largest cluster first: [run, cluster, node]."""
    shape = observation.pool.shape
    clusters = cluster_shared(
        points, count, lambda number: observation.uniform(f"graphpart {turn} {number}", *shape)[:, index]
    )
    sizes = points.new_zeros(shape[0], count)
    sizes.scatter_add_(1, clusters.members, torch.ones_like(clusters.distance))
    order = sizes.argsort(dim=1, descending=True, stable=True)
    centres = clusters.centres.gather(1, order[..., None].expand_as(clusters.centres)).flatten(0, 1)
    offsets = torch.addmm(centres.square().sum(1, keepdim=True), centres, points.T, alpha=-2)
    return offsets.add_(points.square().sum(1)).clamp_min_(0).sqrt_().view(shape[0], count, -1)


def _nearest(points: torch.Tensor, nodes: torch.Tensor, before: torch.Tensor | None) -> torch.Tensor:
    """The distance of every node to the nearest of some, int64 [run, some], or to one before: [run, node]."""
    norms, chosen = points.square().sum(1), points[nodes.flatten()]
    squared = (norms + norms[nodes.flatten(), None]).addmm_(chosen, points.T, alpha=-2).clamp_min_(0)
    distance = squared.view(*nodes.shape, -1).amin(1).sqrt_()
    return distance if before is None else torch.minimum(distance, before)
