"""Views of a graph of several node types: what its relations say of the labelled type, each view named after one.

An incidence (`nodewise.graph.relations`) B says which labelled nodes reach which nodes at the end of a relation, or of
a path of two, whose matrix is never made: its relations are applied one after the other.

- ``spectrum: NAME``: left singular vectors of (D + d̄)^-1/2 B (E + ē)^-1/2, D and E the sums of its rows and columns and
  d̄, ē their means, times the squares of their singular values; ``spectrum: all``: those of all incidences side by side;
- ``features: NAME``: features less their means, diffused by D^-1/2 B E^-1 Bᵀ D^-1/2, z ← 0.95 P z + 0.05 x in 20 steps;
  within the labelled type by the walk D^-1 (B + I); ``features: all``: by the mean of all these;
- ``reached: NAME``: the mean of the features of another type that a node reaches;
- ``own``; ``kin``, ``kin: features``, ``kin: spectrum``: the leading directions of the features diffused over the graph
  of each node's 10 nearest in ``own``, ``features: all`` and ``spectrum: all``.

How many there are is bounded: incidences that lead (`nodewise.graph.relations.LEADING`) have views of their own, the
others are part of the views of all. A labelled type without features takes those that it reaches first; without any
there are the spectra, and ``kin: spectrum`` is the spectrum of all diffused over its own nearest nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse as sp

from nodewise.classifiers.views.kin import KIN
from nodewise.classifiers.views.large import diffuse_large, diffuse_over, leading_eigenvectors
from nodewise.classifiers.views.products import (
    LARGE,
    NEAREST,
    WIDTH,
    Array,
    Product,
    ProductKind,
    SparseProduct,
    centred,
    narrow,
    product_kind,
    unit,
)
from nodewise.classifiers.views.reduction import block_lanczos
from nodewise.graph.graph import Graph
from nodewise.graph.knn.neighbours import joined_to_nearest
from nodewise.graph.relations import LEADING, Incidence, Relations
from nodewise.graph.tensors import GraphTensors

__all__ = [
    "all_nodes",
    "direction_names",
    "direction_views",
    "relational_names",
    "relational_views",
    "whole_adjacency",
    "whole_features",
]

_REACHED = 2
"""Other types whose features have a view, at most."""

_FEW = 256
"""Nodes at the end up to which all singular vectors are computed."""

_ALPHA, _STEPS = 0.05, 20


def direction_names(record: Relations, features: bool) -> tuple[str, ...]:
    """The views that relations within one type add to those of the plain graph."""
    leading = [incidence.name for incidence in record.incidences[:LEADING]]
    return (*(f"spectrum: {name}" for name in leading), *(f"features: {name}" for name in leading if features))


def relational_names(record: Relations, features: bool) -> tuple[str, ...]:
    """The views of a graph of several types, in the order in which they stand side by side."""
    incidences, reached = record.incidences, _reached(record)
    if not incidences:
        return ("own", "kin") if features else ("nothing",)
    leading = [incidence.name for incidence in incidences[:LEADING]]
    some = features or bool(reached)
    return (
        *(f"spectrum: {name}" for name in leading),
        "spectrum: all",
        *((*(f"features: {name}" for name in leading), "features: all") if some else ()),
        *(f"reached: {incidence.name}" for incidence in reached),
        *(("own", "kin") if features else ()),
        *(("kin: features",) if some else ()),
        "kin: spectrum",
    )


def direction_views(record: Relations, x: Array | None, leading: int) -> Iterator[tuple[str, Array]]:
    """The views of `direction_names`.

    Args:
        record: relations within one type.
        x: float32 [node, direction], unit rows; None without features.
        leading: columns of a spectrum.
    """
    less = None if x is None else _less_mean(x)
    for incidence in record.incidences[:LEADING]:
        yield f"spectrum: {incidence.name}", _spectrum(incidence, leading, SparseProduct)
        if less is not None:
            way = _propagation(incidence, record.labelled, SparseProduct)
            yield f"features: {incidence.name}", _view(_diffused([way], less))


def relational_views(
    record: Relations, x: Array | None, leading: int, features_of: Callable[[GraphTensors], Array]
) -> Iterator[tuple[str, Array]]:
    """The views of `relational_names`, as they are made; arguments as for `direction_views`.

    `features_of` gives a graph's features as unit rows in their leading directions.
    """
    incidences, width, features = record.incidences, max(WIDTH, leading), x
    kind = product_kind(all_nodes(record))
    for incidence in _reached(record):
        mean = _mean_reached(incidence, features_of(_alone(record, incidence.reaches)), kind)
        features = mean if features is None else features
        yield f"reached: {incidence.name}", narrow(centred(mean.copy()), width)
    less = None if features is None else _less_mean(features)
    if x is not None and less is not None:
        own = narrow(centred(x.copy()), width)
        yield "own", own
        yield "kin", _over_nearest(own, less, kind)
    if not incidences:
        if x is None:
            yield "nothing", np.ones((record.labelled_type.count, 1), np.float32)
        return
    spectra = [_spectrum(incidence, leading, kind) for incidence in incidences]
    yield from ((f"spectrum: {one.name}", view) for one, view in zip(incidences[:LEADING], spectra, strict=False))
    together = narrow(unit(np.concatenate(spectra, 1).astype(np.float32)), width)
    yield "spectrum: all", together
    yield "kin: spectrum", _over_nearest(together, together if less is None else less, kind)
    if less is None:
        return
    ways = [_propagation(incidence, record.labelled, kind) for incidence in incidences]
    for incidence, way in zip(incidences[:LEADING], ways, strict=False):
        yield f"features: {incidence.name}", _view(_diffused([way], less))
    everywhere = _view(_diffused(ways, less))
    yield "features: all", everywhere
    yield "kin: features", _over_nearest(everywhere, less, kind)


def all_nodes(record: Relations) -> int:
    """How many nodes of all types there are."""
    return sum(kind.count for kind in record.types)


def whole_adjacency(record: Relations) -> tuple[sp.csr_matrix, slice]:
    """The edges of all relations as one plain graph of all types behind each other, and which rows are labelled ones.

    Float32 CSR, symmetric, [node, node].
    """
    starts = dict(zip(record.by_name, np.cumsum([0, *(kind.count for kind in record.types)]).tolist(), strict=False))
    total = all_nodes(record)
    rows, columns, values = ([np.zeros(0, kind)] for kind in (np.int64, np.int64, np.float32))
    for relation in record.relations:
        matrix = relation.matrix(record.by_name[relation.source].count, record.by_name[relation.target].count)
        if relation.source == relation.target:
            matrix = sp.triu(matrix.maximum(matrix.T.tocsr()), 1).tocsr()
        edges = matrix.tocoo()
        one, other = edges.row + starts[relation.source], edges.col + starts[relation.target]
        rows += [one, other]
        columns += [other, one]
        values += [edges.data, edges.data]
    ends = np.concatenate(rows), np.concatenate(columns)
    whole: sp.csr_matrix = sp.csr_matrix((np.concatenate(values), ends), shape=(total, total))
    first = starts[record.labelled]
    return whole, slice(first, first + record.labelled_type.count)


def whole_features(record: Relations, x: Array | None, features_of: Callable[[GraphTensors], Array]) -> Array | None:
    """The features of all types behind each other, each type's in columns of its own; None where there are none.

    Args:
        record: the relations.
        x: those of the labelled type, unit rows; None without any.
        features_of: gives a graph's features as unit rows in their leading directions.
    """
    parts = [
        x if kind.name == record.labelled else None if kind.x is None else features_of(_alone(record, kind.name))
        for kind in record.types
    ]
    columns = np.cumsum([0, *(0 if part is None else part.shape[1] for part in parts)])
    rows = np.cumsum([0, *(kind.count for kind in record.types)])
    if not columns[-1]:
        return None
    whole = np.zeros((rows[-1], columns[-1]), np.float32)
    for at, part in enumerate(parts):
        if part is not None:
            whole[rows[at] : rows[at + 1], columns[at] : columns[at + 1]] = part
    return whole


def _reached(record: Relations) -> list[Incidence]:
    """The first incidence that reaches each of the other types that have features, of two types at most."""
    found: dict[str, Incidence] = {}
    for incidence in record.incidences:
        if incidence.reaches != record.labelled and record.by_name[incidence.reaches].x is not None:
            found.setdefault(incidence.reaches, incidence)
    return list(found.values())[:_REACHED]


def _alone(record: Relations, name: str) -> GraphTensors:
    """The nodes of another type by themselves."""
    kind = record.by_name[name]
    return GraphTensors(Graph(np.zeros((2, 0), np.int64), kind.count, kind.x))


def _mean_reached(incidence: Incidence, features: Array, kind: ProductKind) -> Array:
    for step in reversed(incidence.steps):
        features = kind(step)(np.ascontiguousarray(features, np.float32))
    ways = _applied(incidence.steps, np.ones(incidence.shape[1]))
    return features / np.maximum(ways, 1e-9)[:, None].astype(np.float32)


def _less_mean(x: Array) -> Array:
    return np.ascontiguousarray(narrow(x - x.mean(0, dtype=np.float64).astype(x.dtype), WIDTH), np.float32)


def _view(z: Array) -> Array:
    return narrow(centred(unit(z)), z.shape[1])


def _over_nearest(view: Array, x: Array, kind: ProductKind) -> Array:
    """Columns diffused over the graph of each node's nearest in a view, with the steps of the views of `kin`."""
    joined = joined_to_nearest(view, NEAREST)
    return _view(dict(diffuse_over(joined, np.ascontiguousarray(x, np.float32), {"kin": KIN}, kind))["kin"])


def _diffused(ways: list[Product], x: Array) -> Array:
    def moved(z: Array) -> Array:
        total = ways[0](z)
        for way in ways[1:]:
            total += way(z)
        return total

    z, share = x, 1 / len(ways)
    if len(x) >= LARGE:
        recipe, nobody = {"all": (_ALPHA, _STEPS)}, np.zeros(0, np.int64)
        return dict(diffuse_large(lambda z: moved(z) * np.float32(share), x, recipe, nobody, {"all": x[:0]}))["all"]
    for _ in range(_STEPS):
        z = moved(z) * np.float32((1 - _ALPHA) / len(ways)) + np.float32(_ALPHA) * x
    return z


def _propagation(incidence: Incidence, labelled: str, kind: ProductKind) -> Product:
    """P = D^-1/2 B E^-1 Bᵀ D^-1/2, or within the labelled type D^-1 (B + I)."""
    if incidence.reaches == labelled and len(incidence.steps) == 1:
        loops = incidence.steps[0] + sp.eye(incidence.shape[0], format="csr", dtype=np.float32)
        return kind((sp.diags(1 / np.asarray(loops.sum(1)).ravel()) @ loops).tocsr())
    there, back = _scaled(incidence, 0.0, kind)
    return lambda z: there(back(z))


def _spectrum(incidence: Incidence, wanted: int, kind: ProductKind) -> Array:
    """Left singular vectors of the degree-scaled incidence times the squares of their singular values.

    Rows of unit length: [node, at most wanted].
    """
    there, back = _scaled(incidence, 1.0, kind)
    rows, columns = incidence.shape
    if columns <= _FEW:
        whole = there(np.eye(columns, dtype=np.float32)).astype(np.float64)
        values, right = np.linalg.eigh(whole.T @ whole)
        values, vectors = values[::-1], (whole @ right)[:, ::-1] / np.sqrt(np.maximum(values[::-1], 1e-12))
    elif rows >= LARGE:
        values, vectors = leading_eigenvectors(lambda z: there(back(z)), rows, wanted, positive=True)
    else:
        values, vectors = block_lanczos(lambda z: there(back(z)), rows, wanted, 1e-4)
    useful = np.flatnonzero(values[:wanted] > 1e-6)
    if not len(useful):
        return np.zeros((rows, 1), np.float32)
    return unit((vectors[:, useful] * values[useful]).astype(np.float32))


def _scaled(incidence: Incidence, added: float, kind: ProductKind) -> tuple[Product, Product]:
    """What multiplies columns by (D + a d̄)^-1/2 B (E + a ē)^-1/2, and by the same turned."""
    steps = incidence.steps
    left = _applied(steps, np.ones(steps[-1].shape[1]))
    right = _applied(tuple(step.T.tocsr() for step in reversed(steps)), np.ones(steps[0].shape[0]))
    one, other = (_inverse_root(side + added * side.mean()) for side in (left, right))
    scaled = [*steps]
    scaled[0] = (sp.diags(one) @ scaled[0]).tocsr()
    scaled[-1] = (scaled[-1] @ sp.diags(other)).tocsr()
    there, back = [kind(step) for step in reversed(scaled)], [kind(step.T.tocsr()) for step in scaled]
    return _one_after_another(there), _one_after_another(back)


def _one_after_another(products: list[SparseProduct]) -> Product:
    def times(z: Array) -> Array:
        for one in products:
            z = one(z)
        return z

    return times


def _applied(steps: tuple[sp.csr_matrix[np.float32], ...], column: Array) -> Array:
    for step in reversed(steps):
        column = step.astype(np.float64) @ column
    return column


def _inverse_root(degree: Array) -> Array:
    return np.where(degree > 0, 1 / np.sqrt(np.maximum(degree, 1e-30)), 0)
