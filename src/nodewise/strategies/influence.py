"""How far a node's label or features reach over the edges: two steps of a random walk, made once for each graph."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from nodewise.graph.tensors import GraphTensors

__all__ = ["influence_blocks"]

_ENTRIES = 2**25
"""Entries of a block of rows at most, by an estimate from the degrees."""


def influence_blocks(graph: GraphTensors, least: float = 0.0) -> Iterator[tuple[int, sp.csr_matrix]]:
    """The rows of P², P = D̃⁻¹ (A + I), in blocks: the number of the first row and a matrix [some rows, node].

    Row v holds what share of node v's propagated features comes from each node u, I(v, u) = (P²)_vu: the expected
    gradient of two layers of a GCN by its input, the same for all weights (Xu et al., ICML 2018). Rows sum to one.

    Args:
        least: entries below this are left out; 0 keeps all.
    """
    arrays = (part.cpu().numpy() for part in (graph.adjacency.values, graph.adjacency.col, graph.adjacency.crow))
    loops = sp.csr_matrix(tuple(arrays), shape=graph.adjacency.shape) + sp.eye(graph.num_nodes, format="csr")
    degrees = np.asarray(loops.sum(1)).ravel()
    walk = (sp.diags(1 / degrees) @ loops).tocsr().astype(np.float64)
    entries = np.diff(loops.indptr)
    reached = np.minimum(
        loops.sign() @ entries, graph.num_nodes
    ).cumsum()  # an upper bound of the entries in all rows so far
    first = 0
    while first < graph.num_nodes:
        before = reached[first - 1] if first else 0
        end = max(first + 1, int(np.searchsorted(reached, before + _ENTRIES)))
        rows = (walk[first:end] @ walk).tocsr()
        rows.data[rows.data < least] = 0
        rows.eliminate_zeros()
        rows.sort_indices()
        yield first, rows
        first = end
