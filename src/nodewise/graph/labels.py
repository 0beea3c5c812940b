"""From labels as they come to class ids 0 … C-1 and their names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from nodewise.ground.errors import GraphError, InputError
from nodewise.ground.wording import LONGEST_CLASS, class_name, count, listed, tidy_name

__all__ = ["are_classes", "class_labels", "is_missing", "label_ids", "natural_order", "valid_class_names"]

Ids = npt.NDArray[np.int64]
MISSING = frozenset({"", "nan", "na", "n/a", "<na>", "null", "none"})
_WHOLE = re.compile(r"(-?[0-9]+)(\.0*)?")


def label_ids(y: Any, class_names: Sequence[str] | None, num_nodes: int) -> tuple[Ids, tuple[str, ...], list[str]]:
    """Brings labels into the form of `Graph.y` and `Graph.class_names`.

    Args:
        y: [node] of integers (negative: unlabelled), of floats that are whole (NaN: unlabelled) or of texts as `class_labels` takes them.
        class_names: the names of the classes, or None: those that occur, in order. They are kept as `class_name` spells them.
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
    ids, names, notes = (_from_texts if given.dtype.kind in "OUST" else _from_numbers)(given, class_names)
    ids, names, merged = _one_spelling(ids, names)
    notes += merged
    if len(names) == 1:
        notes.append(f"there is only one class, {names[0]!r}: a classifier needs at least two")
    return ids, names, notes


def are_classes(texts: Sequence[str]) -> bool:
    """Whether a column called "label" may hold classes: where all of ten nodes or more differ it holds what to call them, a long text is none."""
    if any(len(text) > LONGEST_CLASS for text in texts):
        return False
    return len(texts) < 10 or len(set(texts)) < len(texts) or any(map(is_missing, texts))


def is_missing(text: str) -> bool:
    """Whether a cell says that there is no value: it is empty, or one of the words that programs write for that, such as NaN or null."""
    return text.strip().lower() in MISSING


def class_labels(texts: Iterable[object], known: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """Labels as texts, in the spelling of classes: the one rule for label columns, by every way in.

    Names in `known` stand for themselves. Else a cell that is empty or says so in a word (`is_missing`), None and NaN are unlabelled; ``1.0`` is
    ``1`` where all labels are whole numbers; what remains is spelled as `class_name` does.

    Returns:
        One text a node, "" for an unlabelled one; what was changed, in words.

    Raises:
        GraphError: if a label is too long to be a class.
    """
    given = ["" if label is None or label != label else str(label) for label in texts]
    alike = {tidy_name(name): name for name in reversed(known)}
    spelled: dict[str, str] = {name: name for name in known}
    for text in dict.fromkeys(given):
        if text not in spelled:
            tidy = tidy_name(text)
            spelled[text] = alike[tidy] if tidy in alike else "" if is_missing(tidy) else _spelled(tidy)
    fresh = {text: _WHOLE.fullmatch(name) for text, name in spelled.items() if name and text not in known}
    if fresh and all(fresh.values()) and all(map(_WHOLE.fullmatch, known)):
        spelled |= {text: whole[1] for text, whole in fresh.items() if whole}
    words = [text for text in dict.fromkeys(given) if text.strip() and not spelled[text]]
    notes = []
    if words:
        number = sum(map(given.count, words))
        notes.append(f"{count(number, 'label')} said {listed(words)}: taken as unlabelled (name the classes if one of these is a class)")
    return [spelled[text] for text in given], notes


def valid_class_names(names: Iterable[object]) -> tuple[str, ...]:
    """The names as `class_name` spells them.

    Raises:
        GraphError: if one is empty or too long.
    """
    return tuple(map(_spelled, names))


def natural_order(names: Sequence[str]) -> list[str]:
    """Names in order: by value where all of them are whole numbers, else by letters."""
    whole = all(name.removeprefix("-").isdecimal() and name.isascii() for name in names)
    return sorted(names, key=lambda name: (int(name), name)) if whole else sorted(names)


def _spelled(text: object) -> str:
    try:
        return class_name(text)
    except InputError as error:
        raise GraphError(f"{error} ({len(str(text))} characters): correct the label, or name another column as the label") from None


def _from_texts(given: npt.NDArray[Any], class_names: Sequence[str] | None) -> tuple[Ids, tuple[str, ...], list[str]]:
    listed_names = None if class_names is None else list(map(str, class_names))
    texts, notes = class_labels(given.tolist(), listed_names or ())
    occurring = set(texts) - {""}
    names = natural_order(list(occurring)) if listed_names is None else listed_names
    if unknown := occurring.difference(names):
        raise GraphError(f"labels {listed(sorted(unknown))} are not among the class names {listed(names)}: add them or correct the labels")
    position = {"": -1, **{name: i for i, name in enumerate(names)}}
    return np.fromiter((position[text] for text in texts), dtype=np.int64, count=len(texts)), tuple(names), notes


def _one_spelling(ids: Ids, names: tuple[str, ...]) -> tuple[Ids, tuple[str, ...], list[str]]:
    """Ids and names after the names were spelled as `class_name` does: names that only their spelling parted are one class."""
    spelled = valid_class_names(names)
    if spelled == names or len(set(names)) < len(names):  # the latter is refused by the graph, which tells the name
        return ids, spelled, []
    position = {name: i for i, name in enumerate(dict.fromkeys(spelled))}
    changed = [name for name, kept in zip(names, spelled, strict=True) if name != kept]
    moved = np.array([position[name] for name in spelled] + [-1], dtype=np.int64)
    note = f"{count(len(changed), 'class name')} spelled in another way (Unicode's composed form, no blanks at the ends): {listed(changed)}"
    return moved[ids], tuple(position), [note]


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
