"""k-means for all runs at once: fixed shapes, batched products, no loop over runs or nodes, nothing that waits for the host.

The state that is carried from step to step is which node belongs to which cluster, not where the centres are: the classifier's
representation moves with every epoch, and the clusters' members say better than old coordinates where the centres are now.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

__all__ = ["Clusters", "add_cluster", "lloyd", "seed_clusters", "squared_distances"]

_ROOM = 2**25  # numbers in the largest intermediate tensor: distances are computed in blocks of nodes that keep to it


class Clusters(NamedTuple):
    """A clustering of every run's nodes.

    Attributes:
        members: the cluster of each node, int64 [run, node].
        distance: squared distance of each node to the nearest centre, [run, node].
        centres: [run, cluster, width]; where a cluster is empty, not a number.
    """

    members: torch.Tensor
    distance: torch.Tensor
    centres: torch.Tensor


def squared_distances(points: torch.Tensor, centres: torch.Tensor) -> torch.Tensor:
    """|x − c|² of every point and centre, not below 0: [run, node, width] and [run, centre, width] to [run, centre, node].

    One batched product, |x|² − 2 x·c + |c|². Points should lie around the origin, or digits are lost.
    """
    product = torch.baddbmm(centres.square().sum(-1, keepdim=True), centres, points.transpose(1, 2), alpha=-2)
    return product.add_(points.square().sum(-1)[:, None]).clamp_min_(0)


def seed_clusters(points: torch.Tensor, count: int, uniform: torch.Tensor) -> torch.Tensor:
    """First clusters as k-means++ draws them (Arthur & Vassilvitskii 2007): each further centre is a node drawn in proportion to its
    squared distance to the nearest centre so far.

    Args:
        points: [run, node, width].
        uniform: numbers in [0, 1) that decide, [run, cluster].

    Returns:
        The members, int64 [run, node].
    """  # noqa: D205
    points = points - points.mean(1, keepdim=True)
    distance = torch.ones_like(points[..., 0])
    members = torch.zeros(distance.shape, dtype=torch.int64, device=points.device)
    for number in range(count):
        centre = _rows(points, _draw(distance, uniform[:, number]))
        fresh = squared_distances(points, centre)[:, 0]
        nearer = fresh < distance if number else torch.ones_like(members, dtype=torch.bool)
        members.masked_fill_(nearer, number)
        distance = torch.where(nearer, fresh, distance)
    return members


def add_cluster(clusters: Clusters, number: int, uniform: torch.Tensor) -> torch.Tensor:
    """The members after one node of each run has become a cluster of its own, drawn as k-means++ would: int64 [run, node].

    Args:
        number: the new cluster's number.
        uniform: [run].
    """
    return clusters.members.scatter(1, _draw(clusters.distance, uniform)[:, None], number)


def lloyd(points: torch.Tensor, members: torch.Tensor, count: int, iterations: int) -> Clusters:
    """Lloyd's iterations: centres from members, members from centres.

    An empty cluster takes the node that lies farthest from its centre, one cluster each iteration.

    Args:
        points: [run, node, width].
        members: the clusters to start from, int64 [run, node].
        count: how many clusters there are.
        iterations: at least one.
    """
    middle = points.mean(1, keepdim=True)
    points = points - middle
    numbers = torch.arange(count, device=points.device)[:, None]
    for _ in range(iterations):
        sizes, sums = _gather(points, members, numbers)
        centres = sums / sizes.clamp_min(1)
        members, distance = _assign(points, centres, sizes == 0)
        members = _fill_empty(members, distance, numbers)
    return Clusters(members, distance, centres.masked_fill(sizes == 0, torch.nan) + middle)


def _blocks(points: torch.Tensor, count: int) -> range:
    return range(0, points.shape[1], max(1, _ROOM // (points.shape[0] * count)))


def _gather(points: torch.Tensor, members: torch.Tensor, numbers: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Sizes [run, cluster, 1] and sums [run, cluster, width]: products with the membership matrix, the same in every order of adding runs."""
    blocks = _blocks(points, len(numbers))
    sizes = points.new_zeros(len(points), len(numbers), 1)
    sums = points.new_zeros(len(points), len(numbers), points.shape[2])
    for first in blocks:
        belongs = (members[:, None, first : first + blocks.step] == numbers).to(points.dtype)
        sizes += belongs.sum(2, keepdim=True)
        sums.baddbmm_(belongs, points[:, first : first + blocks.step])
    return sizes, sums


def _assign(points: torch.Tensor, centres: torch.Tensor, empty: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The nearest centre of each node and the squared distance to it: [run, node] each."""
    blocks = _blocks(points, centres.shape[1])
    parts = [
        squared_distances(points[:, first : first + blocks.step], centres).masked_fill_(empty, torch.inf).min(1) for first in blocks
    ]
    return torch.cat([part.indices for part in parts], 1), torch.cat([part.values for part in parts], 1)


def _fill_empty(members: torch.Tensor, distance: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
    runs, count = len(members), len(numbers)
    sizes = torch.zeros(runs, count, dtype=members.dtype, device=members.device).scatter_add_(1, members, torch.ones_like(members))
    smallest = sizes.min(1, keepdim=True)
    farthest = distance.argmax(1, keepdim=True)
    return members.scatter(1, farthest, torch.where(smallest.values == 0, smallest.indices, members.gather(1, farthest)))


def _draw(weights: torch.Tensor, uniform: torch.Tensor) -> torch.Tensor:
    """A node of each run with chances in proportion to weights, [run, node]; the last one where all are zero. int64 [run]."""
    total = weights.double().cumsum(1)
    return torch.searchsorted(total, (uniform.double() * total[:, -1])[:, None], right=True)[:, 0].clamp_max(weights.shape[1] - 1)


def _rows(points: torch.Tensor, nodes: torch.Tensor) -> torch.Tensor:
    """One node's row of each run: [run, 1, width]."""
    return points.gather(1, nodes[:, None, None].expand(-1, 1, points.shape[2]))
