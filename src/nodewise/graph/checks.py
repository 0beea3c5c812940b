"""What must hold for each part of a `Graph`; every refusal says what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.ground.errors import GraphError

if TYPE_CHECKING:
    from typing import TypeAlias

    Features: TypeAlias = npt.NDArray[np.float32] | sp.csr_matrix[np.float32]

__all__ = ["check_canonical_edges", "check_features", "check_labels", "check_names", "check_strings", "frozen"]

Kind = TypeVar("Kind", bound=np.generic)


def frozen(array: npt.NDArray[Kind]) -> npt.NDArray[Kind]:
    """The array read-only: itself if it is so already, else a copy, so that whoever holds the original cannot change the graph."""
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
        raise GraphError("edge_index must hold each edge once, smaller end first, sorted: use Graph.build, which puts edges in order")
    if edges.size and (int(edges[0, 0]) < 0 or int(high.max()) >= num_nodes):
        raise GraphError(f"edge_index leads to a node outside 0 to {num_nodes - 1}: correct the edges or num_nodes")
    return edges


def check_labels(y: npt.NDArray[np.int64], num_nodes: int, num_classes: int) -> npt.NDArray[np.int64]:
    """Passes int64 [node] with values in -1 … num_classes-1."""
    if not isinstance(y, np.ndarray) or y.dtype != np.int64 or y.shape != (num_nodes,):
        raise GraphError(f"y must be int64 of shape [{num_nodes}]: use Graph.build, which accepts other forms")
    if int(y.min()) < -1 or int(y.max()) >= num_classes:
        raise GraphError(f"y must lie in -1 to {num_classes - 1}, received {int(y.min())} to {int(y.max())}: use Graph.build")
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
            f"attribute {name!r} must hold one string for each of the {num_nodes} nodes, received the shape {list(array.shape)}"
        )
    texts = ["" if text is None else str(text) for text in array.tolist()]
    _check_encoding(f"attribute {name!r}", texts)
    _check_encoding("the attribute name", (name,))
    result = np.empty(num_nodes, dtype=object)
    result[:] = texts
    result.flags.writeable = False
    return result


def check_features(x: Any, x_offset: Any, num_nodes: int) -> tuple[Features | None, npt.NDArray[np.float32] | None]:
    """Passes finite features [node, feature] as read-only float32, sparse ones as CSR with sorted indices, no duplicates, no stored zeros."""
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
            f"x_offset must have one value for each of the {features.shape[1]} features, received the shape {list(offset.shape)}"
        )
    _refuse_infinite(offset[None, :], "x_offset")
    return features, frozen(offset)


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
        raise GraphError(f"features must have the shape [nodes, features], received {list(shape)}: reshape them to two dimensions")
    if shape[0] != num_nodes:
        raise GraphError(f"features have {shape[0]} rows, but there are {num_nodes} nodes: give one row for each node")


def _float32(array: npt.NDArray[Any], name: str) -> npt.NDArray[np.float32]:
    if array.dtype == np.float32:
        return array
    if array.dtype.kind not in "biuf":
        raise GraphError(
            f"{name} must hold numbers, received {array.dtype}: turn texts into numbers first (a text column can become TF-IDF features)"
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
    return f"{name} must be finite, received {value} at node {row}, column {column}: replace it, by 0 or the column's mean for example"


def _check_encoding(what: str, texts: Sequence[str]) -> None:
    try:
        for start in range(0, len(texts), 65536):
            "".join(texts[start : start + 65536]).encode()
    except UnicodeEncodeError:
        bad = next(text for text in texts if any("\ud800" <= letter <= "\udfff" for letter in text))
        raise GraphError(f"{what} {bad!r} holds half a surrogate pair and is no valid text: decode the source as UTF-8") from None
