"""Small labelled graphs for the engine's tests, with features in each of the forms that the engine tells apart."""

from __future__ import annotations

from typing import Literal

import numpy as np
import scipy.sparse as sp

from nodewise.datasets.synthetic import SyntheticSettings, synthetic_graph
from nodewise.graph import Graph

Kind = Literal["sparse", "offset", "dense"]
KINDS: tuple[Kind, ...] = ("sparse", "offset", "dense")


def random_graph(kind: Kind = "sparse", nodes: int = 40, classes: int = 3, columns: int = 23, seed: int = 0) -> Graph:
    """A random graph of which a few nodes are isolated; ``offset`` is sparse and centred."""
    rng = np.random.default_rng(seed)
    edges = rng.integers(0, nodes - 3, (2, 2 * nodes))
    x = sp.random(nodes, columns, 0.3, format="csr", dtype=np.float32, random_state=rng)
    y = rng.permutation(np.arange(nodes) % classes)
    mean = np.asarray(x.mean(0), dtype=np.float32).ravel()
    return Graph.build(
        edges,
        nodes,
        x=x.toarray() if kind == "dense" else x,
        y=y,
        x_offset=mean if kind == "offset" else None,
        name=f"random {kind}",
    )


def block_graph(nodes: int = 150, classes: int = 3, seed: int = 0, signal: float = 1.5) -> Graph:
    """Communities whose features tell the class about half of the time."""
    settings = SyntheticSettings(
        nodes=nodes, classes=classes, mean_degree=5, homophily=0.8, features=8, signal=signal, seed=seed
    )
    return synthetic_graph(settings, name="blocks")


def relabelled(graph: Graph, order: np.ndarray) -> Graph:
    """The same graph with its nodes in another order: node ``i`` is node ``order[i]`` of the given one."""
    place = np.argsort(order)
    assert graph.x is not None and graph.y is not None
    x = graph.x[order]
    return Graph.build(
        place[graph.edge_index],
        graph.num_nodes,
        x=x,
        y=graph.y[order],
        class_names=graph.class_names,
        x_offset=graph.x_offset,
        name=graph.name,
    )


def with_labels(graph: Graph, y: np.ndarray) -> Graph:
    """The same graph with other labels."""
    return Graph.build(
        graph.edge_index,
        graph.num_nodes,
        x=graph.x,
        y=y,
        class_names=graph.class_names,
        x_offset=graph.x_offset,
        name=graph.name,
    )
