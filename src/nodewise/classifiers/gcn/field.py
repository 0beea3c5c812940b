"""The part of the graph that the labelled nodes' loss reaches, for each run of a batch, on the CPU.

The loss of a two-layer GCN reads the hidden layer at the labelled nodes and their neighbours (the *near* nodes), and the
input at those nodes' neighbours (the *far* nodes). Training on these rows alone gives the same gradients as training on the
whole graph; on Cora with 35 labels that is a fifth of the hidden layer and half of the input.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
import torch

from nodewise.graph.tensors import GraphTensors, Sparse, csr_tensor

__all__ = ["Field", "Fold"]


class Fold(NamedTuple):
    """A sparse matrix and its transpose, as CSR tensors."""

    forward: torch.Tensor
    backward: torch.Tensor


class Field:
    """Which rows matter to each run, growing with every label, and the matrices restricted to them.

    Attributes:
        queried: the labelled nodes in the order in which they came, [run, label].
    """

    def __init__(self, graph: GraphTensors, runs: int) -> None:
        self._graph, self._runs = graph, runs
        self._norm = tuple(t.numpy() for t in (graph.norm.crow, graph.norm.col, graph.norm.values))
        self._near = np.zeros((runs, graph.num_nodes), dtype=bool)
        self._far = np.zeros((runs, graph.num_nodes), dtype=bool)
        self.queried = np.zeros((runs, 0), dtype=np.int64)

    def add(self, nodes: np.ndarray) -> None:
        """Take in one more labelled node for each run: [run]."""
        self.queried = np.concatenate([self.queried, nodes[:, None]], axis=1)
        run, entry = self._entries(np.arange(self._runs), nodes)
        near = self._norm[1][entry]
        fresh = ~self._near[run, near]
        run, near = run[fresh], near[fresh]
        self._near[run, near] = True
        again, entry = self._entries(run, near)
        self._far[again, self._norm[1][entry]] = True

    def copy(self) -> Field:
        """The same labels, so that either may take in more without the other; to be built anew."""
        twin = Field(self._graph, self._runs)
        twin._near, twin._far, twin.queried = self._near.copy(), self._far.copy(), self.queried
        return twin

    def _entries(self, run: np.ndarray, node: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The entries of the given nodes' rows of the propagation matrix, each with its run."""
        entry, lengths = _row_entries(self._norm[0], node)
        return np.repeat(run, lengths), entry

    def build(self) -> None:
        """Restrict the matrices to the rows that matter now: call it once after adding labels.

        Sets ``far_run`` and ``far_node`` (the far nodes in order), ``far_count`` [run], ``first`` (far to near) and
        ``second`` (near to labelled), each with its transpose.
        """
        nodes = self._graph.num_nodes
        crow, col, values = self._norm
        self.far_run, self.far_node = np.nonzero(self._far)
        self.far_count = self._far.sum(1)
        near_run, near_node = np.nonzero(self._near)
        place = np.empty(self._runs * nodes, dtype=np.int32)
        place[self.far_run * nodes + self.far_node] = np.arange(len(self.far_run), dtype=np.int32)
        entry, lengths = _row_entries(crow, near_node)
        column = place[np.repeat(near_run * nodes, lengths) + col[entry]]
        self.first = _fold(lengths, column, values[entry], len(self.far_run))
        place[near_run * nodes + near_node] = np.arange(len(near_run), dtype=np.int32)
        run = np.repeat(np.arange(self._runs), self.queried.shape[1])
        entry, lengths = _row_entries(crow, self.queried.ravel())
        column = place[np.repeat(run * nodes, lengths) + col[entry]]
        self.second = _fold(lengths, column, values[entry], len(near_run))

    def input_entries(self, x: Sparse) -> tuple[Fold, np.ndarray]:
        """The far nodes' rows of sparse features, columns counted through all runs, and the transpose's order of entries."""
        entry, lengths = _row_entries(x.crow.numpy(), self.far_node)
        columns = x.shape[1]
        column = (np.repeat(self.far_run * columns, lengths) + x.col.numpy()[entry]).astype(np.int32)
        return _ordered_fold(lengths, column, x.values.numpy()[entry], self._runs * columns)


def _row_entries(crow: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the entries of some rows stand in a CSR matrix, and how many each row has."""
    start = crow[rows].astype(np.int64)
    lengths = crow[rows + 1] - start
    ends = np.cumsum(lengths)
    return np.repeat(start - (ends - lengths), lengths) + np.arange(ends[-1] if len(ends) else 0), lengths


def _ordered_fold(lengths: np.ndarray, column: np.ndarray, values: np.ndarray, columns: int) -> tuple[Fold, np.ndarray]:
    crow = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    shape = (len(lengths), columns)
    # scipy transposes in linear time; carrying the positions tells how to reorder values that change every epoch
    turned = sp.csr_matrix((np.arange(len(column), dtype=np.int32), column, crow), shape=shape, copy=False).tocsc()
    order = turned.data
    forward = csr_tensor(torch.from_numpy(crow), torch.from_numpy(column), torch.from_numpy(values), shape)
    back = csr_tensor(torch.from_numpy(turned.indptr), torch.from_numpy(turned.indices), torch.from_numpy(values[order]), shape[::-1])
    return Fold(forward, back), order


def _fold(lengths: np.ndarray, column: np.ndarray, values: np.ndarray, columns: int) -> Fold:
    return _ordered_fold(lengths, column, values, columns)[0]
