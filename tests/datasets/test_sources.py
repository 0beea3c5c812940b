import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from nodewise.datasets import load_graph, synthetic_graph
from nodewise.graph import Graph, read_graph
from nodewise.graph.differences import differences
from nodewise.ground.errors import MissingExtraError
from nodewise.ground.events import Note, Warned
from tests.datasets import published
from tests.datasets.published import as_published, files_below, pyg

SOURCES = {
    "coauthor-cs": (pyg.Coauthor, "/", lambda graph: {"ms_academic_cs.npz": published.benchmark(graph)}),
    "amazon-photo": (pyg.Amazon, "/", lambda graph: {"amazon_electronics_photo.npz": published.benchmark(graph)}),
    "cora-ml": (pyg.CitationFull, "/{}.npz", lambda graph: {"cora_ml.npz": published.benchmark(graph)}),
    "roman-empire": (
        pyg.HeterophilousGraphDataset,
        "",
        lambda graph: {"roman_empire.npz": published.heterophilous(graph)},
    ),
    "chameleon": (
        pyg.HeterophilousGraphDataset,
        "",
        lambda graph: {"chameleon_filtered.npz": published.heterophilous(graph)},
    ),
    "twitch-engb": (pyg.Twitch, "", lambda graph: {"EN.npz": published.musae(graph)}),
    "github": (pyg.GitHub, "/github.npz", lambda graph: {"github.npz": published.musae(graph)}),
    "lastfm-asia": (pyg.LastFMAsia, "/lastfm_asia.npz", lambda graph: {"lastfm_asia.npz": published.musae(graph)}),
    "webkb-texas": (pyg.WebKB, "", lambda graph: published.webkb(graph, "texas")),
    "actor": (pyg.Actor, "", published.actor),
    "wikics": (pyg.WikiCS, "", lambda graph: {"data.json": published.wikics(graph)}),
    "polblogs": (pyg.PolBlogs, "/polblogs.tar.gz", lambda graph: {"polblogs.tar.gz": published.polblogs(graph)}),
}


@pytest.mark.parametrize("name", SOURCES)
def test_every_source_gives_the_graph_and_keeps_it(name, small, source, monkeypatch, tmp_path, capfd):
    kind, path, publish = SOURCES[name]
    monkeypatch.setattr(kind, "url", source.address + path)
    if name == "coauthor-cs":  # its class names are known, so there must be 15 classes
        small = replace(small, y=small.y * 7, class_names=tuple(map(str, range(15))))
    if name == "twitch-engb":
        small = replace(small, y=small.y % 2, class_names=("0", "1"))
    info = as_published(name, small, monkeypatch)
    source.files = publish(small)
    events = []
    graph = load_graph(name, data_dir=tmp_path / "data", reporter=events.append)
    assert graph.name == info.name
    np.testing.assert_array_equal(graph.edge_index, small.edge_index)
    np.testing.assert_array_equal(graph.y, small.y)
    if info.features:
        np.testing.assert_array_equal(graph.dense_features(), small.x)
    else:
        assert graph.x is None
    assert files_below(tmp_path / "data") == [f"{info.name}.npz"]
    assert differences(read_graph(tmp_path / "data" / f"{info.name}.npz"), graph) == []
    assert [type(event) for event in events] == [Note]
    assert capfd.readouterr() == ("", "")
    asked = len(source.asked)
    assert load_graph(name, data_dir=tmp_path / "data").equals(graph)
    assert len(source.asked) == asked  # the second time it comes from the data folder


def test_airports_have_no_features(small, source, monkeypatch, tmp_path):
    monkeypatch.setattr(pyg.Airports, "edge_url", source.address + "/{}-airports.edgelist")
    monkeypatch.setattr(pyg.Airports, "label_url", source.address + "/labels-{}-airports.txt")
    source.files = published.airports(small, "usa")
    graph = load_graph("airports-usa", data_dir=tmp_path)
    np.testing.assert_array_equal(graph.edge_index, small.edge_index)
    assert graph.x is None


def test_planetoid_edges_that_come_twice_and_nodes_without_content(source, monkeypatch, tmp_path):
    monkeypatch.setattr(pyg.Planetoid, "url", source.address)
    drawn = synthetic_graph(nodes=600, classes=3, mean_degree=4, features=12)
    missing = [585, 592]
    test = [node for node in np.random.default_rng(0).permutation(np.arange(580, 600)).tolist() if node not in missing]
    x, y = (drawn.x > 0.8).astype(np.float32), drawn.y.copy()
    x[~x.any(axis=1), 0] = 1
    x[missing], y[missing] = 0, 0
    expected = Graph.build(drawn.edge_index, x=sp.csr_matrix(x), y=y)
    as_published("citeseer", expected, monkeypatch)
    source.files = published.planetoid(expected, "citeseer", test, missing)
    events = []
    graph = load_graph("citeseer", data_dir=tmp_path, reporter=events.append)
    for part in ("edge_index", "y"):
        np.testing.assert_array_equal(getattr(graph, part), getattr(expected, part))
    np.testing.assert_array_equal(graph.dense_features(), x)
    assert graph.extra["missing_nodes"].tolist() == missing
    assert graph.extra["planetoid_test"].tolist() == sorted(test)
    assert graph.extra["planetoid_train"].tolist() == list(range(20))
    assert [type(event) for event in events] == [Note]


@pytest.mark.parametrize("name", ["cora", "citeseer"])
def test_planetoid_form_of_the_real_graph_gives_the_same_as_the_local_file(
    name, data_folder, source, monkeypatch, tmp_path
):
    if not (data_folder / f"{name}.npz").is_file():
        pytest.skip(f"needs {name}.npz in the data folder")
    monkeypatch.setattr(pyg.Planetoid, "url", source.address)
    local = load_graph(name, data_dir=data_folder)
    missing = local.extra["missing_nodes"].tolist()
    test = local.extra["planetoid_test"].tolist()
    source.files = published.planetoid(local, name, test[::-1], missing, train=len(local.extra["planetoid_train"]))
    events = []
    downloaded = load_graph(name, data_dir=tmp_path, reporter=events.append)
    assert differences(downloaded, local) == []
    assert sp.issparse(downloaded.x)
    assert not [event for event in events if isinstance(event, Warned)]  # every count is that of the catalogue


@pytest.mark.slow
def test_coauthor_form_of_the_real_graph_keeps_counts_and_stays_sparse(data_folder, source, monkeypatch, tmp_path):
    if not (data_folder / "coauthor-cs.npz").is_file():
        pytest.skip("needs coauthor-cs.npz in the data folder")
    monkeypatch.setattr(pyg.Coauthor, "url", source.address + "/")
    local = load_graph("coauthor-cs", data_dir=data_folder)
    source.files = {"ms_academic_cs.npz": published.benchmark(local)}
    assert differences(load_graph("coauthor-cs", data_dir=tmp_path), local) == []
    assert local.x.data.max() > 1


def test_ogb_tells_its_extra_when_it_is_missing(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ogb", None)
    monkeypatch.setitem(sys.modules, "ogb.nodeproppred", None)
    with pytest.raises(MissingExtraError, match=r"needs ogb.*\[ogb\]"):
        load_graph("ogbn-arxiv", data_dir=tmp_path / "data")
    assert files_below(tmp_path) == []


def test_ogb(small, source, monkeypatch, tmp_path, capfd):
    pytest.importorskip("ogb", reason="the extra ogb is not installed")
    import pandas
    from ogb.nodeproppred import dataset

    as_published("ogbn-arxiv", small, monkeypatch)
    source.files = {"arxiv.zip": published.ogb(small, "arxiv")}
    read = pandas.read_csv

    def with_our_address(path, *args, **kwargs):
        table = read(path, *args, **kwargs)
        if str(path).endswith("master.csv"):
            table.loc["url", "ogbn-arxiv"] = source.address + "/arxiv.zip"
        return table

    monkeypatch.setattr(dataset.pd, "read_csv", with_our_address)
    graph = load_graph("ogbn-arxiv", data_dir=tmp_path)
    np.testing.assert_array_equal(graph.edge_index, small.edge_index)
    np.testing.assert_array_equal(graph.y, small.y)
    np.testing.assert_array_equal(graph.dense_features(), small.x)
    assert files_below(tmp_path) == ["ogbn-arxiv.npz"]
    assert capfd.readouterr().out == ""
