"""Rows that are added to a graph or changed in it: what they bring along, as a small graph of their own, and the graph
with them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
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

__all__ = [
    "added_rows",
    "changed_rows",
    "chosen_rows",
    "read_rows",
    "with_blank_rows",
    "with_changes",
    "with_rows",
    "without_rows",
]

_NEAREST = 5
"""Nodes that a new row is joined to where the graph's own edges were given."""

_JOINED = "joined_to"
"""The field of a small graph of new rows that says which edges lead to the graph: int64 [2, edge], row and node."""


def added_rows(
    graph: Graph,
    rows: Any,
    *,
    encoder: Encoder | None = None,
    folder: str | Path | None = None,
    left_out: Collection[int] = (),
) -> Graph:
    """New rows as a small graph: their features, names and texts, the edges among them, and those to the graph.

    Each is joined to the nodes that it is nearest to, old and new, as many as the graph's rows were joined to, or 5.

    Args:
        graph: what they are to be added to, made from rows itself, or with features where the rows are numbers.
        rows: as for `new_features`. encoder, folder: the same.
        left_out: nodes that none is joined to.

    Raises:
        GraphError: the rows do not fit the graph, or there are none.
        InputError: the encoder is missing or another one.
    """
    columns = rows_as_columns(rows)
    shape = (len(next(iter(columns.values()), [])),) if columns is not None else np.shape(rows)
    if not shape:
        raise GraphError(f"rows must be a list, a table or numbers [row, feature], received {type(rows).__name__}")
    if not shape[0]:
        raise GraphError("there are no rows to add: give at least one")
    x = _features_of_rows(graph, rows, encoder, folder)
    size, number = graph.num_nodes, int(x.shape[0])
    row, node = _nearest(graph, _stacked(graph.x, x), x, np.arange(size, size + number), left_out)
    old = node < size
    columns = _columns(graph, rows) if columns is None else columns
    return Graph.build(
        np.stack([row[~old], node[~old] - size]),
        num_nodes=number,
        x=x,
        node_names=_names(graph, columns, number),
        attributes=_shown(graph, columns, {name: [""] * number for name in graph.attributes}),
        name="rows",
        extra={_JOINED: np.stack([row[old], node[old]])},
        features=graph.features,
    )


def changed_rows(
    graph: Graph,
    nodes: Sequence[int],
    rows: Any,
    *,
    encoder: Encoder | None = None,
    folder: str | Path | None = None,
    left_out: Collection[int] = (),
) -> Graph:
    """What nodes of a graph become, as a small graph without edges: features, texts, and whom each is joined to.

    Args:
        graph: whose nodes. nodes: which, each once.
        rows: one for each, as for `added_rows`. Of a table, columns that are not there stay as they are.
        encoder, folder, left_out: as for `added_rows`.

    Raises:
        GraphError: the rows do not fit the graph.
        InputError: the encoder is missing or another one.
    """
    columns = rows_as_columns(rows)
    if columns is not None:
        columns = _completed(graph, nodes, columns)
        rows = columns
    x = _features_of_rows(graph, rows, encoder, folder)
    if x.shape[0] != len(nodes):
        raise GraphError(f"there are {x.shape[0]} rows for {len(nodes)} nodes: give one for each")
    own = np.asarray(nodes, np.int64)
    row, node = _nearest(graph, _with_features(graph.x, own, x), x, own, left_out)
    before = {name: [str(cells[n]) for n in nodes] for name, cells in graph.attributes.items()}
    columns = _columns(graph, rows) if columns is None else columns
    return Graph.build(
        np.zeros((2, 0), np.int64),
        num_nodes=len(nodes),
        x=x,
        node_names=None if graph.node_names is None else [graph.node_names[n] for n in nodes],
        attributes=_shown(graph, columns, before),
        name="rows",
        extra={_JOINED: np.stack([row, node])},
        features=graph.features,
    )


def chosen_rows(rows: Graph, chosen: Sequence[int]) -> Graph:
    """Some of the rows that `changed_rows` made, in that order."""
    index = {row: number for number, row in enumerate(chosen)}
    joined = rows.extra[_JOINED]
    joined = joined[:, np.isin(joined[0], list(index))]
    own = np.array([index[row] for row in joined[0].tolist()], np.int64)
    return replace(
        rows,
        edge_index=np.zeros((2, 0), np.int64),
        num_nodes=len(chosen),
        x=None if rows.x is None else rows.x[list(chosen)],
        node_names=None if rows.node_names is None else tuple(rows.node_names[row] for row in chosen),
        attributes={name: cells[list(chosen)] for name, cells in rows.attributes.items()},
        extra={_JOINED: np.stack([own, joined[1]])},
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


def with_rows(graph: Graph, rows: Graph, left_out: Collection[int] = ()) -> Graph:
    """The graph with rows after its own; the edges that it has stay.

    Args:
        graph: what they are added to.
        rows: as `added_rows` made them of this graph.
        left_out: nodes that none is joined to.

    Raises:
        GraphError: they were not made of this graph.
    """
    size = graph.num_nodes
    row, node = _joined(graph, rows, size, left_out)
    new = np.concatenate([rows.edge_index + size, np.stack([node, row + size])], axis=1)
    return _extended(graph, rows.num_nodes, rows.x, rows.node_names or (), rows.attributes, new)


def with_blank_rows(graph: Graph, count: int) -> Graph:
    """The graph with so many rows after its own that hold nothing: no edges, features of zeros, empty texts."""
    numbers = range(graph.num_nodes, graph.num_nodes + count)
    empty = np.full(count, "", object)
    shown = dict.fromkeys(graph.attributes, empty)
    x = None if graph.x is None else _zeros(graph.x, count)
    return _extended(graph, count, x, [_blank_name(n) for n in numbers], shown, np.zeros((2, 0), np.int64))


def with_changes(graph: Graph, nodes: Sequence[int], rows: Graph, left_out: Collection[int] = ()) -> Graph:
    """The graph with other rows in the place of nodes.

    One whose features are others now has new edges; the edges of all others among themselves stay.

    Args:
        graph: what is changed. nodes: which of its nodes; one that it does not have is passed over.
        rows: as `changed_rows` made them, one for each.
        left_out: nodes that none is joined to, and that stay as they are.

    Raises:
        GraphError: they were not made of this graph.
    """
    every = np.asarray(nodes, np.int64)
    if len(every) != rows.num_nodes or len(np.unique(every)) != len(every) or (every < 0).any():
        raise GraphError(f"there are {rows.num_nodes} rows for {len(every)} nodes that are to be changed")
    row, node = _joined(graph, rows, None, left_out)
    kept = np.flatnonzero((every < graph.num_nodes) & ~np.isin(every, list(left_out)))
    own = every[kept]
    moved = kept[_are_other(graph.x, own, None if rows.x is None else rows.x[kept])]
    row, node = row[np.isin(row, moved)], node[np.isin(row, moved)]
    ends = np.stack([every[row], node])
    new = np.unique(np.sort(ends, 0), axis=1) if ends.size else np.zeros((2, 0), np.int64)
    edges, weights = _with_edges(graph, new, every[moved])
    attributes = {name: cells.copy() for name, cells in graph.attributes.items()}
    for name, cells in attributes.items():
        cells[own] = rows.attributes[name][kept]
    x = None if graph.x is None or rows.x is None else _with_features(graph.x, own, rows.x[kept])
    return replace(graph, edge_index=edges, edge_weight=weights, x=x, attributes=attributes)


def without_rows(graph: Graph, nodes: Collection[int], first: int = 0) -> Graph:
    """The graph with nothing left of some nodes but their numbers: no edges, features, texts, names or labels.

    Args:
        graph: a graph, or rows as `added_rows` made them. nodes: which of its nodes.
        first: the number of its first node.
    """
    own = np.asarray(sorted(nodes), np.int64)
    edges, weights = _with_edges(graph, np.zeros((2, 0), np.int64), own)
    attributes = {name: cells.copy() for name, cells in graph.attributes.items()}
    extra = {name: array.copy() for name, array in graph.extra.items()}
    for cells in attributes.values():
        cells[own] = ""
    for key, array in extra.items():
        if key != _JOINED and array.ndim and len(array) == graph.num_nodes:
            array[own] = np.zeros((), array.dtype)
    y = None if graph.y is None else graph.y.copy()
    sets = None if graph.y_sets is None else graph.y_sets.copy()
    for labels in (y, sets):
        if labels is not None:
            labels[own] = -1
    names = graph.node_names
    if names is not None:
        names = tuple(_blank_name(first + node) if node in nodes else name for node, name in enumerate(names))
    x = None if graph.x is None else _with_features(graph.x, own, _zeros(graph.x, len(own)))
    return replace(
        graph,
        edge_index=edges,
        edge_weight=weights,
        x=x,
        y=y,
        y_sets=sets,
        node_names=names,
        attributes=attributes,
        extra=extra,
    )


def parted_rows(rows: Graph, own: Collection[int], nodes: Collection[int]) -> Graph:
    """Rows as `added_rows` or `changed_rows` made them, without edges of some of them, and to some nodes."""
    joined = rows.extra[_JOINED]
    left = ~np.isin(joined[0], list(own)) & ~np.isin(joined[1], list(nodes))
    return replace(rows, extra={**rows.extra, _JOINED: joined[:, left]})


def _features_of_rows(graph: Graph, rows: Any, encoder: Encoder | None, folder: str | Path | None) -> Any:
    """The features of rows, which must be those of a plain graph."""
    if graph.relations is not None:
        raise GraphError(
            f"the graph {graph.name!r} has several relations, and rows cannot be added to such a graph yet"
        )
    numbers = graph.preparation is None and rows_as_columns(rows) is None
    if numbers and not (isinstance(rows, Sequence) and len(rows) and isinstance(rows[0], str)):
        return vector_features(graph, rows)
    return new_features(graph, rows, encoder=encoder, folder=folder)


def _nearest(
    graph: Graph, every: Any, x: Any, own: npt.NDArray[np.int64], left_out: Collection[int]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The nodes that rows are to be joined to: row and node, int64 [edge] each.

    Args:
        every: the features of all nodes, these rows among them. x: those of the rows. own: the rows' numbers.
        left_out: nodes that none is joined to.
    """
    preparation = graph.preparation
    k = _NEAREST if preparation is None or preparation.nearest is None else preparation.nearest
    metric = "cosine" if preparation is None else preparation.metric
    if left_out:
        there = np.setdiff1d(np.arange(every.shape[0]), list(left_out))
        nodes = NodeSearch(every[there], metric).nearest(x, k + 1).nodes
        nodes = np.where(nodes >= 0, there[nodes], -1)
    else:
        nodes = NodeSearch(every, metric).nearest(x, k + 1).nodes
    kept = (nodes >= 0) & (nodes != own[:, None])
    kept &= np.cumsum(kept, 1) <= k  # a row that is as near to others as to itself may not be its own first
    row = np.broadcast_to(np.arange(len(nodes))[:, None], nodes.shape)[kept]
    return row.astype(np.int64), nodes[kept].astype(np.int64)


def _joined(
    graph: Graph, rows: Graph, size: int | None, left_out: Collection[int]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Which of the rows is joined to which node of the graph: row and node, int64 [edge] each.

    Args:
        size: how many nodes there were when the rows were made; None: at least as many as there are now.
        left_out: nodes that none is joined to.

    Raises:
        GraphError: the rows were not made of this graph.
    """
    joined = rows.extra.get(_JOINED)
    if (
        joined is None
        or joined.dtype != np.int64
        or joined.ndim != 2
        or len(joined) != 2
        or (joined.size and (joined.min() < 0 or joined[0].max() >= rows.num_nodes))
        or (joined.size and size is not None and joined[1].max() >= size)
        or rows.num_features != graph.num_features
        or list(rows.attributes) != list(graph.attributes)
        or (rows.node_names is None) != (graph.node_names is None)
    ):
        raise GraphError("the rows do not fit the graph that they are to be added to")
    joined = joined[:, (joined[1] < graph.num_nodes) & ~np.isin(joined[1], list(left_out))]
    return joined[0], joined[1]


def _extended(
    graph: Graph,
    count: int,
    x: Any,
    names: Sequence[str],
    attributes: Mapping[str, npt.NDArray[np.object_]],
    new: npt.NDArray[np.int64],
) -> Graph:
    """The graph with so many rows after its own, and further edges."""
    size = graph.num_nodes
    edges, weights = _with_edges(graph, new)
    return replace(
        graph,
        edge_index=edges,
        num_nodes=size + count,
        x=None if graph.x is None else _stacked(graph.x, x),
        y=_with_gaps(graph.y, count),
        y_sets=_with_gaps(graph.y_sets, count),
        node_names=None if graph.node_names is None else (*graph.node_names, *_unique(names, graph.index_of_name)),
        attributes={name: np.concatenate([cells, attributes[name]]) for name, cells in graph.attributes.items()},
        extra={name: array for name, array in graph.extra.items() if not array.ndim or len(array) != size},
        edge_weight=weights,
    )


def _with_gaps(labels: npt.NDArray[Any] | None, count: int) -> npt.NDArray[Any] | None:
    """Labels, or sets of classes, with so many nodes after them that have none."""
    return None if labels is None else np.concatenate([labels, np.full((count, *labels.shape[1:]), -1, labels.dtype)])


def _with_edges(
    graph: Graph, new: npt.NDArray[np.int64], parted: npt.NDArray[np.int64] | None = None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32] | None]:
    """The graph's edges, less those of nodes that are parted from all others, and new ones.

    These weigh as much as the old ones on average.
    """
    old, weights = graph.edge_index, graph.edge_weight
    mean = 0.0 if weights is None else weights.mean()
    if parted is not None:
        stay = np.asarray(~np.isin(old, parted).any(0))
        old, weights = old[:, stay], None if weights is None else weights[stay]
    edges = np.concatenate([old, new], axis=1)
    order = np.lexsort((edges[1], edges[0]))
    if weights is not None:
        weights = np.concatenate([weights, np.full(new.shape[1], mean, np.float32)])[order]
    return edges[:, order], weights


def _completed(graph: Graph, nodes: Sequence[int], columns: dict[str, list[str]]) -> dict[str, list[str]]:
    """A table's columns with those that features are made of and that are not there, as the nodes have them."""
    needed = [] if graph.preparation is None else graph.preparation.columns
    kept_as = {} if graph.preparation is None else graph.preparation.originals
    known = {
        name: graph.attributes[kept]
        for name in needed
        if name not in columns and (kept := kept_as.get(name, name)) in graph.attributes
    }
    return {**{name: [str(cells[node]) for node in nodes] for name, cells in known.items()}, **columns}


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


def _shown(graph: Graph, columns: Mapping[str, list[str]], otherwise: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """What there is to show of rows, by the names of the graph's attributes: the text, whatever its column is called.

    Args:
        columns: what is given. otherwise: the same of attributes that are not.
    """
    texts = None if graph.preparation is None else graph.preparation.text_cells(columns)
    originals = {} if graph.preparation is None else graph.preparation.originals
    given = {originals.get(name, name): cells for name, cells in columns.items()}
    shown = {name: given.get(name, otherwise[name]) for name in graph.attributes}
    if texts is not None and "text" in shown and "text" not in given:
        shown["text"] = texts
    return shown


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


def _with_features(x: Any, nodes: npt.NDArray[np.int64], rows: Any) -> Any:
    """Features with other rows in the place of some."""
    if sp.issparse(x):
        every = _stacked(x, rows)
        source = np.arange(every.shape[0] - len(nodes))
        source[nodes] = every.shape[0] - len(nodes) + np.arange(len(nodes))
        return every[source]
    changed = np.array(x)
    changed[nodes] = rows
    return changed


def _are_other(x: Any, nodes: npt.NDArray[np.int64], rows: Any) -> npt.NDArray[np.bool_]:
    """Which of the rows are not what the nodes are already: bool [row]."""
    if x is None or rows is None:
        return np.zeros(len(nodes), bool)
    return np.asarray((x[nodes] != rows).sum(1)).ravel() > 0


def _zeros(x: Any, count: int) -> Any:
    zeros = np.zeros((count, x.shape[1]), np.float32)
    return sp.csr_matrix(zeros) if sp.issparse(x) else zeros


def _blank_name(node: int) -> str:
    return f"(row {node})"


def _unique(names: Sequence[str], taken: Mapping[str, int]) -> list[str]:
    """Names of rows; one that another row has by now is marked."""
    found: dict[str, None] = {}
    for name in names:
        while name in taken or name in found:
            name += " (again)"
        found[name] = None
    return list(found)
