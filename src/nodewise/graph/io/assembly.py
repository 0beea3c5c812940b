"""What the text forms share: the head that says what a table cannot, exact numbers as text, and putting a graph
together again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.graph.checks import class_labels, natural_order
from nodewise.graph.graph import Graph, canonical_features
from nodewise.graph.label_sets import class_order, separator_for, split_sets
from nodewise.graph.tables.table import are_indices
from nodewise.ground.errors import GraphError
from nodewise.ground.events import listed

__all__ = [
    "Head",
    "assemble",
    "dropped_fields",
    "exact_texts",
    "node_ids",
    "nonzero",
    "sparse_features",
    "written_edges",
]


@dataclass(frozen=True)
class Head:
    """What rows of nodes and edges do not say themselves.

    Attributes:
        name: of the graph.
        named: whether node ids are names; otherwise they are the indices.
        labelled: whether there are labels, even if every node is unlabelled.
        class_names: in order.
        columns: of the features, or None without features.
        dense: whether the features were stored dense.
        offset: what is subtracted from the features, or None.
        done: what was done to the features, as `Graph.features` says it.
        separator: what parts the classes of a node that may have several; None where each has one.
    """

    name: str
    named: bool
    labelled: bool
    class_names: tuple[str, ...]
    columns: int | None
    dense: bool
    offset: tuple[float, ...] | None
    done: str = "raw"
    separator: str | None = None

    @classmethod
    def of(cls, graph: Graph) -> Head:
        """The head of a graph."""
        return cls(
            name=graph.name,
            named=graph.node_names is not None,
            labelled=graph.y is not None or graph.several,
            class_names=graph.class_names,
            columns=None if graph.x is None else graph.num_features,
            dense=isinstance(graph.x, np.ndarray),
            offset=None if graph.x_offset is None else tuple(graph.x_offset.tolist()),
            done=graph.features,
            separator=separator_for(graph.class_names) if graph.several else None,
        )

    def to_json(self) -> str:
        """As JSON, ASCII only."""
        features = None
        if self.columns is not None:
            features = {"columns": self.columns, "dense": self.dense, "offset": self.offset, "done": self.done}
        parts = {
            "name": self.name,
            "named": self.named,
            "labelled": self.labelled,
            "class_names": self.class_names,
            "features": features,
            **({} if self.separator is None else {"separator": self.separator}),
        }
        return json.dumps({"schema": 1, **parts}, indent=1 if not self.offset else None)

    @classmethod
    def from_json(cls, text: str, source: str) -> Head:
        """The head that `to_json` wrote."""
        try:
            record = json.loads(text)
            features = record.get("features") or {}
            offset = features.get("offset")
            return cls(
                name=str(record["name"]),
                named=bool(record["named"]),
                labelled=bool(record["labelled"]),
                class_names=tuple(map(str, record["class_names"])),
                columns=int(features["columns"]) if features else None,
                dense=bool(features.get("dense")),
                offset=None if offset is None else tuple(map(float, offset)),
                done=canonical_features(str(features.get("done", "raw"))),
                separator=None if record.get("separator") is None else str(record["separator"]),
            )
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
            raise GraphError(
                f"{source}: what it says of the graph cannot be understood ({error!r}); write the graph again, or"
                " remove it"
            ) from error


def node_ids(graph: Graph) -> Sequence[str]:
    """What nodes are called in a text file: their names, else their indices."""
    return graph.node_names if graph.node_names is not None else [str(i) for i in range(graph.num_nodes)]


def nonzero(graph: Graph) -> sp.csr_matrix[np.float32]:
    """The stored features as CSR; no columns without features."""
    if graph.x is None:
        return sp.csr_matrix(np.zeros((graph.num_nodes, 0), dtype=np.float32))
    return sp.csr_matrix(graph.x)


def written_edges(graph: Graph) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32] | None]:
    """The edges and weights that a text file holds: those of its only relation where they have a direction."""
    record = graph.relations
    if record is None or not record.directed:
        return graph.edge_index, graph.edge_weight
    return record.relations[0].edge_index, record.relations[0].weight


def exact_texts(values: npt.NDArray[np.float32]) -> list[str]:
    """The shortest text of each float32 that reads back as the same float32."""
    texts: list[str] = values.astype(np.str_).tolist()
    back = np.array(texts, dtype=np.float64).astype(np.float32) if texts else values
    for i in np.flatnonzero(back != values).tolist():
        texts[i] = repr(float(values[i]))
    return texts


def sparse_features(
    rows: Sequence[int], columns: Sequence[int], values: Sequence[float], shape: tuple[int, int], source: str
) -> sp.csr_matrix[np.float32]:
    """Features as CSR from one entry each of `rows`, `columns` and `values`; none may be given twice."""
    matrix: sp.csr_matrix[np.float64] = sp.csr_matrix(
        (np.asarray(values, dtype=np.float64), (rows, columns)), shape=shape
    )
    if matrix.nnz != len(values):
        order = np.sort(np.asarray(rows, dtype=np.int64) * shape[1] + np.asarray(columns, dtype=np.int64))
        row, column = divmod(int(order[1:][order[1:] == order[:-1]][0]), shape[1])
        raise GraphError(f"{source} gives two values for node {row}, column {column}: keep one of them")
    with np.errstate(over="ignore"):
        return matrix.astype(np.float32)


def dropped_fields(graph: Graph, form: str, *, relations: bool = False) -> list[str]:
    """What a text form cannot hold of a graph, in words; `relations`: whether it holds node types and relations."""
    dropped = [f"the further fields {listed(graph.extra)}: only npz keeps them, not {form}"] if graph.extra else []
    if graph.preparation is not None:
        dropped.append(f"how rows became features, which new rows need: only npz keeps it, not {form}")
    if graph.relations is not None and not graph.relations.directed and not relations:
        dropped.append(f"node types and relations, but for their union: npz and a folder keep them, not {form}")
    return dropped


def assemble(
    ids: Sequence[str],
    edges: npt.NDArray[np.int64],
    labels: Sequence[str] | None,
    attributes: Mapping[str, Sequence[str]],
    features: Any,
    head: Head | None,
    *,
    name: str,
    notes: Sequence[str] = (),
    room: int = 2**24,
    weights: Sequence[float] | None = None,
    directed: bool = False,
) -> Graph:
    """Puts a graph together from rows of text.

    Args:
        ids: of the nodes, in order.
        edges: [2, edge], as indices.
        labels: class name or "" of each node, or None.
        attributes: name -> one string a node.
        features: [node, feature] or None.
        head: what `Head.of` said when the file was written, or None for a file from elsewhere.
        name: of the graph, where there is no head.
        notes: what the reader has to tell.
        room: values that features may take when they are made dense, as they were; beyond it they stay sparse.
        weights: of the edges, in the same order, or None.
        directed: whether each edge leads one way.
    """
    plain = are_indices(ids)
    named = head.named if head is not None and plain else not plain
    class_names = None
    if head is not None:
        labels = labels if head.labelled or (labels and any(labels)) else None
        if head.separator is not None:
            sets = split_sets(labels or (), head.separator, head.class_names)
            class_names = class_order((each or () for each in sets), head.class_names)
        else:
            new = set(class_labels(labels or (), head.class_names)[0]) - set(head.class_names) - {""}
            class_names = (*head.class_names, *natural_order(list(new)))
        if features is not None and head.dense and features.shape[0] * features.shape[1] <= room:
            features = features.toarray()
    return Graph.build(
        edges,
        len(ids),
        x=features,
        y=None if labels is None else np.array([*labels, None], dtype=object)[:-1],
        class_names=class_names,
        node_names=ids if named else None,
        attributes=attributes,
        name=head.name if head is not None else name,
        x_offset=head.offset if head is not None and features is not None else None,
        notes=notes,
        features=head.done if head is not None else "raw",
        edge_weight=weights,
        directed=directed,
        separator=head.separator if head is not None else None,
    )
