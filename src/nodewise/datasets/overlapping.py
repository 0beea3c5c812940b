"""A seeded graph of groups that overlap: a node may belong to several of them, or to none."""

from __future__ import annotations

import numpy as np

from nodewise.graph import Graph
from nodewise.ground.compute import numpy_generator

__all__ = ["overlapping_graph"]

_SECOND, _NONE = 0.3, 0.05
"""Shares of the nodes that belong to a second group, and to none."""

_SHARED, _OTHER = 0.05, 0.004
"""Chances of an edge between two nodes with a group in common, and between others."""


def overlapping_graph(
    nodes: int = 600, classes: int = 5, *, features: int = 16, seed: int = 0, name: str = "overlapping"
) -> Graph:
    """A graph whose nodes belong to one group, to two, or to none; groups are its classes.

    Edges are more frequent between nodes that share a group, and features lie around the sum of a node's groups.

    Args:
        nodes: how many; time and memory grow with their square.
        classes: how many groups, at least 2.
        features: columns; 0 for none.
        seed: where all randomness comes from.
        name: of the graph.

    Example:
        >>> from nodewise.datasets import overlapping_graph
        >>> overlapping_graph(100, 3)
        Graph('overlapping': 100 nodes, ... 3 classes, several a node)
    """
    draws = numpy_generator(seed, "overlapping")
    sets = np.zeros((nodes, classes), dtype=np.int8)
    everybody, first = np.arange(nodes), draws.integers(classes, size=nodes)
    sets[everybody, first] = 1
    second = draws.random(nodes) < _SECOND
    sets[everybody[second], (first + draws.integers(1, classes, size=nodes))[second] % classes] = 1
    sets[draws.random(nodes) < _NONE] = 0
    chance = np.where(sets.astype(np.int64) @ sets.T > 0, _SHARED, _OTHER)
    edges = np.stack(np.nonzero(np.triu(draws.random((nodes, nodes)) < chance, 1)))
    x = None
    if features:
        centres = draws.normal(size=(classes, features)) / 2
        x = (sets @ centres + draws.normal(size=(nodes, features))).astype(np.float32)
    return Graph.build(edges, nodes, x=x, y=sets, name=name)
