"""Views of a graph: the formulas against a plain computation, whatever form features have and whatever is missing;
nothing depends on threads or blocks.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from nodewise.classifiers.views import construction, kin
from nodewise.classifiers.views import products as dense_products
from nodewise.classifiers.views.construction import GraphViews, make_views
from nodewise.datasets import library_graph, load_graph, synthetic_graph
from nodewise.graph import Graph
from nodewise.graph.knn.neighbours import joined_to_nearest
from nodewise.graph.tensors import GraphTensors
from tests.small_graphs import block_graph, random_graph, relabelled

OF_FEATURES = ("near", "far", "farther", "farthest", "walk", "two hops", "layers", "kin near", "own", "kin")
ALL = ("spectrum", "role", *OF_FEATURES, "kin together")


def graph(features: int = 20) -> Graph:
    return synthetic_graph(nodes=300, classes=3, mean_degree=6, features=features, degrees="powerlaw", seed=4)


def kernel(columns: np.ndarray) -> np.ndarray:
    return columns.astype(np.float64) @ columns.T.astype(np.float64)


def centred(z: np.ndarray) -> np.ndarray:
    z = z - z.mean(0)
    return z / np.maximum(np.linalg.norm(z, axis=1, keepdims=True), 1e-9)


def test_diffused_views_are_what_their_steps_give() -> None:
    one = graph()
    views = make_views(GraphTensors(one))
    x = np.asarray(one.x, dtype=np.float64)
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    loops = one.adjacency().astype(np.float64) + sp.eye(one.num_nodes)
    size = np.asarray(loops.sum(1)).ravel()
    symmetric, walk = sp.diags(size**-0.5) @ loops @ sp.diags(size**-0.5), sp.diags(1 / size) @ loops
    cases = {
        "near": (symmetric, 0.1, 10),
        "far": (symmetric, 0.05, 20),
        "farther": (symmetric, 0.02, 40),
        "farthest": (symmetric, 0.005, 100),
    }
    for name, (matrix, alpha, steps) in {**cases, "walk": (walk, 0.1, 10)}.items():
        start = x - x.mean(0) if name in ("farther", "farthest") else x
        z = start
        for _ in range(steps):
            z = (1 - alpha) * (matrix @ z) + alpha * start
        z = z if start is x else z / np.linalg.norm(z, axis=1, keepdims=True)
        np.testing.assert_allclose(
            kernel(views.columns[:, views.names.index(name)].numpy()), kernel(centred(z)), atol=1e-4
        )
    mean = sp.diags(1 / np.maximum(one.degree, 1)) @ one.adjacency().astype(np.float64)
    layers = centred(np.concatenate([centred(x), centred(mean @ x), centred(mean @ (mean @ x))], 1))
    for name, expected in (("own", centred(x)), ("two hops", centred(mean @ (mean @ x))), ("layers", layers)):
        np.testing.assert_allclose(
            kernel(views.columns[:, views.names.index(name)].numpy()), kernel(expected), atol=1e-4
        )


def test_without_features_the_spectrum_is_diffused_along_the_edges() -> None:
    one = graph()
    views = make_views(GraphTensors(Graph.build(one.edge_index, one.num_nodes, y=one.y)))
    spectrum, far = (
        views.columns[:, views.names.index(name)].double().numpy() for name in ("spectrum", "spectrum far")
    )
    loops = one.adjacency().astype(np.float64) + sp.eye(one.num_nodes)
    root = sp.diags(np.asarray(loops.sum(1)).ravel() ** -0.5)
    z = spectrum
    for _ in range(20):
        z = 0.95 * (root @ loops @ root @ z) + 0.05 * spectrum
    np.testing.assert_allclose(kernel(far), kernel(centred(z)), atol=1e-4)


def test_threads_and_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    tensors = GraphTensors(graph(features=90))
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        alone = make_views(tensors)
        torch.set_num_threads(3)
        np.testing.assert_array_equal(make_views(tensors).columns.numpy(), alone.columns.numpy())
    finally:
        torch.set_num_threads(before)
    monkeypatch.setattr(dense_products, "ROWS", 7)
    monkeypatch.setattr(kin, "SIDE_ROWS", 7)
    in_blocks = make_views(tensors)
    for number, name in enumerate(alone.names):
        one, other = (kernel(views.columns[:, number].numpy()) for views in (in_blocks, alone))
        # two nodes are as near as each other in all views but for rounding, and either is kin
        np.testing.assert_allclose(one, other, atol=1e-4 if name != "kin together" else 0.05, err_msg=name)


def test_all_views_are_never_side_by_side_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    draws, most, plain = np.random.default_rng(0), 2**12, kin.gram_matrix
    views = {name: draws.normal(size=(17 * most + 5, 2)).astype(np.float32) for name in ("own", "near", "role")}
    rows: list[int] = []

    def counted(block: np.ndarray) -> np.ndarray:
        rows.append(len(block))
        return plain(block)

    monkeypatch.setattr(kin, "gram_matrix", counted)
    directions = kin._directions_together(views)
    assert sum(rows) == len(views["own"]) and max(rows) == most
    whole = np.concatenate([views["near"], views["own"]], 1).astype(np.float64) / np.sqrt(2)
    values = np.linalg.eigvalsh(whole.T @ whole)[::-1]
    np.testing.assert_allclose(directions.T @ (whole.T @ whole) @ directions, np.diag(values), atol=0.1)
    np.testing.assert_allclose(kin.nearest_together(views, directions), whole @ directions, atol=1e-4)


def test_which_views_there_are_and_that_the_graph_stays_as_it_is() -> None:
    one = graph()
    before = np.array(one.x)
    tensors = GraphTensors(one)
    events: list[object] = []
    views = make_views(tensors, events.append)
    assert views.names == ALL
    assert [event.done for event in events] == list(range(1, 14)) and {event.total for event in events} == {13}  # type: ignore[attr-defined]
    np.testing.assert_array_equal(one.x, before)
    np.testing.assert_array_equal(tensors.dense_x.numpy(), before)  # type: ignore[union-attr]
    assert make_views(GraphTensors(load_graph("karate"))).names == ("spectrum", "role", "spectrum far")
    lonely = Graph.build(np.zeros((2, 0), dtype=np.int64), 5, x=np.eye(5, dtype=np.float32))
    assert make_views(GraphTensors(lonely)).names == ("own", "kin")
    assert make_views(GraphTensors(Graph.build(np.zeros((2, 0), dtype=np.int64), 5))).names == ("nothing",)


def test_of_several_node_types_without_features_no_view_is_made_that_is_not_kept() -> None:
    events: list[object] = []
    views = make_views(GraphTensors(library_graph(60)), events.append)
    assert "union: spectrum" in views.names and not any("far" in name for name in views.names)
    assert [event.done for event in events] == list(range(1, len(views.names) + 1))  # type: ignore[attr-defined]


def views_of(graph: Graph) -> GraphViews:
    return make_views(GraphTensors(graph))


def products(views: GraphViews) -> torch.Tensor:
    """The inner products of all nodes, which are all that a prediction depends on: [view, node, node]."""
    columns = views.columns.transpose(0, 1).double()
    return columns @ columns.transpose(1, 2)


def test_there_is_a_view_for_each_way_to_look() -> None:
    views = views_of(random_graph())
    assert views.names == ALL and views.columns.shape == (40, 13, 64) and views.leading.shape == (13, 40, 32)
    assert torch.isfinite(views.columns).all() and views.columns.norm(dim=2).max() < 1 + 1e-5
    assert torch.allclose(views.columns[:, ALL.index("near")].norm(dim=1), torch.ones(40), atol=1e-5)


def test_the_form_of_the_features_does_not_matter() -> None:
    dense, sparse, centred = (random_graph(kind) for kind in ("dense", "sparse", "offset"))
    torch.testing.assert_close(products(views_of(dense)), products(views_of(sparse)), atol=1e-4, rtol=0)
    assert centred.x is not None and centred.x_offset is not None
    plain = Graph.build(centred.edge_index, 40, x=centred.x.toarray() - centred.x_offset, y=centred.y)
    torch.testing.assert_close(products(views_of(centred)), products(views_of(plain)), atol=1e-4, rtol=0)


def test_views_are_reduced_to_their_leading_directions() -> None:
    z = np.random.default_rng(0).normal(size=(300, 90)) * np.linspace(2, 0.1, 90)
    u, s, _ = np.linalg.svd(z, full_matrices=False)
    narrow = construction.narrow(z, 64)
    np.testing.assert_allclose(narrow @ narrow.T, (u[:, :64] * s[:64] ** 2) @ u[:, :64].T, atol=1e-8)
    np.testing.assert_allclose(
        np.linalg.norm(narrow, axis=0), s[:64], atol=1e-8
    )  # the one that carries most comes first


@pytest.mark.parametrize("graph", [block_graph(150), random_graph(nodes=200, columns=300)], ids=["blocks", "random"])
def test_node_order_does_not_matter(graph: Graph) -> None:
    order = np.random.default_rng(5).permutation(graph.num_nodes)
    here, there = products(views_of(graph)), products(views_of(relabelled(graph, order)))
    torch.testing.assert_close(here[:, order][:, :, order], there, atol=1e-3, rtol=0)


def test_lanczos_way_to_the_spectrum_is_the_exact_one(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = synthetic_graph(nodes=300, classes=3, mean_degree=6, homophily=0.8, features=8, seed=2)
    adjacency = graph.adjacency()
    exact = construction._spectrum(adjacency, 32)
    monkeypatch.setattr(construction, "_DENSE", 10)
    lanczos = construction._spectrum(adjacency, 32)
    np.testing.assert_allclose(exact @ exact.T, lanczos @ lanczos.T, atol=2e-2)


def test_deterministic_to_the_bit() -> None:
    graph = random_graph(nodes=300, columns=300)
    assert torch.equal(views_of(graph).columns, views_of(graph).columns)


def test_without_features_the_edges_speak_and_without_edges_the_features() -> None:
    edges = random_graph().edge_index
    assert views_of(Graph.build(edges, 40, y=np.arange(40) % 2)).names == ("spectrum", "role", "spectrum far")
    features = np.random.default_rng(0).normal(size=(40, 5)).astype(np.float32)
    nothing = np.zeros((2, 0), np.int64)
    assert views_of(Graph.build(nothing, 40, x=features, y=np.arange(40) % 2)).names == ("own", "kin")
    neither = views_of(Graph.build(nothing, 40, y=np.arange(40) % 2))
    assert neither.names == ("nothing",) and torch.equal(neither.columns, torch.ones(40, 1, 1))


def test_isolated_nodes_and_empty_rows_stay_finite() -> None:
    x = sp.lil_matrix((6, 4), dtype=np.float32)
    x[0, 0] = x[1, 1] = x[2, 0] = 1.0
    views = views_of(Graph.build([[0, 1], [1, 2]], 6, x=x.tocsr(), y=[0, 1, 0, 1, 0, 1]))
    assert torch.isfinite(views.columns).all()
    assert torch.equal(views.columns[4], views.columns[5])  # nothing tells the two apart


def test_nodes_of_equal_place_share_their_role() -> None:
    ring = np.stack([np.arange(12), (np.arange(12) + 1) % 12])
    roles = construction._roles(Graph.build(ring, 12).adjacency())
    assert np.ptp(roles, axis=0).max() == 0


def clustered_rows(count: int, columns: int = 16) -> np.ndarray:
    draws = np.random.default_rng(3)
    return (draws.normal(size=(12, columns))[np.arange(count) % 12] + draws.normal(size=(count, columns))).astype("f4")


def test_kin_is_what_its_steps_give() -> None:
    x = clustered_rows(60)
    graph = GraphTensors(Graph.build(np.stack([np.arange(59), np.arange(1, 60)]), 60, x=x))
    views = make_views(graph)
    columns = {name: views.columns[:, number].numpy() for number, name in enumerate(views.names)}
    columns["all of features"] = np.concatenate([columns[name] for name in OF_FEATURES], 1)
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    for name, of in (("kin", "own"), ("kin near", "near"), ("kin together", "all of features")):
        joined = joined_to_nearest(columns[of], 10).toarray()
        if name != "kin":
            line = np.eye(60, k=1) + np.eye(60, k=-1)
            joined = joined + line * joined.sum() / line.sum()
        loops = joined + np.eye(60)
        root = loops.sum(1) ** -0.5
        propagation = sp.csr_matrix(root[:, None] * loops * root)
        start = z = unit - unit.mean(0)
        for _ in range(40):
            z = 0.98 * (propagation @ z) + 0.02 * start
        z /= np.linalg.norm(z, axis=1, keepdims=True)
        z -= z.mean(0)
        z /= np.linalg.norm(z, axis=1, keepdims=True)
        np.testing.assert_allclose(kernel(columns[name]), z @ z.T, atol=2e-4)


def test_kin_diffuse_all_directions_of_the_features_but_those_of_all_views_and_large_graphs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tensors, widths = GraphTensors(graph(features=90)), list[int]()
    plain = kin.diffuse_over

    def counted(joined: sp.csr_matrix, x: np.ndarray, *others: object) -> object:
        widths.append(x.shape[1])
        return plain(joined, x, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(kin, "diffuse_over", counted)
    make_views(tensors)
    assert widths == [90, 90, 64]
    widths.clear()
    monkeypatch.setattr(kin, "LARGE", 200)
    make_views(tensors)
    assert widths == [64, 64, 64]
