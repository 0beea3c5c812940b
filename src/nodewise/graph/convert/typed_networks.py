"""Graphs of several node types from and to networkx, where attributes of nodes and edges name types and relations."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nodewise.graph.convert.networks import node_features, number_of_edge
from nodewise.graph.relational import RelationalGraph
from nodewise.graph.relations import NodeType, Relation
from nodewise.graph.tables.table import LABEL, dropped_of_edges, dropped_of_relation, unweighted_edges, weight_field
from nodewise.ground.errors import GraphError, WrongTypeError
from nodewise.ground.events import listed

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["from_typed_networkx", "to_typed_networkx"]

_TOLD = "nodewise_types"
"""The attribute of a networkx graph that holds what its nodes and edges do not say."""

Ends = tuple[str, str, str]  # the relation as it is written, and the types at its ends


def from_typed_networkx(
    graph: nx.Graph[Any],
    labelled: str | None = None,
    *,
    type: str = "type",
    relation: str = "relation",
    label: str | None = None,
) -> RelationalGraph:
    """The graph of a networkx one whose nodes say their type and whose edges say their relation.

    Nodes of a type that are called 0, 1, 2 … in order, or (type, 0), (type, 1) …, have no names here. The attribute "x"
    holds features, of one length within a type; texts become attributes; `notes` says what was dropped. An undirected
    edge within a type counts both ways.

    Args:
        graph: any networkx graph.
        labelled: the type that carries the labels; None: the only one with the attribute `label`.
        type: the node attribute that names the type.
        relation: the edge attribute that names the relation; an edge without one is called after its two types.
        label: the node attribute with the class; None: "label", "class", "category" …, where there is one.

    Raises:
        GraphError: a node has no type, no type or more than one has labels and none was named, or the parts do not fit
            together.
    """
    if not hasattr(graph, "nodes") or not hasattr(graph, "edges"):
        raise WrongTypeError(
            f"from_networkx takes a networkx graph, received {graph.__class__.__name__}: give the graph itself"
        )
    stored: Any = graph.graph.get(_TOLD)
    stored = stored if isinstance(stored, Mapping) else {}
    members: dict[str, list[Hashable]] = {str(kind): [] for kind in stored.get("types", ())}
    for node, held in graph.nodes(data=True):
        if held.get(type) in (None, ""):
            raise GraphError(
                f"the node {node!r} has no attribute {type!r}, which names its type: give it one, or name another"
                " attribute (type=…); a graph of one type is read by Graph.from_networkx"
            )
        members.setdefault(str(held[type]), []).append(node)
    if label is not None and not any(label in held for _, held in graph.nodes(data=True)):
        raise GraphError(f"no node has the attribute {label!r}: name the one that holds the class")
    usual = (key for key in LABEL if any(key in held for _, held in graph.nodes(data=True)))
    label = next(usual, LABEL[0]) if label is None else label
    having = [
        kind for kind, nodes in members.items() if any(graph.nodes[node].get(label) is not None for node in nodes)
    ]
    labelled = labelled or stored.get("labelled")
    if labelled is None and len(having) != 1:
        raise GraphError(
            f"{listed(having) + ' have' if having else 'no type has'} labels, there are"
            f" {listed(members) or 'no nodes'}: say which type is to be labelled, labelled='TYPE'"
        )
    labelled = having[0] if labelled is None else labelled
    notes: list[str] = []
    types = [
        _node_type(graph, kind, nodes, {type, label if kind == labelled else None}, stored, notes)
        for kind, nodes in members.items()
    ]
    y: Any = None
    if labelled in having or (stored.get("labels") and labelled == stored.get("labelled")):
        y = np.array([*(graph.nodes[node].get(label) for node in members[labelled]), None], dtype=object)[:-1]
        if stored.get("several") and labelled not in having:  # sets, and not one of them is known
            y = np.full((len(members[labelled]), len(stored.get("class_names", ()))), -1, dtype=np.int8)
    return RelationalGraph(
        tuple(types),
        tuple(_relations(graph, members, type, relation, stored, notes)),
        labelled,
        y,
        tuple(stored.get("class_names", ())) if labelled == stored.get("labelled") else (),
        str(graph.name or "graph"),
        notes=tuple(notes),
    )


def to_typed_networkx(graph: RelationalGraph) -> nx.MultiDiGraph[Any]:
    """A `networkx.MultiDiGraph`: nodes (type, name or index) with "type", "label" (the class name), "x" and the
    attributes, edges with "relation", and "weight" where they have weights. `RelationalGraph.extra` is left out.

    Raises:
        GraphError: if an attribute is called "type", "label" or "x".
    """
    import networkx as nx

    result: nx.MultiDiGraph[Any] = nx.MultiDiGraph(name=graph.name)
    ids: dict[str, list[tuple[str, Any]]] = {}
    for kind in graph.types:
        if clash := {"type", "label", "x"} & set(kind.attributes):
            raise GraphError(
                f"the attribute {clash.pop()!r} of the type {kind.name!r} has the name of networkx's node attribute for"
                " types, labels or features: rename it first"
            )
        ids[kind.name] = [(kind.name, name) for name in (kind.names or range(kind.count))]
        for node, called in enumerate(ids[kind.name]):
            parts: dict[str, Any] = {"type": kind.name}
            parts |= {key: values[node] for key, values in kind.attributes.items()}
            if kind.name == graph.labelled and graph.y is not None and graph.y[node] >= 0:
                parts["label"] = graph.class_names[graph.y[node]]
            if kind.name == graph.labelled and graph.y_sets is not None and graph.y_sets[node].min() >= 0:
                parts["label"] = [graph.class_names[number] for number in np.flatnonzero(graph.y_sets[node]).tolist()]
            if isinstance(kind.x, np.ndarray):
                parts["x"] = kind.x[node]
            elif kind.x is not None:
                row = slice(kind.x.indptr[node], kind.x.indptr[node + 1])
                parts["x"] = dict(zip(kind.x.indices[row].tolist(), kind.x.data[row].tolist(), strict=True))
            result.add_node(called, **parts)
    for relation in graph.relations:
        ends = (ids[relation.source], ids[relation.target])
        for at, (one, other) in enumerate(relation.edge_index.T.tolist()):
            weight = {} if relation.weight is None else {"weight": float(relation.weight[at])}
            result.add_edge(ends[0][one], ends[1][other], relation=relation.name, **weight)
    result.graph[_TOLD] = {
        "types": [kind.name for kind in graph.types],
        "relations": [[relation.name, relation.source, relation.target] for relation in graph.relations],
        "labelled": graph.labelled,
        "labels": graph.y is not None or graph.y_sets is not None,
        "several": graph.y_sets is not None,
        "class_names": list(graph.class_names),
        "columns": {kind.name: int(kind.x.shape[1]) for kind in graph.types if kind.x is not None},
    }
    return result


def _node_type(
    graph: Any,
    kind: str,
    nodes: Sequence[Any],
    used: set[str | None],
    stored: Mapping[str, Any],
    notes: list[str],
) -> NodeType:
    rows: list[Mapping[str, Any]] = [graph.nodes[node] for node in nodes]
    held = [key for key in dict.fromkeys(key for row in rows for key in row) if key not in used]
    columns = stored.get("columns", {}).get(kind)
    x = node_features(rows, "x" if "x" in held else None, columns) if "x" in held or columns is not None else None
    texts = [key for key in held if key != "x" and all(isinstance(row.get(key, ""), str) for row in rows)]
    if dropped := [str(key) for key in held if key != "x" and key not in texts]:
        notes.append(f"the attributes {listed(dropped)} of the type {kind!r} are no texts and were dropped")
    own = [node[1] if isinstance(node, tuple) and len(node) == 2 and node[0] == kind else node for node in nodes]
    counted = own == list(range(len(own))) and all(isinstance(name, int) for name in own)
    shown = {str(key): np.array([row.get(key, "") for row in rows], dtype=object) for key in texts}
    return NodeType(kind, len(nodes), x, None if counted else tuple(map(str, own)), shown)


def _relations(
    graph: Any,
    members: Mapping[str, Sequence[Any]],
    type: str,
    relation: str,
    stored: Mapping[str, Any],
    notes: list[str],
) -> list[Relation]:
    place = {node: at for nodes in members.values() for at, node in enumerate(nodes)}
    order = {kind: at for at, kind in enumerate(members)}
    fields = list(dict.fromkeys(str(key) for *_, held in graph.edges(data=True) for key in held))
    heavy = weight_field(fields)
    notes += dropped_of_edges(key for key in fields if key not in (heavy, relation))
    found: dict[Ends, list[tuple[int, int, float | None]]] = {tuple(ends): [] for ends in stored.get("relations", ())}
    for one, other, held in graph.edges(data=True):
        source, target = (str(graph.nodes[node][type]) for node in (one, other))
        if not graph.is_directed() and order[source] > order[target]:
            one, other, source, target = other, one, target, source
        way = str(held[relation]) if held.get(relation) not in (None, "") else f"{source} {target}"
        weight = None if heavy is None or heavy not in held else number_of_edge(held, heavy, one, other)
        pairs = found.setdefault((way, source, target), [])
        pairs.append((place[one], place[other], weight))
        if source == target and one != other and not graph.is_directed():
            pairs.append((place[other], place[one], weight))
    weighted = [ends for ends, pairs in found.items() if any(weight is not None for _, _, weight in pairs)]
    if missing := sum(weight is None for ends in weighted for _, _, weight in found[ends]):
        notes.append(unweighted_edges(missing))
    ways = [way for way, _, _ in found]
    made = [
        Relation(
            way if ways.count(way) == 1 else f"{source} {way} {target}",
            source,
            target,
            np.array([pair[:2] for pair in pairs], dtype=np.int64).reshape(-1, 2).T,
            np.array([1.0 if weight is None else weight for _, _, weight in pairs]) if ends in weighted else None,
        )
        for ends, pairs in found.items()
        for way, source, target in [ends]
    ]
    for each, pairs in zip(made, found.values(), strict=True):
        notes += dropped_of_relation(each.name, len(pairs), each.edge_index.shape[1], each.weight is not None)
    return made
