"""An uploaded table in any form as a CSV in UTF-8 with a heading.

Other encodings, JSON lines, parquet, a missing line of names.
"""

from __future__ import annotations

import codecs
import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from nodewise.graph.tables.table import numbers, read_rows
from nodewise.ground.errors import GraphError, MissingExtraError

__all__ = ["GRAPHS", "NormalisedTable", "guess_encoding", "normalise_table"]

GRAPHS = (".graphml", ".npz", ".edges", ".edgelist")
"""Endings of files that are graphs already."""
_JSON = (".jsonl", ".ndjson", ".json")
_LOOKED_AT = 50
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


@dataclass(frozen=True)
class NormalisedTable:
    """A table that the readers understand.

    Attributes:
        path: the CSV.
        encoding: what the file was read as.
        header: whether its first line was taken for the columns' names.
    """

    path: Path
    encoding: str
    header: bool


def normalise_table(
    source: Path, name: str, target: Path, encoding: str | None = None, header: bool | None = None
) -> NormalisedTable:
    """Write a table as a CSV in UTF-8 whose first line names the columns, each by another name.

    Args:
        source: the file.
        name: what it was called; its ending tells the form.
        target: where to write.
        encoding: how it is encoded; None: guessed.
        header: whether its first line names the columns; None: guessed.

    Raises:
        GraphError: it cannot be read; says why.
    """
    ending = Path(name).suffix.lower()
    if ending in _JSON:
        encoding, header, rows = "utf-8", True, _json_rows(source)
    elif ending in (".parquet", ".pq"):
        encoding, header, rows = "parquet", True, _parquet_rows(source)
    else:
        encoding = encoding or guess_encoding(source)
        read = (row for _, row in read_rows(source, encoding=encoding))
        first = next(read, None)
        if first is None:
            raise GraphError(f"{source} is empty: its first row must name the columns")
        following = list(islice(read, _LOOKED_AT))
        if header is None:
            header = not _is_data(first, following)
        rows = _with_heading(first, chain(following, read), header)
    with target.open("w", encoding="utf-8", newline="") as handle:
        csv.writer(handle).writerows(rows)
    return NormalisedTable(target, encoding, header)


def guess_encoding(path: Path) -> str:
    """UTF-8 or UTF-16 where the bytes are that, else what Windows uses in western Europe, which any bytes can be."""
    with path.open("rb") as handle:
        beginning = handle.read(4)
        for mark, encoding in _MARKS:
            if beginning.startswith(mark):
                return encoding
        handle.seek(0)
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            while piece := handle.read(2**20):
                decoder.decode(piece)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return "cp1252"
    return "utf-8"


def _with_heading(first: Sequence[str], rest: Iterator[list[str]], header: bool) -> Iterator[Sequence[str]]:
    yield _distinct(first) if header else [f"column {number}" for number in range(1, len(first) + 1)]
    if not header:
        yield first
    yield from rest


def _distinct(names: Sequence[str]) -> list[str]:
    """The names on one line each, no two alike; a column without a name is numbered."""
    seen: dict[str, None] = {}
    for number, name in enumerate(names, start=1):
        plain = " ".join(name.split()) or f"column {number}"
        other, count = plain, 1
        while other in seen:
            count += 1
            other = f"{plain} {count}"
        seen[other] = None
    return list(seen)


def _is_data(first: Sequence[str], following: Sequence[Sequence[str]]) -> bool:
    """Whether the first line is a row like the others.

    It holds numbers, long texts or a word that comes again below it, as names do not.
    """
    if not following or len(first) != len(following[0]):
        return False
    second = following[0]
    again = any(
        cell.strip() and cell in {row[column] for row in following if column < len(row)}
        for column, cell in enumerate(first)
    )
    numeric = any(
        one.strip() and numbers([one]) is not None and numbers([other]) is not None
        for one, other in zip(first, second, strict=True)
    )
    long = any(len(cell) > 80 or len(cell.split()) > 8 for cell in first)
    return numeric or long or again


def _json_rows(source: Path) -> Iterator[Sequence[str]]:
    """JSON lines, or one JSON array of objects: the columns are the keys in the order in which they come up."""
    try:
        text = source.read_text(encoding="utf-8-sig")
        records = (
            json.loads(text)
            if text.lstrip().startswith("[")
            else [json.loads(line) for line in text.splitlines() if line.strip()]
        )
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise GraphError(
            f"{source} cannot be read as JSON lines ({error}): a JSON object on each line, in UTF-8"
        ) from error
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records) or not records:
        raise GraphError(f"{source} holds no JSON objects: give one on each line, or an array of them")
    columns = list(dict.fromkeys(key for record in records for key in record))
    yield _distinct(columns)
    for record in records:
        yield [_as_text(record.get(key)) for key in columns]


def _parquet_rows(source: Path) -> Iterator[Sequence[str]]:
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError("duckdb", "parquet") from None
    try:
        with duckdb.connect() as connection:
            result = connection.execute("SELECT * FROM read_parquet(?)", [str(source)])
            yield _distinct([column[0] for column in result.description or ()])
            while rows := result.fetchmany(10_000):
                yield from ([_as_text(value) for value in row] for row in rows)
    except duckdb.Error as error:
        raise GraphError(
            f"{source} cannot be read as parquet ({str(error).splitlines()[0][:200]}): check that it is complete"
        ) from error


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
