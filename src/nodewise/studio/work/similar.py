"""The rows most similar to one, by the rows themselves: no label and no prediction enters, so none can be read off.

Everything here runs in the worker's thread.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

if TYPE_CHECKING:
    from nodewise.graph import Graph

__all__ = ["SimilarRows"]

_BLOCK = 8_192
"""Rows of the features that are copied at a time."""


class SimilarRows:
    """How similar the rows of a graph are, two by two; one row against all others costs a few products of a matrix and
    a vector.

    Args:
        graph: whose rows.

    Attributes:
        by: what they are compared by: their ``features`` and those of the rows around them, or the ``edges`` where
            there are no features.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.by: Literal["features", "edges"] = "features" if graph.has_features else "edges"

    def to(self, node: int) -> npt.NDArray[np.float64]:
        """How similar each row is to one, from 0 to 1: [row].

        By features x̂ of unit length, half is the cosine x̂_iᵀ x̂_j, and half the same of what lies around both,
        (S X̂)_iᵀ (S X̂)_j with S the mean over a row and its neighbours; negative cosines count as 0. Without features
        it is the cosine of who their neighbours are, each a neighbour of itself.
        """
        around = self._around
        if self.by == "edges":
            shared = np.asarray((around @ around[[node]].T).todense()).ravel()
            alike: npt.NDArray[Any] = shared / (self._lengths * self._lengths[node])
        else:
            own = self._products(self._mean_of([node], [1.0]))
            row = around[[node]]
            near = around @ self._products(self._mean_of(row.indices, row.data))
            alike = (own + near) / 2
        return np.clip(np.nan_to_num(alike.astype(np.float64)), 0.0, 1.0)

    def nearest(self, node: int, allowed: npt.NDArray[np.bool_], most: int) -> tuple[list[int], list[float]]:
        """The rows most similar to one, the most similar first, and how similar; such as are not similar at all are
        left out.

        Args:
            allowed: which rows may be among them, [row]; the row itself never is.
            most: how many at most.
        """
        alike = self.to(node)
        alike[~allowed] = 0.0
        alike[node] = 0.0
        most = min(most, len(alike) - 1)
        if most < 1:
            return [], []
        found = np.argpartition(-alike, most - 1)[:most]
        found = found[np.lexsort((found, -alike[found]))]
        found = found[alike[found] > 0]
        return found.tolist(), alike[found].tolist()

    @cached_property
    def _around(self) -> Any:
        """The mean over a row and its neighbours, CSR [row, row]."""
        edges = self._graph.adjacency() + sp.identity(self._graph.num_nodes, np.float32, format="csr")
        count = np.asarray(edges.sum(1)).ravel()
        return sp.diags(1.0 / count).dot(edges).tocsr().astype(np.float32)

    @cached_property
    def _lengths(self) -> npt.NDArray[np.float64]:
        """The length of each row of `_around`."""
        lengths: npt.NDArray[np.float64] = sp.linalg.norm(self._around, axis=1).astype(np.float64)
        return lengths

    @cached_property
    def _scale(self) -> npt.NDArray[np.float32]:
        """One over the length of each row of the features; 0 for rows of zeros."""
        x = self._graph.x
        assert x is not None
        length = np.zeros(x.shape[0])
        for start in range(0, x.shape[0], _BLOCK):
            part = x[start : start + _BLOCK]
            squares = part.multiply(part).sum(1) if sp.issparse(part) else np.square(part, dtype=np.float64).sum(1)
            length[start : start + _BLOCK] = np.sqrt(np.asarray(squares, np.float64)).ravel()
        return np.divide(1.0, length, out=np.zeros_like(length), where=length > 0).astype(np.float32)

    def _mean_of(self, nodes: Any, shares: Any) -> npt.NDArray[np.float32]:
        """A weighted sum of rows of unit length: [feature]."""
        x: Any = self._graph.x
        weights = np.asarray(shares, np.float32) * self._scale[nodes]
        total = np.zeros(x.shape[1], np.float32)
        for start in range(0, len(nodes), _BLOCK):  # a row may have all others around it
            part = slice(start, start + _BLOCK)
            total += np.asarray(x[nodes[part]].T @ weights[part]).ravel()
        return total

    def _products(self, vector: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """The product of every row of unit length with a vector: [row]."""
        x: Any = self._graph.x
        products: npt.NDArray[np.float32] = np.asarray(x @ vector).ravel() * self._scale
        return products
