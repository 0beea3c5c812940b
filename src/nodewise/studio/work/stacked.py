"""Several tables of the same columns as one: a folder of exports, one a month."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from nodewise.graph.tables.table import csv_lines, read_rows
from nodewise.ground.errors import GraphError
from nodewise.studio.work.folders import FILES, is_part_of_graph
from nodewise.studio.work.table_files import WRITTEN, NormalisedTable, normalise_table

__all__ = ["are_tables", "stack_tables"]

_TABLES = (".csv", ".tsv", ".xlsx", ".xlsm", ".jsonl", ".ndjson", ".parquet", ".pq")
_CELLS = 10_000_000
"""Of all tables together, as of one that is uploaded."""


def are_tables(names: Sequence[str]) -> bool:
    """Whether files are tables of rows by their names, and none is a part of a graph."""
    return bool(names) and all(Path(name).suffix.lower() in _TABLES and not is_part_of_graph(name) for name in names)


def stack_tables(
    tables: Sequence[tuple[Path, str]], target: Path, encoding: str | None = None, header: bool | None = None
) -> NormalisedTable:
    """Write the rows of several tables below each other, as `normalise_table` does for one.

    Args:
        tables: the files, and what each is called; the rows come in this order.
        target: where to write.
        encoding: how they are encoded; None: guessed for each.
        header: whether their first lines name the columns; None: guessed for each.

    Raises:
        GraphError: one cannot be read, or has other columns than the first; says which, and what to do.
    """
    if len(tables) > FILES:
        raise GraphError(f"{len(tables)} tables were given, at most {FILES} are put together: join some of them first")
    parts = (
        (normalise_table(path, name, target.with_name(f"{target.stem}-{number}.csv"), encoding, header), name)
        for number, (path, name) in enumerate(tables)
    )
    first = next(parts)
    columns = _columns(first[0].path)
    with target.open("w", encoding="utf-8", newline="") as handle:
        handle.writelines(csv_lines(columns, _rows(chain([first], parts), columns, first[1]), keep_formulas=True))
    return NormalisedTable(target, first[0].encoding, first[0].header)


def _rows(parts: Iterable[tuple[NormalisedTable, str]], columns: Sequence[str], first: str) -> Iterator[list[str]]:
    """The rows of all parts, each of which is made when those before it are written, and goes then: a compressed table
    may be small.
    """
    cells = written = 0
    for part, name in parts:
        written += part.path.stat().st_size
        if written > WRITTEN:
            raise GraphError(
                f"the tables grow to more than {WRITTEN // 2**20:,} MB together when they are unpacked: leave out"
                " columns or rows"
            )
        own = _columns(part.path)
        if sorted(own) != sorted(columns):
            raise GraphError(
                f"{name} has the columns {', '.join(own)}, and {first} has {', '.join(columns)}: tables are put"
                " together where they have the same columns; give them the same first line, or take one of them"
            )
        order = [own.index(column) for column in columns]
        rows = read_rows(part.path, encoding="utf-8")
        next(rows)
        for _, row in rows:
            cells += len(columns)
            if cells > _CELLS:
                raise GraphError(
                    f"the tables have more than {_CELLS:,} cells together, which is more than the studio takes: leave"
                    " out columns or rows"
                )
            yield [row[place] if place < len(row) else "" for place in order]
        part.path.unlink()


def _columns(path: Path) -> list[str]:
    return list(next(read_rows(path, encoding="utf-8"))[1])
