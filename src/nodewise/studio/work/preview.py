"""What the columns of an uploaded table seem to hold, so that the page can propose which is what."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodewise.graph.io.relational_folder import folder_types, is_relational_folder
from nodewise.graph.label_sets import SEPARATOR, likely_separator
from nodewise.graph.tables.table import ID, LABEL, TEXT, TITLE, Table, numbers, read_rows
from nodewise.ground.errors import GraphError

if TYPE_CHECKING:
    from nodewise.graph import Graph

__all__ = ["preview_folder", "preview_graph", "preview_table"]

_LOOKED_AT = 1000
_COLUMNS = 500
_SHOWN = 120
_NUMBERS = re.compile(r"(?<![a-z])(id|no|nr|key|code|number|isbn|doi)(?![a-z])", re.IGNORECASE)
"""In the name of a column whose numbers tell rows apart."""


def preview_table(path: Path) -> dict[str, Any]:
    """Columns with their kind and examples, the number of rows, and which column is probably the text, the label and
    the id.

    Kinds are read off the first thousand rows: ``id`` (a usual name, all different), ``label`` (few different short
    texts), ``number``, ``text`` (long or of several words), ``other``.

    Raises:
        GraphError: the file is no table; says what is wrong with it.
    """
    rows = read_rows(path)
    _, header = next(rows, (0, []))
    if not header:
        raise GraphError(f"{path} has no rows: its first row must name the columns")
    header = [name or f"column {index}" for index, name in enumerate(header, start=1)]
    if len(header) > _COLUMNS:
        raise GraphError(f"{path} has {len(header)} columns; up to {_COLUMNS} can be shown: keep those that are needed")
    first = [row for _, row in islice(rows, _LOOKED_AT)]
    if not first:
        raise GraphError(f"{path} names columns but holds no rows: check that the table is complete")
    unique = _unique(header, first)
    count = len(first)
    for _, row in rows:
        count += 1
        for column, seen in list(unique.items()):
            cell = row[column].strip() if column < len(row) else ""
            if not cell or cell in seen:
                del unique[column]
            else:
                seen.add(cell)
    if count == 1:
        raise GraphError(
            f"{path} holds one row, and a row is predicted by its neighbours: give at least two, better a few dozen"
        )
    cells = {name: [row[index] if index < len(row) else "" for row in first] for index, name in enumerate(header)}
    kinds = {name: _kind(name, column) for name, column in cells.items()}
    return {
        "columns": [
            {
                "name": name,
                "kind": kinds[name],
                "examples": _examples(cells[name]),
                "filled": sum(1 for cell in cells[name] if cell.strip()) / len(first),
                "separator": likely_separator(cells[name]),
            }
            for name in cells
        ],
        "rows": count,
        "guess": {
            "text": _guess_text(cells, kinds),
            "label": _named(cells, LABEL, [name for name, kind in kinds.items() if kind in ("label", "number")]),
            "id": _named(cells, ID, [name for name, kind in kinds.items() if kind == "id"])
            or next((header[column] for column in unique if kinds[header[column]] != "text"), None),
        },
    }


def preview_graph(graph: Graph) -> dict[str, Any]:
    """The same of a graph that is one already: its attributes as columns."""
    labelled = float(graph.labelled.mean())
    columns = [
        {
            "name": name,
            "kind": _kind(name, cells := list(map(str, column[:_LOOKED_AT]))),
            "examples": _examples(cells),
            "filled": 1.0,
            "separator": None,
        }
        for name, column in graph.attributes.items()
    ]
    if labelled:
        parted = SEPARATOR if graph.several else likely_separator(_labels(graph))
        examples = list(graph.class_names[:3])
        columns.append(
            {"name": "label", "kind": "label", "examples": examples, "filled": labelled, "separator": parted}
        )
    guess = {"text": None, "label": "label" if labelled else None, "id": None}
    return {
        "columns": columns,
        "rows": graph.num_nodes,
        "guess": guess,
        "encoding": "graph",
        "header": True,
        "form": "graph",
        "types": [] if graph.relations is None else [kind.name for kind in graph.relations.types],
        "labelled": None if graph.relations is None else graph.relations.labelled,
    }


def _labels(graph: Graph) -> list[str]:
    """What the first nodes are labelled with, one class each."""
    return [] if graph.y is None else [graph.class_names[one] for one in graph.y[:_LOOKED_AT].tolist() if one >= 0]


def preview_folder(path: Path, labelled: str | None = None) -> dict[str, Any]:
    """The same of a folder of CSV files; of several node types the one to be labelled.

    Where neither `labelled` nor the files say which that is, it is the type whose table comes first.
    """
    from nodewise.graph import read_graph

    if labelled is None and is_relational_folder(path):
        types, stated = folder_types(path)
        labelled = stated or types[0]
    return preview_graph(read_graph(path, labelled=labelled))


def _kind(name: str, cells: Sequence[str]) -> str:
    filled = [cell.strip() for cell in cells if cell.strip()]
    different = set(filled)
    if name.strip().lower() in ID and len(different) == len(cells):
        return "id"
    if not filled:
        return "other"
    usual = name.strip().lower() in LABEL
    if usual and likely_separator(cells) is not None:
        return "label"
    few = len(different) <= (50 if usual else max(2, min(30, len(cells) // 5)))
    short = max(map(len, different)) <= 60
    if usual and few and short:
        return "label"
    if numbers(filled) is not None:
        return "number"
    if few and short and len(different) < len(filled) and name.strip().lower() not in TITLE:
        return "label"
    words = sum(len(cell.split()) for cell in filled) / len(filled)
    if words >= 3 or sum(map(len, filled)) / len(filled) > 40:
        return "other" if all(cell.lower().startswith(("http://", "https://", "data:")) for cell in filled) else "text"
    return "other"


def _unique(header: Sequence[str], first: Sequence[Sequence[str]]) -> dict[int, set[str]]:
    """The columns that may name a row, each with what it holds: short texts, all different.

    Numbers only where the column's name says that they tell rows apart.
    """
    found = {}
    for column, name in enumerate(header):
        cells = [row[column].strip() for row in first if column < len(row)]
        short = len(cells) == len(first) and all(cells) and max(map(len, cells)) <= 60
        if short and len(set(cells)) == len(cells) and (numbers(cells) is None or _NUMBERS.search(name)):
            found[column] = set(cells)
    return found


def _guess_text(cells: dict[str, list[str]], kinds: dict[str, str]) -> str | None:
    texts = [name for name, kind in kinds.items() if kind == "text"]
    usual = [name for name in texts if name.strip().lower() in (*TEXT, *TITLE)]
    return max(usual or texts, key=lambda name: sum(map(len, cells[name])), default=None)


def _named(cells: dict[str, list[str]], names: Sequence[str], among: Sequence[str]) -> str | None:
    column = Table(Path(), {name: [] for name in among}, []).find(names)
    return column if column in cells else None


def _examples(cells: Sequence[str]) -> list[str]:
    different = dict.fromkeys(cell.strip()[:_SHOWN] for cell in cells if cell.strip())
    return list(islice(different, 3))
