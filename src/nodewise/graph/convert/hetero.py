"""Graphs of several node types from and to PyTorch Geometric's `HeteroData`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from nodewise.graph.convert.pyg import feature_rows
from nodewise.graph.relational import RelationalGraph
from nodewise.graph.relations import NodeType, Relation
from nodewise.graph.tables.table import dropped_of_relation
from nodewise.ground.errors import GraphError
from nodewise.ground.events import listed

if TYPE_CHECKING:
    from torch_geometric.data import HeteroData

__all__ = ["from_hetero", "to_hetero"]

_UNDERSTOOD = {"x", "y", "num_nodes", "names", "attributes", "edge_index", "edge_weight"}


def from_hetero(data: HeteroData, labelled: str | None = None, name: str | None = None) -> RelationalGraph:
    """The graph of a `HeteroData`.

    Of each type `x`, `y` and `num_nodes` are understood, of each relation `edge_index` and `edge_weight`, and what
    `to_hetero` writes beside them. A relation that `ToUndirected` added (`rev_…`) is left out where it says the same as
    the one it reverses. Tensors of the labelled type with one row a node, such as masks, are kept among the further
    fields; `notes` says what was dropped. A `y` of zeros and ones [node, class] means several classes a node.

    Args:
        data: on any device.
        labelled: the type that carries the labels; None: the only one with `y`.
        name: what the graph is called.

    Raises:
        GraphError: no type, or more than one, has labels and none was named; or the parts do not fit together.
    """
    import torch

    kinds = list(data.node_types)
    having = [kind for kind in kinds if data[kind].get("y") is not None]
    if labelled is None and len(having) != 1:
        raise GraphError(
            f"{'no type has' if not having else f'{listed(having)} have'} labels (y), there are"
            f" {listed(kinds) or 'no nodes'}: say which type is to be labelled, labelled='TYPE'"
        )
    labelled = having[0] if labelled is None else labelled
    types, notes, extra, y = [], list[str](), dict[str, Any](), None
    for kind in kinds:
        store, size = data[kind], data[kind].num_nodes
        if size is None:
            raise GraphError(f"the type {kind!r} has no features and no num_nodes: set data[{kind!r}].num_nodes")
        shown = {key: np.array(texts, dtype=object) for key, texts in (store.get("attributes") or {}).items()}
        names = store.get("names")
        types.append(
            NodeType(kind, int(size), feature_rows(store.get("x")), None if names is None else tuple(names), shown)
        )
        for key, value in store.items():
            if key in _UNDERSTOOD or value is None:
                continue
            if kind == labelled and torch.is_tensor(value) and value.layout == torch.strided and len(value) == size:
                extra[key] = value.detach().cpu().numpy()
            else:
                notes.append(f"{key!r} of the type {kind!r} was dropped")
        if kind == labelled and store.get("y") is not None:
            y = store["y"].detach().cpu().numpy() if torch.is_tensor(store["y"]) else store["y"]
    return RelationalGraph(
        tuple(types),
        tuple(_relations(data, notes)),
        labelled,
        y,
        data.get("class_names") or (),
        name or str(data.get("name") or "graph"),
        extra,
        tuple(notes),
    )


def to_hetero(graph: RelationalGraph) -> HeteroData:
    """A `HeteroData` with `x`, `y`, `names` and `attributes` of each type, `edge_index` and `edge_weight` of each
    relation, each in the one direction that it has here.
    """
    import torch
    from torch_geometric.data import HeteroData

    data: Any = HeteroData()
    data.name, data.class_names = graph.name, list(graph.class_names)
    for kind in graph.types:
        store = data[kind.name]
        store.num_nodes = kind.count
        if isinstance(kind.x, np.ndarray):
            store.x = torch.from_numpy(kind.x.copy())
        elif kind.x is not None:
            entries = kind.x.tocoo()
            ends = torch.from_numpy(np.stack([entries.row, entries.col]).astype(np.int64))
            store.x = torch.sparse_coo_tensor(
                ends, torch.from_numpy(entries.data.copy()), kind.x.shape, is_coalesced=True, check_invariants=False
            )
        if kind.names is not None:
            store.names = list(kind.names)
        if kind.attributes:
            store.attributes = {key: values.tolist() for key, values in kind.attributes.items()}
    if graph.y is not None:
        data[graph.labelled].y = torch.from_numpy(graph.y.copy())
    if graph.y_sets is not None:
        data[graph.labelled].y = torch.from_numpy(graph.y_sets.astype(np.float32))
    for key, value in graph.extra.items():
        data[graph.labelled][key] = torch.from_numpy(value.copy()) if value.dtype.kind in "biuf" else value.tolist()
    for relation in graph.relations:
        store = data[relation.source, relation.name, relation.target]
        store.edge_index = torch.from_numpy(relation.edge_index.copy())
        if relation.weight is not None:
            store.edge_weight = torch.from_numpy(relation.weight.copy())
    return data


def _relations(data: Any, notes: list[str]) -> list[Relation]:
    found: dict[tuple[str, str, str], Relation] = {}
    often = Counter(way for _, way, _ in data.edge_types)
    for source, way, target in data.edge_types:
        store = data[source, way, target]
        edges = store.get("edge_index")
        if edges is None:
            raise GraphError(f"the relation {way!r} from {source!r} to {target!r} has no edge_index: set it")
        weight = store.get("edge_weight")
        called = way if often[way] == 1 else f"{source} {way} {target}"
        values = None if weight is None else weight.detach().cpu().numpy().reshape(-1)
        made = found[source, way, target] = Relation(called, source, target, edges.cpu().numpy(), values)
        dropped = [key for key in store.keys() if key not in _UNDERSTOOD]  # noqa: SIM118
        notes += dropped_of_relation(
            called, edges.shape[1], made.edge_index.shape[1], made.weight is not None, map(str, dropped)
        )
    for source, way, target in list(found):
        back = (target, way.removeprefix("rev_"), source)
        if way.startswith("rev_") and back in found and _reverse(found[source, way, target], found[back]):
            del found[source, way, target]
    return list(found.values())


def _reverse(one: Relation, other: Relation) -> bool:
    turned = Relation(one.name, one.target, one.source, one.edge_index[::-1], one.weight)
    return np.array_equal(turned.edge_index, other.edge_index) and (
        (turned.weight is None and other.weight is None)
        or (turned.weight is not None and other.weight is not None and np.array_equal(turned.weight, other.weight))
    )
