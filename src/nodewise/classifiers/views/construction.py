"""Views of a graph: matrices of node vectors that need no label, made once for each graph; and where a row that was not
in the graph stands in each.

Features are scaled by row, reduced to their leading 256 directions, and only then diffused, which is the same since
both are linear; sparse ones are never dense as a whole. Every view is centred (those of features), brought to rows of
unit length and reduced to its leading columns, sorted by how much they carry. Reductions are eigenvectors of Gram
matrices, exact, or Lanczos' to a tolerance beyond which nothing that is drawn matters (`reduction`).

A row that was not in the graph is placed by one more step of each view's own recipe (see `places`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext

import numpy as np
import scipy.sparse as sp
import torch
from scipy.sparse.linalg import eigsh
from threadpoolctl import threadpool_limits

from nodewise.classifiers.views.graph_views import LEADING, GraphViews
from nodewise.classifiers.views.kin import TOGETHER, kin_placing, kin_views, placed_by_kin
from nodewise.classifiers.views.large import diffuse_over, diffuse_pieces, leading_eigenvectors, small_pieces
from nodewise.classifiers.views.products import (
    LARGE,
    WIDTH,
    Array,
    ProductKind,
    RowPropagation,
    RowWalk,
    SparseProduct,
    centred,
    diffuse,
    ending,
    finished,
    inverse_degrees,
    leading_directions,
    linear_map,
    mean_row,
    narrow,
    product_kind,
    scipy_matrix,
    symmetric_propagation,
    unit,
    unit_or_zero,
)
from nodewise.classifiers.views.reduction import REDUCED, reduced
from nodewise.classifiers.views.relational import (
    all_nodes,
    direction_names,
    direction_views,
    relational_names,
    relational_views,
    whole_adjacency,
    whole_features,
)
from nodewise.graph.knn.rows import NodeSearch
from nodewise.graph.relations import Relations
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import one_thread
from nodewise.ground.events import Progress, Reporter, Silent

__all__ = [
    "LEADING",
    "WIDTH",
    "GraphViews",
    "few_threads",
    "leading_columns",
    "make_views",
    "placed_rows",
    "placing_arrays",
    "unit_features",
    "view_names",
]

MOST_LEADING = 256
"""Leading columns at most: with more than 25 classes there are more than `LEADING`, since classes cannot be told apart
in fewer directions than classes.
"""

_DENSE = 1500
"""Nodes up to which the edges' eigenvectors are taken from the whole matrix; above, by Lanczos' method.

Of few columns of a sparse matrix scipy's, a vector at a time, takes a seventh to a fourth of `block_lanczos`' time
(Cora, Citeseer, Pubmed, the same tolerance); of many columns of features it is the other way round.
`leading_eigenvectors` takes a third of scipy's time, and misses its equation by many times as much: it is for the
largest graphs alone.
"""

_OF_EDGES, _OF_FEATURES = ("spectrum", "role"), ("own", "kin")
_OF_BOTH = ("near", "far", "farther", "farthest", "walk", "two hops", "layers", "kin near")
"""The views of a graph's edges alone, of its features alone, and of both."""

_SPECTRUM_FAR = "spectrum far"
"""The view that graphs of edges alone have beside those (benchmarks/spectrum_forms.py)."""

_OF_WHOLE = ("near", "far", "farther", "farthest", "walk", "two hops", "layers")
"""Of both, the views of one graph of all node types."""

_DIFFUSED = {"walk": (0.1, 10), "near": (0.1, 10), "far": (0.05, 20), "farther": (0.02, 40), "farthest": (0.005, 100)}
"""α and the number of steps of the views that are diffused along the edges."""

_AS_THEY_ARE, _CENTRED_BEFORE = ("near", "far"), ("farther", "farthest")
"""Views whose features are diffused as they are, and views whose features are centred before they are diffused, too.

From far away all nodes look alike but for their degree, if they have a common part.
"""

_Search = Callable[[str], NodeSearch]


def leading_columns(classes: int) -> int:
    """Leading columns for so many classes: a power of two that is a quarter above them, from 32 to 256."""
    return min(MOST_LEADING, max(LEADING, 1 << math.ceil(math.log2(max(1.0, 1.25 * classes)))))


def view_names(features: bool, edges: bool, relations: Relations | None = None) -> tuple[str, ...]:
    """The views that a graph with or without features and edges has, in the order in which they stand side by side."""
    if relations is not None and not relations.one_type:
        own = relational_names(relations, features)
        if not relations.incidences:
            return own
        union = view_names(features, edges) if features or edges else ()
        union = tuple(name for name in union if name not in (TOGETHER, _SPECTRUM_FAR))
        reached = features or any(kind.x is not None for kind in relations.types)
        whole = ("spectrum", *(_OF_WHOLE if reached else ()))
        return (*own, *(f"union: {name}" for name in union), *(f"whole: {name}" for name in whole))
    if relations is not None:
        return (*view_names(features, edges), *direction_names(relations, features))
    if not features and not edges:
        return ("nothing",)
    return (
        *(_OF_EDGES if edges else ()),
        *(_OF_BOTH if features and edges else ()),
        *(_OF_FEATURES if features else ()),
        *((TOGETHER if features else _SPECTRUM_FAR,) if edges else ()),
    )


def make_views(graph: GraphTensors, reporter: Reporter | None = None, leading: int = LEADING) -> GraphViews:
    """The views of a graph, on the CPU.

    With P the symmetric propagation D^-1/2 (A + I) D^-1/2, W the random walk with loops and N the mean over neighbours:

    - ``near``, ``far``, ``farther``, ``farthest``: features diffused by P, z ← (1 − α) P z + α x, with α 0.1, 0.05,
      0.02 and 0.005 in 10, 20, 40 and 100 steps, the last two of features less their means; ``walk``: by W, as
      ``near``;
    - ``own``: the features; ``two hops``: N N x; ``layers``: own, one and two hops side by side;
    - ``spectrum``: leading eigenvectors of (D + d̄)^-1/2 A (D + d̄)^-1/2, d̄ the mean degree, times their eigenvalues;
    - ``spectrum far``: that diffused as ``far`` is, where there are no features;
    - ``kin``: features diffused as ``farther`` is, over the graph of each node's 10 nearest nodes in ``own`` (cosine,
      both ways); ``kin near``: over the given edges and the 10 nearest nodes in ``near`` together, in a large graph
      both of the features' leading directions, as it always is in ``kin together``: over the edges and the 10
      nearest nodes in the 64 leading directions of all these views of features side by side;
    - ``role``: cosines of the ranks of the node's degree, of its neighbours' mean degree and of theirs.

    Where edges have weights, A holds them, divided by their mean, and a degree is their sum.
    A graph without features has ``spectrum``, ``role`` and ``spectrum far``; one without edges ``own`` and ``kin``, of
    the leading directions. One whose edges have a direction has those of `relational.direction_views` beside them. One
    of several node types has those of `relational.relational_views`; these views of its plain edges, called ``union:
    NAME``, but neither ``kin together`` nor ``spectrum far``: a rule of their own chose what such graphs have
    (benchmarks/relational_choice.py); and ``whole: NAME``, the views of one plain graph of all types, as far as they
    look at the edges.
    """
    report = reporter or Silent()
    adjacency = scipy_matrix(graph.adjacency)
    names = view_names(graph.has_features, adjacency.nnz > 0, graph.relations)
    found: dict[str, Array] = {}
    with few_threads(graph.num_nodes):
        for name, view in _all_views(graph, adjacency, leading):
            found[name] = view.astype(np.float32, copy=False)
            report(Progress("views", len(found), len(names)))
    columns = np.zeros((graph.num_nodes, len(names), max(block.shape[1] for block in found.values())), np.float32)
    for number, name in enumerate(names):
        block = found.pop(name)
        columns[:, number, : block.shape[1]] = block
    return GraphViews(names, torch.from_numpy(columns), leading)


@contextmanager
def few_threads(nodes: int) -> Iterator[None]:
    """numpy's library on one thread, and torch as well but for the dense products of large graphs.

    Sparse products are done in blocks on all cores.

    Threads that wait for each other between small products cost more than they bring, many times more on a busy
    machine.
    """
    with threadpool_limits(1, user_api="blas"), nullcontext() if nodes >= LARGE else one_thread():
        yield


def _all_views(graph: GraphTensors, adjacency: sp.csr_matrix, leading: int) -> Iterator[tuple[str, Array]]:
    """The views as they are made: what needs most memory first, when few are there yet."""
    record, x = graph.relations, unit_features(graph) if graph.has_features else None
    if record is not None and not record.one_type:
        known, kind = dict[str, Array](), product_kind(all_nodes(record))
        for name, view in relational_views(record, x, leading, unit_features):
            known |= {name: view} if name in _OF_FEATURES else {}
            yield name, view
        if record.incidences:
            yield from ((f"whole: {name}", view) for name, view in _whole_views(x, record, leading))
            if x is not None or adjacency.nnz:
                yield from ((f"union: {name}", view) for name, view in _plain_views(x, adjacency, leading, kind, known))
        return
    if record is not None:
        yield from direction_views(record, x, leading)
    yield from _plain_views(x, adjacency, leading, product_kind(graph.num_nodes))


def _plain_views(
    x: Array | None,
    adjacency: sp.csr_matrix,
    leading: int,
    kind: ProductKind,
    union: Mapping[str, Array] | None = None,
) -> Iterator[tuple[str, Array]]:
    """The views that a graph without relations has.

    Args:
        x: what `unit_features` gives, None without features; it is changed in place.
        adjacency: the edges.
        leading: columns of a spectrum.
        kind: how sparse products are made.
        union: of a graph of several types those of `_OF_FEATURES` by name, where it has features; they are not made
            again.
    """
    if x is not None:
        width = max(WIDTH, leading)
        of_features = {"own": narrow(centred(x.copy()), width)} if union is None else dict(union)
        yield "own", of_features["own"]
        if adjacency.nnz:
            for name, view in _feature_views(x, adjacency, width, kind):
                of_features[name] = view
                yield name, view
        yield from kin_views(x, of_features, adjacency, width, kind, union is None and adjacency.nnz > 0)
    if adjacency.nnz:
        spectrum = _spectrum(adjacency, leading, kind)
        yield "spectrum", spectrum
        yield "role", unit(_roles(adjacency))
        if x is None and union is None:
            yield _SPECTRUM_FAR, _spectrum_far(adjacency, spectrum.astype(np.float32), kind)
    elif x is None:
        yield "nothing", np.ones((adjacency.shape[0], 1))


def _whole_views(x: Array | None, record: Relations, leading: int) -> Iterator[tuple[str, Array]]:
    """Views of one plain graph of all node types, the rows of the labelled one alone."""
    adjacency, own = whole_adjacency(record)
    whole, kind = whole_features(record, x, unit_features), product_kind(all_nodes(record))
    if whole is not None:
        width = max(WIDTH, leading)
        whole = whole if whole.shape[1] <= REDUCED else np.ascontiguousarray(narrow(whole, REDUCED), np.float32)
        for name, view in _feature_views(whole, adjacency, width, kind):
            yield name, narrow(centred(view[own].copy()), width)
    yield "spectrum", unit(_spectrum(adjacency, leading, kind)[own].copy())


def unit_features(graph: GraphTensors) -> Array:
    """The features, rows of unit length, in their leading directions where they have many.

    Float32 [node, at most 256].
    """
    if graph.dense_x is not None and graph.num_features <= REDUCED:
        return unit_or_zero(graph.dense_x.cpu().numpy()).astype(np.float32, copy=False)
    return np.ascontiguousarray(reduced(graph), np.float32)


def placing_arrays(x: Array | None, adjacency: sp.csr_matrix, columns: Mapping[str, Array]) -> dict[str, Array]:
    """What rows that were not in the graph need to be placed in its views, as named arrays.

    Args:
        x: what `unit_features` gives, None without features; adjacency: the graph's.
        columns: name of a view -> where the nodes stand in it.
    """
    arrays: dict[str, Array] = {"degree": np.asarray(adjacency.sum(1)).ravel().astype(np.float64)}
    if adjacency.nnz:
        arrays |= _edge_placing(adjacency, columns)
    if x is not None:
        arrays |= _feature_placing(x, adjacency, columns)
    return arrays


def placed_rows(
    arrays: Mapping[str, Array], x: Array | None, joined: sp.csr_matrix, search: _Search
) -> dict[str, Array]:
    """Where rows that were not in the graph stand in each of its views, by name.

    Args:
        arrays: what `placing_arrays` gave. x: the rows as `unit_features` has the nodes, None without features.
        joined: how strongly each row is joined to each node, [row, node].
        search: gives what finds the nodes that are nearest in a view.
    """
    found = _placed_by_edges(arrays, joined) if "spectrum columns" in arrays else {}
    return found if x is None else found | _placed_by_features(arrays, x, joined, search)


def _feature_views(x: Array, adjacency: sp.csr_matrix, columns: int, kind: ProductKind) -> Iterator[tuple[str, Array]]:
    count, width = x.shape
    alone = small_pieces(adjacency) if count >= LARGE else np.zeros(0, np.int64)
    mean = kind(sp.diags(inverse_degrees(np.asarray(adjacency.sum(1)).ravel())) @ adjacency)
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
    walk = kind(sp.diags(1 / np.asarray(loops.sum(1)).ravel()) @ loops)
    yield from _diffused(walk, x, ("walk",), alone, columns)
    del loops, walk
    symmetric = symmetric_propagation(adjacency, kind)
    if count < LARGE:
        yield from _diffused(symmetric, x, _AS_THEY_ARE, alone, columns)
    x -= (row := mean_row(x))  # in place: nothing else is made of it
    at_once = _CENTRED_BEFORE if count < LARGE else (*_AS_THEY_ARE, *_CENTRED_BEFORE)
    yield from _diffused(symmetric, x, at_once, alone, columns, row)


def _feature_placing(x: Array, adjacency: sp.csr_matrix, columns: Mapping[str, Array]) -> dict[str, Array]:
    """What rows need to be placed in the views of the features, and of features and edges."""
    arrays: dict[str, Array] = {"x mean": mean_row(x), "own mean": mean_row(x)}
    arrays["own columns"] = linear_map(centred(x.copy()), columns["own"])
    less = x - arrays["x mean"]
    if adjacency.nnz:
        arrays |= _placing_by_both(x, less, adjacency, columns)
    return arrays | kin_placing(less, columns, adjacency)


def _placing_by_both(x: Array, less: Array, adjacency: sp.csr_matrix, columns: Mapping[str, Array]) -> dict[str, Array]:
    arrays: dict[str, Array] = {}
    mean = SparseProduct(sp.diags(inverse_degrees(np.asarray(adjacency.sum(1)).ravel())) @ adjacency)
    one = mean(x)
    two = mean(one)
    for name, rows in (("x", x), ("one", one)):
        arrays[f"{name} directions"], arrays[f"{name} nodes"] = leading_directions(rows)
    arrays |= {f"{name} mean": mean_row(rows) for name, rows in (("x", x), ("one", one), ("two", two))}
    arrays["two hops columns"] = linear_map(centred(two.copy()), columns["two hops"])
    layers = np.concatenate([centred(rows.copy()) for rows in (x, one, two)], 1)
    arrays["layers mean"] = mean_row(layers)
    arrays["layers columns"] = linear_map(centred(layers), columns["layers"])
    loops = (adjacency + sp.eye(len(x), format="csr")).astype(np.float32)
    walk = SparseProduct(sp.diags(1 / np.asarray(loops.sum(1)).ravel()) @ loops)
    symmetric = symmetric_propagation(adjacency)
    for step, start, wanted in (
        (walk, x, ("walk",)),
        (symmetric, x, ("near", "far")),
        (symmetric, less, _CENTRED_BEFORE),
    ):
        for name, total in diffuse(step, start, {name: _DIFFUSED[name] for name in wanted}):
            directions, nodes = leading_directions(total)
            arrays[f"{name} directions"], arrays[f"{name} nodes"] = directions, nodes
            arrays |= ending(name, unit(nodes.copy()) if wanted is _CENTRED_BEFORE else nodes.copy(), columns[name])
    return arrays


def _placed_by_features(a: Mapping[str, Array], x: Array, joined: sp.csr_matrix, search: _Search) -> dict[str, Array]:
    """Rows in the views of the features, and of features and edges."""
    found = {"own": unit(x - a["own mean"]) @ a["own columns"]}
    less = x - a["x mean"]
    if "near columns" in a:
        symmetric = RowPropagation(joined, a["degree"])
        for name, (alpha, _) in _DIFFUSED.items():
            start = x if name not in _CENTRED_BEFORE else less
            step = RowWalk(joined) if name == "walk" else symmetric
            total = step(a[f"{name} nodes"], start @ a[f"{name} directions"], alpha)
            found[name] = finished(a, name, unit(total) if name in _CENTRED_BEFORE else total)
        own = np.asarray(joined.sum(1)).ravel()
        average = sp.diags(inverse_degrees(own)) @ joined
        one = (average @ a["x nodes"]) @ a["x directions"].T
        two = (average @ a["one nodes"]) @ a["one directions"].T
        found["two hops"] = unit(two - a["two mean"]) @ a["two hops columns"]
        blocks = [unit(part - a[f"{name} mean"]) for name, part in (("x", x), ("one", one), ("two", two))]
        side_by_side = np.concatenate(blocks, 1)
        found["layers"] = unit(side_by_side - a["layers mean"]) @ a["layers columns"]
    placed_by_kin(a, less, joined, found, search)
    return found


def _diffused(
    matrix: SparseProduct, x: Array, names: Sequence[str], alone: Array, columns: int, row: Array | None = None
) -> Iterator[tuple[str, Array]]:
    """Features diffused with several α in K steps each, from one series of powers; `row` was taken off them before.

    K steps of z ← (1 − α) P z + α x from z = x give (1 − α)^K P^K x + α Σ_{k<K} (1 − α)^k P^k x.
    """
    large, wanted = len(x) >= LARGE, {name: _DIFFUSED[name] for name in names}
    sums = diffuse_pieces(matrix, x, wanted, alone, row, _AS_THEY_ARE) if large else diffuse(matrix, x, wanted)
    for name, total in sums:
        yield name, narrow(centred(unit(total)) if name in _CENTRED_BEFORE else centred(total), columns)


def _spectrum(adjacency: sp.csr_matrix, wanted: int, kind: ProductKind = SparseProduct) -> Array:
    """Eigenvectors of the edges times their eigenvalues, rows of unit length: [node, at most wanted]."""
    values, vectors = _edge_eigenvectors(adjacency, wanted, kind)
    return unit(vectors * values)


def _spectrum_far(adjacency: sp.csr_matrix, spectrum: Array, kind: ProductKind) -> Array:
    """The spectrum diffused along the edges: [node, column]."""
    ((_, total),) = diffuse_over(adjacency, spectrum, {_SPECTRUM_FAR: _DIFFUSED["far"]}, kind)
    return narrow(centred(total), spectrum.shape[1])


def _edge_eigenvectors(adjacency: sp.csr_matrix, wanted: int, kind: ProductKind = SparseProduct) -> tuple[Array, Array]:
    """The largest positive eigenvalues of (D + d̄)^-1/2 A (D + d̄)^-1/2 and their vectors: [node, at most wanted]."""
    degree = np.asarray(adjacency.sum(1)).ravel().astype(np.float64)
    root = (degree + degree.mean()) ** -0.5
    matrix = (sp.diags(root) @ adjacency @ sp.diags(root)).tocsr()
    if len(degree) >= LARGE:
        values, vectors = leading_eigenvectors(kind(matrix), len(degree), wanted)
    elif len(degree) < _DENSE:
        values, vectors = np.linalg.eigh(matrix.toarray())
    else:
        values, vectors = eigsh(matrix, k=wanted, which="LA", v0=1 / root, tol=1e-4)
    order = np.argsort(-values, kind="stable")[:wanted]
    order = order[values[order] > 1e-6]
    return values[order], vectors[:, order]


def _roles(adjacency: sp.csr_matrix) -> Array:
    """cos(π j r) / j, j = 1 … 5, of the ranks r in [0, 1] of three quantities: [node, 15]; equal nodes share a rank."""
    quantities = _role_quantities(adjacency)
    return _role_columns(quantities, [np.sort(quantity.astype(np.float32)) for quantity in quantities])


def _role_quantities(adjacency: sp.csr_matrix) -> list[Array]:
    """The logarithm of each node's degree, its neighbours' mean, and the mean of theirs: [node] each."""
    adjacency = adjacency.astype(np.float64)
    degree = np.asarray(adjacency.sum(1)).ravel()
    own = np.log1p(degree)
    share = sp.diags(inverse_degrees(degree)) @ adjacency
    one = share @ own
    return [own, one, share @ one]


def _role_columns(quantities: Sequence[Array], ordered: Sequence[Array]) -> Array:
    """cos(π j r) / j of the ranks that quantities have among ordered ones: [row, 15]."""
    columns = []
    for quantity, among in zip(quantities, ordered, strict=True):
        # so that the rounding of sums in double precision does not tell equal nodes apart
        quantity = quantity.astype(np.float32)
        rank = (np.searchsorted(among, quantity, "left") + np.searchsorted(among, quantity, "right")) / (2 * len(among))
        columns += [np.cos(math.pi * j * rank) / j for j in range(1, 6)]
    return np.stack(columns, 1)


def _edge_placing(adjacency: sp.csr_matrix, columns: Mapping[str, Array]) -> dict[str, Array]:
    """What rows need to be placed in the views of the edges alone."""
    values, vectors = _edge_eigenvectors(adjacency, columns["spectrum"].shape[1])
    spectrum = unit((vectors * values).astype(np.float32))
    arrays: dict[str, Array] = {
        "spectrum": vectors.astype(np.float32),
        "spectrum columns": linear_map(spectrum, columns["spectrum"]),
    }
    if _SPECTRUM_FAR in columns:
        ((_, far),) = diffuse(symmetric_propagation(adjacency), spectrum, {_SPECTRUM_FAR: _DIFFUSED["far"]})
        arrays |= {f"{_SPECTRUM_FAR} nodes": far, **ending(_SPECTRUM_FAR, far, columns[_SPECTRUM_FAR])}
    return arrays | {f"role {i}": quantity for i, quantity in enumerate(_role_quantities(adjacency))}


def _placed_by_edges(a: Mapping[str, Array], joined: sp.csr_matrix) -> dict[str, Array]:
    """Rows in the views of the edges alone."""
    degree = a["degree"]
    own, mean = np.asarray(joined.sum(1)).ravel(), degree.mean()
    share = joined.tocoo()
    weights = share.data / np.sqrt((own[share.row] + mean) * (degree[share.col] + share.data + mean))
    along = sp.csr_matrix((weights, (share.row, share.col)), shape=joined.shape)
    spectrum = unit((along @ a["spectrum"]).astype(np.float32))
    found = {"spectrum": spectrum @ a["spectrum columns"]}
    if f"{_SPECTRUM_FAR} nodes" in a:
        step = RowPropagation(joined, degree)
        found[_SPECTRUM_FAR] = finished(
            a, _SPECTRUM_FAR, step(a[f"{_SPECTRUM_FAR} nodes"], spectrum, _DIFFUSED["far"][0])
        )
    average = sp.diags(inverse_degrees(own)) @ joined
    log = np.log1p(own)
    one = average @ a["role 0"]
    quantities = (log, one, average @ a["role 1"])
    ordered = [np.sort(a[f"role {i}"].astype(np.float32)) for i in range(3)]
    return found | {"role": unit(_role_columns(quantities, ordered)).astype(np.float32)}
