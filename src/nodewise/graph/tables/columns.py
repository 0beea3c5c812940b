"""The columns of a table as features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.sparse as sp

from nodewise.graph.checks import is_missing
from nodewise.graph.tables.table import numbers
from nodewise.ground.errors import GraphError
from nodewise.ground.events import count, listed

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["column_features"]

_CATEGORIES = 64
_DENSE = 2**23  # values of a table that is always dense: 32 MB


def column_features(
    columns: Mapping[str, Sequence[str]],
) -> tuple[npt.NDArray[np.float32] | sp.csr_matrix[np.float32], list[str]]:
    """Features of a table's rows: numbers with mean 0 and deviation 1, categories as one column each.

    A column whose filled cells are all numbers counts as numeric, unless one is a code with a leading zero; a cell left
    empty gets the mean. Another column becomes categories, as long as it has no more than 64 values, and fewer than one
    for every two rows; an empty cell then has no category. Two rows of different category are √2 apart, as are two
    typical rows in a numeric column. A first column that counts the rows from 0 or 1 is left out.

    Args:
        columns: name -> one cell a row.

    Returns:
        float32 [row, feature], CSR where it is large and mostly zeros, and what was left out or filled in, in words.

    Raises:
        GraphError: if no column can be used.
    """
    blocks: list[_Block] = []
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
            rows = np.arange(len(cells))
            blocks.append(_Block(1, rows, np.zeros_like(rows), _standardised(values, filled).astype(np.float32)))
        elif len(kinds) <= max(2, min(_CATEGORIES, len(cells) // 2)):
            code = {kind: i for i, kind in enumerate(kinds)}
            rows = np.flatnonzero(filled)
            which = np.array([code[cells[row]] for row in rows.tolist()])
            blocks.append(_Block(len(kinds), rows, which, np.ones(len(rows), dtype=np.float32)))
        else:
            notes.append(
                f"column {name!r} has {len(kinds):,} different texts and is no feature (as the text column it would"
                " become TF-IDF features)"
            )
    if not blocks:
        raise GraphError(
            f"no column of {listed(columns) or 'the table'} can become a feature: give numbers or categories, or name"
            " the column with the texts or pictures"
        )
    return _joined(blocks, len(next(iter(columns.values())))), notes


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


def _standardised(values: npt.NDArray[np.float64], filled: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    known = values[filled] / (np.abs(values[filled]).max() or 1.0)  # so that no square overflows
    mean, deviation = known.mean(), known.std()
    result = np.zeros(len(values))
    if deviation > 0:
        result[filled] = (known - mean) / deviation
    return result
