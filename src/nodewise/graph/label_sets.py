"""Several labels a node: sets of classes in whatever form they come, as one table of zeros and ones; and as texts.

A node whose set is empty has been answered: none of the classes. A node without an answer has -1 in its whole row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.graph.checks import class_text, is_missing, label_ids, natural_order, valid_class_names
from nodewise.ground.errors import GraphError
from nodewise.ground.events import listed

__all__ = [
    "SEPARATOR",
    "SEPARATORS",
    "answered_nodes",
    "are_sets",
    "check_label_sets",
    "class_order",
    "homophily_of_sets",
    "label_sets",
    "likely_separator",
    "look_like_sets",
    "separator_for",
    "set_confidence",
    "set_names",
    "set_texts",
    "split_set",
    "split_sets",
]

SEPARATOR = ";"
"""What stands between the classes of a node in a text, unless another is said. Alone it means none of the classes."""

SEPARATORS = (SEPARATOR, "|", ",", "/", "+", "&", "\u241f")
"""Those that are tried where a class's name holds the first."""

_MARKS = SEPARATORS[:3]
_HOLDING, _PARTS, _PART, _LOOKED_AT = 0.1, 50, 40, 1000
"""Of cells that name several classes: the share that does, how many classes there are, the longest name; and how many
cells are looked at."""

Table = npt.NDArray[np.int8]


def are_sets(y: Any, class_names: Sequence[str] | None = None) -> bool:
    """Whether labels hold several classes a node: a matrix of more than one column, or a list that holds sets.

    A single column of numbers holds one label a node, but beside the name of a single class it says who has that class.
    """
    if sp.issparse(y):
        return True
    shape = getattr(y, "shape", None)
    if shape is not None and len(shape) != 1:
        numbers = getattr(getattr(y, "dtype", None), "kind", "") in ("i", "u", "f")
        single = numbers and class_names is not None and len(class_names) == 1
        return len(shape) == 2 and (int(shape[1]) != 1 or single)
    values = y.tolist() if isinstance(y, np.ndarray) and y.dtype.kind == "O" else y
    return isinstance(values, (list, tuple)) and any(map(_is_set, values))


def label_sets(
    y: Any, class_names: Sequence[str] | None, num_nodes: int, separator: str | None = None
) -> tuple[Table, tuple[str, ...], list[str]]:
    """Brings sets of classes into the form of `Graph.y_sets` and `Graph.class_names`.

    Args:
        y: 0 or 1 [node, class], a row of -1 or NaN for a node without an answer; or one list or set of names or
            numbers a node, None for one without an answer; or texts, which `separator` parts.
        class_names: the names of the classes, or None: those that occur, in order; of a matrix the columns' numbers.
        num_nodes: how many there must be.
        separator: what parts the classes in a text.

    Returns:
        int8 [node, class]; the names; what was changed, in words.

    Raises:
        GraphError: it is none of these, or holds a class that the names do not; says which.
    """
    if separator is not None and not are_sets(y):
        y = split_sets(y, separator, class_names or ())
    if sp.issparse(y) or getattr(y, "ndim", 1) == 2:
        return _from_matrix(y, class_names, num_nodes)
    sets = list(y)
    if len(sets) != num_nodes:
        raise GraphError(
            f"y must hold one set of classes for each of the {num_nodes} nodes, received {len(sets)}: give None to a"
            " node without an answer"
        )
    if wrong := [each for each in sets if each is not None and not _is_set(each) and not _is_nan(each)]:
        raise GraphError(
            f"some nodes have sets of classes and others do not, {wrong[0]!r} for example: give every node a list, such"
            f" as [{wrong[0]!r}], [] for none of the classes, None for no answer"
        )
    _refuse_matrix_in_lists(sets)
    members = [list(each) if _is_set(each) else [] for each in sets]
    ids, names, notes = _members(members, class_names)
    if not names:
        raise GraphError("no class occurs in the sets of classes: give class_names, all classes that a node may have")
    table = np.zeros((num_nodes, len(names)), dtype=np.int8)
    rows = np.repeat(np.arange(num_nodes), [len(each) for each in members])
    if (ids < 0).any():
        at = int(rows[int((ids < 0).argmax())])
        raise GraphError(
            f"the set of node {at}, {members[at]!r}, holds what means unlabelled: leave it out, give None for the whole"
            " set if nobody has answered, or name the classes if it is one"
        )
    table[rows, ids] = 1
    table[[not _is_set(each) for each in sets]] = -1
    return table, names, notes


def check_label_sets(sets: Table, num_nodes: int, num_classes: int) -> Table:
    """Passes int8 [node, class] of 0 and 1, and of -1 in whole rows."""
    if not isinstance(sets, np.ndarray) or sets.dtype != np.int8 or sets.shape != (num_nodes, num_classes):
        raise GraphError(
            f"y_sets must be int8 of shape [{num_nodes}, {num_classes}], a column for each class: use Graph.build,"
            " which accepts other forms"
        )
    if sets.size and (int(sets.min()) < -1 or int(sets.max()) > 1 or ((sets < 0).any(1) != (sets < 0).all(1)).any()):
        raise GraphError("y_sets must hold 0 and 1, and -1 in the whole row of a node without an answer: correct it")
    return sets


def answered_nodes(sets: Table) -> npt.NDArray[np.bool_]:
    """Which nodes have an answer: bool [node]."""
    return np.asarray((sets >= 0).all(1))


def homophily_of_sets(sets: Table, edges: npt.NDArray[np.int64]) -> float | None:
    """Share of the edges between nodes with an answer whose ends have a class in common, or both none.

    None where there is no such edge.
    """
    one, other = (sets[end] for end in edges[:, answered_nodes(sets)[edges].all(0)])
    shared = (np.minimum(one, other) > 0).any(1) | ~(np.maximum(one, other) > 0).any(1)
    return float(shared.mean()) if len(shared) else None


def split_set(text: object, separator: str) -> list[str]:
    """The classes that a text names: ``"a; b"`` are a and b, the separator alone is none of them."""
    return [part for part in map(str.strip, class_text(text).split(separator)) if part]


def split_sets(texts: Iterable[object], separator: str, known: Sequence[str] = ()) -> list[list[str] | None]:
    """The classes that each text names; None where it is empty or a word for a missing value, unless a class has it.

    Raises:
        GraphError: the separator is empty, or no text.
    """
    if not isinstance(separator, str) or not separator.strip():
        raise GraphError(f"the separator between classes must be a character such as ';', received {separator!r}")
    cells = [class_text(text) for text in texts]
    return [None if is_missing(cell) and cell.strip() not in known else split_set(cell, separator) for cell in cells]


def set_texts(sets: Table, class_names: Sequence[str], separator: str = SEPARATOR) -> list[str]:
    """One text a node, as `split_sets` reads it: the classes, the separator alone for none of them, "" for no
    answer.
    """
    texts = ["" if least < 0 else separator for least in sets.min(1, initial=0).tolist()]
    held: dict[int, list[str]] = {}
    for node, number in np.argwhere(sets > 0).tolist():
        held.setdefault(node, []).append(class_names[number])
    for node, names in held.items():
        texts[node] = separator.join(names)
    return texts


def set_names(given: npt.NDArray[np.bool_], class_names: Sequence[str]) -> list[tuple[str, ...]]:
    """The classes that each row is given, by name."""
    return [tuple(class_names[column] for column in np.flatnonzero(row).tolist()) for row in given]


def set_confidence(given: npt.NDArray[np.bool_], probabilities: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The probability that the least certain class of each row is decided rightly: [row]."""
    decided = np.where(given, probabilities, 1 - probabilities)
    return np.asarray(decided.min(1, initial=1), np.float32)


def separator_for(class_names: Iterable[str]) -> str:
    """A separator that no class's name holds.

    Raises:
        GraphError: there is none.
    """
    held = "".join(class_names)
    for separator in SEPARATORS:
        if separator not in held:
            return separator
    raise GraphError(f"class names hold all of {' '.join(SEPARATORS)}, so none can part them: rename one, or write npz")


def likely_separator(cells: Sequence[str]) -> str | None:
    """What seems to part several classes in cells: a mark that a tenth of them hold, between short parts of which few
    are different, each seen more than twice on average, and one of them in different cells. None where there is none.
    """
    filled = [cell.strip() for cell in cells[:_LOOKED_AT] if cell.strip()]
    for mark in _MARKS:
        holding = [cell for cell in filled if mark in cell]
        if len(holding) < max(2, _HOLDING * len(filled)):
            continue
        parts = [part for cell in filled for part in split_set(cell, mark)]
        different = set(parts)
        if mark == "," and all(part.isdecimal() for part in different):
            continue  # decimal commas
        again = len([part for cell in set(filled) for part in set(split_set(cell, mark))]) > len(different)
        short = max(map(len, different), default=0) <= _PART
        if different and short and again and len(different) <= _PARTS and len(parts) > 2 * len(different):
            return mark
    return None


def look_like_sets(y: Any) -> list[str]:
    """A note where labels that are taken as one class each look like sets of classes in a text; else none."""
    if getattr(getattr(y, "dtype", None), "kind", "O") not in "OUT":
        return []
    texts = [text for text in islice(y, _LOOKED_AT) if isinstance(text, str)]
    mark = likely_separator(texts)
    if mark is None:
        return []
    example = next(text for text in texts if mark in text.strip(f" {mark}"))
    return [
        f"labels such as {example!r} look like several classes with {mark!r} between them, and each was taken as one"
        f" class: if a node may have several, say separator={mark!r} where the graph is read (nodewise convert"
        f" --separator {mark!r})"
    ]


def _is_set(value: object) -> bool:
    return isinstance(value, (list, tuple, set, frozenset)) or (isinstance(value, np.ndarray) and value.ndim == 1)


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and value != value


def _members(
    members: list[list[Any]], class_names: Sequence[str] | None
) -> tuple[npt.NDArray[np.int64], tuple[str, ...], list[str]]:
    """The numbers of all members one after the other, the names and what was changed."""
    flat = [member for each in members for member in each]
    if not flat:
        return np.zeros(0, dtype=np.int64), valid_class_names(class_names or ()), []
    if nested := [member for member in flat if _is_set(member)]:
        raise GraphError(f"a set of classes holds {nested[0]!r}, which is a list itself: give the names alone")
    ids, names, notes = label_ids(flat, class_names, len(flat))
    return ids, names, [note for note in notes if not note.startswith("there is only one class")]


def _refuse_matrix_in_lists(sets: list[Any]) -> None:
    """Lists of zeros and ones alone, all of one length, may be rows of a matrix or sets of the classes 0 and 1."""
    rows = [each for each in sets if isinstance(each, (list, tuple))]
    if len(rows) < 2 or len(rows) < len(sets) or len(rows[0]) < 2 or any(len(row) != len(rows[0]) for row in rows):
        return
    if all(isinstance(value, (int, np.integer)) and value in (0, 1) for row in rows for value in row):
        raise GraphError(
            f"y is a list of lists of zeros and ones, {rows[0]!r} for example: give np.array(y) if these are the rows"
            " of a matrix [node, class], or sets such as {0, 1} if they are classes"
        )


def _from_matrix(y: Any, class_names: Sequence[str] | None, num_nodes: int) -> tuple[Table, tuple[str, ...], list[str]]:
    given: npt.NDArray[Any] = np.asarray(y.toarray() if hasattr(y, "toarray") else y)
    if given.ndim != 2 or len(given) != num_nodes:
        raise GraphError(
            f"y must hold one row of zeros and ones for each of the {num_nodes} nodes, received the shape"
            f" {list(given.shape)}"
        )
    if not given.shape[1]:
        raise GraphError("the matrix of labels has no column: give one for each class")
    if given.dtype.kind not in "biuf":
        raise GraphError(f"a matrix of labels must hold 0 and 1, received {given.dtype}: give lists of names otherwise")
    if class_names is not None and len(class_names) != given.shape[1]:
        raise GraphError(
            f"y has {given.shape[1]} columns, and there are {len(class_names)} class names, {listed(class_names)}:"
            " give one name for each column"
        )
    whole = np.where(np.isnan(given), -1, given) if given.dtype.kind == "f" else given
    signed = whole.astype(np.int8) if whole.dtype.kind == "b" else whole
    if not np.isin(signed, (-1, 0, 1)).all():
        bad = signed[~np.isin(signed, (-1, 0, 1))][:1].tolist()
        raise GraphError(
            f"a matrix of labels must hold 0 and 1 (-1 in a whole row: no answer), received {bad}: compare it with a"
            " threshold first"
        )
    table = signed.astype(np.int8)
    missing = table < 0
    if (mixed := missing.any(1) & ~missing.all(1)).any():
        raise GraphError(
            f"node {int(mixed.argmax())} has an answer for some classes and -1 for others: a node is answered for all"
            " classes or for none"
        )
    names = (
        tuple(map(str, range(given.shape[1])))
        if class_names is None
        else valid_class_names(map(class_text, class_names))
    )
    return table, names, []


def class_order(sets: Iterable[Iterable[str]], known: Sequence[str]) -> tuple[str, ...]:
    """The classes that are known, and behind them those that occur in the sets, in order."""
    return (*known, *natural_order(list({name for each in sets for name in each}.difference(known))))
