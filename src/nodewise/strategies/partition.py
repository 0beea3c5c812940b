"""A graph's division into parts, made once: communities by modularity, joined by their mean features."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import numpy_generator
from nodewise.ground.events import Reporter
from nodewise.strategies.propagated import input_features, propagated_features

__all__ = ["Partition", "communities", "joins"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_COMMUNITIES = 512
"""Communities that are joined by their means at most; smaller ones than these join the nearest of them before."""


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
    """Communities by greedy modularity, one pair at a time (Clauset, Newman & Moore 2004): [node].

    Joining communities i and j changes the modularity by ΔQ = 2 (w_ij / 2m − a_i a_j), w their edges and a their shares
    of all ends of edges. The pair that gains most joins, until none gains.

    Args:
        adjacency: symmetric, without loops.
        position: a number for each node, [node]: of equal gains the pair whose middles lie nearer comes first.
    """
    return _Joining(adjacency, position).done()


Pair = tuple[float, float, int, int]
"""Minus what two communities gain times 2 m², the distance of their middles, and the two: the smallest is best."""


class _Joining:
    """Communities that join.

    The pair's larger community, by ends of edges, knows of it, so that one which many small ones join is looked through
    once a time. Joining lowers what a third gains with the two unless it has edges to both: what a community knew as
    its best is never too small, if those with edges to both are told, and is found anew when it comes first and is
    no longer true.
    """

    def __init__(self, adjacency: sp.csr_matrix, position: Floats) -> None:
        count = adjacency.shape[0]
        self._ends, self._degree = float(adjacency.sum()), np.asarray(adjacency.sum(1)).ravel().astype(float)
        self._total, self._size = position.astype(float), np.ones(count)
        columns, weights, starts = (part.tolist() for part in (adjacency.indices, adjacency.data, adjacency.indptr))
        self._rows = [dict(zip(columns[a:b], weights[a:b], strict=True)) for a, b in itertools.pairwise(starts)]
        self._merged = list(range(count))  # what each has joined, or itself
        self._best: list[Pair | None] = [None] * count
        self._heap: list[tuple[Pair, int]] = []

    def done(self) -> Ints:
        """The community of each node once no pair gains."""
        for number in range(len(self._rows)):
            self._look(number)
        while self._heap:
            known, owner = heapq.heappop(self._heap)
            one, other = known[2:]
            if self._best[owner] is not known:
                continue
            if other in self._rows[one] and self._pair(one, other) == known:
                self._join(one, other)
            else:
                self._look(owner)
        numbers = np.arange(len(self._merged))
        merged = np.array(self._merged, dtype=np.int64)
        while (merged[numbers] != numbers).any():
            numbers = merged[numbers]
        return np.unique(numbers, return_inverse=True)[1].astype(np.int64)

    def _pair(self, one: int, other: int) -> Pair:
        gain = self._rows[one][other] * self._ends - self._degree[one] * self._degree[other]
        difference = abs(self._total[one] / self._size[one] - self._total[other] / self._size[other])
        return float(-gain), float(difference), min(one, other), max(one, other)

    def _know(self, owner: int, pair: Pair) -> None:
        """The owner's best is this pair, if it gains."""
        self._best[owner] = pair
        if pair[0] < 0:
            heapq.heappush(self._heap, (pair, owner))

    def _look(self, owner: int) -> None:
        """Finds a community's best pair with those that have fewer ends than it, or as many and a smaller number."""
        row = self._rows[owner]
        others = np.fromiter(row.keys(), np.int64, len(row))
        gains = np.fromiter(row.values(), np.float64, len(row)) * self._ends
        gains -= self._degree[others] * self._degree[owner]
        lesser = self._degree[others] < self._degree[owner]
        lesser |= (self._degree[others] == self._degree[owner]) & (others < owner)
        gains[~lesser] = -np.inf
        best = gains.max(initial=-np.inf)
        self._best[owner] = None
        if best > 0:
            equal = others[gains == best]
            difference = np.abs(self._total[owner] / self._size[owner] - self._total[equal] / self._size[equal])
            self._know(owner, self._pair(owner, int(equal[difference == difference.min()].min())))

    def _join(self, one: int, other: int) -> None:
        rows = self._rows
        if len(rows[one]) < len(rows[other]):
            one, other = other, one
        self._merged[other], self._best[other] = one, None
        for amounts in (self._degree, self._total, self._size):
            amounts[one] += amounts[other]
        del rows[one][other], rows[other][one]
        raised = []
        for third, weight in rows[other].items():
            del rows[third][other]
            raised += [third] if third in rows[one] else []
            rows[one][third] = rows[third][one] = rows[one].get(third, 0.0) + weight
        rows[other] = {}
        self._look(one)
        for third in raised:
            if (self._degree[third], third) > (self._degree[one], one):
                pair, known = self._pair(third, one), self._best[third]
                if known is None or pair < known:
                    self._know(third, pair)


def joins(sizes: Floats, centres: Floats) -> Ints:
    """Which two parts join next, until one is left: [merge, 2].

    Those with the smallest n_i n_j / (n_i + n_j) ‖c_i − c_j‖, as GraphPart's released program has it; Ward's method
    (1963) has the square of the distance.

    Args:
        sizes: [part].
        centres: [part, width].
    """
    sizes, lengths = sizes.copy(), (centres**2).sum(1)
    squared = np.maximum(lengths[:, None] + lengths - 2 * centres @ centres.T, 0)
    cost = np.sqrt(squared) * (sizes[:, None] * sizes) / (sizes[:, None] + sizes)
    np.fill_diagonal(cost, np.inf)
    merges = np.empty((max(0, len(sizes) - 1), 2), dtype=np.int64)
    gone: list[int] = []
    for step in range(len(merges)):
        first, second = sorted(divmod(int(cost.argmin()), len(sizes)))
        merges[step] = first, second
        # the distances of others to the mean of two centres, by those to the two
        share = sizes[second] / (sizes[first] + sizes[second])
        row = (1 - share) * squared[first] + share * squared[second] - share * (1 - share) * squared[first, second]
        squared[first], squared[:, first] = np.maximum(row, 0), np.maximum(row, 0)
        sizes[first] += sizes[second]
        gone += [second]
        row = np.sqrt(squared[first]) * sizes * sizes[first] / (sizes + sizes[first])
        row[[first, *gone]] = np.inf
        cost[first], cost[:, first] = row, row
        cost[second], cost[:, second] = np.inf, np.inf
    return merges


@dataclass(frozen=True)
class _Partitioning:
    """How a graph is divided: there is nothing to set."""

    def identity(self) -> Mapping[str, Any]:
        return {}

    def prepare(self, graph: GraphTensors, reporter: Reporter | None = None) -> Partition:
        points = input_features(graph).double().cpu().numpy()
        arrays = (part.cpu().numpy() for part in (graph.adjacency.values, graph.adjacency.col, graph.adjacency.crow))
        adjacency = sp.csr_matrix(tuple(arrays), shape=graph.adjacency.shape).astype(np.float64)
        direction = numpy_generator(0, "partition").standard_normal(points.shape[1])
        members = communities(adjacency, propagated_features(graph).double().cpu().numpy() @ direction)
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
        return Partition(members, joins(sizes, centres))
