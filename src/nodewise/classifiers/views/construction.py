"""Views of a graph: matrices of node vectors that need no label, made once for each graph.

Features are scaled by row, reduced to their leading 256 directions, and only then diffused, which is the same since
both are linear; sparse ones are never dense as a whole. Every view is centred (those of features), brought to rows of
unit length and reduced to its leading columns, sorted by how much they carry. Reductions are eigenvectors of Gram
matrices, exact, or Lanczos' to a tolerance beyond which nothing that is drawn matters (`reduction`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import torch
from scipy.sparse.linalg import eigsh
from threadpoolctl import threadpool_limits

from nodewise.classifiers.views.kin import joined_to_nearest
from nodewise.classifiers.views.large import diffuse_large, leading_eigenvectors, small_pieces
from nodewise.classifiers.views.products import (
    LARGE,
    Array,
    SparseProduct,
    centred,
    diffuse,
    narrow,
    scipy_matrix,
    symmetric_propagation,
    unit,
    unit_or_zero,
)
from nodewise.classifiers.views.reduction import REDUCED, reduced
from nodewise.classifiers.views.relational import (
    direction_names,
    direction_views,
    relational_names,
    relational_views,
)
from nodewise.graph.relations import Relations
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import one_thread
from nodewise.ground.events import Progress, Reporter, Silent

__all__ = [
    "DIFFUSED",
    "KIN",
    "LEADING",
    "SAMPLED",
    "WIDTH",
    "GraphViews",
    "edge_eigenvectors",
    "leading_columns",
    "make_views",
    "role_columns",
    "role_quantities",
    "unit_features",
    "view_names",
]

WIDTH = 64
"""Columns of a view of the features, at least."""

LEADING, MOST_LEADING = 32, 256
"""Leading columns of a view that are enough to tell where a label is worth most, of the view of the edges all of them.

With more than 25 classes they are more, up to 256: classes cannot be told apart in fewer directions than classes.
"""

SAMPLED = 2**16
"""Nodes in a sample of a large graph."""

_PAIRS = 2**25
"""Products of columns that are kept at most."""

_DENSE = 1500
"""Nodes up to which the edges' eigenvectors are taken from the whole matrix; above, by Lanczos' method."""

_OF_EDGES, _OF_FEATURES = ("spectrum", "role"), ("own", "kin")
_OF_BOTH = ("near", "far", "farther", "farthest", "walk", "two hops", "layers", "kin near")
"""The views of a graph's edges alone, of its features alone, and of both."""

DIFFUSED = {"walk": (0.1, 10), "near": (0.1, 10), "far": (0.05, 20), "farther": (0.02, 40), "farthest": (0.005, 100)}
KIN = (0.02, 40)
"""α and the number of steps of the views that are diffused along the edges, and among kin."""

_CENTRED_BEFORE = ("farther", "farthest")
"""Views whose features are centred before they are diffused, too.

From far away all nodes look alike but for their degree, if they have a common part.
"""


@dataclass(frozen=True)
class GraphViews:
    """The views of a graph.

    Attributes:
        names: of the views.
        columns: float32 [node, view, column], on the graph's device; narrower views are filled up with zeros.
        leading_columns: how many of them tell where a label is worth most.
    """

    names: tuple[str, ...]
    columns: torch.Tensor
    leading_columns: int = LEADING

    @property
    def flat(self) -> torch.Tensor:
        """The views side by side: [node, view × column]."""
        return self.columns.flatten(1)

    @cached_property
    def leading(self) -> torch.Tensor:
        """The leading columns of every view, each view in one piece of memory: [view, node, leading column]."""
        return self.columns[:, :, : self.leading_columns].transpose(0, 1).contiguous()

    @cached_property
    def across(self) -> torch.Tensor:
        """The same turned: [view, leading column, node]."""
        return self.leading.transpose(1, 2).contiguous()

    @cached_property
    def pairs(self) -> torch.Tensor | None:
        """Products of two leading columns each, the upper triangle of z zᵀ: [view, pair, node].

        None where they would take over 128 MB.
        """
        views, columns, nodes = self.across.shape
        row, column = torch.triu_indices(columns, columns)
        if views * len(row) * nodes > _PAIRS:
            return None
        return torch.stack([view[row] * view[column] for view in self.across])

    def part(self, nodes: torch.Tensor) -> GraphViews:
        """The views of some nodes alone, int64 [node]."""
        return GraphViews(self.names, self.columns[nodes], self.leading_columns)

    @cached_property
    def sample(self) -> tuple[torch.Tensor, GraphViews]:
        """Nodes that stand for all where there are very many, from a fixed seed, int64 [node], and their views.

        The same ones whenever it is asked.
        """
        count, device = len(self.columns), self.columns.device
        if count <= SAMPLED:
            return torch.arange(count, device=device), self
        nodes = torch.from_numpy(np.sort(np.random.default_rng(0).permutation(count)[:SAMPLED])).to(device)
        return nodes, self.part(nodes)

    def wider(self, leading: int, make: Callable[[], GraphViews]) -> GraphViews:
        """The views with so many leading columns: made when first asked for, and kept with these."""
        if leading not in self._wider:
            self._wider[leading] = make()
        return self._wider[leading]

    @cached_property
    def _wider(self) -> dict[int, GraphViews]:
        return {}

    def to(self, device: torch.device, dtype: torch.dtype) -> GraphViews:
        """The same on another device."""
        return GraphViews(self.names, self.columns.to(device, dtype), self.leading_columns)


def leading_columns(classes: int) -> int:
    """Leading columns for so many classes: a power of two that is a quarter above them, from 32 to 256."""
    return min(MOST_LEADING, max(LEADING, 1 << math.ceil(math.log2(max(1.0, 1.25 * classes)))))


def view_names(features: bool, edges: bool, relations: Relations | None = None) -> tuple[str, ...]:
    """The views that a graph with or without features and edges has, in the order in which they stand side by side."""
    if relations is not None and not relations.one_type:
        return relational_names(relations, features)
    if relations is not None:
        return (*view_names(features, edges), *direction_names(relations, features))
    if not features and not edges:
        return ("nothing",)
    return (
        *(_OF_EDGES if edges else ()),
        *(_OF_BOTH if features and edges else ()),
        *(_OF_FEATURES if features else ()),
    )


def make_views(graph: GraphTensors, reporter: Reporter | None = None, leading: int = LEADING) -> GraphViews:
    """The views of a graph, on the CPU.

    With P the symmetric propagation D^-1/2 (A + I) D^-1/2, W the random walk with loops and N the mean over neighbours:

    - ``near``, ``far``, ``farther``, ``farthest``: features diffused by P, z ← (1 − α) P z + α x, with α 0.1, 0.05,
      0.02 and 0.005 in 10, 20, 40 and 100 steps, the last two of features less their means; ``walk``: by W, as
      ``near``;
    - ``own``: the features; ``two hops``: N N x; ``layers``: own, one and two hops side by side;
    - ``spectrum``: leading eigenvectors of (D + d̄)^-1/2 A (D + d̄)^-1/2, d̄ the mean degree, times their eigenvalues;
    - ``kin``: features diffused as ``farther`` is, over the graph of each node's 10 nearest nodes in ``own`` (cosine,
      both ways); ``kin near``: over the given edges and the 10 nearest nodes in ``near`` together;
    - ``role``: cosines of the ranks of the node's degree, of its neighbours' mean degree and of theirs.

    Where edges have weights, A holds them, divided by their mean, and a degree is their sum.
    A graph without features has ``spectrum`` and ``role``; one without edges ``own`` and ``kin``. One whose edges have
    a direction has those of `relational.direction_views` beside them, one of several node types those of
    `relational.relational_views` in their place.
    """
    report = reporter or Silent()
    adjacency = scipy_matrix(graph.adjacency)
    names = view_names(graph.has_features, adjacency.nnz > 0, graph.relations)
    found: dict[str, Array] = {}
    with _threads(graph.num_nodes):
        for name, view in _all_views(graph, adjacency, leading):
            found[name] = view.astype(np.float32, copy=False)
            report(Progress("views", len(found), len(names)))
    columns = np.zeros((graph.num_nodes, len(names), max(block.shape[1] for block in found.values())), np.float32)
    for number, name in enumerate(names):
        block = found.pop(name)
        columns[:, number, : block.shape[1]] = block
    return GraphViews(names, torch.from_numpy(columns), leading)


@contextmanager
def _threads(nodes: int) -> Iterator[None]:
    """numpy's library on one thread, and torch as well but for the dense products of large graphs.

    Sparse products are done in blocks on all cores.

    Threads that wait for each other between small products cost more than they bring, many times more on a busy
    machine.
    """
    with threadpool_limits(1, user_api="blas"), nullcontext() if nodes >= LARGE else one_thread():
        yield


def _all_views(graph: GraphTensors, adjacency: sp.csr_matrix, leading: int) -> Iterator[tuple[str, Array]]:
    """The views as they are made: what needs most memory first, when few are there yet."""
    record = graph.relations
    if record is not None and not record.one_type:
        yield from relational_views(
            record, unit_features(graph) if graph.has_features else None, leading, unit_features
        )
        return
    if record is not None:
        yield from direction_views(record, unit_features(graph) if graph.has_features else None, leading)
    if graph.has_features:
        x, near, width = unit_features(graph), None, max(WIDTH, leading)
        own = narrow(centred(x.copy()), width)
        yield "own", own
        if adjacency.nnz:
            for name, view in _feature_views(x, adjacency, width):
                near = view if name == "near" else near
                yield name, view
        yield from _kin_views(x, own, near, adjacency, width)
        del x
    if adjacency.nnz:
        yield "spectrum", _spectrum(adjacency, leading)
        yield "role", unit(_roles(adjacency))
    elif not graph.has_features:
        yield "nothing", np.ones((graph.num_nodes, 1))


def unit_features(graph: GraphTensors) -> Array:
    """The features, rows of unit length, in their leading directions where they have many.

    Float32 [node, at most 256].
    """
    if graph.dense_x is not None and graph.num_features <= REDUCED:
        return unit_or_zero(graph.dense_x.cpu().numpy()).astype(np.float32, copy=False)
    return np.ascontiguousarray(reduced(graph), np.float32)


def _feature_views(x: Array, adjacency: sp.csr_matrix, columns: int) -> Iterator[tuple[str, Array]]:
    (count, width), apart = x.shape, _apart(adjacency)
    mean = SparseProduct(sp.diags(_inverse(np.asarray(adjacency.sum(1)).ravel())) @ adjacency)
    layers = np.empty((count, 3 * width), np.float32)
    layers[:, :width] = x
    layers[:, width : 2 * width] = one = mean(x)
    layers[:, 2 * width :] = two = mean(one)
    del mean, one
    yield "two hops", narrow(centred(two), columns)
    del two
    for first in range(0, 3 * width, width):
        centred(layers[:, first : first + width])
    yield "layers", narrow(centred(layers), columns)
    del layers
    loops = (adjacency + sp.eye(count, format="csr")).astype(np.float32)
    walk = SparseProduct(sp.diags(1 / np.asarray(loops.sum(1)).ravel()) @ loops)
    yield from _diffused(walk, x, _recipes("walk"), apart, columns)
    del loops, walk
    symmetric = symmetric_propagation(adjacency)
    yield from _diffused(symmetric, x, _recipes("near", "far"), apart, columns)
    x -= x.mean(0, dtype=np.float64).astype(x.dtype)  # in place: nothing else is made of it
    yield from _diffused(symmetric, x, _recipes(*_CENTRED_BEFORE), apart, columns)


def _kin_views(
    x: Array, own: Array, near: Array | None, adjacency: sp.csr_matrix, columns: int
) -> Iterator[tuple[str, Array]]:
    """Features less their means, diffused over the nearest nodes in ``own``; over those in ``near`` and the edges.

    Both sets of edges have the same total weight.
    """
    x = narrow(x - x.mean(0, dtype=np.float64).astype(x.dtype), columns)
    kin = {"kin": joined_to_nearest(own)}
    if near is not None:
        nearest = joined_to_nearest(near)
        kin["kin near"] = (nearest + adjacency.astype(np.float32) * (nearest.sum() / adjacency.sum())).tocsr()
    for name, joined in kin.items():
        for _, total in diffuse(symmetric_propagation(joined), x, {name: KIN}):
            yield name, narrow(centred(unit(total)), columns)


def _inverse(degree: Array) -> Array:
    """1 over the degree, and 1 for a node without edges, whatever is divided then being 0."""
    inverse: Array = 1 / np.where(degree > 0, degree, np.ones_like(degree))
    return inverse


def _recipes(*names: str) -> dict[str, tuple[float, int]]:
    return {name: DIFFUSED[name] for name in names}


def _apart(adjacency: sp.csr_matrix) -> Array:
    """Nodes of a large graph that are diffused by themselves, int64 [node]."""
    if adjacency.shape[0] < LARGE:
        return np.zeros(0, np.int64)
    return small_pieces(adjacency)


def _diffused(
    matrix: SparseProduct, x: Array, wanted: dict[str, tuple[float, int]], apart: Array, columns: int
) -> Iterator[tuple[str, Array]]:
    """Features diffused with several α in K steps each, all from one series of powers.

    K steps of z ← (1 − α) P z + α x from z = x give (1 − α)^K P^K x + α Σ_{k<K} (1 − α)^k P^k x.
    """
    if len(x) < LARGE:
        sums = diffuse(matrix, x, wanted)
    else:
        sums = diffuse_large(matrix, x, wanted, apart, dict(diffuse(matrix.part(apart), x[apart], wanted)))
    for name, total in sums:
        yield name, narrow(centred(unit(total)) if name in _CENTRED_BEFORE else centred(total), columns)


def _spectrum(adjacency: sp.csr_matrix, wanted: int) -> Array:
    """Eigenvectors of the edges times their eigenvalues, rows of unit length: [node, at most wanted]."""
    values, vectors = edge_eigenvectors(adjacency, wanted)
    return unit(vectors * values)


def edge_eigenvectors(adjacency: sp.csr_matrix, wanted: int) -> tuple[Array, Array]:
    """The largest positive eigenvalues of (D + d̄)^-1/2 A (D + d̄)^-1/2 and their vectors: [node, at most wanted]."""
    degree = np.asarray(adjacency.sum(1)).ravel().astype(np.float64)
    root = (degree + degree.mean()) ** -0.5
    matrix = (sp.diags(root) @ adjacency @ sp.diags(root)).tocsr()
    if len(degree) >= LARGE:
        values, vectors = leading_eigenvectors(SparseProduct(matrix), len(degree), wanted)
    elif len(degree) < _DENSE:
        values, vectors = np.linalg.eigh(matrix.toarray())
    else:
        values, vectors = eigsh(matrix, k=wanted, which="LA", v0=1 / root, tol=1e-4)
    order = np.argsort(-values, kind="stable")[:wanted]
    order = order[values[order] > 1e-6]
    return values[order], vectors[:, order]


def _roles(adjacency: sp.csr_matrix) -> Array:
    """cos(π j r) / j, j = 1 … 5, of the ranks r in [0, 1] of three quantities: [node, 15]; equal nodes share a rank."""
    quantities = role_quantities(adjacency)
    return role_columns(quantities, [np.sort(quantity.astype(np.float32)) for quantity in quantities])


def role_quantities(adjacency: sp.csr_matrix) -> list[Array]:
    """The logarithm of each node's degree, its neighbours' mean, and the mean of theirs: [node] each."""
    adjacency = adjacency.astype(np.float64)
    degree = np.asarray(adjacency.sum(1)).ravel()
    own = np.log1p(degree)
    share = sp.diags(_inverse(degree)) @ adjacency
    one = share @ own
    return [own, one, share @ one]


def role_columns(quantities: Sequence[Array], ordered: Sequence[Array]) -> Array:
    """cos(π j r) / j of the ranks that quantities have among ordered ones: [row, 15]."""
    columns = []
    for quantity, among in zip(quantities, ordered, strict=True):
        quantity = quantity.astype(
            np.float32
        )  # so that the rounding of sums in double precision does not tell equal nodes apart
        rank = (np.searchsorted(among, quantity, "left") + np.searchsorted(among, quantity, "right")) / (2 * len(among))
        columns += [np.cos(math.pi * j * rank) / j for j in range(1, 6)]
    return np.stack(columns, 1)
