"""Where a row that was not in the graph stands in every view, in closed form.

The row is joined to some nodes, as if it alone had been added; the nodes stay where they are. One more step of each
view's own recipe then gives its place: of diffused features z = (1 − α) P z + α x, solved for the row, of hops the mean
over its nodes, of the spectrum the sum over its nodes divided by the eigenvalue (Nyström), which is diffused as
features are, of roles its rank among the nodes. Its kin are those nearest to it where the view looks for them. What
brings a view into its columns (centre and directions) is found again from the views themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from nodewise.classifiers.views.construction import (
    GraphViews,
    few_threads,
    placed_rows,
    placing_arrays,
    unit_features,
    view_names,
)
from nodewise.classifiers.views.kin import DIRECTIONS, TOGETHER, nearest_together
from nodewise.classifiers.views.products import Array, gram_matrix, scipy_matrix, unit
from nodewise.graph.knn.rows import NodeSearch
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError

__all__ = ["Places"]


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
        with few_threads(graph.num_nodes):
            x = unit_features(graph) if graph.has_features else None
            arrays = placing_arrays(x, adjacency, columns)
            if x is not None and x.shape[1] != graph.num_features:
                arrays["directions"] = _directions(graph, x)
        if x is not None and graph.offset is not None:
            arrays["offset"] = graph.offset.cpu().numpy()
        return cls(views.names, arrays)

    def place(self, features: Any, joined: sp.csr_matrix, columns: Array) -> Array:
        """The rows' places, float32 [row, view, column].

        Args:
            features: the rows' features as the graph's are, [row, feature]; no columns where it has none.
            joined: how strongly each row is joined to each node, [row, node].
            columns: the nodes' places, float32 [node, view, column].
        """
        x = self._reduced(features) if "x mean" in self.arrays else None
        with few_threads(len(columns)):
            found = placed_rows(self.arrays, x, joined, partial(self._search, columns))
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

    def _search(self, columns: Array, name: str) -> NodeSearch:
        if name not in self._searches:
            views = {of: columns[:, number] for number, of in enumerate(self.names)}
            if name == TOGETHER:
                rows = nearest_together(views, self.arrays[DIRECTIONS])
            else:
                rows = np.ascontiguousarray(views[name][:, : self.arrays[f"{name} columns"].shape[1]])
            self._searches[name] = NodeSearch(rows, "cosine")
        return self._searches[name]

    @cached_property
    def _searches(self) -> dict[str, NodeSearch]:
        return {}


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
