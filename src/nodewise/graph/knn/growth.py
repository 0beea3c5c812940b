"""Rows that are added to a graph: what they bring along, as a small graph of their own, and the graph with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.graph.graph import Graph
from nodewise.graph.io.npz import read_npy
from nodewise.graph.knn.rows import Encoder, NodeSearch, new_features, rows_as_columns, vector_features
from nodewise.ground.errors import GraphError
from nodewise.ground.events import listed
from nodewise.ground.files import existing_file

__all__ = ["added_rows", "read_rows", "with_rows"]

_NEAREST = 5
"""Nodes that a new row is joined to where the graph's own edges were given."""

_JOINED = "joined_to"
"""The field of a small graph of new rows that says which edges lead to the graph: int64 [2, edge], row and node."""


def added_rows(graph: Graph, rows: Any, *, encoder: Encoder | None = None, folder: str | Path | None = None) -> Graph:
    """New rows as a small graph: their features, names and texts, the edges among them, and those to the graph.

    Each is joined to the nodes that it is nearest to, old and new, as many as the graph's rows were joined to, or 5.

    Args:
        graph: what they are to be added to, made from rows itself, or with features where the rows are numbers.
        rows: as for `new_features`. encoder, folder: the same.

    Raises:
        GraphError: the rows do not fit the graph, or there are none.
        InputError: the encoder is missing or another one.
    """
    for field, what in (("relations", "several relations"), ("y_sets", "several labels a node")):
        if getattr(graph, field, None) is not None:
            raise GraphError(f"the graph {graph.name!r} has {what}, and rows cannot be added to such a graph yet")
    columns = rows_as_columns(rows)
    shape = (len(next(iter(columns.values()), [])),) if columns is not None else np.shape(rows)
    if not shape:
        raise GraphError(f"rows must be a list, a table or numbers [row, feature], received {type(rows).__name__}")
    if not shape[0]:
        raise GraphError("there are no rows to add: give at least one")
    numbers = graph.preparation is None and columns is None
    if numbers and not (isinstance(rows, Sequence) and len(rows) and isinstance(rows[0], str)):
        x = vector_features(graph, rows)
    else:
        x = new_features(graph, rows, encoder=encoder, folder=folder)
    edges, joined = _edges(graph, x)
    columns = _columns(graph, rows) if columns is None else columns
    return Graph.build(
        edges,
        num_nodes=int(x.shape[0]),
        x=x,
        node_names=_names(graph, columns, int(x.shape[0])),
        attributes={name: columns.get(name, [""] * x.shape[0]) for name in graph.attributes},
        name="rows",
        extra={_JOINED: joined},
        features=graph.features,
    )


def read_rows(path: Path) -> Any:
    """The rows of a file, for `added_rows`: numbers of an .npy, a text a line of a .txt; of a table its path.

    Raises:
        GraphError: it cannot be read.
    """
    ending = path.suffix.lower()
    existing_file(path)
    if ending == ".npy":
        return read_npy(path)
    if ending != ".txt":
        return path
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise GraphError(f"{path} is not UTF-8 text ({error.reason} at byte {error.start}): save it in UTF-8") from None


def with_rows(graph: Graph, rows: Graph, *, connected: bool = True) -> Graph:
    """The graph with rows after its own; the edges that it has stay.

    Args:
        graph: what they are added to.
        rows: as `added_rows` made them of this graph.
        connected: whether they are joined to anything.

    Raises:
        GraphError: they were not made of this graph.
    """
    joined = rows.extra.get(_JOINED)
    if (
        joined is None
        or joined.dtype != np.int64
        or joined.ndim != 2
        or len(joined) != 2
        or (joined.size and (joined.min() < 0 or (joined.max(1) >= (rows.num_nodes, graph.num_nodes)).any()))
        or rows.num_features != graph.num_features
        or list(rows.attributes) != list(graph.attributes)
        or (rows.node_names is None) != (graph.node_names is None)
    ):
        raise GraphError("the rows do not fit the graph that they are to be added to")
    size = graph.num_nodes
    new = np.concatenate([rows.edge_index + size, np.stack([joined[1], joined[0] + size])], axis=1)
    edges = np.concatenate([graph.edge_index, new], axis=1) if connected else graph.edge_index
    weights = graph.edge_weight
    if weights is not None and connected:
        weights = np.concatenate([weights, np.full(new.shape[1], weights.mean(), np.float32)])
    order = np.lexsort((edges[1], edges[0]))
    return replace(
        graph,
        edge_index=edges[:, order],
        num_nodes=size + rows.num_nodes,
        x=_stacked(graph.x, rows.x),
        y=None if graph.y is None else np.concatenate([graph.y, np.full(rows.num_nodes, -1, np.int64)]),
        node_names=None if graph.node_names is None else (*graph.node_names, *(rows.node_names or ())),
        attributes={name: np.concatenate([cells, rows.attributes[name]]) for name, cells in graph.attributes.items()},
        extra={name: array for name, array in graph.extra.items() if not array.ndim or len(array) != size},
        edge_weight=weights if weights is None or not connected else weights[order],
    )


def _edges(graph: Graph, x: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The edges among new rows, and those to the graph's nodes: int64 [2, edge] each."""
    preparation, size = graph.preparation, graph.num_nodes
    k = _NEAREST if preparation is None or preparation.nearest is None else preparation.nearest
    search = NodeSearch(_stacked(graph.x, x), "cosine" if preparation is None else preparation.metric)
    nodes = search.nearest(x, k + 1).nodes
    own = np.arange(len(nodes))[:, None]
    kept = (nodes >= 0) & (nodes != own + size)
    kept &= np.cumsum(kept, 1) <= k  # a row that is as near to others as to itself may not be its own first
    row, node = np.broadcast_to(own, nodes.shape)[kept], nodes[kept]
    old = node < size
    return np.stack([row[~old], node[~old] - size]).astype(np.int64), np.stack([row[old], node[old]]).astype(np.int64)


def _columns(graph: Graph, rows: Any) -> dict[str, list[str]]:
    """What there is to show of rows that are no table, by the names of the graph's attributes."""
    shown = next((name for name in ("text", "picture") if name in graph.attributes), None)
    listing = isinstance(rows, Sequence) and not isinstance(rows, (str, bytes))
    if (
        shown is None
        or not listing
        or any(isinstance(row, (Sequence, np.ndarray)) != isinstance(row, str) for row in rows)
    ):
        return {}
    return {shown: [str(row) for row in rows]}


def _names(graph: Graph, columns: Mapping[str, list[str]], count: int) -> list[str] | None:
    """The new rows' names: of the column that the graph's names came from, else their numbers."""
    if graph.node_names is None:
        return None
    column = None if graph.preparation is None else graph.preparation.id
    taken = graph.index_of_name
    if column is None or column not in columns:
        names = [str(graph.num_nodes + row) for row in range(count)]
        return [name if name not in taken else f"{name} (added)" for name in names]
    names = columns[column]
    twice = [name for name in names if name in taken] or [name for name, number in Counter(names).items() if number > 1]
    if twice:
        raise GraphError(
            f"the name {listed(twice[:3])} is that of another row already: give each row a name of its own in the"
            f" column {column!r}, or change that row instead of adding it"
        )
    return names


def _stacked(one: Any, other: Any) -> Any:
    if sp.issparse(one) or sp.issparse(other):
        return sp.vstack([sp.csr_matrix(one), sp.csr_matrix(other)], format="csr")
    return np.concatenate([one, other])
