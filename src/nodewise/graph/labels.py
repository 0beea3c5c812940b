"""From labels as they come to class ids 0 … C-1 and their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from nodewise.ground.errors import GraphError
from nodewise.ground.wording import listed

__all__ = ["are_classes", "label_ids", "natural_order"]

Ids = npt.NDArray[np.int64]


def label_ids(y: Any, class_names: Sequence[str] | None, num_nodes: int) -> tuple[Ids, tuple[str, ...], list[str]]:
    """Brings labels into the form of `Graph.y` and `Graph.class_names`.

    Args:
        y: [node] of integers (negative: unlabelled), of floats that are whole (NaN: unlabelled) or of strings (empty or None: unlabelled).
        class_names: the names of the classes, or None: those that occur, in order.
        num_nodes: how many labels there must be.

    Returns:
        int64 [node] with -1 for unlabelled; the names; what was changed, in words.
    """
    given = np.asarray(y)
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.ndim != 1 or len(given) != num_nodes:
        raise GraphError(
            f"y must hold one label for each of the {num_nodes} nodes, received the shape {list(given.shape)}: "
            "give -1 (or an empty string) to a node without label"
        )
    if (
        given.dtype.kind == "O"
        and given.size
        and all(isinstance(label, (int, np.integer)) for label in given.tolist() if label is not None)
    ):
        given = np.array([-1 if label is None else int(label) for label in given.tolist()])
    if given.dtype.kind in "OUST":
        ids, names = _from_strings(given, class_names)
        notes: list[str] = []
    else:
        ids, names, notes = _from_numbers(given, class_names)
    if len(names) == 1:
        notes.append(f"there is only one class, {names[0]!r}: a classifier needs at least two")
    return ids, names, notes


def are_classes(texts: Sequence[str]) -> bool:
    """Whether a column called "label" may hold classes: where all of ten nodes or more differ, it holds what to call them."""
    return len(texts) < 10 or "" in texts or len(set(texts)) < len(texts)


def natural_order(names: Sequence[str]) -> list[str]:
    """Names in order: by value where all of them are whole numbers, else by letters."""
    whole = all(name.removeprefix("-").isdecimal() and name.isascii() for name in names)
    return sorted(names, key=lambda name: (int(name), name)) if whole else sorted(names)


def _from_strings(given: npt.NDArray[Any], class_names: Sequence[str] | None) -> tuple[Ids, tuple[str, ...]]:
    texts = ["" if label is None or label != label else str(label) for label in given.tolist()]
    occurring = set(texts) - {""}
    names = natural_order(list(occurring)) if class_names is None else list(map(str, class_names))
    if unknown := occurring.difference(names):
        raise GraphError(f"labels {listed(sorted(unknown))} are not among the class names {listed(names)}: add them or correct the labels")
    position = {"": -1, **{name: i for i, name in enumerate(names)}}
    return np.fromiter((position[text] for text in texts), dtype=np.int64, count=len(texts)), tuple(names)


def _from_numbers(given: npt.NDArray[Any], class_names: Sequence[str] | None) -> tuple[Ids, tuple[str, ...], list[str]]:
    if given.dtype.kind == "f":
        whole = np.where(np.isnan(given), -1, given)
        if not (np.isfinite(whole).all() and (whole == np.rint(whole)).all()):
            raise GraphError(f"labels must be whole numbers or strings, received {given[whole != np.rint(whole)][:1].tolist()}")
        given = whole
    elif given.dtype.kind not in "iub":
        raise GraphError(f"labels must be whole numbers or strings, received {given.dtype}")
    ids = np.maximum(given.astype(np.int64), -1)
    occurring = np.unique(ids[ids >= 0])
    compact = np.searchsorted(occurring, ids)
    compact[ids < 0] = -1
    if class_names is None:
        gaps = len(occurring) and int(occurring[-1]) != len(occurring) - 1
        note = [f"label ids {listed(occurring.tolist())} have gaps: classes are numbered 0 to {len(occurring) - 1} and named by their id"]
        return compact, tuple(str(i) for i in occurring.tolist()), note if gaps else []
    names = tuple(map(str, class_names))
    if not len(occurring) or int(occurring[-1]) < len(names):
        return ids, names, []
    if len(occurring) == len(names):
        return compact, names, [f"label ids {listed(occurring.tolist())} have gaps: the class names are taken in their order"]
    raise GraphError(
        f"label {int(occurring[-1])} has no class name: there are {len(names)} names, {listed(names)}, for ids 0 to {len(names) - 1}; "
        "add names or correct the labels"
    )
