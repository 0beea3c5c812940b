"""Where two graphs differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    from nodewise.graph.graph import Graph

__all__ = ["differences"]


def differences(one: Graph, other: Graph) -> list[str]:
    """Names of the fields in which two graphs differ, `notes` left out.

    Features are compared by value: sparse or dense storage makes no difference, an offset that is stored and one that is subtracted already do.
    """
    plain = ("num_nodes", "class_names", "node_names", "name")
    found = [field for field in plain if getattr(one, field) != getattr(other, field)]
    found += [field for field in ("edge_index", "y", "x_offset") if not _same(getattr(one, field), getattr(other, field))]
    found += ["x"] if not _same_features(one.x, other.x) else []
    for field in ("attributes", "extra"):
        mine, its = getattr(one, field), getattr(other, field)
        names = [*mine, *(name for name in its if name not in mine)]
        found += [f"{field}[{name!r}]" for name in names if name not in mine or name not in its or not _same(mine[name], its[name])]
    return found


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
