"""Graphs of several node types as a folder of CSV files.

`nodes-TYPE.csv` and `edges-RELATION.csv` for each type and relation, `features-TYPE.csv` (node, column, value) where
there are features, and `graph.json` with each relation's two types: ``{"relations": {"written by": ["paper",
"author"]}}``. It may be left out where the first two columns of every edge table are called after the types. The one
type with a label column carries the labels, unless ``"labelled"`` names another.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from nodewise.graph.graph import Graph
from nodewise.graph.io.assembly import dropped_fields, exact_texts, node_ids
from nodewise.graph.io.folder import holds_formulas, node_rows, one_type, read_nodes, write_features
from nodewise.graph.io.tables import spreadsheet_id
from nodewise.graph.relational import RelationalGraph
from nodewise.graph.relations import NodeType, Relation
from nodewise.graph.tables.table import (
    LABEL,
    WEIGHTS,
    Table,
    cell,
    defused,
    dropped_of_relation,
    numbers,
    read_rows,
    read_table,
    write_rows,
)
from nodewise.ground.errors import GraphError
from nodewise.ground.events import listed
from nodewise.ground.files import atomic_file, atomic_folder, existing_file

__all__ = [
    "folder_types",
    "is_relational_folder",
    "read_relational_folder",
    "write_relational_folder",
]

_NO_EDGES = ("there are no edges", "no file of edges was given")
"""How notes on a type's table begin that are of no interest where the edges are those of relations."""


def is_relational_folder(path: Path) -> bool:
    """Whether a folder holds tables of several node types."""
    return next(path.glob("nodes-*.csv"), None) is not None


def folder_types(path: Path) -> tuple[list[str], str | None]:
    """The node types of a folder, and the one that its files say is labelled; None where they do not say."""
    tables = _tables(path)
    described = _told(path, tables)
    having = [
        name for name, file in tables.items() if Table(file, {title: [] for title in _head(file)}, []).find(LABEL)
    ]
    return list(tables), described.get("labelled") or (having[0] if len(having) == 1 else None)


def read_relational_folder(path: Path, labelled: str | None = None) -> Graph:
    """The plain graph of the labelled type, with its relations.

    Args:
        path: the folder.
        labelled: the type that carries the labels; None: the one that graph.json names, else the only one with a label
            column.

    Raises:
        GraphError: a file is missing or damaged, they do not fit together, or nothing tells which type is labelled.
    """
    tables = _tables(path)
    described = _told(path, tables)
    heads = described.get("types") or {}
    order = [*(name for name in heads if name in tables), *(name for name in tables if name not in heads)]
    changed = bool(described.get("defused"))
    graphs = {name: read_nodes(path, name, heads.get(name), changed) for name in order}
    having = [name for name, graph in graphs.items() if graph.y is not None or graph.several]
    labelled = labelled or described.get("labelled") or (having[0] if len(having) == 1 else None)
    if labelled is None:
        raise GraphError(
            f"{path}: {listed(having) + ' have' if having else 'no type has'} a label column, there are"
            f" {listed(graphs)}: say which type is to be labelled (--labelled TYPE, or"
            ' "labelled" in graph.json)'
        )
    if labelled not in graphs:
        raise GraphError(f"{path} has no type {labelled!r} to be labelled: there are {listed(graphs)}; name one")
    notes = [note for graph in graphs.values() for note in graph.notes if not note.startswith(_NO_EDGES)]
    ids = {name: [defused(text) if changed else text for text in node_ids(graph)] for name, graph in graphs.items()}
    relations = [_relation(path, name, ends, ids, notes) for name, ends in described["relations"].items()]
    files = {file.stem.removeprefix("edges-") for file in path.glob("edges-*.csv")}
    if forgotten := sorted(files - set(described["relations"])):
        raise GraphError(f"{path / 'graph.json'} does not say which types {listed(forgotten)} joins: add it")
    notes += _left_out(path, tables, described["relations"])
    types = [
        NodeType(name, graph.num_nodes, graph.x, graph.node_names, graph.attributes) for name, graph in graphs.items()
    ]
    own = graphs[labelled]
    name = str(described.get("name") or path.name)
    return RelationalGraph(
        tuple(types), tuple(relations), labelled, own.y, own.class_names, name, {}, tuple(notes), own.y_sets
    ).to_graph()


def write_relational_folder(graph: Graph, path: Path) -> list[str]:
    """Writes a graph with its relations as a folder; returns what was dropped, in words."""
    whole = RelationalGraph.of(graph)
    for names in ([kind.name for kind in whole.types], [relation.name for relation in whole.relations]):
        _check_file_names(names)
    graphs = {kind.name: one_type(kind, whole) for kind in whole.types}
    described = {
        "schema": 1,
        "name": whole.name,
        "labelled": whole.labelled,
        "types": {name: json.loads(part.head) for name, part in graphs.items()},
        "relations": {relation.name: [relation.source, relation.target] for relation in whole.relations},
        **({"defused": True} if any(holds_formulas(held.graph) for held in graphs.values()) else {}),
    }
    with atomic_folder(path) as part:
        for name, held in graphs.items():
            write_rows(part / f"nodes-{name}.csv", node_rows(held.graph))
            if held.graph.x is not None:
                write_features(part / f"features-{name}.csv", held.graph)
        for relation in whole.relations:
            types = [graphs[name].graph for name in (relation.source, relation.target)]
            ids = [[cell(defused(text)) for text in node_ids(each)] for each in types]
            ends = [[some[at] for at in end.tolist()] for some, end in zip(ids, relation.edge_index, strict=True)]
            columns = [*ends, *([] if relation.weight is None else [exact_texts(relation.weight)])]
            top = ("source", "target", "weight")[: len(columns)]
            write_rows(part / f"edges-{relation.name}.csv", chain([top], zip(*columns, strict=True)))
        with atomic_file(part / "graph.json") as handle:
            handle.write((json.dumps(described, indent=1) + "\n").encode())
    return dropped_fields(graph, "CSV files", relations=True)


def _check_file_names(names: Sequence[str]) -> None:
    """Refuse names of types, or of relations, that no files can be called after, or not on every machine."""
    seen: dict[str, str] = {}
    for name in names:
        if "/" in name or "\\" in name or "\0" in name or len(name) > 100:
            raise GraphError(f"{name!r} cannot be part of a file's name: rename the type or relation, or write .npz")
        if other := seen.get(name.casefold()):
            raise GraphError(
                f"{other!r} and {name!r} differ in capitals alone, and many machines take their files for one: rename"
                " one of them, or write .npz"
            )
        seen[name.casefold()] = name


def _left_out(path: Path, types: Collection[str], relations: Collection[str]) -> list[str]:
    """A note on files that are called like tables of types or relations and are not read."""
    read = {*(f"nodes-{name}.csv" for name in types), *(f"features-{name}.csv" for name in types)}
    read |= {f"edges-{name}.csv" for name in relations}
    called = ("nodes-", "edges-", "features-")
    files = sorted(file.name for file in path.iterdir() if file.name.startswith(called) and file.name not in read)
    if not files:
        return []
    return [f"{listed(files)} left out: a type's or a relation's table is a .csv file, features are those of a type"]


def _tables(path: Path) -> dict[str, Path]:
    return {file.stem.removeprefix("nodes-"): file for file in sorted(path.glob("nodes-*.csv"))}


def _told(folder: Path, types: Collection[str]) -> dict[str, Any]:
    """What graph.json says; of relations, where it says nothing, what the columns of the edge tables are called."""
    path, shape = folder / "graph.json", '{"relations": {"written by": ["paper", "author"]}}'
    described = _graph_json(path, shape) if path.exists() else {}
    if "relations" not in described:
        found = {file.stem.removeprefix("edges-"): file for file in sorted(folder.glob("edges-*.csv"))}
        ends = {name: _types_named(file, types) for name, file in found.items()}
        if unclear := [found[name].name for name, pair in ends.items() if pair is None]:
            raise GraphError(
                f"{path} {'names no relations' if described else 'is missing'}, and the first two columns of"
                f" {listed(unclear)} are not called after the types {listed(types)}: call them so, or add"
                f" {'them' if described else 'graph.json'}, such as {shape}"
            )
        described["relations"] = ends
    return described


def _graph_json(path: Path, shape: str) -> dict[str, Any]:
    try:
        described = json.loads(existing_file(path).read_text(encoding="utf-8"))
        if not isinstance(described, dict) or not isinstance(described.get("relations", {}), dict):
            raise ValueError("it, and its relations, are names with something said of each")
        for name, ends in described.get("relations", {}).items():
            if not (isinstance(ends, list) and len(ends) == 2 and all(isinstance(end, str) for end in ends)):
                raise ValueError(f"the relation {name!r} joins two types, each named by a text")
        if not isinstance(described.get("labelled", ""), str | None) or not isinstance(
            described.get("types", {}), dict | None
        ):
            raise ValueError("labelled is a name, types holds what is said of each")
    except (OSError, ValueError, RecursionError) as error:
        raise GraphError(f"{path} cannot be understood ({error}): it should hold {shape}") from error
    return described


def _types_named(file: Path, types: Collection[str]) -> list[str] | None:
    """The types that the first two columns of an edge table are called after; None where they are not."""
    found = []
    for title in _head(file)[:2]:
        called = title.strip().removesuffix("_id").removesuffix(" id")
        alike = [
            name for name in types if name.strip().lower() == called.lower().removesuffix("_id").removesuffix(" id")
        ]
        found += [called] if called in types else alike if len(alike) == 1 else []
    return found if len(found) == 2 else None


def _head(file: Path) -> list[str]:
    """The names of a table's columns."""
    return list(next(read_rows(existing_file(file)), (0, []))[1])


def _relation(path: Path, name: str, ends: list[str], ids: dict[str, list[str]], notes: list[str]) -> Relation:
    file = path / f"edges-{name}.csv"
    if not file.exists():
        raise GraphError(f"{path / 'graph.json'} tells of the relation {name!r}, but {file.name} is missing: add it")
    for end in ends:
        if end not in ids:
            raise GraphError(
                f"the relation {name!r} names the type {end!r}, which is missing: there are {listed(ids)}; add"
                f" nodes-{end}.csv, or correct graph.json"
            )
    table = read_table(file)
    if len(table.columns) < 2:
        raise GraphError(f"{file} needs two columns, the ids of an edge's ends, received {listed(table.columns)}")
    titles = list(table.columns)
    indices = []
    for title, end in zip(titles, ends, strict=False):
        position = {text: at for at, text in enumerate(ids[end])}
        rows = []
        for row, text in enumerate(table.columns[title]):
            at = position.get(text, position.get(spreadsheet_id(text)))
            if at is None:
                raise GraphError(
                    f"{file}, line {table.lines[row]}: {text!r} is no id of the type {end!r} (ids are such as"
                    f" {listed(list(position)[:3])}): add the node or correct the edge"
                )
            rows.append(at)
        indices.append(rows)
    weights = next((title for title in titles[2:] if title.strip().lower() in WEIGHTS), None)
    dropped = [title for title in titles[2:] if title != weights]
    values = None if weights is None else numbers(table.columns[weights])
    if weights is not None and (values is None or min(values, default=1.0) <= 0):
        cells = enumerate(table.columns[weights])
        row, text = next((row, text) for row, text in cells if (numbers([text]) or [0.0])[0] <= 0)
        raise GraphError(
            f"{file}, line {table.lines[row]}: the weight {text!r} is no positive, finite number: correct it, or leave"
            " the edge out"
        )
    made = Relation(name, ends[0], ends[1], np.array(indices, np.int64), None if values is None else np.array(values))
    notes += dropped_of_relation(name, len(table), made.edge_index.shape[1], made.weight is not None, dropped)
    return made
