"""Views of large graphs against those of ordinary ones: the same to the stated tolerance, in fewer columns and
products.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from nodewise.classifiers.views import construction, kin, large, products, relational
from nodewise.classifiers.views.construction import make_views
from nodewise.classifiers.views.large import diffuse_large, leading_eigenvectors
from nodewise.datasets import RelationSettings, relational_graph, synthetic_graph
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors


def graph() -> Graph:
    return synthetic_graph(nodes=2500, classes=4, mean_degree=16, features=40, degrees="powerlaw", seed=4)


def test_a_large_graph_has_the_views_of_an_ordinary_one(monkeypatch: pytest.MonkeyPatch) -> None:
    tensors = GraphTensors(graph())
    ordinary = make_views(tensors)
    for module in (construction, kin, large, products):
        monkeypatch.setattr(module, "LARGE", 1000)
    views = make_views(tensors)
    assert views.names == ordinary.names
    for number, name in enumerate(views.names):
        if "spectrum" not in name:
            one, other = (each.columns[:, number].double().numpy() for each in (ordinary, views))
            off = np.abs(one @ one.T - other @ other.T)  # up to a rotation of the columns
            # among all views together another node is the nearest here and there
            assert off.mean() < 1e-4 if name == "kin together" else off.max() < 1e-3, name


@pytest.mark.slow
def test_a_large_graph_of_several_types_has_the_views_of_an_ordinary_one(monkeypatch: pytest.MonkeyPatch) -> None:
    ways = [RelationSettings("by", "paper", "author", 3.0, 0.6), RelationSettings("cites", "paper", "paper", 6.0, 0.6)]
    features = {"paper": (40, 1.0), "author": (10, 1.0)}
    made = relational_graph({"paper": 1500, "author": 400}, ways, 4, features=features, seed=1, name="papers")
    tensors = GraphTensors(made.to_graph())
    ordinary, widths = make_views(tensors), list[int]()
    for module in (construction, large, products, relational):
        monkeypatch.setattr(module, "LARGE", 1000)
    monkeypatch.setattr(products.GatheredProduct, "__call__", _counted(products.GatheredProduct.__call__, widths))
    views = make_views(tensors)
    assert views.names == ordinary.names and min(widths) < 20
    for number, name in enumerate(views.names):
        # other vectors where eigenvalues lie close to each other, and so here and there other nodes that are nearest
        if "spectrum" not in name and "kin" not in name:
            one, other = (each.columns[:, number].double().numpy() for each in (ordinary, views))
            assert np.abs(one @ one.T - other @ other.T).max() < 1e-3, name


def test_faded_directions_are_dropped_on_the_way() -> None:
    one = graph()
    loops = (one.adjacency() + sp.eye(one.num_nodes)).astype(np.float32)
    scale = sp.diags(np.asarray(loops.sum(1)).ravel() ** -0.5)
    matrix, widths = (scale @ loops @ scale).tocsr(), []

    def product(z: np.ndarray) -> np.ndarray:
        widths.append(z.shape[1])
        return matrix @ z

    x = np.asarray(one.x, np.float32).copy()
    nobody = np.zeros(0, np.int64)
    ((name, total),) = diffuse_large(product, x, {"farthest": (0.005, 100)}, nobody, {"farthest": x[:0]})
    expected = x.astype(np.float64)
    for _ in range(100):
        expected = 0.995 * (matrix @ expected) + 0.005 * x
    assert name == "farthest" and len(widths) == 100 and widths[0] == 40 and widths[-1] < 15
    assert (
        np.abs(expected @ expected.T - total.astype(np.float64) @ total.T).max()
        < 1e-3 * np.abs(expected @ expected.T).max()
    )


def test_pieces_apart_neither_fade_nor_keep_the_others_from_fading(monkeypatch: pytest.MonkeyPatch) -> None:
    one = graph()
    generator = np.random.default_rng(0)
    lonely, edges = (
        80,
        np.concatenate([one.edge_index, [[2500, 2502, 2503], [2501, 2503, 2504]]], 1),
    )  # a pair, a chain of three, isolated nodes
    x = np.concatenate([np.asarray(one.x), generator.standard_normal((lonely, 40), dtype=np.float32)])
    whole = GraphTensors(Graph.build(edges, 2500 + lonely, x=x))
    ordinary = make_views(whole)
    widths = []
    monkeypatch.setattr(construction, "LARGE", 1000)
    monkeypatch.setattr(products.SparseProduct, "__call__", _counted(products.SparseProduct.__call__, widths))
    views = make_views(whole)
    assert min(widths[-60:]) < 40  # of the spectrum's 40 columns and the last steps of the diffusion
    number = views.names.index("farthest")
    one_by_one, other = (each.columns[:, number].double().numpy() for each in (ordinary, views))
    assert np.abs(one_by_one @ one_by_one.T - other @ other.T).max() < 1e-3


def _counted(call: Any, widths: list[int]) -> Any:
    def counted(self: Any, z: np.ndarray) -> np.ndarray:
        widths.append(z.shape[1])
        return call(self, z)

    return counted


@pytest.mark.parametrize(("least", "most"), [(-0.9, 60), (0.0, 40)])
def test_eigenvalues_that_stand_apart_are_exact(least: float, most: int) -> None:
    generator = np.random.default_rng(1)
    basis = np.linalg.qr(generator.standard_normal((400, 400)))[0]
    values = np.concatenate([[0.99, 0.9, 0.8, 0.7, 0.69], np.linspace(0.4, least, 395)])
    matrix = ((basis * values) @ basis.T).astype(np.float32)
    products = []

    def product(z: np.ndarray) -> np.ndarray:
        products.append(z.shape[1])
        return matrix @ z

    got, vectors = leading_eigenvectors(product, 400, 5, positive=least == 0)
    np.testing.assert_allclose(got, values[:5], atol=1e-5)
    np.testing.assert_allclose(np.abs(np.sum(vectors * basis[:, :5], 0)), 1, atol=1e-4)
    assert len(products) < most  # whatever the matrix


def test_the_spectrum_of_a_large_graph_tells_its_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    one = graph()
    tensors = GraphTensors(one)
    monkeypatch.setattr(construction, "LARGE", 1000)
    approximate = construction._spectrum(one.adjacency(), 32)[:, :4].astype(np.float64)
    monkeypatch.setattr(construction, "LARGE", 10**9)
    exact = construction._spectrum(one.adjacency(), 32)[:, :4].astype(np.float64)
    angles = np.linalg.svd(np.linalg.qr(approximate)[0].T @ np.linalg.qr(exact)[0])[1]
    assert tensors.num_nodes == len(exact) and angles.min() > 0.99
