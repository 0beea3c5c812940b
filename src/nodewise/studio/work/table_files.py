"""An uploaded table in any form as a CSV in UTF-8 with a heading.

Other encodings, JSON lines, parquet, Excel, a missing line of names. Rows keep their line, so that messages name it.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from nodewise.graph.io.label_studio import read_tasks
from nodewise.graph.tables.excel import CELLS, excel_rows
from nodewise.graph.tables.table import COLUMNS, csv_lines, numbers, read_rows
from nodewise.ground.errors import GraphError, MissingExtraError

__all__ = ["GRAPHS", "WRITTEN", "NormalisedTable", "guess_encoding", "normalise_table"]

GRAPHS = (".graphml", ".npz", ".edges", ".edgelist")
"""Endings of files that are graphs already."""
_JSON = (".jsonl", ".ndjson", ".json")
_EXCEL = (".xlsx", ".xlsm")
WRITTEN = 2**30
"""Bytes that a table may grow to as CSV: a compressed one may be small."""
_LINE_END = re.compile(r"\r\n|\r|\n")
Row = tuple[int, Sequence[str]]
"""The line on which a row ends, and its cells."""
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
    if ending == ".xls":
        raise GraphError(f"{source} is of the old Excel: open it there and save it as .xlsx or .csv")
    if ending in _JSON:
        encoding, header, rows = "utf-8", True, _json_rows(source)
    elif ending in (".parquet", ".pq"):
        encoding, header, rows = "parquet", True, _parquet_rows(source)
    else:
        if ending in _EXCEL:
            encoding, read = "excel", excel_rows(source)
        else:
            encoding = encoding or guess_encoding(source)
            read = read_rows(source, encoding=encoding)
        first = next(read, None)
        if first is None:
            raise GraphError(f"{source} is empty: its first row must name the columns")
        following = list(islice(read, _LOOKED_AT))
        if header is None:
            header = not _is_data(first[1], [row for _, row in following])
        rows = _with_heading(source, first, chain(following, read), header)
    _write(source, rows, target)
    return NormalisedTable(target, encoding, header)


def guess_encoding(path: Path) -> str:
    """UTF-8 or UTF-16 where the bytes are that, else what Windows uses in western Europe, which any bytes can be.

    UTF-16 without a mark at its beginning has a zero in most of its pairs of bytes, as no other encoding of a text has.
    """
    with path.open("rb") as handle:
        beginning = handle.read(4)
        for mark, encoding in _MARKS:
            if beginning.startswith(mark):
                return encoding
        handle.seek(0)
        some = handle.read(2**12)
        for name, zeros in (("utf-16-le", some[1::2].count(0)), ("utf-16-be", some[::2].count(0))):
            if zeros > len(some) // 4:
                return name
        handle.seek(0)
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            while piece := handle.read(2**20):
                decoder.decode(piece)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return "cp1252"
    return "utf-8"


def _write(source: Path, rows: Iterator[Row], target: Path) -> None:
    """Write rows as CSV, each on the line that it had where that is possible: empty lines stand for what is left out.

    Raises:
        GraphError: the table would grow beyond all bounds.
    """
    written, at = 0, 0
    with target.open("w", encoding="utf-8", newline="") as handle:
        for line, row in rows:
            text = next(csv_lines(row, (), keep_formulas=True))
            ends = len(_LINE_END.findall(text))
            blank = max(0, line - at - ends)
            written += len(text) + blank
            if written > WRITTEN:
                raise GraphError(
                    f"{source} grows to more than {WRITTEN // 2**20:,} MB when it is unpacked: leave out columns or"
                    " rows"
                )
            handle.write("\n" * blank + text)
            at += blank + ends


def _with_heading(source: Path, first: Row, rest: Iterator[Row], header: bool) -> Iterator[Row]:
    line, names = first
    yield (line, _distinct(names)) if header else (0, [f"column {number}" for number in range(1, len(names) + 1)])
    if not header:
        yield first
    for line, row in rest:
        if len(row) != len(names):
            raise GraphError(
                f"{source}, line {line}: {len(row)} cells where the first row has {len(names)}; the file may be cut"
                " off, or a cell with a comma or line break needs quotes"
            )
        yield line, row


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


def _json_rows(source: Path) -> Iterator[Row]:
    """JSON lines, or one JSON array of objects: the columns are the keys in the order in which they come up."""
    line = 1
    lines: list[int] = []
    try:
        text = source.read_text(encoding="utf-8-sig")
        if text.lstrip().startswith("["):
            records = json.loads(text)
        else:  # only a line feed ends a line: a text may hold any other separator
            records = []
            for line, row in enumerate(text.split("\n"), start=1):
                if row.strip():
                    records.append(json.loads(row))
                    lines.append(line)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        where = f", line {line}" if lines or line > 1 else ""
        raise GraphError(
            f"{source}{where} cannot be read as JSON lines ({error}): a JSON object on each line, in UTF-8"
        ) from error
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records) or not records:
        raise GraphError(f"{source} holds no JSON objects: give one on each line, or an array of them")
    if all(isinstance(record.get("data"), dict) for record in records) and any("annotations" in one for one in records):
        yield from _task_rows(source)
        return
    columns = list(dict.fromkeys(key for record in records for key in record))
    if len(columns) > COLUMNS or len(columns) * len(records) > CELLS:
        raise GraphError(
            f"{source} has {len(records):,} objects with {len(columns):,} different keys, which makes more than"
            f" {CELLS:,} cells: give every object the same keys"
        )
    yield 0, _distinct(columns)
    for number, record in enumerate(records, start=2):
        yield lines[number - 2] + 1 if lines else number, [_as_text(record.get(key)) for key in columns]


def _task_rows(source: Path) -> Iterator[Row]:
    """Label Studio's tasks: the fields that are shown, then the label and who chose it."""
    table = read_tasks(source)
    yield 0, _distinct(list(table.columns))
    yield from enumerate(zip(*table.columns.values(), strict=True), start=2)


def _parquet_rows(source: Path) -> Iterator[Row]:
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError("duckdb", "parquet") from None
    try:
        with duckdb.connect(config={"memory_limit": "1GB", "threads": 1}) as connection:
            unpacked, cells = connection.execute(
                "SELECT coalesce(sum(total_uncompressed_size), 0), coalesce(sum(num_values), 0)"
                " FROM parquet_metadata(?)",
                [str(source)],
            ).fetchone() or (0, 0)
            if unpacked > WRITTEN or cells > CELLS:
                raise GraphError(
                    f"{source} has {cells:,} cells of {unpacked / 2**20:,.0f} MB when it is unpacked, at most"
                    f" {CELLS:,} cells of {WRITTEN // 2**20:,} MB can be read: leave out columns or rows"
                )
            result = connection.execute("SELECT * FROM read_parquet(?)", [str(source)])
            yield 1, _distinct([column[0] for column in result.description or ()])
            line = 1
            while (row := result.fetchone()) is not None:  # one at a time: a row may be large
                line += 1
                yield line, [_as_text(value) for value in row]
    except duckdb.Error as error:
        raise GraphError(
            f"{source} cannot be read as parquet ({str(error).splitlines()[0][:200]}): check that it is complete"
        ) from error


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
