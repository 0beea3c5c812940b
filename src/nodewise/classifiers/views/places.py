"""Where a row that was not in the graph stands in every view, in closed form.

The row is joined to some nodes, as if it alone had been added; the nodes stay where they are. One more step of each
view's own recipe then gives its place: of diffused features z = (1 − α) P z + α x, solved for the row, of hops the mean
over its nodes, of the spectrum the sum over its nodes divided by the eigenvalue (Nyström), of roles its rank among the
nodes. What brings a view into its columns (centre and directions) is found again from the views themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.classifiers.views.construction import (
    DIFFUSED,
    KIN,
    GraphViews,
    edge_eigenvectors,
    role_columns,
    role_quantities,
    unit_features,
    view_names,
)
from nodewise.classifiers.views.kin import NEAREST, joined_to_nearest
from nodewise.classifiers.views.products import (
    SparseProduct,
    centred,
    diffuse,
    gram_matrix,
    narrow,
    scipy_matrix,
    symmetric_propagation,
    unit,
)
from nodewise.graph.knn.rows import NodeSearch, reach_of
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError

__all__ = ["Places"]

KEPT = 128
"""Directions of the nodes' diffused features that are kept: of features diffused there are hardly more."""

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Places:
    """All that rows need to be placed, as named arrays.

    Attributes:
        names: of the views.
        arrays: name -> array.
    """

    names: tuple[str, ...]
    arrays: Mapping[str, Array]

    @classmethod
    def of(cls, graph: GraphTensors, views: GraphViews) -> Places:
        """From a graph and its views.

        Raises:
            InputError: there is a view in which nobody knows how to place a row.
        """
        adjacency = scipy_matrix(graph.adjacency)
        known = view_names(graph.has_features, adjacency.nnz > 0)
        if views.names != known or views.names == ("nothing",):
            strange = [name for name in views.names if name not in known] or list(views.names)
            raise InputError(
                f"a row that was not in the graph has no place in the view {strange[0]!r}: rows can be placed in graphs"
                " with features or edges of one relation"
            )
        columns = {name: views.columns[:, i].cpu().numpy() for i, name in enumerate(views.names)}
        arrays: dict[str, Array] = {"degree": np.asarray(adjacency.sum(1)).ravel().astype(np.float64)}
        if adjacency.nnz:
            arrays |= _of_edges(adjacency, columns)
        if graph.has_features:
            arrays |= _of_features(graph, adjacency, columns)
        return cls(views.names, arrays)

    def place(self, features: Any, joined: sp.csr_matrix, columns: Array) -> Array:
        """The rows' places, float32 [row, view, column].

        Args:
            features: the rows' features as the graph's are, [row, feature]; no columns where it has none.
            joined: how strongly each row is joined to each node, [row, node].
            columns: the nodes' places, float32 [node, view, column].
        """
        found: dict[str, Array] = {}
        if "spectrum" in self.names:
            found |= self._by_edges(joined)
        if "own" in self.names:
            found |= self._by_features(self._reduced(features), joined, columns)
        placed = np.zeros((joined.shape[0], len(self.names), columns.shape[2]), np.float32)
        for i, name in enumerate(self.names):
            placed[:, i, : found[name].shape[1]] = found[name]
        return placed

    def _reduced(self, features: Any) -> Array:
        """Features as rows of unit length in the directions that are kept: float32 [row, direction]."""
        x: Array = np.array(features if isinstance(features, np.ndarray) else features.toarray(), dtype=np.float32)
        if "offset" in self.arrays:
            x -= self.arrays["offset"]
        x = unit(x)
        return x @ self.arrays["directions"] if "directions" in self.arrays else x

    def _by_edges(self, joined: sp.csr_matrix) -> dict[str, Array]:
        a, degree = self.arrays, self.arrays["degree"]
        own, mean = np.asarray(joined.sum(1)).ravel(), degree.mean()
        share = joined.tocoo()
        weights = share.data / np.sqrt((own[share.row] + mean) * (degree[share.col] + share.data + mean))
        along = sp.csr_matrix((weights, (share.row, share.col)), shape=joined.shape)
        spectrum = unit((along @ a["spectrum"]).astype(np.float32)) @ a["spectrum columns"]
        average = sp.diags(_inverse(own)) @ joined
        log = np.log1p(own)
        one = average @ a["role 0"]
        quantities = (log, one, average @ a["role 1"])
        ordered = [np.sort(a[f"role {i}"].astype(np.float32)) for i in range(3)]
        return {"spectrum": spectrum, "role": unit(role_columns(quantities, ordered)).astype(np.float32)}

    def _by_features(self, x: Array, joined: sp.csr_matrix, columns: Array) -> dict[str, Array]:
        a = self.arrays
        found = {"own": unit(x - a["own mean"]) @ a["own columns"]}
        less = x - a["x mean"]
        if "near" in self.names:
            symmetric = _Propagation(joined, a["degree"])
            for name, (alpha, _) in DIFFUSED.items():
                start = x if name in ("near", "far", "walk") else less
                step = _Walk(joined) if name == "walk" else symmetric
                total = step(a[f"{name} nodes"], start @ a[f"{name} directions"], alpha)
                found[name] = self._finished(name, total)
            own = np.asarray(joined.sum(1)).ravel()
            average = sp.diags(_inverse(own)) @ joined
            one = (average @ a["x nodes"]) @ a["x directions"].T
            two = (average @ a["one nodes"]) @ a["one directions"].T
            found["two hops"] = unit(two - a["two mean"]) @ a["two hops columns"]
            blocks = [unit(part - a[f"{name} mean"]) for name, part in (("x", x), ("one", one), ("two", two))]
            side_by_side = np.concatenate(blocks, 1)
            found["layers"] = unit(side_by_side - a["layers mean"]) @ a["layers columns"]
        start = less @ a["kin directions"]
        near = self._search("own", columns)
        kin = near.joined(found["own"], NEAREST, a["kin reach"])
        total = _Propagation(kin, a["kin degree"])(a["kin nodes"], start, KIN[0])
        found["kin"] = self._finished("kin", total)
        if "kin near" in self.names:
            other = self._search("near", columns).joined(found["near"], NEAREST, a["kin near reach"])
            both = (other + joined * float(a["kin near ratio"][0])).tocsr()
            total = _Propagation(both, a["kin near degree"])(a["kin near nodes"], start, KIN[0])
            found["kin near"] = self._finished("kin near", total)
        return found

    def _finished(self, name: str, total: Array) -> Array:
        """A row's diffused features as columns of the view."""
        if name not in ("near", "far", "walk"):
            total = unit(total)
        placed: Array = unit(total - self.arrays[f"{name} mean"]) @ self.arrays[f"{name} columns"]
        return placed

    def _search(self, name: str, columns: Array) -> NodeSearch:
        if name not in self._searches:
            width = self.arrays[f"{name} columns"].shape[1]
            self._searches[name] = NodeSearch(
                np.ascontiguousarray(columns[:, self.names.index(name), :width]), "cosine"
            )
        return self._searches[name]

    @cached_property
    def _searches(self) -> dict[str, NodeSearch]:
        return {}


class _Propagation:
    """The row's step of P = D^-1/2 (A + I) D^-1/2, as if the row alone had been added."""

    def __init__(self, joined: sp.csr_matrix, degree: Array) -> None:
        own = np.asarray(joined.sum(1)).ravel().astype(np.float64) + 1
        share = joined.tocoo()
        weights = share.data / np.sqrt(own[share.row] * (degree[share.col] + 1 + share.data))
        self._along = sp.csr_matrix((weights.astype(np.float32), (share.row, share.col)), shape=joined.shape)
        self._loop = (1 / own).astype(np.float32)[:, None]

    def __call__(self, nodes: Array, start: Array, alpha: float) -> Array:
        """(1 − α) P z + α x solved for the row's z, the nodes' being known."""
        keep = np.float32(1 - alpha)
        total: Array = (keep * (self._along @ nodes) + np.float32(alpha) * start) / (1 - keep * self._loop)
        return total


class _Walk(_Propagation):
    """The same of the random walk with loops."""

    def __init__(self, joined: sp.csr_matrix) -> None:
        own = np.asarray(joined.sum(1)).ravel() + 1
        self._along = (sp.diags(1 / own) @ joined).astype(np.float32).tocsr()
        self._loop = (1 / own).astype(np.float32)[:, None]


def _of_edges(adjacency: sp.csr_matrix, columns: Mapping[str, Array]) -> dict[str, Array]:
    values, vectors = edge_eigenvectors(adjacency, columns["spectrum"].shape[1])
    scaled = vectors * values
    quantities = role_quantities(adjacency)
    return {
        "spectrum": vectors.astype(np.float32),
        "spectrum columns": _map(unit(scaled.astype(np.float32)), columns["spectrum"]),
        **{f"role {i}": quantity for i, quantity in enumerate(quantities)},
    }


def _of_features(graph: GraphTensors, adjacency: sp.csr_matrix, columns: Mapping[str, Array]) -> dict[str, Array]:
    x = unit_features(graph)
    arrays: dict[str, Array] = {"x mean": _mean(x), "own mean": _mean(x)}
    if x.shape[1] != graph.num_features:
        arrays["directions"] = _directions(graph, x)
    if graph.offset is not None:
        arrays["offset"] = graph.offset.cpu().numpy()
    arrays["own columns"] = _map(centred(x.copy()), columns["own"])
    less = x - arrays["x mean"]
    if adjacency.nnz:
        arrays |= _of_both(x, less, adjacency, columns)
    narrowed = narrow(less.copy(), columns["own"].shape[1])
    arrays["kin directions"] = _map(less, narrowed)
    kin = {"kin": joined_to_nearest(columns["own"])}
    if adjacency.nnz:
        near = joined_to_nearest(columns["near"])
        ratio = near.sum() / adjacency.sum()
        arrays["kin near ratio"] = np.array([ratio], np.float64)
        kin["kin near"] = (near + adjacency.astype(np.float32) * ratio).tocsr()
        arrays["kin near reach"] = reach_of(columns["near"], near, NEAREST)
    arrays["kin reach"] = reach_of(columns["own"], kin["kin"], NEAREST)
    for name, joined in kin.items():
        arrays[f"{name} degree"] = np.asarray(joined.sum(1)).ravel().astype(np.float64)
        for _, total in diffuse(symmetric_propagation(joined), narrowed, {name: KIN}):
            arrays[f"{name} nodes"] = total.copy()
            arrays |= _ending(name, unit(total), columns)
    return arrays


def _of_both(x: Array, less: Array, adjacency: sp.csr_matrix, columns: Mapping[str, Array]) -> dict[str, Array]:
    arrays: dict[str, Array] = {}
    mean = SparseProduct(sp.diags(_inverse(np.asarray(adjacency.sum(1)).ravel())) @ adjacency)
    one = mean(x)
    two = mean(one)
    for name, rows in (("x", x), ("one", one)):
        arrays[f"{name} directions"], arrays[f"{name} nodes"] = _kept(rows)
    arrays |= {f"{name} mean": _mean(rows) for name, rows in (("x", x), ("one", one), ("two", two))}
    arrays["two hops columns"] = _map(centred(two.copy()), columns["two hops"])
    layers = np.concatenate([centred(rows.copy()) for rows in (x, one, two)], 1)
    arrays["layers mean"] = _mean(layers)
    arrays["layers columns"] = _map(centred(layers), columns["layers"])
    loops = (adjacency + sp.eye(len(x), format="csr")).astype(np.float32)
    walk = SparseProduct(sp.diags(1 / np.asarray(loops.sum(1)).ravel()) @ loops)
    symmetric = symmetric_propagation(adjacency)
    for step, start, some in ((walk, x, ("walk",)), (symmetric, x, ("near", "far")), (symmetric, less, None)):
        wanted = some or [name for name in DIFFUSED if name not in ("walk", "near", "far")]
        for name, total in diffuse(step, start, {name: DIFFUSED[name] for name in wanted}):
            directions, nodes = _kept(total)
            arrays[f"{name} directions"], arrays[f"{name} nodes"] = directions, nodes
            arrays |= _ending(name, nodes.copy() if some else unit(nodes.copy()), columns)
    return arrays


def _ending(name: str, rows: Array, columns: Mapping[str, Array]) -> dict[str, Array]:
    """The centre of a view's rows, and what then brings them into the view's columns."""
    return {f"{name} mean": _mean(rows), f"{name} columns": _map(centred(rows.copy()), columns[name])}


def _kept(rows: Array) -> tuple[Array, Array]:
    """The leading directions of rows, [column, direction], and the rows in them."""
    if rows.shape[1] <= KEPT:
        return np.eye(rows.shape[1], dtype=np.float32), rows
    directions = np.linalg.eigh(gram_matrix(rows))[1][:, ::-1][:, :KEPT].astype(np.float32)
    return np.ascontiguousarray(directions), rows @ directions


def _map(rows: Array, wanted: Array) -> Array:
    """The linear map from rows to the columns that a view has, by least squares: [column, column of the view]."""
    inner = np.linalg.pinv(gram_matrix(rows), rcond=1e-9, hermitian=True)
    return (inner @ gram_matrix(rows, np.ascontiguousarray(wanted, rows.dtype))).astype(np.float32)


def _inverse(degree: Array) -> Array:
    """1 over the degree, and 1 where there are no edges."""
    inverse: Array = 1 / np.where(degree > 0, degree, np.ones_like(degree))
    return inverse


def _mean(rows: Array) -> Array:
    mean: Array = rows.mean(0, dtype=np.float64).astype(np.float32)
    return mean


def _directions(graph: GraphTensors, x: Array) -> Array:
    """The directions that the features were reduced to: with X = U S Vᵀ and x = X V, V = Xᵀ x (xᵀ x)⁻¹."""
    inner = np.linalg.pinv(gram_matrix(x), rcond=1e-9, hermitian=True)
    if graph.sparse_x is None:
        assert graph.dense_x is not None
        dense = unit(graph.dense_x.cpu().numpy().astype(np.float64))
        return (dense.T @ x @ inner).astype(np.float32)
    rows = scipy_matrix(graph.sparse_x).astype(np.float64)
    squared = np.asarray(rows.multiply(rows).sum(1)).ravel()
    offset = None if graph.offset is None else graph.offset.cpu().numpy().astype(np.float64)
    if offset is not None:
        squared = squared - 2 * (rows @ offset) + offset @ offset
    scale = np.where(squared > 1e-24, 1 / np.sqrt(np.maximum(squared, 1e-24)), 0)
    product = (sp.diags(scale) @ rows).T @ x
    if offset is not None:
        product = product - np.outer(offset, scale @ x)
    return np.asarray(product @ inner, np.float32)
