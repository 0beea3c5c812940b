"""A graph's division into parts, made once: communities by modularity, joined by Ward's method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import numpy_generator
from nodewise.ground.events import Reporter
from nodewise.strategies.propagated import propagated_features

__all__ = ["Partition", "communities", "ward_merges"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_COMMUNITIES = 512
"""Communities that Ward's method joins at most: smaller ones than the 512 largest join the nearest of these before."""


@dataclass(frozen=True)
class Partition:
    """Communities of a graph and the order in which they are joined to fewer parts.

    Attributes:
        members: the community of each node, [node].
        merges: pairs of parts, one after another: the second joins the first, [merge, 2].
    """

    members: Ints
    merges: Ints

    @classmethod
    def of(cls, graph: GraphTensors) -> Partition:
        """The partition of a graph, which is kept with it."""
        partition: Partition = graph.prepared_by(_Partitioning())
        return partition

    def parts(self, count: int) -> list[Ints]:
        """The nodes of so many parts, or of fewer where there are not so many communities, the largest part first."""
        found = int(self.members.max(initial=-1)) + 1
        joined = np.arange(found)
        for first, second in self.merges[: max(0, found - count)]:
            joined[joined == second] = first
        part = joined[self.members]
        numbers, sizes = np.unique(part, return_counts=True)
        return [np.flatnonzero(part == number) for number in numbers[np.argsort(-sizes, kind="stable")]]


def communities(adjacency: sp.csr_matrix, position: Floats) -> Ints:
    """Communities by greedy modularity (Clauset, Newman & Moore 2004), in rounds: [node].

    Joining communities i and j changes the modularity by ΔQ = 2 (w_ij / 2m − a_i a_j), w their edges and a their shares
    of all ends of edges. In each round every pair joins that is the best choice of both; their method joins one pair at
    a time. It ends when no pair gains. Nodes with a single neighbour join it at the start, which always gains.

    Args:
        adjacency: symmetric, without loops.
        position: a number for each node, [node]: of equal gains the pair that lies nearer comes first.
    """
    nodes, ends = adjacency.shape[0], float(adjacency.sum())
    coo, degree = adjacency.tocoo(), np.asarray(adjacency.sum(1)).ravel().astype(float)
    single = np.diff(adjacency.indptr) == 1
    leaf = single[coo.row]
    found = sp.csr_matrix((np.ones(int(leaf.sum())), (coo.row[leaf], coo.col[leaf])), shape=(nodes, nodes))
    members: Ints = connected_components(found, directed=False)[1].astype(np.int64)
    while True:
        count = int(members.max(initial=-1)) + 1
        pairs = sp.csr_matrix((coo.data, (members[coo.row], members[coo.col])), shape=(count, count)).tocoo()
        share = np.bincount(members, weights=degree, minlength=count) / max(ends, 1)
        middle = np.bincount(members, weights=position, minlength=count) / np.bincount(members, minlength=count)
        gain = 2 * (pairs.data / max(ends, 1) - share[pairs.row] * share[pairs.col])
        worth = (pairs.row < pairs.col) & (gain > 0)
        one, other = pairs.row[worth].astype(np.int64), pairs.col[worth].astype(np.int64)
        if not len(one):
            return members
        distance = np.abs(middle[one] - middle[other])
        chance = ((one * 2654435761) ^ (other * 40503)) % 1_000_003  # settles what is equal in all else
        rank = np.empty(len(one), dtype=np.int64)
        rank[np.lexsort((chance, -distance, gain[worth]))] = np.arange(len(one))
        best = np.full(count, -1, dtype=np.int64)
        np.maximum.at(best, one, rank)
        np.maximum.at(best, other, rank)
        mutual = (best[one] == rank) & (best[other] == rank)
        number = np.arange(count)
        number[other[mutual]] = one[mutual]
        members = np.unique(number, return_inverse=True)[1].astype(np.int64)[members]


def ward_merges(sizes: Floats, centres: Floats) -> Ints:
    """Which two parts Ward's method (1963) joins next, until one is left: [merge, 2].

    The pair whose joining adds least to the sum of squared distances to the parts' centres: n_i n_j / (n_i + n_j) ‖c_i
    − c_j‖².

    Args:
        sizes: [part].
        centres: [part, width].
    """
    sizes, lengths = sizes.copy(), (centres**2).sum(1)
    squared = np.maximum(lengths[:, None] + lengths - 2 * centres @ centres.T, 0)
    cost = squared * (sizes[:, None] * sizes) / (sizes[:, None] + sizes)
    np.fill_diagonal(cost, np.inf)
    merges = np.empty((max(0, len(sizes) - 1), 2), dtype=np.int64)
    for step in range(len(merges)):
        first, second = sorted(divmod(int(cost.argmin()), len(sizes)))
        merges[step] = first, second
        # Lance and Williams: what joining a third part with both would cost, from the costs there are
        joined = (sizes + sizes[first]) * cost[first] + (sizes + sizes[second]) * cost[second]
        row = (joined - sizes * cost[first, second]) / (sizes + sizes[first] + sizes[second])
        row[[first, second]] = np.inf
        sizes[first] += sizes[second]
        cost[first], cost[:, first] = row, row
        cost[second], cost[:, second] = np.inf, np.inf
    return merges


@dataclass(frozen=True)
class _Partitioning:
    """How a graph is divided: there is nothing to set."""

    def identity(self) -> Mapping[str, Any]:
        return {}

    def prepare(self, graph: GraphTensors, reporter: Reporter | None = None) -> Partition:
        points = propagated_features(graph).double().cpu().numpy()
        arrays = (part.cpu().numpy() for part in (graph.adjacency.values, graph.adjacency.col, graph.adjacency.crow))
        adjacency = sp.csr_matrix(tuple(arrays), shape=graph.adjacency.shape).astype(np.float64)
        direction = numpy_generator(0, "partition").standard_normal(points.shape[1])
        members = communities(adjacency, points @ direction)
        sizes = np.bincount(members).astype(np.float64)
        belongs = sp.csr_matrix((np.ones(len(members)), (members, np.arange(len(members)))))
        centres = (belongs @ points) / sizes[:, None]
        if len(sizes) > _COMMUNITIES:
            kept = np.sort(np.argsort(-sizes, kind="stable")[:_COMMUNITIES])
            nearest = ((centres[kept] ** 2).sum(1) - 2 * centres @ centres[kept].T).argmin(1)
            nearest[kept] = np.arange(_COMMUNITIES)
            sums = np.zeros((_COMMUNITIES, points.shape[1]))
            np.add.at(sums, nearest, centres * sizes[:, None])
            sizes = np.bincount(nearest, weights=sizes).astype(np.float64)
            members = nearest.astype(np.int64)[members]
            centres = sums / sizes[:, None]
        return Partition(members, ward_merges(sizes, centres))
