"""Whether two graphs are the same: where they differ, and a digest that tells it without the other."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

if TYPE_CHECKING:
    from nodewise.graph.graph import Graph

__all__ = ["differences", "fingerprint"]


def differences(one: Graph, other: Graph) -> list[str]:
    """Names of the fields in which two graphs differ, `notes` left out.

    Features are compared by value: sparse or dense storage makes no difference, an offset that is stored and one that is subtracted already do.
    """
    plain = ("num_nodes", "class_names", "node_names", "name", "features")
    differing = [field for field in plain if getattr(one, field) != getattr(other, field)]
    differing += [field for field in ("edge_index", "y", "x_offset") if not _same(getattr(one, field), getattr(other, field))]
    differing += ["x"] if not _same_features(one.x, other.x) else []
    for field in ("attributes", "extra"):
        mine, its = getattr(one, field), getattr(other, field)
        names = [*mine, *(name for name in its if name not in mine)]
        differing += [f"{field}[{name!r}]" for name in names if name not in mine or name not in its or not _same(mine[name], its[name])]
    return differing


def fingerprint(graph: Graph) -> str:
    """A digest of what a simulation reads of a graph: edges, features and labels."""
    digest = hashlib.blake2b(str(graph.num_nodes).encode(), digest_size=8)
    for array in _arrays(graph):
        digest.update(f"{array.dtype}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _arrays(graph: Graph) -> Iterator[npt.NDArray[Any]]:
    yield graph.edge_index
    x = graph.x
    if isinstance(x, np.ndarray):
        yield x
    elif x is not None:
        yield from (x.data, x.indices, x.indptr)
    for array in (graph.x_offset, graph.y):
        if array is not None:
            yield array


def _same(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    return bool(one.shape == other.shape and np.array_equal(one, other, equal_nan=one.dtype.kind == "f" and other.dtype.kind == "f"))


def _same_features(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    if one.shape != other.shape:
        return False
    if not sp.issparse(one) and not sp.issparse(other):
        return bool(np.array_equal(one, other))
    mine, its = sp.csr_matrix(one), sp.csr_matrix(other)
    return all(np.array_equal(getattr(mine, part), getattr(its, part)) for part in ("data", "indices", "indptr"))
