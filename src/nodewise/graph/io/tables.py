"""A graph from a table of nodes and a table of edges."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nodewise.graph.graph import Graph
from nodewise.graph.preparation import Preparation
from nodewise.graph.tables.table import (
    EDGE_ENDS,
    Table,
    are_indices,
    dropped_of_edges,
    edge_weight,
    id_column,
    label_column,
    never_features,
    numbers,
    read_rows,
    read_table,
    weight_field,
)
from nodewise.ground.errors import GraphError
from nodewise.ground.events import listed

__all__ = ["edge_ends", "read_tables", "spreadsheet_id"]

_WHOLE = re.compile(r"(-?\d+)\.0*")


def read_tables(
    nodes: str | Path,
    edges: str | Path | None = None,
    *,
    id: str | None = None,
    label: str | None = None,
    text: str | None = None,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    features: Sequence[str] | None = None,
    max_words: int = 2000,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    name: str | None = None,
    directed: bool = False,
    separator: str | None = None,
) -> Graph:
    """Reads a graph from a CSV of nodes and a CSV of edges. Columns that are not named are found by their usual names.

    Args:
        nodes: one row a node; the first row names the columns.
        edges: one row an edge, two of its columns naming the ends by the nodes' ids; None for a graph without edges.
        id: column of the ids, strings or numbers, each once; by default one called id, node, name …, else the first
            column.
        label: column of the classes, an empty cell (or a word such as NaN) for an unlabelled node; by default one
            called label, class, category …, if there is one; an empty text for none.
        text: column that becomes TF-IDF features; its text is kept to be shown, too.
        source: column of `edges` with one end; by default source, from, src …, else the first.
        target: column of `edges` with the other end.
        weight: column of `edges` with their weights; by default one called weight, w …, if there is one; an empty text
            for none.
        features: columns of numbers that become features; by default, without `text`, all that hold numbers only and
            are neither classes nor names. ``[]`` for none.
        max_words: words of `text` that become features, at most.
        delimiter: between cells; by default comma, semicolon or tab, whichever the first row has most of.
        encoding: of both files.
        name: what the graph is called; by default after the file of nodes.
        directed: whether an edge leads from its source to its target alone; see `Graph.build`.
        separator: what parts the classes where a cell of `label` may name several, such as ``";"`` in ``"a;b"``; alone
            in a cell it means none of the classes. None: a node has one class.

    Returns:
        The graph. Columns that are neither id, label nor features are its attributes; `Graph.notes` says what became of
        which column.

    Raises:
        GraphError: if a column is missing, an id occurs twice, or an edge leads to an id that no node has.
    """
    table = read_table(Path(nodes), delimiter=delimiter, encoding=encoding)
    if not len(table):
        raise GraphError(
            f"{nodes} names columns but holds no nodes: a graph needs at least one, add a row for each node"
        )
    notes: list[str] = []
    ids, id_name = id_column(table, id, notes)
    label = label_column(table, label, (id_name, text), notes)
    labels = None if label is None else table.column(label)
    rest = [column for column in table.columns if column not in (id_name, label)]
    x, used, preparation = _table_features(table, rest, text, features, max_words, notes)
    ends, weights = np.zeros((2, 0), dtype=np.int64), None
    if edges is not None:
        ends, weights = edge_ends(Path(edges), ids, source, target, delimiter, encoding, notes, weight)
    attributes = {column: table.columns[column] for column in rest if column not in used}
    if edges is None:
        notes.append(
            "no file of edges was given; a table without edges can become a graph by its nearest neighbours (knn_graph)"
        )
    return Graph.build(
        ends,
        len(ids),
        x=x,
        y=None if labels is None else np.array(labels, dtype=object),
        node_names=None if are_indices(ids) else ids,
        attributes=attributes,
        name=name or Path(nodes).stem,
        notes=notes,
        directed=directed,
        preparation=None if preparation is None else replace(preparation, label=label, id=id_name),
        edge_weight=weights,
        separator=None if labels is None else separator,
    )


def edge_ends(
    path: Path,
    ids: Sequence[str],
    source: str | None,
    target: str | None,
    delimiter: str | None,
    encoding: str,
    notes: list[str],
    weight: str | None = None,
) -> tuple[npt.NDArray[np.int64], list[float] | None]:
    """The edges of a file as indices [2, edge] of the nodes with the given ids, and their weights, if there are any."""
    position = {text: i for i, text in enumerate(ids)}
    rows = read_rows(path, delimiter=delimiter, encoding=encoding)
    top, first = next(rows, (0, []))
    if len(first) < 2:
        raise GraphError(
            f"{path} needs two columns, the ids of an edge's ends; its first row is {listed(first) or 'empty'}"
        )
    left, right, header = _end_columns(path, first, position, source, target, notes)
    names = {name if header else f"column {i + 1}": i for i, name in enumerate(first) if i not in (left, right)}
    if weight and weight not in names:
        raise GraphError(
            f"{path} has no column {weight!r} of weights, beside the ends {listed(names) or 'none'}: name one of these"
        )
    heavy = names.pop((weight_field(names) if weight is None else weight) or "", None)
    notes += dropped_of_edges(names)
    ends: list[int] = []
    weights: list[float] = []
    for line, row in rows if header else chain([(top, first)], rows):
        if len(row) != len(first):
            raise GraphError(
                f"{path}, line {line}: {len(row)} cells where the first row has {len(first)}; the file may be cut off"
            )
        for text in (row[left], row[right]):
            at = position.get(text)
            if at is None:
                at = position.get(spreadsheet_id(text))
            if at is None:
                raise GraphError(
                    f"{path}, line {line}: the edge from {row[left]!r} to {row[right]!r} leads to {text!r}, which is no"
                    f" node's id (ids are such as {listed(ids[:3])}): add the node or correct the edge"
                )
            ends.append(at)
        if heavy is not None:
            edge = f"{path}, line {line}: the edge from {row[left]!r} to {row[right]!r}"
            weights.append(edge_weight(row[heavy], edge))
    return np.array(ends, dtype=np.int64).reshape(-1, 2).T, None if heavy is None else weights


def _end_columns(
    path: Path, first: list[str], position: dict[str, int], source: str | None, target: str | None, notes: list[str]
) -> tuple[int, int, bool]:
    """Index of both end columns, and whether the first row names the columns."""
    header = Table(path, {text: [] for text in first}, [])
    pairs = ((header.find([a]), header.find([b])) for a, b in EDGE_ENDS)
    known = next(((a, b) for a, b in pairs if a is not None and b is not None), None)
    if source is None and target is None:
        if spreadsheet_id(first[0]) in position and spreadsheet_id(first[1]) in position:
            return 0, 1, False
        if known is None:
            notes.append(
                f"the first two columns of {path.name}, {first[0]!r} and {first[1]!r}, were taken as the ends of the"
                " edges"
            )
            return 0, 1, True
    one = (
        source
        if source is not None
        else known[0]
        if known
        else next((text for text in first if text != target), first[0])
    )
    other = (
        target
        if target is not None
        else known[1]
        if known
        else next((text for text in first if text != source), first[1])
    )
    for column in (one, other):
        header.column(column)
    return first.index(one), first.index(other), True


def spreadsheet_id(text: str) -> str:
    """An id without blanks around it, and a whole number without the ``.0`` that spreadsheets add."""
    text = text.strip()
    whole = _WHOLE.fullmatch(text)
    return whole[1] if whole else text


def _table_features(
    table: Table, rest: list[str], text: str | None, features: Sequence[str] | None, max_words: int, notes: list[str]
) -> tuple[Any, set[str], Preparation | None]:
    """The features of a table [node, feature] or None, the columns that need not be kept as attributes, and how rows
    became features.
    """
    from scipy import sparse as sp

    parts: list[Any] = []
    known: list[dict[str, Any]] = []
    arrays = {}
    used: set[str] = set()
    columns = list(features) if features is not None else []
    if features is None and text is None:
        never = never_features(table.columns)
        columns = [column for column in rest if column not in never and numbers(table.columns[column]) is not None]
        if columns:
            notes.append(f"the columns {listed(columns)} hold numbers and became features")
    if columns:
        values = [numbers(table.column(column)) for column in columns]
        for column, parsed in zip(columns, values, strict=True):
            if parsed is None:
                row = next(i for i, cell in enumerate(table.columns[column]) if numbers([cell]) is None)
                raise GraphError(
                    f"{table.path}, line {table.lines[row]}: column {column!r} was to be a feature but holds"
                    f" {table.columns[column][row]!r}, which is no number: fill it in, or leave the column out of"
                    " features"
                )
        parts.append(np.array(values, dtype=np.float64).T)
        as_it_is = {"kind": "number", "width": 1, "largest": 1.0, "mean": 0.0, "deviation": 1.0, "required": True}
        known += [{**as_it_is, "column": column} for column in columns]
        used = set(columns)
    if text is not None:
        from nodewise.graph.tables.text import word_features, words_of

        words = words_of(table.column(text), max_words)
        parts.append(word_features(table.column(text), words))
        known.append({"kind": "words", "column": text, "width": len(words.words), "words": words.words, "idf": "idf"})
        arrays["idf"] = words.idf
    if not parts:
        return None, used, None
    preparation = Preparation("table" if columns else "texts", tuple(known), arrays)
    return (parts[0] if len(parts) == 1 else sp.hstack(parts, format="csr")), used, preparation
