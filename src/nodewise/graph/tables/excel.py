"""Excel files: a sheet as rows of texts, read within bounds, and rows as a sheet of which no cell is run.

openpyxl reads and writes them. What a file would grow to is looked at before anything is unpacked.
"""

from __future__ import annotations

import datetime
import itertools
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from nodewise.ground.errors import GraphError, MissingExtraError
from nodewise.ground.files import atomic_file

__all__ = ["CELLS", "excel_rows", "write_excel"]

CELLS = 10_000_000
"""Cells of a sheet that are read, empty ones between others included."""
_UNPACKED = 2**28
_PARTS = 10_000
_TAGS = 8_000_000
"""Of the part with the texts, which is read whole: each costs memory, however few bytes it has."""
_TEXTS = "xl/sharedStrings.xml"
_LONGEST = 32_767
_ROWS, _COLUMNS = 2**20, 2**14
_ILLEGAL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def excel_rows(path: Path, called: str | None = None) -> Iterator[tuple[int, list[str]]]:
    """Number and cells of every row of the first sheet that holds anything; empty rows are passed over.

    A formula counts as the value that Excel saved with it.

    Args:
        path: the file.
        called: what it is called in messages; None: by its path.

    Raises:
        GraphError: it is no such file, damaged, or larger than can be read; says what to do.
        MissingExtraError: openpyxl is not installed.
    """
    name = called or str(path)
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise MissingExtraError("openpyxl", "studio") from None
    try:
        _check_size(path, name)
        with path.open("rb") as file:  # what is in it says its form, not its name
            book = load_workbook(file, read_only=True, data_only=True, keep_links=False)
            for sheet in book.worksheets:
                sheet.reset_dimensions()  # what it claims to hold is not believed
                found = False
                for line, row in _filled(sheet.iter_rows(values_only=True), name):
                    found = True
                    yield line, row
                if found:
                    return
    except GraphError:
        raise
    except Exception as error:  # openpyxl raises whatever a damaged part leads to
        said = " ".join(str(error).split())[:200]
        raise GraphError(
            f"{name} cannot be read as an Excel file ({said or type(error).__name__}): save it as .xlsx or .csv"
        ) from error


def write_excel(path: Path, head: Sequence[object], rows: Iterable[Sequence[object]]) -> None:
    """Writes one sheet; texts stay texts, also those that look like a formula. A text is cut at Excel's 32,767
    characters, and control characters become blanks.

    Raises:
        GraphError: there are more rows or columns than a sheet has.
        MissingExtraError: openpyxl is not installed.
    """
    try:
        from openpyxl import Workbook
        from openpyxl.cell import WriteOnlyCell
    except ImportError:
        raise MissingExtraError("openpyxl", "studio") from None
    if len(head) > _COLUMNS:
        raise GraphError(f"an Excel sheet has {_COLUMNS:,} columns at most, these are {len(head):,}: write a .csv")
    book = Workbook(write_only=True)
    sheet = book.create_sheet("nodewise")

    def cell(value: object) -> Any:
        if not isinstance(value, str):
            return value
        made = WriteOnlyCell(sheet, "")
        made.value = _ILLEGAL.sub(" ", value)[:_LONGEST]
        made.data_type = "s"
        return made

    for number, row in enumerate(itertools.chain([head], rows), start=1):
        if number > _ROWS:
            raise GraphError(f"an Excel sheet has {_ROWS:,} rows at most, there are more: write a .csv")
        sheet.append([cell(value) for value in row])
    with atomic_file(path) as handle:
        book.save(handle)


def _check_size(path: Path, name: str) -> None:
    with zipfile.ZipFile(path) as archive:
        parts = archive.infolist()
        unpacked = sum(part.file_size for part in parts)  # no part is ever read beyond what it claims
        if unpacked > _UNPACKED or len(parts) > _PARTS:
            raise GraphError(
                f"{name} would grow to {unpacked / 2**20:,.0f} MB in {len(parts):,} parts when unpacked, at most"
                f" {_UNPACKED // 2**20} MB can be read: save the sheet as .csv"
            )
        if any(part.filename == _TEXTS for part in parts):
            with archive.open(_TEXTS) as texts:
                tags = sum(piece.count(b"<") for piece in iter(lambda: texts.read(2**20), b""))
            if tags > _TAGS:
                raise GraphError(f"{name} holds more different texts than can be read: save the sheet as .csv")


def _filled(rows: Iterable[Sequence[Any]], name: str) -> Iterator[tuple[int, list[str]]]:
    cells, width = 0, 0
    for line, row in enumerate(rows, start=1):
        cells += len(row)
        if line > _ROWS:  # openpyxl gives an empty row for each that is left out
            raise GraphError(f"{name} claims more than the {_ROWS:,} rows of a sheet: it is damaged; save it as .csv")
        if cells > CELLS:
            raise GraphError(f"{name} has more than {CELLS:,} cells: leave out columns or rows, or save it as .csv")
        texts = [_as_text(value) for value in row]
        while texts and not texts[-1]:
            texts.pop()
        if texts:
            width = width or len(texts)  # the first row names the columns
            yield line, texts + [""] * (width - len(texts))


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    return str(value)
