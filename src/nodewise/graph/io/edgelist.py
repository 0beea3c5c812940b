"""Edge lists: two columns, one row an edge; a third holds weights, where there are any.

Written with a tab between the ends (a comma for .csv). Comments at the top, which other programs pass over, tell the
number of nodes and, where they have any, their names. Labels, features and the like have no place here.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from nodewise.graph.checks import natural_order
from nodewise.graph.graph import Graph
from nodewise.graph.io.assembly import exact_texts, node_ids
from nodewise.graph.tables.table import (
    EDGE_ENDS,
    cell,
    defused,
    dropped_of_edges,
    edge_weight,
    first_record,
    meaning,
    read_rows,
    write_rows,
)
from nodewise.ground.errors import GraphError
from nodewise.ground.events import count, listed
from nodewise.ground.files import check_claim, existing_file

__all__ = ["read_edgelist", "write_edgelist"]

_HEAD = re.compile(
    r"# nodewise edge list: ([0-9]{1,15}) nodes, ([0-9]+) edges\r?\n(?:# names(, defused)?: (.*?)\r?\n)?"
)
_RECORD = 2**16  # characters of the first row that are looked at to tell the delimiter
_SPECIAL = frozenset('",;\t\r\n| #%')
_COLUMNS = {name for pair in EDGE_ENDS for name in pair}


def read_edgelist(path: str | Path, *, directed: bool = False) -> Graph:
    """Reads a graph from two columns, parted by commas, semicolons, tabs or blanks.

    Lines that start with # or % are comments.

    Ids may be numbers or strings. Numbers from 0 without gaps are the nodes' indices; otherwise the ids become the
    nodes' names, in order. A third column holds weights, on each line or on none; if it does not hold numbers, it is
    dropped, and noted. A line with one id alone is a node without edges; one with nothing behind its comma is cut off.

    Args:
        path: the file.
        directed: whether an edge leads from its first end to its second alone; see `Graph.build`.

    Raises:
        GraphError: if the file is missing, empty, cut off, or holds no edges in this form.
    """
    path = existing_file(Path(path))
    delimiter, head = _look(path)
    if head is not None:
        return _read_ours(path, delimiter, head, directed)
    position: dict[str, int] = {}
    ends, thirds = array("q"), list[tuple[int, str]]()
    for line, row in read_rows(path, delimiter=delimiter, comments="#%"):
        cells = [text.strip() for text in row]
        while len(cells) > (0 if delimiter == " " else 2) and not cells[-1]:
            cells.pop()
        table = not position and delimiter != " " and any(map(_names_a_table, cells))
        if len(cells) > 3 or table:
            raise GraphError(
                f"{path}, line {line}: {listed(cells)} is no edge but a row of a table, an edge list has two columns:"
                " put a table of nodes and one of edges into a folder as nodes.csv and edges.csv, or join the rows of"
                f" a table that are alike: `nodewise convert {path.name} {path.stem}.npz --knn 10 --text COLUMN`, or"
                " Graph.from_dataframe and Graph.from_texts in Python"
            )
        if not all(cells):
            raise GraphError(
                f"{path}, line {line}: an end of the edge is missing, received {listed(row)}; the line may be cut off"
            )
        edge = [position.setdefault(text, len(position)) for text in cells[:2]]
        if len(edge) == 2:
            ends.extend(edge)
            thirds.append((line, cells[2] if len(cells) == 3 else ""))
    notes: list[str] = []
    names = list(position)
    first = 0
    if len(ends) > 1 and _names_columns(names, ends):
        notes.append(f"the first row, {listed(names[:2])}, was taken as the names of the columns")
        names, first, thirds = names[2:], 2, thirds[1:]
    weights = _weights(path, thirds, notes)
    edges: npt.NDArray[np.int64] = np.array(ends, dtype=np.int64)[first:] - first
    if not edges.size:
        raise GraphError(
            f"{path} holds no edges: an edge list has one on each line, the two ids parted by a blank, tab or comma"
        )
    ids = natural_order(names)
    order = np.empty(len(ids), dtype=np.int64)
    order[[position[text] - first for text in ids]] = np.arange(len(ids))
    del position, ends
    plain = all(text == str(i) for i, text in enumerate(ids))
    edges = order[edges].reshape(-1, 2).T
    named = None if plain else ids
    return Graph.build(
        edges, len(ids), node_names=named, name=path.stem, notes=notes, edge_weight=weights, directed=directed
    )


def write_edgelist(graph: Graph, path: str | Path) -> list[str]:
    """Writes the edges of a graph, and returns what was dropped, in words."""
    path = Path(path)
    written = [defused(text) for text in node_ids(graph)]
    ids = [cell(text, _SPECIAL) for text in written]
    low, high = graph.edge_index.tolist()
    head = f"# nodewise edge list: {graph.num_nodes} nodes, {graph.num_edges} edges\n"
    if graph.node_names is not None:
        names = (json.dumps(name).replace(",", "\\u002c").replace(";", "\\u003b") for name in graph.node_names)
        changed = "" if written == list(graph.node_names) else ", defused"
        head += f"# names{changed}: [{', '.join(names)}]\n"  # no name is parted into cells, so none begins one
    columns = [[ids[node] for node in end] for end in (low, high)]
    if graph.edge_weight is not None:
        columns.append(exact_texts(graph.edge_weight))
    rows = zip(*columns, strict=True)
    write_rows(path, rows, "," if path.suffix.lower() == ".csv" else "\t", head)
    return _dropped(graph)


def _look(path: Path) -> tuple[str, re.Match[str] | None]:
    """What stands between the columns, and the comments at the top of a file that was written here."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as handle:
            top = handle.readline() + handle.readline()
            handle.seek(0)
            first = first_record(handle, "#%")[:_RECORD]
    except UnicodeError as error:
        raise GraphError(f"{path} cannot be read as text ({error}): save it as UTF-8") from error
    except OSError as error:
        raise GraphError(
            f"{path} cannot be read: {error.strerror or error}; check the path and its permissions"
        ) from error
    bare = re.sub(r'"(?:[^"]|"")*"', "", first)
    return next(
        (letter for letter in ",;\t" if letter in bare), "\t" if '"' in first and " " not in bare else " "
    ), _HEAD.match(top)


def _names_columns(names: list[str], ends: array[int]) -> bool:
    """Whether the first row names the columns.

    Neither of its names comes again, and they are usual ones, or all other ids are numbers.
    """
    if list(ends[:2]) != [0, 1] or ends.count(0) > 1 or ends.count(1) > 1:
        return False
    usual = {names[0].lower(), names[1].lower()} <= _COLUMNS
    return usual or (
        not names[0].isdecimal()
        and not names[1].isdecimal()
        and len(names) > 2
        and all(text.isdecimal() for text in names[2:])
    )


def _names_a_table(text: str) -> bool:
    """Whether a name in the first row tells that it heads a table of nodes; a single letter may well be a node."""
    return len(text) > 1 and text.lower() not in _COLUMNS and meaning(text) is not None


def _read_ours(path: Path, delimiter: str, head: re.Match[str], directed: bool) -> Graph:
    size, num_edges = int(head[1]), int(head[2])
    try:
        names = None if head[4] is None else list(map(str, json.loads(head[4])))
    except (ValueError, TypeError, RecursionError) as error:
        raise GraphError(f"{path}: the names at the top are damaged ({error}); write the file again") from error
    check_claim(path, size if names is None else 0, "nodes")
    if names is not None and len(names) != size:
        raise GraphError(f"{path} names {len(names)} nodes at its top and says that there are {size}: make it again")
    position: Mapping[str, int] = _Indices(size) if names is None else _positions(names, bool(head[3]))
    ends, thirds = array("q"), list[tuple[int, str]]()
    for line, row in read_rows(path, delimiter=delimiter, comments="#%"):
        if len(row) not in (2, 3) or row[0] not in position or row[1] not in position:
            raise GraphError(
                f"{path}, line {line}: {listed(row)} are not the ids of two of the {size} nodes; correct the edge, or"
                " the top of the file"
            )
        ends.extend((position[row[0]], position[row[1]]))
        thirds.append((line, row[2] if len(row) == 3 else ""))
    if len(ends) != 2 * num_edges:
        raise GraphError(
            f"{path} holds {len(ends) // 2} edges, its first line says {num_edges}: the file was cut off or changed;"
            " make it again, or remove the comments at its top"
        )
    edges: npt.NDArray[np.int64] = np.frombuffer(ends, dtype=np.int64) if ends else np.zeros(0, dtype=np.int64)
    weights = _weights(path, thirds, [])
    ends_given = edges.reshape(-1, 2).T
    return Graph.build(ends_given, size, node_names=names, name=path.stem, edge_weight=weights, directed=directed)


def _positions(names: Sequence[str], changed: bool) -> dict[str, int]:
    """Which node is meant by an id of the edges, which are `defused` where the top of the file says so."""
    return {defused(text) if changed else text: index for index, text in enumerate(names)}


def _weights(path: Path, thirds: list[tuple[int, str]], notes: list[str]) -> list[float] | None:
    """The weights of the edges from their lines and third cells, "" where there is none."""
    texts = [text for _, text in thirds if text]
    if not texts:
        return None
    if not any(map(_is_number, texts)):
        notes += dropped_of_edges(["column 3"])
        return None
    return [edge_weight(text, f"{path}, line {line}: the edge") for line, text in thirds]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


class _Indices(Mapping[str, int]):
    """The indices 0 … size-1 by their texts, without holding them."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __getitem__(self, text: str) -> int:
        if not (
            text.isascii()
            and text.isdecimal()
            and len(text) < 20
            and (text[0] != "0" or text == "0")
            and int(text) < self.size
        ):
            raise KeyError(text)
        return int(text)

    def __iter__(self) -> Iterator[str]:
        return map(str, range(self.size))

    def __len__(self) -> int:
        return self.size


def _dropped(graph: Graph) -> list[str]:
    parts = []
    if graph.x is not None:
        parts.append(count(graph.num_features, "feature"))
    if graph.y is not None or graph.several:
        parts.append("labels")
    if graph.class_names:
        parts.append("class names")
    if graph.attributes:
        parts.append(f"attributes {listed(graph.attributes)}")
    if graph.extra:
        parts.append(f"further fields {listed(graph.extra)}")
    if graph.relations is not None:
        parts.append("direction" if graph.relations.directed else "node types and relations")
    return [f"{part}: an edge list holds edges and their weights alone" for part in parts]
