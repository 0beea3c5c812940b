"""What the parts of a graph must be: edges undirected and sorted, labels as class ids, names, features.

Every refusal says what to do; what is only unwise is noted.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.ground.errors import GraphError, InputError, WrongTypeError, nearest_names
from nodewise.ground.events import count, listed

if TYPE_CHECKING:
    from typing import TypeAlias

    Features: TypeAlias = npt.NDArray[np.float32] | sp.csr_matrix[np.float32]

__all__ = [
    "LONGEST_CLASS",
    "are_classes",
    "check_canonical_edges",
    "check_features",
    "check_labels",
    "check_names",
    "check_strings",
    "class_labels",
    "class_name",
    "class_text",
    "frozen",
    "is_missing",
    "label_ids",
    "natural_order",
    "tidy_name",
    "undirected_edges",
    "unscaled",
    "valid_class_names",
]

Ids = npt.NDArray[np.int64]
MISSING = frozenset({"", "nan", "na", "n/a", "<na>", "null", "none"})
_WHOLE = re.compile(r"(-?[0-9]+)(\.0*)?")
SCALES = 500
"""How many times larger the values of one column may be than those of another before it is worth a note."""
LONGEST_CLASS = 200
"""Characters of a class's name, at most."""
_BREAK = r"\t\n\v\f\r\x1c-\x1f\x85\u2028\u2029"
_BREAKS = re.compile(f"[ {_BREAK}]*[{_BREAK}][ {_BREAK}]*")
# other control characters, those that turn the direction of what follows, and the byte order mark: nobody sees them,
# and two names that look the same would be two classes
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff]")
Kind = TypeVar("Kind", bound=np.generic)


def undirected_edges(
    edge_index: npt.ArrayLike, num_nodes: int | None = None, *, weighted: bool = False
) -> tuple[npt.NDArray[np.int64], int, list[str]]:
    """Brings edges into the form of `Graph.edge_index`.

    Memory stays near two int64 values an edge beyond the input: edges become keys ``low * num_nodes + high``, sorted in
    place.

    Args:
        edge_index: integers [2, edge], in any order and direction.
        num_nodes: how many nodes, or None: the largest index + 1.
        weighted: whether weights of the same edge are added up, which the words then say.

    Returns:
        The edges, int64 [2, edge]; the number of nodes; what was dropped, in words.
    """
    given = np.asarray(edge_index)
    if given.size == 0:
        given = np.zeros((2, 0), dtype=np.int64)
    if given.ndim != 2 or given.shape[0] != 2:
        turn = " — it looks transposed: pass edge_index.T" if given.ndim == 2 and given.shape[1] == 2 else ""
        raise GraphError(f"edge_index must have the shape [2, edges], received {list(given.shape)}{turn}")
    if given.dtype.kind not in "iu":
        raise GraphError(
            f"edge_index must hold integers, received {given.dtype}: map node names to indices 0 … nodes-1 first"
        )
    if given.size and int(given.min()) < 0:
        raise GraphError(f"edge {_first_edge(given, given < 0)} has a negative end: nodes are numbered from 0")
    largest = int(given.max()) if given.size else -1
    size = largest + 1 if num_nodes is None else int(num_nodes)
    if size < 1:
        raise GraphError(
            "a graph needs at least one node, received no nodes and no edges: check that the source is not empty"
        )
    if largest >= size:
        bad = _first_edge(given, given >= size)
        raise GraphError(
            f"edge {bad} leads to a node that does not exist: there are {size} nodes, numbered 0 to {size - 1}; "
            "correct the edge or add the node"
        )
    if size > 3_000_000_000:
        raise GraphError(
            f"a graph of {size} nodes is too large: at most 3,000,000,000; number the nodes from 0 without gaps"
        )
    if given.dtype == np.uint64:  # numpy adds these to int64 as floats
        given = given.astype(np.int64)
    keys = np.minimum(given[0], given[1]).astype(np.int64)
    keys *= size
    keys += np.maximum(given[0], given[1])
    notes = []
    loops = given[0] == given[1]
    if num_loops := int(loops.sum()):
        keys = keys[~loops]
        notes.append(f"{count(num_loops, 'self loop')} dropped")
    if keys.size and not (keys[1:] > keys[:-1]).all():
        keys.sort()
        fresh = np.ones(len(keys), dtype=bool)
        np.not_equal(keys[1:], keys[:-1], out=fresh[1:])
        if repeated := len(keys) - int(fresh.sum()):
            keys = keys[fresh]
            done = "added to the weight of the first" if weighted else "dropped"
            notes.append(f"{count(repeated, 'repeated edge')} {done} (an edge and its reverse are one)")
    if not keys.size:
        notes.append("there are no edges: every node stands alone, and only its features can tell its class")
    edges = np.empty((2, len(keys)), dtype=np.int64)
    np.divmod(keys, size, out=(edges[0], edges[1]))
    edges.flags.writeable = False
    return edges, size, notes


def label_ids(y: Any, class_names: Sequence[str] | None, num_nodes: int) -> tuple[Ids, tuple[str, ...], list[str]]:
    """Brings labels into the form of `Graph.y` and `Graph.class_names`.

    Args:
        y: [node] of integers (negative: unlabelled), of floats that are whole (NaN: unlabelled) or of texts as
            `class_labels` takes them. Booleans and bytes are refused, as `class_text` does.
        class_names: the names of the classes, or None: those that occur, in order. They are kept as `class_name` spells
            them.
        num_nodes: how many labels there must be.

    Returns:
        int64 [node] with -1 for unlabelled; the names; what was changed, in words.
    """
    given: npt.NDArray[Any]
    if isinstance(y, (list, tuple)) and any(isinstance(label, (str, bytes)) for label in y):
        given = np.empty(len(y), dtype=object)  # numpy would make a text of everything, of None and True as well
        given[:] = y
    else:
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
        and all(
            isinstance(label, (int, np.integer)) and not isinstance(label, bool)
            for label in given.tolist()
            if label is not None
        )
    ):
        given = np.array([-1 if label is None else int(label) for label in given.tolist()])
    ids, names, notes = (_from_texts if given.dtype.kind in "OUST" else _from_numbers)(given, class_names)
    ids, names, merged = _one_spelling(ids, names)
    notes += merged
    if len(names) == 1:
        notes.append(f"there is only one class, {names[0]!r}: a classifier needs at least two")
    return ids, names, notes


def are_classes(texts: Sequence[str]) -> bool:
    """Whether a column called "label" may hold classes.

    Where all of ten nodes or more differ it holds what to call them, a long text is none.
    """
    if any(len(text) > LONGEST_CLASS for text in texts):
        return False
    return len(texts) < 10 or len(set(texts)) < len(texts) or any(map(is_missing, texts))


def is_missing(text: str) -> bool:
    """Whether a cell says that there is no value.

    It is empty, or one of the words that programs write for that, such as NaN or null.
    """
    return text.strip().lower() in MISSING


def class_labels(texts: Iterable[object], known: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """Labels as texts, in the spelling of classes: the one rule for label columns, by every way in.

    Names in `known` stand for themselves. Else a cell that is empty or says so in a word (`is_missing`), None and NaN
    are unlabelled; a number is named as `class_text` does, and the text ``1.0`` is ``1`` where all labels are whole
    numbers; what remains is spelled as `class_name` does.

    Returns:
        One text a node, "" for an unlabelled one; what was changed, in words.

    Raises:
        GraphError: if a label is too long to be a class.
        InputError: if a number is not whole.
        WrongTypeError: if a label is neither a text nor a number.
    """
    values = list(texts)
    given = [label if type(label) is str else class_text(label) for label in values]
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
        notes.append(
            f"{count(number, 'label')} said {listed(words)}: taken as unlabelled (name the classes if one of these is a"
            " class)"
        )
    kinds = {isinstance(label, str): label for label, text in zip(values, given, strict=True) if spelled[text]}
    if len(kinds) == 2:
        notes.append(
            f"the labels are numbers and texts, {kinds[False]!r} and {kinds[True]!r} for example: each is the class of"
            " that name"
        )
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
    return sorted(names, key=_value_order) if whole else sorted(names)


def _value_order(number: str) -> tuple[int, str, str]:
    """Orders whole numbers by value, however many digits they have: by length, then by letters.

    Below zero the other way round.
    """
    digits = number.removeprefix("-").lstrip("0")
    if number.startswith("-") and digits:
        return -len(digits), digits.translate(_NINES), number
    return len(digits), digits, number


_NINES = str.maketrans("0123456789", "9876543210")


def class_text(label: object) -> str:
    """What a value says as a class's name, empty where it means unlabelled: the one rule for every way in.

    A text is itself, a whole number its digits (``1.0`` is ``1``); None and NaN mean unlabelled.

    Raises:
        InputError: if it is a number that is not whole.
        WrongTypeError: if it is True or False, bytes, or anything else that is no name.
    """
    if isinstance(label, str):
        return str(label)
    if getattr(label, "ndim", None) == 0 and callable(item := getattr(label, "item", None)):
        label = item()  # a number of numpy or of torch
    if label is None or type(label).__name__ in ("NAType", "NaTType"):  # pandas' words for None
        return ""
    if isinstance(label, (int, str)) and not isinstance(label, bool):
        return str(label)
    if isinstance(label, float):
        if label != label or label.is_integer():
            return "" if label != label else str(int(label))
        raise InputError(
            f"a class is named by a text or a whole number, got {label!r}: give {str(label)!r} if that is its name"
        )
    meant = "decode them to a text" if isinstance(label, bytes) else f"give {str(label)[:40]!r} if that is its name"
    what = "the bytes " if isinstance(label, bytes) else ""
    of = "" if isinstance(label, (bool, bytes)) else f" of the type {type(label).__name__}"
    raise WrongTypeError(f"a class is named by a text or a whole number, got {what}{str(label)[:40]}{of}: {meant}")


def class_name(name: object) -> str:
    """A class's name as it is kept, whichever way it comes in: `class_text`, tidied, of 1 to 200 characters.

    Raises:
        InputError: if it means unlabelled, if nothing is left that can be seen, or more than 200 characters.
        WrongTypeError: if it is no name, such as True or bytes.
    """
    if not isinstance(name, str) and not class_text(name):
        raise InputError(f"{name} means unlabelled and is no class: give the class's name, or skip the node")
    text = tidy_name(class_text(name))
    if not text or len(text) > LONGEST_CLASS:
        raise InputError(f"a class needs a name of 1 to {LONGEST_CLASS} printable characters, got {text[:40]!r}")
    return text


def tidy_name(name: object) -> str:
    """A name in Unicode's composed form (NFC), without blanks at its ends (no-break ones neither).

    Empty if nothing can be seen of it.

    A tab or line break inside becomes one blank, other control characters are dropped. No-break spaces, joiners and
    emoji sequences inside stay as they are.
    """
    text = str(name)
    if text.isascii() and text.isprintable():
        return text.strip()
    text = unicodedata.normalize("NFC", _UNSEEN.sub("", _BREAKS.sub(" ", text))).strip()
    return text if any(unicodedata.category(letter)[0] not in "CZ" for letter in text) else ""


def frozen(array: npt.NDArray[Kind]) -> npt.NDArray[Kind]:
    """The array read-only: itself if it is so already, else a copy, so that whoever holds the original cannot change
    the graph.
    """
    if array.flags.writeable:
        array = array.copy()
        array.flags.writeable = False
    return array


def check_canonical_edges(edges: npt.NDArray[np.int64], num_nodes: int) -> npt.NDArray[np.int64]:
    """Passes edges that are int64 [2, edge], low end first, strictly sorted, within the nodes."""
    if not isinstance(edges, np.ndarray) or edges.dtype != np.int64 or edges.ndim != 2 or edges.shape[0] != 2:
        raise GraphError("edge_index must be int64 of shape [2, edges]: use Graph.build, which accepts other forms")
    low, high = edges
    rising = (low[1:] > low[:-1]) | ((low[1:] == low[:-1]) & (high[1:] > high[:-1]))
    if not (rising.all() and (low < high).all()):
        raise GraphError(
            "edge_index must hold each edge once, smaller end first, sorted: use Graph.build, which puts edges in order"
        )
    if edges.size and (int(edges[0, 0]) < 0 or int(high.max()) >= num_nodes):
        raise GraphError(f"edge_index leads to a node outside 0 to {num_nodes - 1}: correct the edges or num_nodes")
    return edges


def check_labels(y: npt.NDArray[np.int64], num_nodes: int, num_classes: int) -> npt.NDArray[np.int64]:
    """Passes int64 [node] with values in -1 … num_classes-1."""
    if not isinstance(y, np.ndarray) or y.dtype != np.int64 or y.shape != (num_nodes,):
        raise GraphError(f"y must be int64 of shape [{num_nodes}]: use Graph.build, which accepts other forms")
    if int(y.min()) < -1 or int(y.max()) >= num_classes:
        raise GraphError(
            f"y must lie in -1 to {num_classes - 1}, received {int(y.min())} to {int(y.max())}: use Graph.build"
        )
    return y


def check_names(kind: str, names: Sequence[str], length: int | None) -> tuple[str, ...]:
    """Passes names that are unique, not empty, can be written as UTF-8, and are as many as asked."""
    texts = tuple(map(str, names))
    if length is not None and len(texts) != length:
        raise GraphError(f"there must be one name for each of the {length} {kind}s, received {len(texts)}")
    if len(set(texts)) != len(texts):
        seen: set[str] = set()
        double = next(text for text in texts if text in seen or seen.add(text))  # type: ignore[func-returns-value]
        raise GraphError(f"the {kind} name {double!r} occurs twice: {kind} names must be unique, make them so")
    if "" in texts:
        raise GraphError(f"{kind} {texts.index('')} has an empty name: give it one")
    _check_encoding(f"{kind} name", texts)
    return texts


def check_strings(name: str, values: npt.NDArray[np.object_], num_nodes: int) -> npt.NDArray[np.object_]:
    """Passes one string for each node, as an array of Python strings; None becomes the empty string."""
    if not name:
        raise GraphError("an attribute has an empty name: give it one, such as 'title'")
    array = np.asarray(values)
    if array.shape != (num_nodes,):
        raise GraphError(
            f"attribute {name!r} must hold one string for each of the {num_nodes} nodes, received the shape"
            f" {list(array.shape)}"
        )
    texts = ["" if text is None else str(text) for text in array.tolist()]
    _check_encoding(f"attribute {name!r}", texts)
    _check_encoding("the attribute name", (name,))
    result = np.empty(num_nodes, dtype=object)
    result[:] = texts
    result.flags.writeable = False
    return result


def check_features(x: Any, x_offset: Any, num_nodes: int) -> tuple[Features | None, npt.NDArray[np.float32] | None]:
    """Passes finite features [node, feature] as read-only float32, sparse ones as CSR with sorted indices, no
    duplicates, no stored zeros.
    """
    if x is None:
        if x_offset is not None:
            raise GraphError("x_offset is given without x: it is subtracted from the features, so give both or neither")
        return None, None
    features: Features = _sparse(x, num_nodes) if sp.issparse(x) else _dense(x, num_nodes)
    if x_offset is None:
        return features, None
    offset = _float32(np.asarray(x_offset), "x_offset")
    if offset.shape != (features.shape[1],):
        raise GraphError(
            f"x_offset must have one value for each of the {features.shape[1]} features, received the shape"
            f" {list(offset.shape)}"
        )
    _refuse_infinite(offset[None, :], "x_offset")
    return features, frozen(offset)


def unscaled(x: Features | None, x_offset: npt.NDArray[np.float32] | None, done: str) -> str | None:
    """A note for features whose columns have very different scales, such as years beside shares.

    The largest outweigh all others. None where scales are alike, or where something was done to the features already.
    """
    if not isinstance(x, np.ndarray) or x_offset is not None or done != "raw" or x.size == 0:
        return None
    largest = np.maximum(x.max(axis=0), -x.min(axis=0)).astype(np.float64)  # so that no product overflows
    used = np.flatnonzero(largest > 0)
    if len(used) < 2:
        return None
    high, low = used[largest[used].argmax()], used[largest[used].argmin()]
    if largest[high] < SCALES * largest[low]:
        return None
    return (
        f"the features have very different scales (column {high} goes up to {largest[high]:.4g}, column {low} up to"
        f" {largest[low]:.4g}): the largest outweigh the others; standardise the columns first if they are measurements"
    )


def _first_edge(edges: npt.NDArray[np.integer], bad: npt.NDArray[np.bool_]) -> str:
    column = int(bad.any(axis=0).argmax())
    return f"{column} ({int(edges[0, column])}, {int(edges[1, column])})"


def _spelled(text: object) -> str:
    try:
        return class_name(text)
    except WrongTypeError:
        raise
    except InputError as error:
        raise GraphError(
            f"{error} ({len(str(text))} characters): correct the label, or name another column as the label"
        ) from None


def _from_texts(given: npt.NDArray[Any], class_names: Sequence[str] | None) -> tuple[Ids, tuple[str, ...], list[str]]:
    listed_names = None if class_names is None else list(map(class_text, class_names))
    texts, notes = class_labels(given.tolist(), listed_names or ())
    occurring = set(texts) - {""}
    names = natural_order(list(occurring)) if listed_names is None else listed_names
    if unknown := occurring.difference(names):
        near = listed(nearest_names(min(unknown), names))
        raise GraphError(
            f"labels {listed(sorted(unknown))} are not among the class names {listed(names)}: add them or correct the"
            f" labels{near and f'; did you mean {near}?'}"
        )
    position = {"": -1, **{name: i for i, name in enumerate(names)}}
    return np.fromiter((position[text] for text in texts), dtype=np.int64, count=len(texts)), tuple(names), notes


def _one_spelling(ids: Ids, names: tuple[str, ...]) -> tuple[Ids, tuple[str, ...], list[str]]:
    """Ids and names after the names were spelled as `class_name` does.

    Names that only their spelling parted are one class.
    """
    spelled = valid_class_names(names)
    if spelled == names or len(set(names)) < len(names):  # the latter is refused by the graph, which tells the name
        return ids, spelled, []
    position = {name: i for i, name in enumerate(dict.fromkeys(spelled))}
    changed = [name for name, kept in zip(names, spelled, strict=True) if name != kept]
    moved = np.array([position[name] for name in spelled] + [-1], dtype=np.int64)
    note = (
        f"{count(len(changed), 'class name')} spelled in another way (Unicode's composed form, no blanks at the ends):"
        f" {listed(changed)}"
    )
    return moved[ids], tuple(position), [note]


def _from_numbers(given: npt.NDArray[Any], class_names: Sequence[str] | None) -> tuple[Ids, tuple[str, ...], list[str]]:
    if given.dtype.kind == "f":
        whole = np.where(np.isnan(given), -1, given)
        if not (np.isfinite(whole).all() and (whole == np.rint(whole)).all()):
            raise GraphError(
                f"labels must be whole numbers or strings, received {given[whole != np.rint(whole)][:1].tolist()}"
            )
        given = whole
    elif given.dtype.kind == "b":
        raise WrongTypeError(
            "labels must be whole numbers or texts, received booleans: give y.astype(int), or the names of both classes"
        )
    elif given.dtype.kind not in "iu":
        raise GraphError(f"labels must be whole numbers or strings, received {given.dtype}")
    ids = np.maximum(given.astype(np.int64), -1)
    occurring = np.unique(ids[ids >= 0])
    compact = np.searchsorted(occurring, ids)
    compact[ids < 0] = -1
    if class_names is None:
        gaps = len(occurring) and int(occurring[-1]) != len(occurring) - 1
        note = [
            f"label ids {listed(occurring.tolist())} have gaps: classes are numbered 0 to {len(occurring) - 1} and"
            " named by their id"
        ]
        return compact, tuple(str(i) for i in occurring.tolist()), note if gaps else []
    names = tuple(map(class_text, class_names))
    if not len(occurring) or int(occurring[-1]) < len(names):
        return ids, names, []
    if len(occurring) == len(names):
        return (
            compact,
            names,
            [f"label ids {listed(occurring.tolist())} have gaps: the class names are taken in their order"],
        )
    raise GraphError(
        f"label {int(occurring[-1])} has no class name: there are {len(names)} names, {listed(names)}, for ids 0 to"
        f" {len(names) - 1}; add names or correct the labels"
    )


def _dense(x: Any, num_nodes: int) -> npt.NDArray[np.float32]:
    array = np.asarray(x)
    _check_shape(array.shape, num_nodes)
    features = _float32(array, "x")
    _refuse_infinite(features, "features")
    return frozen(features)


def _sparse(x: Any, num_nodes: int) -> sp.csr_matrix[np.float32]:
    _check_shape(x.shape, num_nodes)
    matrix: sp.csr_matrix[np.float32] = sp.csr_matrix(x)
    data = _float32(matrix.data, "x")
    if not np.isfinite(data).all():
        at = int((~np.isfinite(data)).argmax())
        row = int(np.searchsorted(matrix.indptr, at, side="right")) - 1
        raise GraphError(_infinite("features", data[at], row, int(matrix.indices[at])))
    matrix = sp.csr_matrix((data, matrix.indices, matrix.indptr), shape=matrix.shape)
    if not matrix.has_canonical_format or not data.all():
        matrix = matrix.copy()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    result = sp.csr_matrix((frozen(matrix.data), frozen(matrix.indices), frozen(matrix.indptr)), shape=matrix.shape)
    result.has_canonical_format = True
    return result


def _check_shape(shape: Sequence[int], num_nodes: int) -> None:
    if len(shape) != 2:
        raise GraphError(
            f"features must have the shape [nodes, features], received {list(shape)}: reshape them to two dimensions"
        )
    if shape[0] != num_nodes:
        raise GraphError(f"features have {shape[0]} rows, but there are {num_nodes} nodes: give one row for each node")


def _float32(array: npt.NDArray[Any], name: str) -> npt.NDArray[np.float32]:
    if array.dtype == np.float32:
        return array
    if array.dtype.kind not in "biuf":
        raise GraphError(
            f"{name} must hold numbers, received {array.dtype}: turn texts into numbers first (a text column can become"
            " TF-IDF features)"
        )
    with np.errstate(over="ignore"):
        converted = array.astype(np.float32)
    converted.flags.writeable = False  # held by nobody else: it need not be copied
    return converted


def _refuse_infinite(features: npt.NDArray[np.float32], name: str) -> None:
    # The sum is finite only if all values are, unless it overflows: a cheap first look that allocates nothing.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(features.sum(dtype=np.float64)):
            return
    for row, values in enumerate(features):
        if not np.isfinite(values).all():
            column = int((~np.isfinite(values)).argmax())
            raise GraphError(_infinite(name, values[column], row, column))


def _infinite(name: str, value: np.float32, row: int, column: int) -> str:
    return (
        f"{name} must be finite, received {value} at node {row}, column {column}: replace it, by 0 or the column's mean"
        " for example"
    )


def _check_encoding(what: str, texts: Sequence[str]) -> None:
    try:
        for start in range(0, len(texts), 65536):
            "".join(texts[start : start + 65536]).encode()
    except UnicodeEncodeError:
        bad = next(text for text in texts if any("\ud800" <= letter <= "\udfff" for letter in text))
        raise GraphError(
            f"{what} {bad!r} holds half a surrogate pair and is no valid text: decode the source as UTF-8"
        ) from None
