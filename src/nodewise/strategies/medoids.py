"""k-means of points that all runs share, and the order in which clusters are asked.

Every run has clusters of its own, by its own draws, of the same points: distances to all centres of all runs are one
product. (`kmeans` clusters points that each run has of its own.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch

from nodewise.graph.tensors import csr_tensor
from nodewise.strategies.scoring import gumbel_scores

__all__ = ["SharedClusters", "cluster_bytes", "cluster_order", "cluster_shared"]

_ITERATIONS = 20


class SharedClusters(NamedTuple):
    """A clustering of the same points for every run.

    Attributes:
        members: the cluster of each node, int64 [run, node].
        distance: squared distance of each node to its cluster's centre, [run, node].
        centres: [run, cluster, width].
    """

    members: torch.Tensor
    distance: torch.Tensor
    centres: torch.Tensor


def cluster_bytes(nodes: int, clusters: int) -> int:
    """Memory that clustering takes for each run: distances to all centres, twice, and some rows of all nodes."""
    return 8 * nodes * (clusters + 8)


def cluster_shared(
    points: torch.Tensor,
    count: int,
    noise: Callable[[int], torch.Tensor],
    counts: torch.Tensor | None = None,
    iterations: int = _ITERATIONS,
) -> SharedClusters:
    """k-means with first centres by k-means++ (Arthur & Vassilvitskii 2007), until nothing moves.

    A cluster that has become empty keeps its centre.

    Args:
        points: around the origin, [node, width].
        count: how many clusters.
        noise: gives uniform numbers in [0, 1) for the draw of a cluster's first node, [run, node].
        counts: which nodes the centres are made from, bool [run, node]; all of them if None.
        iterations: at most so many.
    """
    norms = points.square().sum(1)
    centres = points[_first_nodes(points, norms, count, noise, counts)]
    members = torch.empty(0, dtype=torch.int64)
    for _ in range(iterations):
        before = members
        members, distance = _assign(points, norms, centres)
        if before.numel() and torch.equal(members, before):
            break
        centres = _centres(points, members, centres, counts)
    else:
        members, distance = _assign(points, norms, centres)
    return SharedClusters(members, distance, centres)


def cluster_order(
    members: torch.Tensor, sizes: torch.Tensor, wanted: torch.Tensor, pool: torch.Tensor, noise: torch.Tensor
) -> torch.Tensor:
    """Scores by which each cluster gives one node of the pool before any gives its second, large clusters first.

    [run, node].

    Args:
        members: int64 [run, node].
        sizes: by which clusters take turns, the largest first: [run, cluster].
        wanted: which node of its cluster comes first, the largest: [run, node].
        noise: uniform in [0, 1), settles what is equal: [run, node].
    """
    order = noise.argsort(1)
    for key in (-wanted, (~pool).to(noise.dtype), members):
        order = order.gather(1, key.gather(1, order).argsort(dim=1, stable=True))
    ordered = members.gather(1, order)  # cluster by cluster, in each the pool's nodes first, the most wanted in front
    filled = torch.zeros_like(sizes, dtype=torch.int64).scatter_add_(1, members, torch.ones_like(members))
    places = torch.arange(members.shape[1], device=members.device) - (filled.cumsum(1) - filled).gather(1, ordered)
    place = torch.empty_like(places).scatter_(1, order, places)
    turn = sizes.argsort(dim=1, descending=True, stable=True).argsort(1).gather(1, members)
    return -(place * sizes.shape[1] + turn).to(noise.dtype)


def _first_nodes(
    points: torch.Tensor,
    norms: torch.Tensor,
    count: int,
    noise: Callable[[int], torch.Tensor],
    counts: torch.Tensor | None,
) -> torch.Tensor:
    """Nodes drawn one after another in proportion to their squared distance to those before: int64 [run, count]."""
    drawn: list[torch.Tensor] = []
    distance = torch.empty(0)
    for number in range(count):
        uniform = noise(number)
        chance = distance if drawn else torch.ones_like(uniform)
        drawn.append(gumbel_scores(chance if counts is None else chance * counts, uniform).argmax(1))
        centres = points[drawn[-1]]
        fresh = (norms + norms[drawn[-1], None]).addmm_(centres, points.T, alpha=-2).clamp_min_(0)
        fresh.scatter_(1, drawn[-1][:, None], 0)
        distance = fresh if number == 0 else torch.minimum(distance, fresh)
    return torch.stack(drawn, 1)


def _assign(points: torch.Tensor, norms: torch.Tensor, centres: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The nearest centre of each node and the squared distance to it: [run, node] each."""
    flat = centres.flatten(0, 1)
    offsets = torch.addmm(flat.square().sum(1, keepdim=True), flat, points.T, alpha=-2)
    nearest = offsets.view(*centres.shape[:2], -1).min(1)
    return nearest.indices, (nearest.values + norms).clamp_min_(0)


def _centres(
    points: torch.Tensor, members: torch.Tensor, before: torch.Tensor, counts: torch.Tensor | None
) -> torch.Tensor:
    """The clusters' means, by one product with a sparse matrix of who belongs where: [run, cluster, width]."""
    runs, nodes = members.shape
    clusters = runs * before.shape[1]
    numbers = (members + torch.arange(0, clusters, before.shape[1], device=members.device)[:, None]).flatten()
    order = numbers.argsort(stable=True)
    crow = torch.zeros(clusters + 1, dtype=torch.int64, device=points.device)
    crow[1:] = torch.bincount(numbers, minlength=clusters).cumsum(0)
    values = torch.ones_like(order, dtype=points.dtype) if counts is None else counts.flatten()[order].to(points.dtype)
    belongs = csr_tensor(crow, order % nodes, values, (clusters, nodes))
    sums = torch.mm(belongs, points).view_as(before)
    filled = torch.zeros(clusters, dtype=points.dtype, device=points.device).index_add_(0, numbers[order], values)
    filled = filled.view(runs, -1, 1)
    return torch.where(filled > 0, sums / filled.clamp_min(1), before)
