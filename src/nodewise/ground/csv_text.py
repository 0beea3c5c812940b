"""CSV that any reader reads back row by row, whatever its cells hold, and of which no spreadsheet runs a cell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

__all__ = ["csv_text", "harmless"]

_SPECIAL = frozenset('",\r\n')
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_FORMULA = tuple("=+-@\uff1d\uff0b\uff0d\uff20")


def csv_text(head: Sequence[object], rows: Iterable[Sequence[object]], *, keep_formulas: bool = False) -> str:
    """A table as CSV, a row a line; None is an empty cell.

    A cell with a quotation mark, a comma, a line break or a carriage return stands in quotes. Python's own writer
    leaves a carriage return bare before 3.13, and readers begin a new row there.

    Args:
        head: the columns' names.
        rows: as many cells each.
        keep_formulas: leave cells that a spreadsheet would run as they are; else they are made `harmless`.
    """
    lines = []
    for row in (head, *rows):
        cells = ["" if cell is None else str(cell if keep_formulas else harmless(cell)) for cell in row]
        lines.append(",".join(map(_quoted, cells)) if cells != [""] else '""')  # an empty line would be no row
    return "\n".join(lines) + "\n"


def harmless(cell: object) -> object:
    """A cell that no spreadsheet runs.

    Text that begins like a formula gets an apostrophe in front, numbers stay numbers.

    Spreadsheets take a cell for a formula that begins with =, +, -, @ or their full-width forms, also behind blanks,
    tabs and line ends.
    """
    if not isinstance(cell, str) or not (cell.lstrip().startswith(_FORMULA) or cell[:1] in ("\t", "\r", "\n")):
        return cell
    return cell if _NUMBER.fullmatch(cell) else "'" + cell


def _quoted(cell: str) -> str:
    return cell if _SPECIAL.isdisjoint(cell) else '"' + cell.replace('"', '""') + '"'
