"""The columns of a table as features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from nodewise.graph.checks import is_missing
from nodewise.graph.tables.table import numbers
from nodewise.ground.errors import GraphError
from nodewise.ground.events import count, listed

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["column_features", "column_parts", "part_features"]

_CATEGORIES = 64
_DENSE = 2**23  # values of a table that is always dense: 32 MB


def column_features(
    columns: Mapping[str, Sequence[str]],
) -> tuple[npt.NDArray[np.float32] | sp.csr_matrix[np.float32], list[str]]:
    """Features of a table's rows: numbers with mean 0 and deviation 1, categories as one column each.

    A column whose filled cells are all numbers counts as numeric, unless one is a code with a leading zero; a cell left
    empty gets the mean. Another column becomes categories, as long as it has no more than 64 values, and fewer than one
    for every two rows; an empty cell then has no category. The distance of two rows of different category
    is √2, as is that of two typical rows in a numeric column. A first column that counts the rows from 0 or 1 is left
    out.

    Args:
        columns: name -> one cell a row.

    Returns:
        float32 [row, feature], CSR where it is large and mostly zeros, and what was left out or filled in, in words.

    Raises:
        GraphError: if no column can be used.
    """
    parts, notes = column_parts(columns)
    return part_features(columns, parts), notes


def column_parts(columns: Mapping[str, Sequence[str]]) -> tuple[list[dict[str, Any]], list[str]]:
    """What the columns of a table become, as parts of a `Preparation`, and what was left out or filled in, in words."""
    parts: list[dict[str, Any]] = []
    notes: list[str] = []
    for position, (name, cells) in enumerate(columns.items()):
        filled = np.array([not is_missing(cell) for cell in cells])
        values = _numbers_of_filled(cells, filled)
        kinds = sorted({cell for cell, there in zip(cells, filled, strict=True) if there})
        if len(kinds) < 2:
            notes.append(f"column {name!r} has the same value everywhere and is left out")
        elif (
            values is not None
            and position == 0
            and len(columns) > 1
            and values[0] in (0, 1)
            and (np.diff(values) == 1).all()
        ):
            notes.append(f"column {name!r} counts the rows and is left out")
        elif values is not None:
            if not filled.all():
                notes.append(f"column {name!r}: {count(int((~filled).sum()), 'empty cell')} filled with the mean")
            parts.append({"kind": "number", "column": name, "width": 1, **_scale(values[filled])})
        elif len(kinds) <= max(2, min(_CATEGORIES, len(cells) // 2)):
            parts.append({"kind": "category", "column": name, "width": len(kinds), "values": kinds})
        else:
            notes.append(
                f"column {name!r} has {len(kinds):,} different texts and is no feature (as the text column it would"
                " become TF-IDF features)"
            )
    if not parts:
        raise GraphError(
            f"no column of {listed(columns) or 'the table'} can become a feature: give numbers or categories, or name"
            " the column with the texts or pictures"
        )
    return parts, notes


def part_features(
    columns: Mapping[str, Sequence[str]], parts: Sequence[Mapping[str, Any]]
) -> npt.NDArray[np.float32] | sp.csr_matrix[np.float32]:
    """The features that parts of the kinds ``number`` and ``category`` make of a table's columns: see
    `column_features`.

    An empty cell gets the mean, unless the part says that a number is required, or no category; nor has a row one whose
    category was not there.

    Raises:
        GraphError: a cell of a number is none.
    """
    blocks = []
    for part in parts:
        cells = columns[part["column"]]
        filled = np.array([not is_missing(cell) for cell in cells], dtype=bool)
        if part["kind"] == "number":
            values = _numbers_of_filled(cells, filled)
            if part.get("required") and not filled.all():
                raise GraphError(
                    f"row {int(filled.argmin()) + 1}: column {part['column']!r} is empty, and the graph has a number in"
                    " each row: fill it in"
                )
            if values is None:
                wrong = next(i for i in np.flatnonzero(filled).tolist() if numbers([cells[i]]) is None)
                raise GraphError(
                    f"row {wrong + 1}: column {part['column']!r} holds {cells[wrong]!r} where the graph has numbers:"
                    " correct the cell, or leave it empty"
                )
            rows = np.arange(len(cells))
            scaled = _standardised(values, filled, part["largest"], part["mean"], part["deviation"])
            blocks.append(_Block(1, rows, np.zeros_like(rows), scaled.astype(np.float32)))
        else:
            code = {kind: i for i, kind in enumerate(part["values"])}
            rows = np.array([row for row in np.flatnonzero(filled).tolist() if cells[row] in code], dtype=np.int64)
            which = np.array([code[cells[row]] for row in rows.tolist()], dtype=np.int64)
            blocks.append(_Block(len(code), rows, which, np.ones(len(rows), dtype=np.float32)))
    return _joined(blocks, len(next(iter(columns.values()))))


class _Block(NamedTuple):
    """The features of one column: where they are not 0."""

    width: int
    rows: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]
    values: npt.NDArray[np.float32]


def _joined(blocks: Sequence[_Block], rows: int) -> npt.NDArray[np.float32] | sp.csr_matrix[np.float32]:
    """All blocks side by side; sparse where a dense table would be large and mostly zeros, as with many categories."""
    starts = np.cumsum([0, *(block.width for block in blocks)])
    shape = (rows, int(starts[-1]))
    if shape[0] * shape[1] <= max(_DENSE, 4 * rows * len(blocks)):
        dense = np.zeros(shape, dtype=np.float32)
        for start, block in zip(starts, blocks, strict=False):
            dense[block.rows, start + block.columns] = block.values
        return dense
    row = np.concatenate([block.rows for block in blocks])
    column = np.concatenate([start + block.columns for start, block in zip(starts, blocks, strict=False)])
    return sp.csr_matrix((np.concatenate([block.values for block in blocks]), (row, column)), shape=shape)


def _numbers_of_filled(cells: Sequence[str], filled: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64] | None:
    known = numbers([cell for cell, there in zip(cells, filled, strict=True) if there])
    if known is None:
        return None
    values = np.full(len(cells), np.nan)
    values[filled] = known
    return values


def _scale(known: npt.NDArray[np.float64]) -> dict[str, float]:
    """What brings numbers to mean 0 and deviation 1; they are divided by the largest first, so that no square
    overflows.
    """
    largest = float(np.abs(known).max() or 1.0)
    small = known / largest
    return {"largest": largest, "mean": float(small.mean()), "deviation": float(small.std())}


def _standardised(
    values: npt.NDArray[np.float64], filled: npt.NDArray[np.bool_], largest: float, mean: float, deviation: float
) -> npt.NDArray[np.float64]:
    result = np.zeros(len(values))
    if deviation > 0:
        result[filled] = (values[filled] / largest - mean) / deviation
    return result
