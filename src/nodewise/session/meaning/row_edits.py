"""Rows that are added to a job or changed in it, from whatever holds them, as they are to be written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nodewise.graph import Graph
from nodewise.graph.knn.growth import added_rows, changed_rows, chosen_rows
from nodewise.graph.knn.rows import rows_as_columns
from nodewise.graph.tables.table import ID
from nodewise.ground.errors import InputError, WrongTypeError
from nodewise.ground.events import listed
from nodewise.session.answers import Draft
from nodewise.session.log.contents import Contents
from nodewise.session.meaning.rules import Moment

__all__ = ["RowEdit", "add_rows", "change_rows", "read_changes"]


@dataclass(frozen=True)
class RowEdit:
    """Rows that are added or changed.

    Attributes:
        kind: of the event. rows: what is attached to it. body: what it says, by the number that it will have.
    """

    kind: str
    rows: Graph
    body: Callable[[int], Mapping[str, Any]]

    def draft(self, who: str, event: int, packed: bytes) -> Draft:
        """The event, of that number and with the rows as bytes."""
        return Draft(self.kind, who, self.body(event), {"rows": packed})


def add_rows(rows: Any, moment: Moment, every: Contents, **reading: Any) -> RowEdit:
    """Rows that get the next numbers.

    Args:
        rows: as for `Session.add_rows`, as are its further arguments.
        moment: what is known of the job.
        every: its contents with all numbers that were ever given.
    """
    new = added_rows(every.graph, rows, left_out=every.blank | moment.history.erased, **reading)
    first, number = every.graph.num_nodes, new.num_nodes
    return RowEdit(
        "rows", new, lambda event: {"first": first, "count": number, "audit": every.draw_share(number, event)}
    )


def change_rows(rows: Any, moment: Moment, every: Contents, **reading: Any) -> RowEdit:
    """Other rows in the place of some; those that would be what they are already are left out.

    Args:
        rows: as for `Session.change_rows`, as are its further arguments. moment, every: as for `add_rows`.

    Raises:
        InputError: there is no such row, or nothing would change.
    """
    contents, gone = moment.contents, moment.history.gone
    nodes, given = read_changes(contents, rows)
    if out := [contents.name_of(node) for node in nodes if node in gone]:
        raise InputError(f"row {out[0]!r} was taken out of the job: undo that first to change it")
    left_out = contents.blank | moment.history.erased
    new = changed_rows(contents.graph, nodes, given, left_out=left_out, **reading)
    other = [index for index, node in enumerate(nodes) if not _is_same(contents.graph, node, new, index)]
    if not other:
        raise InputError(f"the rows are what they were already ({len(nodes)} given): nothing was changed")
    kept = [nodes[index] for index in other]
    return RowEdit("change", chosen_rows(new, other), lambda event: {"nodes": kept})


def read_changes(contents: Contents, rows: Any) -> tuple[list[int], Any]:
    """Which nodes are to be changed, and the rows that take their place, in the same order.

    Raises:
        InputError: it does not say which rows, names one twice or one that is not there.
    """
    if isinstance(rows, Mapping):
        if not rows:
            raise InputError("there are no rows to change: give at least one")
        nodes, given = [contents.find(node) for node in rows], _alike(list(rows.values()), contents.graph)
    else:
        columns = rows_as_columns(rows)
        if columns is None:
            raise WrongTypeError(
                "rows to change are node -> text or row, or a table with a column that names the row, received"
                f" {type(rows).__name__}"
            )
        name = _name_column(contents.graph, columns)
        nodes = [contents.find(_number(cell, contents.graph)) for cell in columns[name]]
        given = {column: cells for column, cells in columns.items() if column != name}
    if twice := [contents.name_of(node) for node, times in Counter(nodes).items() if times > 1]:
        raise InputError(f"row {twice[0]!r} is there more than once: give each row to change once")
    return nodes, given


def _alike(rows: list[Any], graph: Graph) -> Any:
    """Rows that are all texts, all rows of a table or all numbers, as one thing."""
    tables = [isinstance(row, Mapping) for row in rows]
    if all(isinstance(row, str) for row in rows):
        column = _text_column(graph)
        return rows if column is None else {column: rows}
    if all(tables):
        names = dict.fromkeys(str(name) for row in rows for name in row)
        if any(str(name) not in row for row in rows for name in names):
            raise InputError(f"the rows to change must all have the same columns, here {listed(list(names), 20)}")
        return {name: [row[name] for row in rows] for name in names}
    if any(tables) or any(isinstance(row, (str, bytes)) or not hasattr(row, "__len__") for row in rows):
        raise WrongTypeError("the rows to change must all be texts, all be rows (column -> cell) or all be numbers")
    return np.asarray(rows)


def _text_column(graph: Graph) -> str | None:
    """The column of a table that a text alone is meant for; None where the graph was made from texts."""
    parts = () if graph.preparation is None else graph.preparation.parts
    found = [part["column"] for part in parts if part["kind"] in ("words", "encoder") and part.get("column")]
    return str(found[0]) if len(found) == 1 else None


def _name_column(graph: Graph, columns: Mapping[str, Sequence[str]]) -> str:
    """The column that says which row is meant."""
    own = None if graph.preparation is None else graph.preparation.id
    lower = {column.strip().lower(): column for column in columns}
    found = own if own in columns else next((lower[name] for name in (*ID, "row") if name in lower), None)
    if found is None:
        raise InputError(
            f"the rows do not say which rows of the job they are to replace; their columns are"
            f" {listed(list(columns), 20)}: give the row's {'name' if graph.node_names is not None else 'number'} in a"
            f" column {own or 'id'!r}"
        )
    return found


def _number(cell: str, graph: Graph) -> str | int:
    """A cell that names a row; where rows have names, that of its number will do as well."""
    if graph.node_names is not None and cell not in graph.index_of_name and cell.strip().isdecimal():
        return int(cell)
    return cell


def _is_same(graph: Graph, node: int, rows: Graph, index: int) -> bool:
    """Whether a row is what a node is already."""
    same = all(str(cells[node]) == str(rows.attributes[name][index]) for name, cells in graph.attributes.items())
    return same and (graph.x is None or rows.x is None or np.array_equal(_row(graph.x, node), _row(rows.x, index)))


def _row(x: Any, index: int) -> Any:
    return x[index] if isinstance(x, np.ndarray) else x[[index]].toarray()[0]
