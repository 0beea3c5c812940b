"""The map of the whole graph: which nodes it shows and where they lie.

It is computed once, from the edges alone, and never changes with the labels: colours change, positions do not. Nodes
that belong together lie together; pieces of the graph that nothing joins lie around the largest.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from nodewise.graph import Graph
from nodewise.ground.compute import derive_seed, numpy_generator
from nodewise.studio.layout.affinity import met_on_walks, reached_by_walks, spectral_start
from nodewise.studio.layout.packing import pack
from nodewise.studio.layout.unfolding import separate, unfold

__all__ = ["GraphMap", "draw_map"]

Nodes = npt.NDArray[np.int64]

_LINES = 8000
_TRIFLE = 3
"""Nodes of a piece that needs no unfolding."""


@dataclass(frozen=True)
class GraphMap:
    """A map of a graph.

    Attributes:
        nodes: int64 [shown], in order of their index. x, y: float32 [shown], in -1 … 1.
        edges: int64 [edge, 2], indices in `nodes`: edges between nodes shown, a random choice of them where there are
            many.
        total: nodes of the graph.
    """

    nodes: Nodes
    x: npt.NDArray[np.float32]
    y: npt.NDArray[np.float32]
    edges: Nodes
    total: int

    @property
    def sampled(self) -> bool:
        """Whether there are nodes that are not shown."""
        return len(self.nodes) < self.total


def draw_map(
    graph: Graph,
    labelled: Collection[int] = (),
    limit: int = 4000,
    seed: int = 0,
    step: Callable[[], None] = lambda: None,
) -> GraphMap:
    """The map of a graph, the same for the same input; takes seconds.

    Args:
        graph: what to draw.
        labelled: nodes to keep where not all can be shown.
        limit: the most nodes to show. Of a larger graph it shows the labelled ones (up to half), those with the most
            neighbours (a quarter of the rest) and a random choice of the others.
        seed: where the choice and the start come from.
        step: called between the steps of the work; may end it by an error.
    """
    adjacency = graph.adjacency()
    shown = _choose(graph, labelled, limit, seed)
    between = adjacency[shown][:, shown].tocsr() if len(shown) < graph.num_nodes else adjacency
    _, piece = connected_components(adjacency, directed=False)
    position = _arrange(adjacency, between, shown, piece[shown], derive_seed(seed, "map"), step)
    ends = sp.triu(between, 1).tocoo()
    edges = np.column_stack([ends.row, ends.col]).astype(np.int64)
    if len(edges) > _LINES:
        edges = edges[np.sort(numpy_generator(seed, "lines").permutation(len(edges))[:_LINES])]
    return GraphMap(shown, position[0], position[1], edges, graph.num_nodes)


def _choose(graph: Graph, labelled: Collection[int], limit: int, seed: int) -> Nodes:
    total = graph.num_nodes
    if total <= limit:
        return np.arange(total)
    rng = numpy_generator(seed, "shown")
    taken = np.zeros(total, bool)
    known = np.unique(np.fromiter(labelled, np.int64, len(labelled)))
    taken[known if len(known) <= limit // 2 else rng.permutation(known)[: limit // 2]] = True
    hubs = (limit - int(taken.sum())) // 4
    ranked = np.lexsort((np.arange(total), -graph.degree))
    taken[ranked[~taken[ranked]][:hubs]] = True
    others = np.flatnonzero(~taken)
    taken[rng.permutation(others)[: limit - int(taken.sum())]] = True
    return np.flatnonzero(taken)


def _arrange(
    adjacency: sp.csr_matrix[np.float32],
    between: sp.csr_matrix[np.float32],
    shown: Nodes,
    whose: npt.NDArray[np.int32],
    seed: int,
    step: Callable[[], None],
) -> npt.NDArray[np.float32]:
    """Positions of the nodes shown, float32 [2, shown].

    The largest piece by itself, other pieces worth it together, then all packed.
    """
    _, inverse, size = np.unique(whose, return_inverse=True, return_counts=True)
    piece = inverse.astype(np.int64)
    position = np.zeros((2, len(shown)))
    largest = piece == np.argmax(size)
    for members in (largest, ~largest & (size[piece] > _TRIFLE)):
        chosen = np.flatnonzero(members)
        step()
        if len(chosen) > _TRIFLE:
            if len(shown) == adjacency.shape[0]:
                part = adjacency[chosen][:, chosen].tocsr()
                position[:, chosen] = unfold(reached_by_walks(part, seed), spectral_start(part, seed), step)
            else:
                position[:, chosen] = unfold(*met_on_walks(adjacency, shown[chosen], seed), step)
    packed = pack(position, piece)
    spacing = np.sqrt(np.pi / max(len(shown), 1))
    packed = separate(packed, 0.35 * spacing)
    packed -= (packed.max(axis=1, keepdims=True) + packed.min(axis=1, keepdims=True)) / 2
    return (packed / max(float(np.abs(packed).max()), 1e-9)).astype(np.float32)
