"""The fields of an npz file that hold node types and relations.

`node_types` (the first carries the labels, unless `labelled_type` names another) · `counts` [type] · `relations` ·
`relation_types` [relation, 2] · `relation_0`, `relation_1`, … [2, edge] of indices within the two types, and
`relation_0_weight` [edge] where edges have weights · of each type `x_TYPE` [node, feature] or `x_TYPE_data`,
`x_TYPE_indices`, `x_TYPE_indptr`, `x_TYPE_shape`; `names_TYPE`; `attribute_names_TYPE` and `attribute_TYPE_0`, ….
`y` and `class_names` are those of the labelled type. `edge_index`, the edges of its plain graph, may be missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from nodewise.graph.graph import Graph
from nodewise.graph.relations import NodeType, Relation, Relations
from nodewise.ground.errors import GraphError
from nodewise.ground.events import listed

__all__ = ["CSR", "record_fields", "relational_record"]

Fields = dict[str, npt.NDArray[Any]]
CSR = ("data", "indices", "indptr", "shape")


def relational_record(
    fields: Fields, texts: Callable[[Fields, str], list[str] | None], features: Callable[[Fields, str], Any]
) -> tuple[Fields, Relations]:
    """The record, and the fields of the labelled type by the names that plain graphs use for theirs.

    Args:
        fields: of the file.
        texts: how a field of texts is read.
        features: how features are read.

    Raises:
        GraphError: the fields do not fit together; says which.
    """
    fields = dict(fields)
    names = texts(fields, "node_types") or []
    kinds = texts(fields, "labelled_type")
    if kinds is not None and len(kinds) != 1:
        raise GraphError(
            f"labelled_type must name the one type that carries the labels, received {listed(kinds) or 'none'}"
        )
    labelled = kinds[0] if kinds else names[0] if names else ""
    counts = fields.pop("counts", None)
    if counts is None or counts.shape != (len(names),):
        raise GraphError(f"there must be one number in counts for each of the {len(names)} node types")
    ends = np.asarray(fields.pop("relation_types"))
    called = texts(fields, "relations") or []
    if ends.shape != (len(called), 2) and (called or ends.size):
        raise GraphError(
            f"relation_types must name two types for each of the {len(called)} relations, received the shape"
            f" {list(ends.shape)}: give one row of two names for each name in relations"
        )
    types = []
    for name, size in zip(names, counts.tolist(), strict=True):
        if name == labelled:
            fields |= {key.replace(f"x_{name}", "x", 1): fields.pop(key) for key in _feature_keys(fields, name)}
            if f"names_{name}" in fields:
                fields["node_names"] = fields.pop(f"names_{name}")
            fields["num_nodes"] = np.asarray(size)
            types.append(NodeType(name, size))
            continue
        x = features(fields, f"x_{name}")
        shown = {
            title: np.array(texts(fields, f"attribute_{name}_{at}") or [], dtype=object)
            for at, title in enumerate(texts(fields, f"attribute_names_{name}") or ())
        }
        own = texts(fields, f"names_{name}")
        types.append(NodeType(name, size, x, None if own is None else tuple(own), shown))
        used = (f"names_{name}", f"attribute_names_{name}", *(f"attribute_{name}_{at}" for at in range(len(shown))))
        for key in (*used, *_feature_keys(fields, name)):
            fields.pop(key, None)
    relations = []
    for number, (name, (source, target)) in enumerate(zip(called, ends.tolist(), strict=True)):
        edges = fields.pop(f"relation_{number}", None)
        if edges is None:
            raise GraphError(f"relations tells of {name!r}, but there is no field relation_{number}: add it")
        relations.append(Relation(name, source, target, edges, fields.pop(f"relation_{number}_weight", None)))
    for key in ("node_types", "relations", "labelled_type"):
        fields.pop(key, None)
    return fields, Relations(tuple(types), tuple(relations), labelled)


def record_fields(graph: Graph, fields: Fields, strings: Callable[[Sequence[str]], npt.NDArray[Any]]) -> Fields:
    """The fields of a graph with its relations beside them, those of the labelled type by its name.

    Args:
        graph: a graph that has relations.
        fields: what a plain graph's file holds of it.
        strings: how texts become a field.

    Raises:
        GraphError: the fields of two types would have the same name.
    """
    record = graph.relations
    assert record is not None
    own = record.labelled
    _check_names(graph, record)
    result = {
        f"x_{own}{key[1:]}" if key in ("x", *(f"x_{part}" for part in CSR)) else key: value
        for key, value in fields.items()
        if key not in ("num_nodes", "node_names")
    }
    if "node_names" in fields:
        result[f"names_{own}"] = fields["node_names"]
    result["node_types"] = strings([kind.name for kind in record.types])
    result["counts"] = np.array([kind.count for kind in record.types], np.int64)
    if record.types[0].name != own:
        result["labelled_type"] = strings([own])
    result["relations"] = strings([relation.name for relation in record.relations])
    result["relation_types"] = strings(
        [name for relation in record.relations for name in (relation.source, relation.target)]
    ).reshape(-1, 2)
    for number, relation in enumerate(record.relations):
        result[f"relation_{number}"] = relation.edge_index.astype(np.int32)
        if relation.weight is not None:
            result[f"relation_{number}_weight"] = relation.weight
    for kind in record.types:
        if isinstance(kind.x, np.ndarray):
            result[f"x_{kind.name}"] = kind.x
        elif kind.x is not None:
            shape = np.asarray(kind.x.shape, np.int64)
            parts: tuple[npt.NDArray[Any], ...] = (kind.x.data, kind.x.indices, kind.x.indptr, shape)
            result |= {f"x_{kind.name}_{part}": array for part, array in zip(CSR, parts, strict=True)}
        if kind.names is not None:
            result[f"names_{kind.name}"] = strings(kind.names)
        if kind.attributes:
            result[f"attribute_names_{kind.name}"] = strings(list(kind.attributes))
            for at, values in enumerate(kind.attributes.values()):
                result[f"attribute_{kind.name}_{at}"] = strings(values.tolist())
    return result


def _check_names(graph: Graph, record: Relations) -> None:
    """Refuse types whose features would be taken for a part of another's when they are read."""
    parts = (*CSR, "offset") if graph.x_offset is not None else CSR
    for kind in record.types:
        has = graph.x is not None if kind.name == record.labelled else kind.x is not None
        taken = kind.name in parts or any(kind.name == f"{one.name}_{part}" for one in record.types for part in CSR)
        if has and taken:
            raise GraphError(
                f"the features of the node type {kind.name!r} would have the name of another field of an npz file:"
                " rename the type"
            )


def _feature_keys(fields: Mapping[str, Any], name: str) -> list[str]:
    return [key for key in (f"x_{name}", *(f"x_{name}_{part}" for part in CSR)) if key in fields]
