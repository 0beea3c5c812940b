"""Rows of a file predicted some at a time, so that long files fit the memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from nodewise.fitted.fitted import Fitted
from nodewise.fitted.predictions import Predictions
from nodewise.graph.tables.pictures import pictures_in
from nodewise.graph.tables.table import harmless, read_rows
from nodewise.ground.errors import GraphError, InputError
from nodewise.ground.events import Progress, Reporter, Silent
from nodewise.ground.files import existing_file

__all__ = ["predicted_rows"]

_ROWS = 4096
"""Rows that are read and predicted at once."""


def predicted_rows(
    fitted: Fitted,
    path: str | Path,
    *,
    encoder: Callable[[list[str]], Any] | None = None,
    reporter: Reporter | None = None,
) -> Iterator[list[str]]:
    """A table of predictions, row by row, its heading first: name or number of the row, class, its probability, those
    of all classes, and a word where a row is like nothing seen.

    Args:
        fitted: what predicts.
        path: the rows: a .csv or .tsv table, a .txt file with a text a line, .npy vectors, or a folder of pictures.
        encoder: the one that the graph's texts were encoded by, where they were.
        reporter: gets how many rows are done.

    Raises:
        GraphError: the file cannot be read, or its rows do not have the graph's columns.
    """
    report, done = reporter or Silent(), 0
    yield ["row", "predicted", "probability", *(str(harmless(name)) for name in fitted.classes), "note"]
    for names, rows, folder in _parts(Path(path).expanduser(), fitted):
        try:
            predictions = fitted.predict(rows, encoder=encoder, folder=folder)
        except GraphError as error:
            raise GraphError(f"{path}, from row {done + 1} on: {error}") from error
        yield from _cells(names or [str(done + i) for i in range(len(predictions))], predictions)
        done += len(predictions)
        report(Progress("rows", done, None))


def _cells(names: Sequence[str], predictions: Predictions) -> Iterator[list[str]]:
    for name, label, sure, chances, word in zip(
        names,
        predictions.labels,
        predictions.confidence.tolist(),
        predictions.probabilities.tolist(),
        predictions.words,
        strict=True,
    ):
        best = f"{sure:.4f}" if label else ""
        yield [str(harmless(name)), str(harmless(label)), best, *(f"{chance:.4f}" for chance in chances), word]


def _parts(path: Path, fitted: Fitted) -> Iterator[tuple[list[str] | None, Any, Path]]:
    """Names, rows and the folder of some rows at a time."""
    ending = path.suffix.lower()
    if path.is_dir():
        files = pictures_in(path)
        for first in range(0, len(files), _ROWS):
            some = files[first : first + _ROWS]
            yield [file.relative_to(path).as_posix() for file in some], some, Path()
        return
    existing_file(path)
    if ending in (".csv", ".tsv"):
        yield from _of_table(path, fitted)
    elif ending == ".npy":
        try:
            array = np.lib.format.open_memmap(path, mode="r")
            if array.ndim != 2:
                raise ValueError("it holds no numbers [row, feature]")
            count = len(array)
            del array
        except (ValueError, OSError, EOFError) as error:
            raise GraphError(f"{path} is no array of numbers in npy form ({error}): save it with np.save") from None
        for first in range(0, count, _ROWS):
            # opened anew each time: what was read of a file stays in memory as long as it is open
            yield None, np.array(np.lib.format.open_memmap(path, mode="r")[first : first + _ROWS]), path.parent
    elif ending == ".txt":
        try:
            with path.open(encoding="utf-8-sig") as lines:
                while texts := [line.rstrip("\r\n") for line in islice(lines, _ROWS)]:
                    yield None, texts, path.parent
        except UnicodeDecodeError as error:
            raise GraphError(f"{path} is not UTF-8 text ({error.reason}): save it in UTF-8") from None
    else:
        raise InputError(
            f"{path} cannot be read as rows: give a .csv or .tsv table, a .txt file with a text a line, .npy vectors,"
            " or a folder of pictures"
        )


def _of_table(path: Path, fitted: Fitted) -> Iterator[tuple[list[str] | None, Any, Path]]:
    rows = read_rows(path, delimiter="\t" if path.suffix.lower() == ".tsv" else None)
    _, heading = next(rows, (0, []))
    if not heading or len(set(heading)) < len(heading):
        raise GraphError(f"{path}: the first row must name the columns, each with a name of its own")
    known = fitted.graph.preparation
    name = known.id if known is not None and known.id in heading else None
    while some := list(islice(rows, _ROWS)):
        for line, cells in some:
            if len(cells) != len(heading):
                raise GraphError(
                    f"{path}, line {line}: {len(cells)} cells where the first row has {len(heading)}; the file may be"
                    " cut off, or a cell with a comma or line break needs quotes"
                )
        columns = dict(
            zip(heading, (list(cells) for cells in zip(*(row for _, row in some), strict=True)), strict=True)
        )
        yield (None if name is None else columns[name]), _as_rows(columns, fitted, path), path.parent


def _as_rows(columns: dict[str, list[str]], fitted: Fitted, path: Path) -> Any:
    """A table as it is; the numbers of all its columns where the graph was made from vectors."""
    known = fitted.graph.preparation
    if known is not None and known.rows != "vectors":
        return columns
    try:
        return np.array([[float(cell) for cell in cells] for cells in columns.values()], dtype=np.float32).T
    except ValueError as error:
        raise GraphError(f"{path}: the graph's rows are numbers, and a cell is none ({error})") from None
