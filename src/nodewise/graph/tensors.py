"""A graph's matrices as tensors on one device, ready to be applied to a batch of runs."""

from __future__ import annotations

import hashlib
import sys
import warnings
from collections.abc import Mapping
from copy import copy
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
import torch

from nodewise.graph.graph import Graph
from nodewise.graph.structural import pagerank, structural_features
from nodewise.ground.events import Reporter

__all__ = ["GraphTensors", "Sparse", "csr_product", "csr_tensor"]

# without MKL, older versions of torch multiply by zero what the output held before, and zero times not-a-number is not
# a number
_READS_OUTPUT = sys.platform != "linux" or not torch.backends.mkl.is_available()


def csr_tensor(crow: torch.Tensor, col: torch.Tensor, values: torch.Tensor, shape: tuple[int, ...]) -> torch.Tensor:
    """torch's CSR tensor over the given arrays, without a check or a copy."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse (CSR tensor support|invariant checks)")
        return torch.sparse_csr_tensor(crow, col, values, size=shape, check_invariants=False)


def csr_product(matrix: torch.Tensor, dense: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """The product of a CSR tensor and a matrix on the CPU, the same to the bit as torch's, in about a third of the
    time.

    ``torch.mm`` zeroes a matrix of the output's size and copies it into the output before it multiplies; a product that
    adds nothing to an output of our own does neither.

    Args:
        out: where the product goes, [rows, width]; new memory if None.
    """
    if out is None:
        if torch.is_grad_enabled() and dense.requires_grad:
            return torch.mm(matrix, dense)  # autograd wants outputs of its own
        out = dense.new_empty(matrix.shape[0], dense.shape[1])
    if _READS_OUTPUT:
        out.zero_()
    return torch.addmm(out, matrix, dense, beta=0, out=out)


def _shared(array: np.ndarray) -> torch.Tensor:
    """A tensor over the array's own memory, which may be a file's; nobody writes to a graph's features."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The given NumPy array is not writ")
        return torch.from_numpy(array)


class Sparse:
    """A sparse matrix that is applied to each run of a batch alike.

    On the CPU the batch is one product with a block-diagonal matrix: MKL multiplies many short rows far faster than few
    wide ones. On a GPU it is one kernel over (row, run).

    Attributes:
        crow, col, values: the CSR arrays, int32 [rows + 1], int32 [entries], float [entries].
        shape: rows and columns.
    """

    def __init__(self, matrix: sp.csr_matrix, device: torch.device, dtype: torch.dtype = torch.float32) -> None:
        matrix = sp.csr_matrix(matrix)
        matrix.sort_indices()
        self.shape: tuple[int, int] = (int(matrix.shape[0]), int(matrix.shape[1]))
        self.crow = torch.from_numpy(matrix.indptr.astype(np.int32)).to(device)
        self.col = torch.from_numpy(matrix.indices.astype(np.int32)).to(device)
        self.values = torch.tensor(matrix.data, device=device, dtype=dtype)
        self.device = device
        self._blocks: dict[int, torch.Tensor] = {}

    @property
    def entries(self) -> int:
        """How many entries the matrix has."""
        return self.col.numel()

    def block(self, runs: int) -> torch.Tensor:
        """The block-diagonal CSR tensor [runs * rows, runs * columns]; the last few sizes are kept."""
        if runs not in self._blocks:
            if len(self._blocks) > 3:
                self._blocks.pop(next(iter(self._blocks)))
            rows, columns = self.shape
            starts = torch.arange(runs, device=self.device, dtype=torch.int64)[:, None]
            crow = torch.cat(
                [
                    (self.crow[:-1] + starts * self.entries).reshape(-1),
                    torch.tensor([runs * self.entries], device=self.device),
                ]
            )
            kind = torch.int32 if max(runs * self.entries, runs * columns) < 2**31 else torch.int64
            col = (self.col + starts * columns).reshape(-1).to(kind)
            self._blocks[runs] = csr_tensor(crow.to(kind), col, self.values.repeat(runs), (runs * rows, runs * columns))
        return self._blocks[runs]

    def mm(self, dense: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
        """The product with every run's matrix: [run, column, width] to [run, row, width].

        On the CPU into ``out``, if given.
        """
        runs, _, width = dense.shape
        if self.device.type == "cuda":
            from nodewise.graph.sparse_kernels import sparse_product

            return sparse_product(self.crow, self.col, self.values, dense)
        flat = None if out is None else out.view(-1, width)
        return csr_product(self.block(runs), dense.reshape(-1, width), flat).view(runs, self.shape[0], width)


class Preparing(Protocol):
    """What makes something once of a graph: the part of `nodewise.contracts.Classifier` that is needed here."""

    def identity(self) -> Mapping[str, Any]:
        """What the preparation depends on."""

    def prepare(self, graph: GraphTensors, reporter: Reporter | None = None) -> Any:
        """What is made once."""


class GraphTensors:
    """What a computation needs of a graph, on one device.

    Attributes:
        weighted: whether the edges have weights.
        adjacency: A, symmetric, 0 or 1; of a weighted graph the edges' weights divided by their mean.
        degree: the sum of a node's row of A, its number of neighbours where edges have no weights: [node].
        divisor: the degree, 1 where it is 0: what a sum over neighbours is divided by to be their mean: [node].
        sparse_x, offset, dense_x: the features are ``sparse_x - offset`` or ``dense_x``; the one not
        used is None.
        relations: `Graph.relations`.
        y: [node], int64, -1 where unlabelled (all -1 without labels); `unlabelled` has none.
        several: whether a node may have several classes. y_sets: then int8 [node, class], as `Graph.y_sets`, else
        None; `unlabelled` has None.
    """

    def __init__(self, graph: Graph, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float32) -> None:
        # on the device itself, so that "cuda" and its tensors' "cuda:0" are the same to a comparison
        self.device = torch.empty(0, device=device).device
        self.dtype = dtype
        self.name = graph.name
        self.num_nodes = graph.num_nodes
        self.num_classes = graph.num_classes
        self.weighted = graph.edge_weight is not None
        adjacency = graph.adjacency(weighted=True)
        self.adjacency = Sparse(adjacency, self.device, dtype)
        self._norm: list[Sparse] = []
        degree = np.asarray(adjacency.sum(1, dtype=np.float64)).ravel() if self.weighted else graph.degree
        self.degree = torch.tensor(degree, device=self.device, dtype=dtype)
        self.divisor = self.degree.masked_fill(self.degree == 0, 1)
        self._prepared: dict[tuple[type, str], Any] = {}
        self.has_features = graph.has_features
        self.relations = graph.relations
        self.max_degree = int(graph.degree.max(initial=0))
        self.y = torch.tensor(
            np.full(graph.num_nodes, -1) if graph.y is None else graph.y, device=self.device, dtype=torch.int64
        )
        self.several = graph.several
        self.y_sets: torch.Tensor | None = (
            None if graph.y_sets is None else torch.tensor(graph.y_sets, device=self.device)
        )
        x, offset = graph.x, graph.x_offset
        if x is None or not graph.has_features:
            x, offset = structural_features(graph), None
        self.num_features = int(x.shape[1])
        self.sparse_x: Sparse | None = None
        self.dense_x: torch.Tensor | None = None
        self.offset: torch.Tensor | None = None
        if sp.issparse(x):
            self.sparse_x = Sparse(x, self.device, dtype)
            self.offset = None if offset is None else torch.tensor(offset, device=self.device, dtype=dtype)
        else:
            self.dense_x = _shared(np.asarray(x if offset is None else x - offset)).to(self.device, dtype)

    @property
    def norm(self) -> Sparse:
        """D^-1/2 (A + I) D^-1/2, the propagation of a GCN.

        Made when it is first asked for, since not every classifier does.
        """
        if not self._norm:  # a list that the twin without labels shares
            arrays = (part.cpu().numpy() for part in (self.adjacency.values, self.adjacency.col, self.adjacency.crow))
            loops = (
                sp.csr_matrix(tuple(arrays), shape=self.adjacency.shape) + sp.eye(self.num_nodes, format="csr")
            ).astype(np.float64)
            scale = sp.diags(np.asarray(loops.sum(1)).ravel() ** -0.5)
            self._norm.append(Sparse((scale @ loops @ scale).tocsr(), self.device, self.dtype))
        return self._norm[0]

    @cached_property
    def edge_index(self) -> torch.Tensor:
        """Every edge in both directions, as PyTorch Geometric has it: int64 [2, entries of the adjacency]."""
        rows = torch.arange(self.num_nodes, device=self.device)
        counts = self.adjacency.crow.diff().to(torch.int64)
        return torch.stack([rows.repeat_interleave(counts), self.adjacency.col.to(torch.int64)])

    @property
    def x(self) -> torch.Tensor:
        """The features as a dense matrix, made anew where they are sparse: [node, feature]."""
        if self.dense_x is not None:
            return self.dense_x
        assert self.sparse_x is not None
        crow, col = self.sparse_x.crow.to(torch.int64), self.sparse_x.col.to(torch.int64)
        rows = torch.arange(self.num_nodes, device=self.device).repeat_interleave(crow.diff())
        dense = torch.zeros(self.sparse_x.shape, dtype=self.dtype, device=self.device)
        dense[rows, col] = self.sparse_x.values
        return dense if self.offset is None else dense.sub_(self.offset)

    @cached_property
    def unweighted(self) -> GraphTensors:
        """The same graph without weights: what is given to whoever cannot use them. Itself where there are none."""
        if not self.weighted:
            return self
        twin = copy(self)
        for kept in ("unlabelled", "one_relation", "fingerprint", "degree_rank", "pagerank", "pagerank_rank"):
            twin.__dict__.pop(kept, None)
        twin.weighted, twin.adjacency = False, copy(self.adjacency)
        twin.adjacency.values, twin.adjacency._blocks = torch.ones_like(self.adjacency.values), {}
        twin.degree = self.adjacency.crow.diff().to(self.dtype)
        twin.divisor = twin.degree.clamp_min(1)
        twin._norm, twin._prepared = [], {}
        return twin

    @cached_property
    def one_relation(self) -> GraphTensors:
        """The same edges without relations: what is given to whoever cannot tell them apart. Itself without any."""
        if self.relations is None:
            return self
        twin = copy(self)
        for kept in ("unlabelled", "unweighted", "fingerprint"):
            twin.__dict__.pop(kept, None)
        twin.relations, twin._prepared = None, {}
        return twin

    @cached_property
    def unlabelled(self) -> GraphTensors:
        """The same tensors without the labels: what strategies and learners are given."""
        twin = copy(self)
        del twin.y
        twin.y_sets = None
        twin.__dict__["unlabelled"] = twin
        return twin

    @property
    def known(self) -> torch.Tensor:
        """Which nodes have an answer: bool [node]."""
        return self.y >= 0 if self.y_sets is None else (self.y_sets >= 0).all(1)

    def prepared_by(self, classifier: Preparing, reporter: Reporter | None = None) -> Any:
        """What a classifier or a strategy makes once of the graph, made when it is first asked for.

        Of several the four that were asked for last are kept.
        """
        key = (type(classifier), repr(sorted(classifier.identity().items(), key=str)))
        kept = self._prepared
        made = kept.pop(key) if key in kept else classifier.prepare(self.unlabelled, reporter)
        while len(kept) > 3:
            kept.pop(next(iter(kept)))
        kept[key] = made
        return made

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the edges, their weights and features, without the labels: what preparations are kept by."""
        digest = hashlib.blake2b(f"{self.num_nodes} {self.num_features} {self.dtype}".encode(), digest_size=16)
        parts = [self.adjacency.crow, self.adjacency.col, self.dense_x, self.offset]
        parts += [self.adjacency.values] if self.weighted else []
        if self.sparse_x is not None:
            parts += [self.sparse_x.crow, self.sparse_x.col, self.sparse_x.values]
        for part in parts:
            digest.update(b"-" if part is None else part.cpu().contiguous().numpy().data)
        if self.relations is not None:
            digest.update(self.relations.fingerprint.encode())
        return digest.hexdigest()

    @cached_property
    def degree_rank(self) -> torch.Tensor:
        """0 for the nodes of the smallest degree, 1 for those of the next, and so on: [node]."""
        rank: torch.Tensor = torch.unique(self.degree, return_inverse=True)[1]
        return rank.to(self.dtype)

    @cached_property
    def pagerank(self) -> torch.Tensor:
        """PageRank of every node, damping 0.85, 100 steps; an isolated node's rank is spread over all. [node]."""
        rank: torch.Tensor = pagerank(
            lambda vector: self.adjacency.mm(vector[None, :, None])[0, :, 0], self.degree, 100
        )
        return rank

    @cached_property
    def pagerank_rank(self) -> torch.Tensor:
        """0 for the nodes of the smallest PageRank, 1 for those of the next, and so on: [node]."""
        rank: torch.Tensor = torch.unique(self.pagerank, return_inverse=True)[1]
        return rank.to(self.dtype)

    def neighbours(self, node: int) -> np.ndarray:
        """The neighbours of a node, of tensors on the CPU: int64 [neighbour]."""
        crow, col = self.adjacency.crow.numpy(), self.adjacency.col.numpy()
        return col[crow[node] : crow[node + 1]].astype(np.int64)

    def input_rows(self, nodes: np.ndarray) -> torch.Tensor:
        """The features of some nodes as a dense matrix on the CPU: [node, feature]."""
        if self.dense_x is not None:
            return self.dense_x[torch.from_numpy(nodes)]
        assert self.sparse_x is not None
        arrays = (t.numpy() for t in (self.sparse_x.values, self.sparse_x.col, self.sparse_x.crow))
        rows = torch.from_numpy(sp.csr_matrix(tuple(arrays), shape=self.sparse_x.shape)[nodes].toarray())
        return rows if self.offset is None else rows.sub_(self.offset)

    def input_product(self, weight: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
        """Features times each run's weights, nothing dropped: [run, feature, width] to [run, node, width].

        On the CPU into ``out``, if given.
        """
        if self.dense_x is not None:
            return torch.matmul(self.dense_x, weight, out=out)
        assert self.sparse_x is not None
        product = self.sparse_x.mm(weight, out)
        return product if self.offset is None else product.sub_(torch.matmul(self.offset, weight)[:, None])
