"""Step 5 of Appendix B: the largest connected component."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

__all__ = ["Component", "largest_component"]


@dataclass(frozen=True)
class Component:
    """The largest part of a graph in which every node can be reached from every other.

    Attributes:
        nodes: int64 [node], its nodes' indices in the whole graph, ascending.
        edge_index: int64 [2, edge], its edges, counted within the component.
        components: how many components the whole graph has, isolated nodes included.
        isolated: how many of them are isolated nodes.
    """

    nodes: npt.NDArray[np.int64]
    edge_index: npt.NDArray[np.int64]
    components: int
    isolated: int


def largest_component(edge_index: npt.NDArray[np.int64], num_nodes: int) -> Component:
    """The component with most nodes; among several, the one with the node that comes first."""
    low, high = edge_index
    whole = sp.csr_matrix((np.ones(low.size, dtype=np.int8), (low, high)), shape=(num_nodes, num_nodes))
    number, part = connected_components(whole, directed=False)
    sizes = np.bincount(part, minlength=number)
    _, first = np.unique(part, return_index=True)  # each component's first node
    best = min(range(number), key=lambda index: (-sizes[index], first[index]))
    nodes = np.flatnonzero(part == best)
    inside = part[low] == best
    return Component(nodes, np.searchsorted(nodes, edge_index[:, inside]), int(number), int((sizes == 1).sum()))
