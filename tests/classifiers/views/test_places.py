"""Where rows stand that were not in the graph."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_info, threadpool_limits

import nodewise as nw
from nodewise.classifiers.views import construction, kin, large, products
from nodewise.classifiers.views import places as places_module
from nodewise.classifiers.views.construction import make_views
from nodewise.classifiers.views.places import Places
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError


def alike(one, other):
    """The cosines of rows."""
    length = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    return (one * other).sum(1) / np.maximum(length, 1e-9)


@pytest.fixture(scope="module")
def clouds():
    draws = np.random.default_rng(0)
    y = np.arange(150) % 3
    return (np.eye(3, 6)[y] * 4 + draws.normal(0, 0.7, (150, 6))).astype(np.float32)


def noisy(features=True):
    """More features than directions are kept, most of them noise, and edges that have nothing to do with them."""
    draws, kind = np.random.default_rng(2), np.arange(240) % 4
    x = draws.normal(size=(240, 150)) + 1.5 * draws.normal(size=(4, 150))[kind] * (np.arange(150) < 20)
    return nw.Graph.build(draws.integers(0, 240, (2, 480)), 240, x=x.astype(np.float32) if features else None)


def own_rows_placed(graph):
    """The views of a graph, what is kept to place rows, and where its own nodes' rows are placed: name -> rows each."""
    tensors = GraphTensors(graph)
    views = make_views(tensors)
    columns, places = views.columns.numpy(), Places.of(tensors, views)
    rows = graph.x if graph.has_features else np.zeros((graph.num_nodes, 0), np.float32)
    placed = places.place(rows, sp.csr_matrix(graph.adjacency()), columns)
    by_name = [{name: of[:, i] for i, name in enumerate(views.names)} for of in (columns, placed)]
    return by_name[0], places, by_name[1]


@pytest.mark.parametrize("size", ["small", "large"])
def test_kin_of_noisy_rows_are_looked_for_where_the_view_looks_for_them(monkeypatch, size):
    if size == "large":
        for module in (construction, kin, large, products):
            monkeypatch.setattr(module, "LARGE", 100)
    nodes, places, placed = own_rows_placed(noisy())
    for name in ("kin", "kin near", "kin together"):
        assert alike(placed[name], nodes[name]).min() > 0.97, name
    kept = {name: places.arrays[f"{name} nodes"].shape[1] for name in ("kin", "kin near", "kin together")}
    many = 64 if size == "large" else products.KEPT
    assert kept == {"kin": many, "kin near": many, "kin together": 64}


def test_nodes_that_have_a_row_among_their_nearest_are_its_kin_as_well():
    graph = noisy()
    nodes, places, placed = own_rows_placed(graph)
    columns = np.stack([*nodes.values()], 1)
    for name in ("kin", "kin near", "kin together"):
        nobody = {f"{name} reach": np.full(graph.num_nodes, np.inf)}
        alone = replace(places, arrays={**places.arrays, **nobody})
        others = alone.place(graph.x, sp.csr_matrix(graph.adjacency()), columns)
        assert np.abs(others[:, places.names.index(name)] - placed[name]).max() > 1e-3, name


def test_a_row_stands_in_the_diffused_spectrum_as_far_as_its_own_place_counts():
    nodes, _, placed = own_rows_placed(noisy(features=False))
    assert alike(placed["spectrum far"], nodes["spectrum far"]).min() > 0.97


def test_a_nodes_row_stands_where_the_node_does(clouds):
    graph = nw.knn_graph(clouds, 8)
    tensors = GraphTensors(graph)
    views = make_views(tensors)
    placed = Places.of(tensors, views).place(graph.x, sp.csr_matrix(graph.adjacency()), views.columns.numpy())
    for number, name in enumerate(views.names):
        assert alike(placed[:, number], views.columns.numpy()[:, number]).mean() > 0.98, name


def test_held_out_rows_stand_near_where_they_do_inside(clouds):
    stay, out = np.arange(120), np.arange(120, 150)
    whole, part = nw.knn_graph(clouds, 8), nw.knn_graph(clouds[stay], 8)
    tensors = GraphTensors(part)
    views = make_views(tensors)
    joined = sp.csr_matrix(whole.adjacency())[out][:, stay]
    placed = Places.of(tensors, views).place(clouds[out], joined, views.columns.numpy())
    inside = make_views(GraphTensors(whole)).columns.numpy()
    for number, name in enumerate(views.names):  # views are turned differently: their inner products tell
        own = placed[:, number] @ views.columns.numpy()[:, number].T
        theirs = inside[out, number] @ inside[stay, number].T
        assert np.corrcoef(own.ravel(), theirs.ravel())[0, 1] > (0.2 if name == "role" else 0.8), name


def test_many_sparse_features_are_reduced_as_the_nodes_were():
    draws = np.random.default_rng(1)
    x = sp.csr_matrix((draws.random((80, 400)) < 0.05).astype(np.float32))
    graph = nw.Graph.build(draws.integers(0, 80, (2, 200)), 80, x=x)
    tensors = GraphTensors(graph)
    views = make_views(tensors)
    placed = Places.of(tensors, views).place(x, sp.csr_matrix(graph.adjacency()), views.columns.numpy())
    own = views.names.index("own")
    assert alike(placed[:, own], views.columns.numpy()[:, own]).min() > 0.999


@pytest.mark.parametrize("part", ["edges", "features"])
def test_with_edges_or_features_alone_a_nodes_row_stands_where_the_node_does(clouds, part):
    whole = nw.knn_graph(clouds, 8)
    edges, x = (whole.edge_index, None) if part == "edges" else (np.zeros((2, 0), int), clouds)
    graph = nw.Graph.build(edges, 150, x=x)
    tensors = GraphTensors(graph)
    views = make_views(tensors)
    features = np.zeros((150, 0), np.float32) if x is None else x
    placed = Places.of(tensors, views).place(features, sp.csr_matrix(graph.adjacency()), views.columns.numpy())
    for number, name in enumerate(views.names):
        assert alike(placed[:, number], views.columns.numpy()[:, number]).mean() > 0.97, name


def test_a_row_without_nodes_or_features_has_a_place(clouds):
    tensors = GraphTensors(nw.knn_graph(clouds, 8))
    views = make_views(tensors)
    placed = Places.of(tensors, views).place(np.zeros((2, 6)), sp.csr_matrix((2, 150)), views.columns.numpy())
    assert np.isfinite(placed).all() and placed.shape == (2, *views.columns.shape[1:])


@pytest.mark.parametrize("features", [True, False])
def test_no_rows_have_no_places(features):
    graph = noisy(features)
    tensors = GraphTensors(graph)
    views = make_views(tensors)
    rows = np.zeros((0, 150 if features else 0), np.float32)
    placed = Places.of(tensors, views).place(rows, sp.csr_matrix((0, 240), dtype=np.float32), views.columns.numpy())
    assert placed.shape == (0, *views.columns.shape[1:])


def test_a_graph_of_nothing_has_no_places():
    tensors = GraphTensors(nw.Graph.build(np.zeros((2, 0), int), 4))
    with pytest.raises(InputError, match="has no place in the view 'nothing'"):
        Places.of(tensors, make_views(tensors))


def test_places_are_made_and_used_on_one_thread_of_numpys_library(monkeypatch):
    seen = []

    def noting(function):
        def noted(*given):
            seen.append({one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"})
            return function(*given)

        return noted

    monkeypatch.setattr(places_module, "placing_arrays", noting(places_module.placing_arrays))
    monkeypatch.setattr(places_module, "placed_rows", noting(places_module.placed_rows))
    with threadpool_limits(2, user_api="blas"):
        own_rows_placed(noisy())
    assert seen == [{1}, {1}]
