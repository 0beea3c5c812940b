import base64
import io

import networkx as nx
import numpy as np
import pytest

from nodewise.datasets import dataset_info, load_graph
from nodewise.datasets.catalogue import CATALOGUE
from nodewise.graph import knn_graph
from nodewise.graph.relational import plain_edges

SMALL = [info.name for info in CATALOGUE if info.origin in ("included", "generated") and info.nodes <= 10_000]


@pytest.fixture
def made(tmp_path):
    """Loads a data set by name where the data folder holds nothing."""
    return lambda name: load_graph(name, data_dir=tmp_path / "none")


@pytest.mark.parametrize("name", SMALL)
def test_is_as_the_catalogue_tells_and_the_same_each_time(name, made, tmp_path):
    graph, info = made(name), dataset_info(name)
    assert (graph.name, graph.num_nodes, graph.num_edges) == (name, info.nodes, info.edges)
    assert (graph.num_features, graph.num_classes) == (info.features, info.classes)
    assert graph.equals(made(name))
    assert not (tmp_path / "none").exists()
    assert graph.notes[-1:] == (() if graph.relations is None else (plain_edges(graph.relations),))


def test_digits_are_joined_by_their_pixels(made):
    from sklearn.datasets import load_digits

    graph = made("digits")
    np.testing.assert_array_equal(graph.edge_index, knn_graph(load_digits().data, 10, "euclidean").edge_index)
    assert graph.class_names == tuple("0123456789")
    assert graph.homophily > 0.95


def test_digits_can_be_looked_at(made):
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    graph = made("digits")
    kind, _, content = graph.attributes["picture"][5].partition(",")
    assert kind == "data:image/png;base64"
    shown = np.asarray(image.open(io.BytesIO(base64.b64decode(content))))
    np.testing.assert_array_equal(shown[4::8, 4::8], (255 - graph.x[5].reshape(8, 8) * (255 / 16)).astype(np.uint8))


def test_tables_are_standardised(made):
    for name, classes in {"wine": ("class_0", "class_1", "class_2"), "breast-cancer": ("malignant", "benign")}.items():
        graph = made(name)
        np.testing.assert_allclose(graph.x.mean(axis=0), 0, atol=1e-5)
        np.testing.assert_allclose(graph.x.std(axis=0), 1, atol=1e-4)
        assert graph.class_names == classes
        assert graph.homophily > 0.9


def test_karate_communities_hang_together(made):
    graph = made("karate")
    club = nx.karate_club_graph()
    communities = [set(np.flatnonzero(graph.y == c).tolist()) for c in range(4)]
    modularity = nx.community.modularity(club, communities, weight=None)
    assert modularity == pytest.approx(0.4188, abs=5e-5)
    assert all(nx.is_connected(club.subgraph(community)) for community in communities)
    assert made("karate-clubs").class_names == ("Mr. Hi", "Officer")
    assert set(graph.attributes["club"]) == {"Mr. Hi", "Officer"}


def test_karate_is_the_same_as_the_local_file(data_folder, made):
    if not (data_folder / "karate.npz").is_file():
        pytest.skip("needs karate.npz in the data folder")
    here, local = made("karate"), load_graph("karate", data_dir=data_folder)
    np.testing.assert_array_equal(here.edge_index, local.edge_index)
    np.testing.assert_array_equal(here.y, local.y)
