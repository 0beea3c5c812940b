"""How the rows of a graph became its features: what new rows need in order to become features in the same way."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from nodewise.ground.errors import GraphError

__all__ = ["Part", "Preparation", "RowKind", "together"]

RowKind = Literal["texts", "table", "pictures", "vectors"]
"""What the rows are: a text each, cells of named columns, a picture's file, or numbers."""

Part = Mapping[str, Any]
"""Columns of the features and what they are made from, as JSON can hold it.

``kind`` says what: ``words`` (TF-IDF: ``words``, and ``idf``, the name of an array), ``encoder`` (``name``, a few
``texts`` and ``output``, the name of the array that it made of them), ``number`` (``largest``, ``mean``,
``deviation``), ``category`` (``values``), ``pixels`` (``size``, ``grey``) or ``vectors``. ``width`` is the number of
columns, ``column`` the one of the table, None where the row is the thing itself; ``joined`` names the columns whose
cells were put together in it, a blank line between them, where it is none of the table's own.
"""

_KINDS = {"words", "encoder", "number", "category", "pixels", "vectors"}
_SCHEMA = 1


@dataclass(frozen=True, eq=False)
class Preparation:
    """How rows became features, as arrays and JSON.

    Attributes:
        rows: what the rows are.
        parts: the features from left to right.
        arrays: name -> array, which parts refer to.
        nearest: how many nearest rows each row was joined to; None where the edges were given.
        metric: what near means.
        label: the table's column of the classes, or None.
        id: the table's column of the names, or None.
    """

    rows: RowKind
    parts: tuple[Part, ...]
    arrays: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    nearest: int | None = None
    metric: str = "cosine"
    label: str | None = None
    id: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(MappingProxyType(dict(part)) for part in self.parts))
        object.__setattr__(self, "arrays", MappingProxyType({key: _frozen(a) for key, a in self.arrays.items()}))

    @property
    def width(self) -> int:
        """Columns of the features."""
        return sum(int(part["width"]) for part in self.parts)

    @property
    def columns(self) -> list[str]:
        """The table's columns that are read."""
        own = (part.get("joined", [part["column"]]) for part in self.parts if part.get("column") is not None)
        return list(dict.fromkeys(str(name) for names in own for name in names))

    @property
    def originals(self) -> dict[str, str]:
        """Columns that texts were put together from, and the attributes that keep them.

        One that is called as what they were put together to is kept as another.
        """
        joined = [(part["column"], name) for part in self.parts for name in part.get("joined", ())]
        return {name: name if name != column else f"original {name}" for column, name in joined}

    def text_cells(self, columns: Mapping[str, list[str]]) -> list[str] | None:
        """The texts of a table's rows: of the column that they are in, or put together from several; None without."""
        for part in self.parts:
            if part["kind"] in ("words", "encoder") and part.get("column") is not None:
                return self.cells(str(part["column"]), columns)
        return None

    def cells(self, column: str, columns: Mapping[str, list[str]]) -> list[str] | None:
        """The cells of a column that features are made of, those of several put together among them; None without."""
        joined = next((part["joined"] for part in self.parts if part.get("column") == column and "joined" in part), ())
        if joined and all(name in columns for name in joined):
            return together([columns[name] for name in joined])
        return columns.get(column)

    def without(self, used: npt.NDArray[np.bool_], texts: Collection[str]) -> Preparation:
        """The same without the words and values of columns that are not used, and without some of an encoder's texts.

        The columns stay, under words that no row holds.

        Args:
            used: which columns of the features some row has, bool [column].
            texts: those that may not stay.
        """
        cells = [part for part in self.parts if part["kind"] in ("number", "category")]  # these stand before all others
        arrays, parts, first = dict(self.arrays), {}, 0
        for part in (*cells, *(part for part in self.parts if part not in cells)):
            own = np.concatenate([used[first : first + int(part["width"])], np.ones(int(part["width"]), bool)])
            first += int(part["width"])
            changed = dict(part)
            for key in ("words", "values"):
                if key in part:
                    changed[key] = [
                        word if own[column] else f"({key} {column})" for column, word in enumerate(part[key])
                    ]
            if part["kind"] == "encoder":
                kept = [index for index, text in enumerate(part["texts"]) if text not in texts]
                changed["texts"] = [part["texts"][index] for index in kept]
                arrays[part["output"]] = arrays[part["output"]][kept]
            parts[id(part)] = changed
        return replace(self, parts=tuple(parts[id(part)] for part in self.parts), arrays=arrays)

    def to_json(self) -> str:
        """Everything but the arrays, whose names it lists."""
        record = {
            "schema": _SCHEMA,
            "rows": self.rows,
            "nearest": self.nearest,
            "metric": self.metric,
            "label": self.label,
            "id": self.id,
            "arrays": list(self.arrays),
            "parts": [dict(part) for part in self.parts],
        }
        return json.dumps(record, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes, arrays: Sequence[npt.NDArray[Any]]) -> Preparation:
        """What `to_json` wrote, with the arrays in its order.

        Raises:
            GraphError: it cannot be understood.
        """
        try:
            record = json.loads(text)
            if record["schema"] != _SCHEMA:
                raise GraphError(
                    f"how its rows became features is written in form {record['schema']!r}, and form {_SCHEMA} is known"
                    " here: use a newer nodewise"
                )
            names, parts = [str(name) for name in record["arrays"]], [dict(part) for part in record["parts"]]
            if record["rows"] not in get_args(RowKind) or len(names) != len(arrays) or not parts:
                raise ValueError(f"rows {record['rows']!r}, {len(names)} names of {len(arrays)} arrays")
            held = dict(zip(names, arrays, strict=True))
            for part in parts:
                _check(part, held)
            nearest = record["nearest"]
            return cls(
                record["rows"],
                tuple(parts),
                held,
                None if nearest is None else max(1, int(nearest)),
                str(record["metric"]),
                None if record["label"] is None else str(record["label"]),
                None if record["id"] is None else str(record["id"]),
            )
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
            raise GraphError(
                f"how its rows became features cannot be understood ({error!r}): make the graph again from its rows"
            ) from error

    def equals(self, other: object) -> bool:
        """Whether both prepare rows in the same way."""
        return (
            isinstance(other, Preparation)
            and self.to_json() == other.to_json()
            and all(np.array_equal(array, other.arrays[name]) for name, array in self.arrays.items())
        )

    def __reduce__(self) -> tuple[Any, ...]:
        parts = tuple(dict(part) for part in self.parts)
        return Preparation, (self.rows, parts, dict(self.arrays), self.nearest, self.metric, self.label, self.id)


def together(columns: Sequence[Sequence[str]]) -> list[str]:
    """The cells of several columns as one text a row, a blank line between them, empty ones left out."""
    return ["\n\n".join(cell for cell in cells if cell.strip()) for cells in zip(*columns, strict=True)]


def _check(part: dict[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Refuse a part that could not be applied."""
    kind, width = part["kind"], int(part["width"])
    if kind not in _KINDS or width < 1:
        raise ValueError(f"a part of kind {kind!r} with {width} columns")
    if kind == "words":
        good = len(part["words"]) == width and arrays[part["idf"]].shape == (width,)
    elif kind == "encoder":
        good = arrays[part["output"]].shape == (len(part["texts"]), width)
    elif kind == "category":
        good = len(part["values"]) == width
    elif kind == "number":
        good = width == 1 and all(np.isfinite(float(part[key])) for key in ("largest", "mean", "deviation"))
    elif kind == "pixels":
        good = width == int(part["size"]) ** 2 * (1 if part["grey"] else 3)
    else:
        good = True
    if "joined" in part and not (isinstance(part["joined"], list) and all(isinstance(n, str) for n in part["joined"])):
        raise ValueError(f"a column is put together from {str(part['joined'])[:40]!r}")
    if not good:
        raise ValueError(f"a part of kind {kind!r} does not fit its {width} columns")


def _frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if array.flags.writeable:
        array = array.copy()
        array.flags.writeable = False
    return array
