"""Copies of a graph with some of its nodes left out: whether a result holds on graphs like this one, not on it only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from nodewise.graph import Graph
from nodewise.ground.compute import numpy_generator
from nodewise.ground.errors import InputError

__all__ = ["COPIES", "LEFT_OUT", "graph_copies"]

COPIES = 10
"""How many copies a graph has, with seeds 0 to 9."""

LEFT_OUT = 0.2
"""The share of nodes that each copy lacks."""


def graph_copies(graph: Graph, copies: int = COPIES, left_out: float = LEFT_OUT) -> Iterator[Graph]:
    """Copies of a graph, each with another fifth of its nodes left out, one after the other.

    The nodes that stay keep their order, names, features, labels, and edges among each other. Classes stay known where
    none of their nodes is left. A copy's name is the graph's and the copy's number; it follows from these alone.

    Args:
        graph: the graph.
        copies: how many, with seeds from 0 on.
        left_out: the share of nodes that is left out, rounded down.

    Raises:
        InputError: there would be no copy, or none with a node.

    Example:
        >>> import nodewise as nw
        >>> from nodewise.evaluation import graph_copies
        >>> [(copy.name, copy.num_nodes) for copy in graph_copies(nw.load_graph("wine"), copies=2)]
        [('wine copy 0', 143), ('wine copy 1', 143)]
    """
    if copies < 1 or not 0 < left_out < 1:
        raise InputError(
            f"a graph is copied at least once, with a share between 0 and 1 left out, got {copies} and {left_out}"
        )
    return (_copy(graph, seed, left_out) for seed in range(copies))


def _copy(graph: Graph, seed: int, left_out: float) -> Graph:
    gone = numpy_generator(seed, "copy").permutation(graph.num_nodes)[: int(left_out * graph.num_nodes)]
    stays = np.ones(graph.num_nodes, dtype=bool)
    stays[gone] = False
    nodes = np.flatnonzero(stays)
    index = np.cumsum(stays) - 1
    kept = stays[graph.edge_index].all(0)
    edges = graph.edge_index[:, kept]
    return replace(
        graph,
        edge_index=index[edges],
        edge_weight=None if graph.edge_weight is None else graph.edge_weight[kept],
        num_nodes=len(nodes),
        x=None if graph.x is None else graph.x[nodes],
        y=None if graph.y is None else graph.y[nodes],
        y_sets=None if graph.y_sets is None else graph.y_sets[nodes],
        node_names=None if graph.node_names is None else tuple(graph.node_names[node] for node in nodes),
        attributes={key: values[nodes] for key, values in graph.attributes.items()},
        name=f"{graph.name} copy {seed}",
        extra={},
        notes=(),
        relations=None if graph.relations is None else graph.relations.part(nodes),
    )
