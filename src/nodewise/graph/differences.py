"""In which fields two graphs differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    from nodewise.graph.preparation import Preparation

__all__ = ["differences"]


def differences(one: Any, other: Any) -> list[str]:
    """Names of the fields in which two `Graph`s differ, `notes` left out.

    Features are compared by value: sparse or dense storage makes no difference, an offset that is stored and one that
    is subtracted already do.
    """
    plain = ("num_nodes", "class_names", "node_names", "name", "features")
    differing = [part for part in plain if getattr(one, part) != getattr(other, part)]
    differing += [
        part
        for part in ("edge_index", "y", "y_sets", "x_offset", "edge_weight")
        if not _same(getattr(one, part), getattr(other, part))
    ]
    differing += ["x"] if not _same_features(one.x, other.x) else []
    differing += ["preparation"] if not _same_preparation(one.preparation, other.preparation) else []
    if one.relations is not other.relations and (one.relations is None or not one.relations.equals(other.relations)):
        differing.append("relations")
    for part in ("attributes", "extra"):
        mine, its = getattr(one, part), getattr(other, part)
        names = [*mine, *(name for name in its if name not in mine)]
        differing += [
            f"{part}[{name!r}]"
            for name in names
            if name not in mine or name not in its or not _same(mine[name], its[name])
        ]
    return differing


def _same(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    return bool(
        one.shape == other.shape
        and np.array_equal(one, other, equal_nan=one.dtype.kind == "f" and other.dtype.kind == "f")
    )


def _same_preparation(one: Preparation | None, other: Preparation | None) -> bool:
    return one is other if one is None or other is None else one.equals(other)


def _same_features(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    if one.shape != other.shape:
        return False
    if not sp.issparse(one) and not sp.issparse(other):
        return bool(np.array_equal(one, other))
    mine, its = sp.csr_matrix(one), sp.csr_matrix(other)
    return all(np.array_equal(getattr(mine, part), getattr(its, part)) for part in ("data", "indices", "indptr"))
