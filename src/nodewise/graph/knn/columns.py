"""The columns of a table as features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from nodewise.graph.io.csvfile import numbers
from nodewise.graph.labels import is_missing
from nodewise.ground.errors import GraphError
from nodewise.ground.wording import count, listed

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["column_features"]

_CATEGORIES = 64


def column_features(columns: Mapping[str, Sequence[str]]) -> tuple[npt.NDArray[np.float32], list[str]]:
    """Features of a table's rows: numbers with mean 0 and deviation 1, categories as one column each.

    A column whose filled cells are all numbers counts as numeric, unless one is a code with a leading zero; a cell left empty gets the mean.
    Another column becomes categories, as long as it has no more than 64 values, and fewer than one for every two rows; an empty cell then has
    no category. Two rows of different category are √2 apart, as are two typical rows in a numeric column. A first column that counts the rows
    from 0 or 1 is left out.

    Args:
        columns: name -> one cell a row.

    Returns:
        float32 [row, feature], and what was left out or filled in, in words.

    Raises:
        GraphError: if no column can be used.
    """
    blocks: list[npt.NDArray[np.float64]] = []
    notes: list[str] = []
    for position, (name, cells) in enumerate(columns.items()):
        filled = np.array([not is_missing(cell) for cell in cells])
        values = _numbers(cells, filled)
        kinds = sorted({cell for cell, there in zip(cells, filled, strict=True) if there})
        if len(kinds) < 2:
            notes.append(f"column {name!r} has the same value everywhere and is left out")
        elif values is not None and position == 0 and len(columns) > 1 and values[0] in (0, 1) and (np.diff(values) == 1).all():
            notes.append(f"column {name!r} counts the rows and is left out")
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
