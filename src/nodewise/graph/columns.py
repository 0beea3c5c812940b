"""The columns of a table: read from a CSV file, and turned into features."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nodewise.errors import GraphError
from nodewise.graph.files import existing_file
from nodewise.graph.wording import count, listed

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["SHOWN", "column_features", "pick", "read_columns"]

SHOWN = ("id", "name", "title", "text", "link", "url", "picture")  # columns for a person, which never become features of their own accord
_MISSING = frozenset({"", "nan", "na", "n/a", "null", "none"})
_CATEGORIES = 64
_LONGEST = 2**27  # letters in one cell


def read_columns(path: Path) -> dict[str, list[str]]:
    """Reads a CSV file with a heading (comma, semicolon or tab; UTF-8) as name -> cells.

    Raises:
        GraphError: if the file cannot be read as such; the line is named.
    """
    existing_file(path)
    before = csv.field_size_limit(_LONGEST)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            heading = file.readline()
            file.seek(0)
            delimiter = max("\t;,", key=heading.count) if path.suffix.lower() != ".tsv" else "\t"
            lines = csv.reader(file, delimiter=delimiter, strict=True)
            names = [name.strip() for name in next(lines, [])]
            rows = []
            for row in lines:
                if not row:
                    continue
                if len(row) != len(names):
                    raise GraphError(
                        f"{path}, line {lines.line_num}: {count(len(row), 'cell')}, but the heading names {len(names)}: correct the line"
                    )
                rows.append(row)
    except UnicodeDecodeError as error:
        raise GraphError(f"{path} is not UTF-8 text ({error.reason} at byte {error.start}): save the table as CSV in UTF-8") from None
    except csv.Error as error:
        raise GraphError(f"{path}, line {lines.line_num}: {error}; check the quotes there") from None
    finally:
        csv.field_size_limit(before)
    if "" in names or len(set(names)) < len(names):
        raise GraphError(f"{path}: every column needs a name of its own, the heading is {listed(names)}")
    if not rows:
        raise GraphError(f"{path} has a heading but no rows: check that the table is complete")
    return {name: list(cells) for name, cells in zip(names, zip(*rows, strict=True), strict=True)}


def pick(columns: Mapping[str, Sequence[str]], name: str, purpose: str) -> list[str]:
    """The cells of the column `name`.

    Raises:
        GraphError: if there is no such column; those that there are, are named.
    """
    if name not in columns:
        raise GraphError(f"there is no column {name!r} for the {purpose}; the columns are {listed(columns, 20)}")
    return list(columns[name])


def column_features(columns: Mapping[str, Sequence[str]]) -> tuple[npt.NDArray[np.float32], list[str]]:
    """Features of a table's rows: numbers with mean 0 and deviation 1, categories as one column each.

    A column whose filled cells are all numbers counts as numeric; a cell left empty gets the mean. Another column becomes categories, as long
    as it has no more than 64 values, and fewer than one for every two rows; an empty cell then has no category. Two rows of different category are
    √2 apart, as are two typical rows in a numeric column.

    Returns:
        float32 [row, feature], and what was left out or filled in, in words.

    Raises:
        GraphError: if no column can be used.
    """
    blocks: list[npt.NDArray[np.float64]] = []
    notes: list[str] = []
    for name, cells in columns.items():
        filled = np.array([cell.strip().lower() not in _MISSING for cell in cells])
        values = _numbers(cells, filled)
        kinds = sorted({cell for cell, there in zip(cells, filled, strict=True) if there})
        if len(kinds) < 2:
            notes.append(f"column {name!r} has the same value everywhere and is left out")
        elif values is not None:
            if not filled.all():
                notes.append(f"column {name!r}: {count(int((~filled).sum()), 'empty cell')} filled with the mean")
            blocks.append(_standardised(values, filled)[:, None])
        elif len(kinds) <= max(2, min(_CATEGORIES, len(cells) // 2)):
            code = {kind: i for i, kind in enumerate(kinds)}
            table = np.eye(len(kinds) + 1, len(kinds))  # the last row, of zeros, is for an empty cell
            blocks.append(table[[code[cell] if there else len(kinds) for cell, there in zip(cells, filled, strict=True)]])
        else:
            notes.append(
                f"column {name!r} has {len(kinds):,} different texts and is no feature (as the text column it would become TF-IDF features)"
            )
    if not blocks:
        raise GraphError(
            f"no column of {listed(columns) or 'the table'} can become a feature: give numbers or categories, or name the column with the texts or pictures"
        )
    return np.concatenate(blocks, axis=1, dtype=np.float32, casting="same_kind"), notes


def _numbers(cells: Sequence[str], filled: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64] | None:
    try:
        values = np.array([float(cell) if there else np.nan for cell, there in zip(cells, filled, strict=True)])
    except ValueError:
        return None
    return values if np.isfinite(values[filled]).all() else None


def _standardised(values: npt.NDArray[np.float64], filled: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    known = values[filled] / (np.abs(values[filled]).max() or 1.0)  # so that no square overflows
    mean, deviation = known.mean(), known.std()
    result = np.zeros(len(values))
    if deviation > 0:
        result[filled] = (known - mean) / deviation
    return result
