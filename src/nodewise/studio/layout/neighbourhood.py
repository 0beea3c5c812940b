"""What lies around a node: which of its neighbours to draw, and where.

The cost depends on what is drawn and on a bounded look at the rest, never on the size of the graph; so a hub of ten
thousand neighbours answers like any other node.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nodewise.graph import Graph
from nodewise.ground.errors import InputError
from nodewise.studio.layout.forces import spread

__all__ = ["ENTRIES", "LINES", "ROW", "Neighbourhood", "Neighbours"]

Nodes = npt.NDArray[np.int64]

ROW = 20_000
ENTRIES = 200_000
"""Neighbours of neighbours that are looked at, of one neighbour and altogether."""
LINES = 3000
"""Edges to draw; more are one grey patch."""


@dataclass(frozen=True)
class Neighbourhood:
    """The nodes around one, to be drawn.

    Attributes:
        centre: the node in the middle.
        nodes: int64 [shown], the centre first, then its neighbours, then theirs.
        hop: int64 [shown], steps from the centre: 0, 1 or 2. x, y: float32 [shown], in -1 … 1, the centre at 0, 0.
        edges: int64 [edge, 2], indices in `nodes`, the lower one first: the edges between nodes that are shown; of more
            than 3000 those of the centre, and then those of the nodes that have the fewest.
        total: nodes within the hops asked for, the centre included.
        exact: whether `total` is exact; otherwise there are at least that many.
    """

    centre: int
    nodes: Nodes
    hop: Nodes
    x: npt.NDArray[np.float32]
    y: npt.NDArray[np.float32]
    edges: Nodes
    total: int
    exact: bool

    @property
    def hidden(self) -> int:
        """How many of `total` are not shown."""
        return self.total - len(self.nodes)


class Neighbours:
    """Looks around in one graph; makes its rows of neighbours once, and may then be asked from any thread.

    Args:
        graph: where to look.
    """

    def __init__(self, graph: Graph) -> None:
        whole = graph.adjacency()
        self._starts, self._ends = whole.indptr[:-1], whole.indptr[1:]
        self._others = whole.indices
        self.degree: Nodes = graph.degree
        self.num_nodes = graph.num_nodes

    def of(self, node: int) -> Nodes:
        """The neighbours of a node, in order of their index."""
        neighbours: Nodes = self._others[self._starts[node] : self._ends[node]].astype(np.int64)
        return neighbours

    def around(
        self, centre: int, hops: int = 1, limit: int = 150, labelled: npt.NDArray[np.bool_] | Collection[int] = ()
    ) -> Neighbourhood:
        """The neighbourhood of a node, the same one each time it is asked.

        All neighbours are shown up to the limit: labelled ones first, since they say most about the centre, then those
        with the most neighbours of their own. (Not those whose prediction is surest: the picture would change with
        every label.) What is left of the limit goes to the second hop: labelled ones first, then those that know the
        most nodes shown already, then by degree.

        Args:
            centre: the node in the middle.
            hops: 1 or 2.
            limit: the most nodes to show, the centre included.
            labelled: a mask [node], or the nodes.

        Raises:
            InputError: there is no such node, or hops or limit are out of range.
        """
        if not 0 <= centre < self.num_nodes:
            raise InputError(f"there is no node {centre}: nodes are 0 to {self.num_nodes - 1}")
        if hops not in (1, 2) or limit < 1:
            raise InputError(
                f"a neighbourhood has 1 or 2 hops and a limit of at least 1, got hops {hops} and limit {limit}"
            )
        known = _mask(labelled, self.num_nodes)
        near = self.of(centre)
        first = near[_best(limit - 1, ~known[near], -self.degree[near])]
        second, beyond, exact = np.empty(0, np.int64), 0, True
        if hops == 2 and len(near):
            second, beyond, exact = self._second(centre, near, first, limit - 1 - len(first), known)
        nodes = np.concatenate([np.array([centre], np.int64), first, second])
        hop = np.repeat(np.arange(3, dtype=np.int64), [1, len(first), len(second)])
        edges = self._between(nodes)
        x, y = spread(len(nodes), edges, hop)
        return Neighbourhood(centre, nodes, hop, x, y, _fewer(edges, len(nodes)), 1 + len(near) + beyond, exact)

    def _second(
        self, centre: int, near: Nodes, first: Nodes, room: int, known: npt.NDArray[np.bool_]
    ) -> tuple[Nodes, int, bool]:
        """The nodes to show at two hops, how many there are, and whether that is all."""
        rest = near[~np.isin(near, first)]
        order = np.concatenate([first, rest])
        sizes = np.minimum(self.degree[order], ROW)
        looked = max(1, int(np.searchsorted(np.cumsum(sizes), ENTRIES, side="right")))
        exact = looked == len(order) and bool((self.degree[order] <= ROW).all())
        nodes, links = np.unique(self._rows(order[:looked], sizes[:looked]), return_counts=True)
        new = ~np.isin(nodes, near) & (nodes != centre)
        nodes, links = nodes[new].astype(np.int64), links[new]
        return nodes[_best(room, ~known[nodes], -links, -self.degree[nodes])], len(nodes), exact

    def _rows(self, nodes: Nodes, sizes: Nodes) -> Nodes:
        """The first ``sizes`` neighbours of each node, one after the other."""
        ends = np.cumsum(sizes)
        indices = np.arange(ends[-1] if len(ends) else 0) + np.repeat(self._starts[nodes] - ends + sizes, sizes)
        joined: Nodes = self._others[indices]
        return joined

    def _between(self, nodes: Nodes) -> Nodes:
        """The edges between the given nodes, as indices [edge, 2]."""
        order = np.argsort(nodes)
        ranked = nodes[order]
        pairs = []
        for position, node in enumerate(nodes.tolist()):
            row = self._others[self._starts[node] : self._ends[node]]
            if len(row) > len(ranked):  # look for the few in the many
                at = np.minimum(np.searchsorted(row, ranked), len(row) - 1)
                there = order[row[at] == ranked]
            else:
                at = np.minimum(np.searchsorted(ranked, row), len(ranked) - 1)
                there = order[at[ranked[at] == row]]
            there = there[there > position]
            pairs.append(np.stack([np.full_like(there, position), there], axis=1))
        edges = np.concatenate(pairs)
        listed: Nodes = edges[np.lexsort((edges[:, 1], edges[:, 0]))].astype(np.int64)
        return listed


def _mask(labelled: npt.NDArray[np.bool_] | Collection[int], size: int) -> npt.NDArray[np.bool_]:
    if isinstance(labelled, np.ndarray) and labelled.dtype == bool:
        return labelled
    mask = np.zeros(size, bool)
    mask[np.fromiter(labelled, np.int64, len(labelled))] = True
    return mask


def _fewer(edges: Nodes, count: int) -> Nodes:
    """The edges to draw; a node with few keeps them all."""
    if len(edges) <= LINES:
        return edges
    drawn = np.bincount(edges.ravel(), minlength=count)
    keep = _best(LINES, edges[:, 0] > 0, drawn[edges].min(axis=1))
    return edges[np.sort(keep)]


def _best(count: int, *keys: npt.NDArray[np.generic]) -> Nodes:
    """The indices of the ``count`` smallest by the first key, then the next ones, then by position."""
    return np.lexsort(keys[::-1])[: max(0, count)]
