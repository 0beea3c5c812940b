"""Where rows stand that were not in the graph."""

import numpy as np
import pytest
import scipy.sparse as sp

import nodewise as nw
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


def test_a_graph_of_nothing_has_no_places():
    tensors = GraphTensors(nw.Graph.build(np.zeros((2, 0), int), 4))
    with pytest.raises(InputError, match="has no place in the view 'nothing'"):
        Places.of(tensors, make_views(tensors))
