"""Graphs from and to networkx."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from nodewise.graph.checks import are_classes
from nodewise.graph.convert.matrices import warn_of_dropped
from nodewise.graph.graph import Graph
from nodewise.graph.label_sets import SEPARATOR
from nodewise.graph.tables.table import LABEL, dropped_of_edges, edge_weight, unweighted_edges, weight_field
from nodewise.ground.errors import GraphError, WrongTypeError
from nodewise.ground.events import listed

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["from_networkx", "node_features", "number_of_edge", "to_networkx"]


def from_networkx(
    graph: nx.Graph[Any],
    *,
    label: str | None = None,
    features: str | Sequence[str] | None = None,
    name: str | None = None,
) -> Graph:
    """The graph of a networkx one, directed or with parallel edges too.

    Nodes called 0, 1, 2 … in order have no names here; otherwise a node's name is ``str(node)``. Node attributes that
    are texts become attributes; `Graph.notes` says which others were dropped, and what was dropped of the edges.

    Args:
        graph: any networkx graph with at least one node.
        label: node attribute with the class; by default "label", "class", "category" …, where there is one. A node
            without it is unlabelled; one that may have several classes holds a list of them.
        features: node attribute with a row of numbers (or a dict column -> value), or a list of attributes with a
            number each; by default "x", where there is one.
        name: what the graph is called; by default as networkx calls it.

    Raises:
        GraphError: if there are no nodes, an attribute is missing, or features do not fit together.
    """
    if not hasattr(graph, "nodes") or not hasattr(graph, "edges"):
        raise WrongTypeError(
            f"from_networkx takes a networkx graph, received {type(graph).__name__}: give the graph itself"
        )
    nodes = list(graph.nodes)
    if not nodes:
        raise GraphError("the networkx graph has no nodes: a graph needs at least one")
    position = {node: i for i, node in enumerate(nodes)}
    rows: list[Mapping[str, Any]] = [graph.nodes[node] for node in nodes]
    held = list(dict.fromkeys(key for row in rows for key in row))
    for wanted in [label, *([features] if isinstance(features, str) else features or [])]:
        if wanted is not None and wanted not in held:
            raise GraphError(
                f"no node has the attribute {wanted!r}; there are {listed(held) or 'none'}: name one of these"
            )
    stored = graph.graph.get("nodewise", {})
    if not isinstance(stored, Mapping):  # a GraphML file of ours that networkx has read
        stored = {}
    notes: list[str] = []
    for key in [] if label is not None else ("label",) if stored else LABEL:
        if key in held and (stored or are_classes(["" if row.get(key) is None else str(row[key]) for row in rows])):
            label = key
            break
        if key in held:
            notes.append(
                f"the node attribute {key!r} differs on every node, or holds long texts, and was not taken as classes"
            )
    features = features if features is not None else "x" if "x" in held else None
    y = None if label is None else np.array([*(row.get(label) for row in rows), None], dtype=object)[:-1]
    if y is None and stored.get("labelled"):
        y = np.array([""] * len(nodes), dtype=object)
    if y is not None and stored.get("several"):
        y = np.array([*(row.get(label) if label is not None else None for row in rows), None], dtype=object)[:-1]
    x = node_features(rows, features, stored.get("columns")) if features is not None or "columns" in stored else None
    used = {label, *([features] if isinstance(features, str) else features or [])}
    texts = [key for key in held if key not in used and all(isinstance(row.get(key, ""), str) for row in rows)]
    dropped = [key for key in held if key not in used and key not in texts]
    if dropped:
        notes.append(
            f"the node attributes {listed(dropped)} are no texts and were dropped: name those to use as features or"
            " label"
        )
    fields = list(dict.fromkeys(str(key) for *_, held in graph.edges(data=True) for key in held))
    heavy = weight_field(fields)
    weights = None if heavy is None else _edge_weights(graph, heavy, notes)
    notes += dropped_of_edges(key for key in fields if key != heavy)
    edges = np.array([(position[a], position[b]) for a, b in graph.edges()], dtype=np.int64).reshape(-1, 2).T
    plain = nodes == list(range(len(nodes))) and all(type(node) is int for node in nodes)
    return Graph.build(
        edges,
        len(nodes),
        x=x,
        y=y,
        class_names=stored.get("class_names"),
        node_names=None if plain else [str(node) for node in nodes],
        attributes={str(key): [row.get(key, "") for row in rows] for key in texts},
        name=name or str(graph.name or "graph"),
        x_offset=stored.get("x_offset"),
        features=stored.get("feature_preprocessing", "raw"),
        notes=notes,
        edge_weight=weights,
        directed=graph.is_directed(),
        separator=SEPARATOR if stored.get("several") else None,
    )


def to_networkx(graph: Graph) -> nx.Graph[Any]:
    """A `networkx.Graph`, a `DiGraph` where the edges have a direction: nodes by name, else by index, with "label" (the
    class name), "x" and the attributes as node attributes, and "weight" of the edges where they have weights.

    "x" is a float32 row where features are dense, and a dict column -> value of what is not 0 where they are sparse.
    ``graph["nodewise"]`` holds class names, the number of feature columns, their offset and what was done to them.
    `Graph.extra` is left out.

    Raises:
        GraphError: if an attribute is called "label" or "x".

    Warns:
        UserWarning: node types and relations were dropped; `RelationalGraph.of(graph).to_networkx()` keeps them.
    """
    import networkx as nx

    if clash := {"label", "x"} & set(graph.attributes):
        raise GraphError(
            f"the attribute {clash.pop()!r} has the name of networkx's node attribute for labels or features: rename it"
            " first"
        )
    names: Sequence[Any] = graph.node_names if graph.node_names is not None else range(graph.num_nodes)
    one_way = graph.relations if graph.relations is not None and graph.relations.directed else None
    if one_way is None:
        warn_of_dropped(graph, "RelationalGraph.of(graph).to_networkx() keeps that")
    result: nx.Graph[Any] = nx.Graph(name=graph.name) if one_way is None else nx.DiGraph(name=graph.name)
    stored: dict[str, Any] = {
        "class_names": list(graph.class_names),
        "labelled": graph.y is not None or graph.several,
    }
    if graph.several:
        stored["several"] = True
    if graph.x is not None:
        stored |= {"columns": graph.num_features, "feature_preprocessing": graph.features}
    if graph.x_offset is not None:
        stored |= {"x_offset": graph.x_offset.tolist()}
    result.graph["nodewise"] = stored
    for node, name in enumerate(names):
        parts: dict[str, Any] = {key: values[node] for key, values in graph.attributes.items()}
        if graph.y is not None and graph.y[node] >= 0:
            parts["label"] = graph.class_names[graph.y[node]]
        if graph.y_sets is not None and graph.labelled[node]:
            parts["label"] = [graph.class_names[number] for number in np.flatnonzero(graph.y_sets[node])]
        if isinstance(graph.x, np.ndarray):
            parts["x"] = graph.x[node]
        elif graph.x is not None:
            row = slice(graph.x.indptr[node], graph.x.indptr[node + 1])
            parts["x"] = dict(zip(graph.x.indices[row].tolist(), graph.x.data[row].tolist(), strict=True))
        result.add_node(name, **parts)
    ends, given = graph.edge_index, graph.edge_weight
    if one_way is not None:
        ends, given = one_way.relations[0].edge_index, one_way.relations[0].weight
    edges = [(names[a], names[b]) for a, b in ends.T.tolist()]
    if given is None:
        result.add_edges_from(edges)
    else:
        weights = given.tolist()
        result.add_weighted_edges_from((a, b, weight) for (a, b), weight in zip(edges, weights, strict=True))
    return result


def _edge_weights(graph: nx.Graph[Any], key: str, notes: list[str]) -> list[float]:
    """The weights of all edges; one without counts 1, as in networkx."""
    weights = [number_of_edge(held, key, one, other) for one, other, held in graph.edges(data=True)]
    if missing := sum(key not in held for *_, held in graph.edges(data=True)):
        notes.append(unweighted_edges(missing))
    return weights


def number_of_edge(held: Mapping[str, Any], key: str, one: Any, other: Any) -> float:
    """The weight of one edge: what it holds under the key, 1 where it holds none."""
    return edge_weight(str(held.get(key, 1)), f"the edge from {one!r} to {other!r}")


def node_features(rows: Sequence[Mapping[str, Any]], features: str | Sequence[str] | None, columns: int | None) -> Any:
    """The features of nodes from their attributes: [node, feature], dense or CSR.

    Args:
        rows: the attributes of each node.
        features: the attribute with a row of numbers or a dict column -> value, or attributes with a number each; None:
            there are none but `columns`.
        columns: how many there are, where it is known.
    """
    if features is None:
        return np.zeros((len(rows), columns or 0), dtype=np.float32)
    if not isinstance(features, str):
        try:
            return np.array([[float(row.get(key, 0)) for key in features] for row in rows])
        except (TypeError, ValueError) as error:
            raise GraphError(
                f"the node attributes {listed(features)} must hold one number each ({error}): name others, or a row of"
                " numbers"
            ) from error
    values = [row.get(features) for row in rows]
    try:
        if any(isinstance(value, Mapping) for value in values):
            ends = [0, *np.cumsum([len(value or {}) for value in values]).tolist()]
            indices = [int(column) for value in values for column in value or {}]
            data = [float(number) for value in values for number in (value or {}).values()]
            return sp.csr_matrix(
                (data, indices, ends),
                shape=(len(rows), columns if columns is not None else max(indices, default=-1) + 1),
            )
        return np.array([np.atleast_1d(np.asarray(value, dtype=np.float64)) for value in values])
    except (TypeError, ValueError) as error:
        raise GraphError(
            f"the node attribute {features!r} must hold rows of numbers, all of one length ({error}): correct it, or"
            " name another"
        ) from error
