"""k-means for all runs at once.

Fixed shapes, batched products, no loop over runs or nodes, nothing that waits for the host.

What is carried from step to step is which node belongs to which cluster, not where the centres are: the classifier's
representation moves with every epoch, and a cluster's members say better than old coordinates where its centre is now.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch

from nodewise.strategies.scoring import gumbel_scores

__all__ = ["Clusters", "add_cluster", "lloyd", "seed_clusters", "squared_distances"]

_ROOM = 2**25  # numbers in the largest intermediate tensor: wider ones are made in blocks of nodes


class Clusters(NamedTuple):
    """A clustering of every run's nodes.

    Attributes:
        members: the cluster of each node, int64 [run, node].
        distance: squared distance of each node to the nearest centre, [run, node].
        centres: [run, cluster, width]; not a number where a cluster is empty.
    """

    members: torch.Tensor
    distance: torch.Tensor
    centres: torch.Tensor


def squared_distances(points: torch.Tensor, centres: torch.Tensor) -> torch.Tensor:
    """|x − c|² of every point and centre: [run, node, width] and [run, centre, width] to [run, centre, node].

    One batched product. Points and centres should lie around the origin, or digits are lost.
    """
    return (_offsets(points.transpose(1, 2), centres) + points.square().sum(-1)[:, None]).clamp_min_(0)


def seed_clusters(points: torch.Tensor, count: int, noise: Callable[[int], torch.Tensor]) -> torch.Tensor:
    """First clusters by k-means++ (Arthur & Vassilvitskii 2007).

    Each further centre is a node drawn in proportion to its squared distance to the nearest centre so far.

    Args:
        points: [run, node, width].
        noise: gives uniform numbers in [0, 1) for the draw of a cluster's first node, [run, node].

    Returns:
        The members, int64 [run, node].
    """
    points = points - points.mean(1, keepdim=True)
    distance = torch.ones_like(points[..., 0])
    members = torch.zeros(distance.shape, dtype=torch.int64, device=points.device)
    for number in range(count):
        drawn = gumbel_scores(distance, noise(number)).argmax(1)[:, None, None]
        fresh = squared_distances(points, points.gather(1, drawn.expand(-1, 1, points.shape[2])))[:, 0]
        nearer = fresh < distance if number else torch.ones_like(members, dtype=torch.bool)
        members.masked_fill_(nearer, number)
        distance = torch.where(nearer, fresh, distance)
    return members


def add_cluster(clusters: Clusters, number: int, noise: torch.Tensor) -> torch.Tensor:
    """The members after one node of each run, drawn as k-means++ would, has become a cluster of its own.

    Int64 [run, node].

    Args:
        number: the new cluster's number.
        noise: uniform numbers in [0, 1), [run, node].
    """
    return clusters.members.scatter(1, gumbel_scores(clusters.distance, noise).argmax(1, keepdim=True), number)


def lloyd(points: torch.Tensor, members: torch.Tensor, count: int, iterations: int) -> Clusters:
    """Lloyd's iterations: centres from members, members from centres.

    An empty cluster takes the node that lies farthest from its centre, one cluster in each iteration.

    Args:
        points: [run, node, width].
        members: the clusters to start from, int64 [run, node].
        count: how many clusters there are.
        iterations: at least one.
    """
    middle = points.mean(1, keepdim=True)
    columns = (
        (points - middle).transpose(1, 2).contiguous()
    )  # [run, width, node]: everything below goes along the nodes
    norms = columns.square().sum(1)
    for _ in range(iterations):
        sizes, centres = _centres(columns, members, count)
        members, offset = _assign(columns, centres, sizes == 0)
        distance = (offset + norms).clamp_min_(0)
        members = _fill_empty(members, distance, count)
    return Clusters(members, distance, centres.masked_fill(sizes == 0, torch.nan) + middle)


def _offsets(columns: torch.Tensor, centres: torch.Tensor) -> torch.Tensor:
    """|c|² − 2 x·c, which is |x − c|² less |x|²: [run, centre, node]."""
    return torch.baddbmm(centres.square().sum(-1, keepdim=True), centres, columns, alpha=-2)


def _blocks(columns: torch.Tensor, count: int) -> tuple[torch.Tensor, ...]:
    """The columns in pieces of so many nodes that [run, cluster, node] keeps to the room."""
    return torch.split(columns, max(1, _ROOM // (len(columns) * count)), 2)


def _centres(columns: torch.Tensor, members: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Sizes [run, cluster, 1] and means [run, cluster, width], by products with the membership matrix.

    0 for an empty cluster.
    """
    runs, width, _ = columns.shape
    sizes, sums = columns.new_zeros(runs, count, 1), columns.new_zeros(runs, count, width)
    first = 0
    for block in _blocks(columns, count):
        cluster = members[:, None, first : first + block.shape[2]]
        belongs = columns.new_zeros(runs, count, block.shape[2]).scatter_(1, cluster, 1.0)
        sizes += belongs.sum(2, keepdim=True)
        sums.baddbmm_(belongs, block.transpose(1, 2))
        first += block.shape[2]
    return sizes, sums / sizes.clamp_min(1)


def _assign(columns: torch.Tensor, centres: torch.Tensor, empty: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The nearest centre of each node and its offset: [run, node] each."""
    nearest = [
        _offsets(block, centres).masked_fill_(empty, torch.inf).min(1) for block in _blocks(columns, centres.shape[1])
    ]
    if len(nearest) == 1:
        return nearest[0].indices, nearest[0].values
    return torch.cat([part.indices for part in nearest], 1), torch.cat([part.values for part in nearest], 1)


def _fill_empty(members: torch.Tensor, distance: torch.Tensor, count: int) -> torch.Tensor:
    sizes = members.new_zeros(len(members), count).scatter_add_(1, members, torch.ones_like(members))
    smallest = sizes.min(1, keepdim=True)
    farthest = distance.argmax(1, keepdim=True)
    return members.scatter(
        1, farthest, torch.where(smallest.values == 0, smallest.indices, members.gather(1, farthest))
    )
