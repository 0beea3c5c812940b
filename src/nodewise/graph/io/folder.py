"""Graphs as a folder of CSV files.

Nodes.csv, edges.csv, features.csv (node, column, value) and graph.json for what tables do not say. A cell that a
spreadsheet would run as a formula has an apostrophe in front; graph.json says so, and reading takes it away again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from nodewise.graph.checks import natural_order
from nodewise.graph.graph import Graph
from nodewise.graph.io.assembly import (
    Head,
    assemble,
    dropped_fields,
    exact_texts,
    node_ids,
    nonzero,
    sparse_features,
    written_edges,
)
from nodewise.graph.io.tables import edge_ends, read_tables
from nodewise.graph.label_sets import separator_for, set_texts
from nodewise.graph.relational import RelationalGraph
from nodewise.graph.relations import NodeType
from nodewise.graph.tables.table import (
    Table,
    cell,
    defused,
    id_column,
    numbers,
    read_table,
    restored,
    write_rows,
)
from nodewise.ground.errors import GraphError
from nodewise.ground.events import listed
from nodewise.ground.files import UNWRITTEN, atomic_file, atomic_folder, check_claim, existing_file

__all__ = [
    "TypeTable",
    "holds_formulas",
    "node_rows",
    "one_type",
    "read_folder",
    "read_nodes",
    "write_features",
    "write_folder",
]

_PREFIX = "attribute:"


def read_folder(path: str | Path, *, directed: bool = False) -> Graph:
    """Reads the graph in a folder with nodes.csv and edges.csv.

    With graph.json, which `write_folder` puts there, everything comes back as it was. Without it the tables are read as
    `Graph.from_csv` reads them, and features.csv, where there is one, gives the features.

    Raises:
        GraphError: if a file is missing or damaged, or they do not fit together.
    """
    path = Path(path)
    if not path.is_dir():
        raise GraphError(f"there is no folder {path}: check the path (the current folder is {Path.cwd()})")
    for needed in ("nodes.csv", "edges.csv"):
        if not (path / needed).exists():
            raise GraphError(
                f"{path} is a folder without {needed}: a graph as a folder holds nodes.csv and edges.csv, and"
                " features.csv where there are any"
            )
    third = path / "features.csv"
    if not (path / "graph.json").exists():
        graph = read_tables(
            path / "nodes.csv",
            path / "edges.csv",
            name=path.name,
            features=[] if third.exists() else None,
            directed=directed,
        )
        if not third.exists():
            return graph
        return replace(graph, x=_read_features(third, node_ids(graph), None))
    try:
        text = existing_file(path / "graph.json").read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise GraphError(
            f"{path / 'graph.json'} cannot be read ({error}): write the graph again, or remove this file"
        ) from error
    head = Head.from_json(text, str(path / "graph.json"))
    more = json.loads(text)
    one_way = bool(more.get("directed"))
    table = read_table(path / "nodes.csv")
    notes: list[str] = []
    ids, _ = id_column(table, "id", notes, exact=True)
    names, labels, attributes = _texts(table, ids, bool(more.get("defused")))
    edges, weights = edge_ends(path / "edges.csv", ids, "source", "target", None, "utf-8", notes)
    features = None if head.columns is None else _read_features(third, ids, head.columns)
    room = UNWRITTEN + sum(
        file.stat().st_size for file in (path / "nodes.csv", path / "edges.csv", third) if file.exists()
    )
    return assemble(
        names,
        edges,
        labels,
        attributes,
        features,
        head,
        name=path.name,
        notes=notes,
        room=room,
        weights=weights,
        directed=directed or one_way,
    )


def write_folder(graph: Graph, path: str | Path) -> list[str]:
    """Writes a graph as a folder of CSV files; returns what was dropped, in words.

    All files are written beside the folder first; files of other names that are in it already stay.
    """
    path = Path(path)
    ids = [cell(defused(text)) for text in node_ids(graph)]
    one_way = graph.relations is not None and graph.relations.directed
    edges, weights = written_edges(graph)
    columns_of_edges = [[ids[node] for node in end] for end in edges.tolist()]
    if weights is not None:
        columns_of_edges.append(exact_texts(weights))
    with atomic_folder(path) as part:
        write_rows(part / "nodes.csv", node_rows(graph))
        write_rows(
            part / "edges.csv",
            chain([("source", "target", "weight")[: len(columns_of_edges)]], zip(*columns_of_edges, strict=True)),
        )
        if graph.x is not None:
            write_features(part / "features.csv", graph)
        with atomic_file(part / "graph.json") as handle:
            head = Head.of(graph).to_json()
            more = {**({"directed": True} if one_way else {}), **({"defused": True} if holds_formulas(graph) else {})}
            head = json.dumps({**json.loads(head), **more}) if more else head
            handle.write((head + "\n").encode())
    if graph.x is None:
        (path / "features.csv").unlink(missing_ok=True)  # of a graph that was here before
    return dropped_fields(graph, "CSV files")


def node_rows(graph: Graph) -> Iterator[Sequence[str]]:
    """The rows of a table of nodes, the titles first: id, label where there are any, attributes."""
    columns = {"id": [cell(defused(text)) for text in node_ids(graph)]}
    if graph.y is not None:
        classes = [*(cell(defused(name)) for name in graph.class_names), ""]
        columns["label"] = [classes[label] for label in graph.y.tolist()]
    if graph.y_sets is not None:
        columns["label"] = [
            cell(defused(text)) if text else ""
            for text in set_texts(graph.y_sets, graph.class_names, separator_for(graph.class_names))
        ]
    for name, values in graph.attributes.items():
        plain = name not in ("id", "label") and not name.startswith(_PREFIX)
        columns[name if plain else _PREFIX + name] = [cell(defused(text)) if text else "" for text in values.tolist()]
    yield [cell(defused(name)) for name in columns]
    yield from zip(*columns.values(), strict=True)


def holds_formulas(graph: Graph) -> bool:
    """Whether a cell of its tables is written otherwise, so that no spreadsheet runs it."""
    sets = [] if graph.y_sets is None else set_texts(graph.y_sets, graph.class_names, separator_for(graph.class_names))
    texts = chain(node_ids(graph), graph.class_names, sets, graph.attributes, *graph.attributes.values())
    return any(defused(text) != text for text in map(str, texts))


def _texts(
    table: Table, ids: Sequence[str], changed: bool
) -> tuple[Sequence[str], Sequence[str] | None, dict[str, Sequence[str]]]:
    """Names, labels and attributes of a table that was written here, as they were.

    Args:
        table: as it was read. ids: of its nodes.
        changed: whether cells that a spreadsheet would run are `defused` in it.
    """
    columns: dict[str, Sequence[str]] = dict(table.columns)
    if changed:
        columns = {restored(name): list(map(restored, cells)) for name, cells in columns.items()}
    attributes = {name.removeprefix(_PREFIX): cells for name, cells in columns.items() if name not in ("id", "label")}
    return list(map(restored, ids)) if changed else ids, columns.get("label"), attributes


def write_features(path: Path, graph: Graph) -> None:
    """Writes features as rows of node, column and value."""
    ids = [cell(defused(text)) for text in node_ids(graph)]
    write_rows(path, chain([("node", "column", "value")], _feature_rows(graph, ids)))


@dataclass(frozen=True)
class TypeTable:
    """The nodes of one type as a graph without edges, and what tables do not say of them, as JSON."""

    graph: Graph
    head: str


def one_type(kind: NodeType, whole: RelationalGraph) -> TypeTable:
    """The nodes of one type as they are written."""
    labelled = kind.name == whole.labelled
    graph = Graph(
        np.zeros((2, 0), np.int64),
        kind.count,
        kind.x,
        whole.y if labelled else None,
        tuple(whole.class_names) if labelled else (),
        kind.names,
        kind.attributes,
        kind.name,
        y_sets=whole.y_sets if labelled else None,
    )
    return TypeTable(graph, Head.of(graph).to_json())


def read_nodes(path: Path, name: str, head: Any = None, changed: bool = False) -> Graph:
    """The nodes of one type as a graph without edges.

    Args:
        path: the folder.
        name: of the type.
        head: what graph.json says of it; None: the table is read as `Graph.from_csv` reads one.
        changed: whether cells that a spreadsheet would run are `defused`.
    """
    file, third = path / f"nodes-{name}.csv", path / f"features-{name}.csv"
    if head is None:
        graph = read_tables(file, name=name, features=[] if third.exists() else None)
        return replace(graph, x=_read_features(third, node_ids(graph), None)) if third.exists() else graph
    known = Head.from_json(json.dumps(head), str(path / "graph.json"))
    table, notes = read_table(file), list[str]()
    ids, _ = id_column(table, "id", notes, exact=True)
    names, labels, shown = _texts(table, ids, changed)
    features = None if known.columns is None else _read_features(third, ids, known.columns)
    if features is None and third.exists():
        notes.append(f"{third.name} was not read: graph.json says that the type {name!r} has no features")
    room = UNWRITTEN + sum(some.stat().st_size for some in (file, third) if some.exists())
    none = np.zeros((2, 0), np.int64)
    return assemble(names, none, labels, shown, features, known, name=name, notes=notes, room=room)


def _feature_rows(graph: Graph, ids: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    matrix = nonzero(graph)
    columns = [str(i) for i in range(graph.num_features)]
    rows = np.repeat(np.arange(graph.num_nodes), np.diff(matrix.indptr))
    for row, column, value in zip(rows.tolist(), matrix.indices.tolist(), exact_texts(matrix.data), strict=True):
        yield ids[row], columns[column], value


def _read_features(path: Path, ids: Sequence[str], columns: int | None) -> sp.csr_matrix[np.float32]:
    """Features from rows of node, column, value; columns are numbers from 0, or names, then in order of the names."""
    table = read_table(path)
    if len(table.columns) != 3:
        raise GraphError(
            f"{path} must have three columns, node, column and value, received {listed(table.columns)}: "
            "a wide table of numbers belongs into nodes.csv, one column for each feature"
        )
    nodes, names, texts = table.columns.values()
    values = numbers(texts)
    if values is None:
        row = next(i for i, text in enumerate(texts) if numbers([text]) is None)
        raise GraphError(
            f"{path}, line {table.lines[row]}: the value {texts[row]!r} is no finite number: correct it or leave the"
            " row out"
        )
    rows = _positions(
        table,
        nodes,
        {text: i for i, text in enumerate(ids)},
        "is no node's id: add the node to nodes.csv or drop the row",
    )
    if all(name.isascii() and name.isdecimal() and len(name) < 20 for name in names):
        indices = list(map(int, names))
        width = check_claim(
            path, columns if columns is not None else max(indices, default=-1) + 1, "columns of features"
        )
        if indices and max(indices) >= width:
            raise GraphError(
                f"{path} gives a value in column {max(indices)}, but there are {width} columns, 0 to {width - 1}: see"
                " graph.json"
            )
    else:
        order = {name: i for i, name in enumerate(natural_order(sorted(set(names))))}
        indices, width = [order[name] for name in names], len(order)
    return sparse_features(rows, indices, values, (len(ids), width), str(path))


def _positions(table: Table, names: Sequence[str], position: dict[str, int], wrong: str) -> list[int]:
    positions = []
    for row, name in enumerate(names):
        if name not in position:
            raise GraphError(f"{table.path}, line {table.lines[row]}: {name!r} {wrong}")
        positions.append(position[name])
    return positions
