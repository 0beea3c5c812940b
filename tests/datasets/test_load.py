from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from nodewise.datasets import dataset_info, list_datasets, load_graph
from nodewise.datasets.folder import find_local
from nodewise.graph import Graph, knn_graph, write_graph
from nodewise.ground.errors import DownloadError, GraphError, InputError, UnknownNameError

# The figures of the data sets' publishers and of the paper: nodes, edges, features, classes, homophily.
PUBLISHED = {
    "cora": (2708, 5278, 1433, 7, 0.810),
    "citeseer": (3327, 4552, 3703, 6, 0.736),
    "pubmed": (19717, 44324, 500, 3, 0.802),
    "coauthor-cs": (18333, 81894, 6805, 15, 0.808),
    "coauthor-physics": (34493, 247962, 8415, 5, 0.931),
    "reddit-case-study": (85, 156, 300, 4, 0.853),
}


def small(name="mine"):
    return Graph.build([[0, 1, 2], [1, 2, 3]], x=np.eye(4, 3), y=["a", "b", "a", "b"], name=name)


@pytest.mark.parametrize("name", PUBLISHED)
def test_statistics_of_the_papers_complete_graphs(name, data_folder):
    if find_local(data_folder, (name, *dataset_info(name).files)) is None:
        pytest.skip(f"needs {name}.npz in the data folder")
    graph = load_graph(name, data_dir=data_folder)
    nodes, edges, features, classes, homophily = PUBLISHED[name]
    assert (graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes) == (nodes, edges, features, classes)
    assert graph.homophily == pytest.approx(homophily, abs=0.0005)
    assert graph.name == name


def test_every_file_of_the_data_folder_has_a_name(data_folder):
    names = list_datasets(data_folder)
    for path in data_folder.glob("*.npz"):
        assert dataset_info(path.stem, data_folder).name in names


def test_local_file_comes_first_under_each_of_its_names(tmp_path):
    write_graph(small("something"), tmp_path / "reddit1401-graph1.npz")
    for name in ("reddit1", "Reddit1", "reddit1401-graph1"):
        graph = load_graph(name, data_dir=tmp_path)
        assert (graph.name, graph.num_edges) == ("reddit1", 3)
    write_graph(knn_graph(np.eye(9) + 1, 2), tmp_path / "reddit1.npz")
    assert load_graph("reddit1", data_dir=tmp_path).num_nodes == 9
    write_graph(small(), tmp_path / "karate.npz")
    assert load_graph("karate", data_dir=tmp_path).num_nodes == 4


def test_any_npz_in_the_data_folder_by_its_name(tmp_path, monkeypatch):
    write_graph(small("inner name"), tmp_path / "My_Graph.npz")
    monkeypatch.setenv("NODEWISE_DATA", str(tmp_path))
    assert load_graph("My_Graph").equals(small("inner name"))


def test_paths_in_every_form(tmp_path, monkeypatch):
    graph = small()
    write_graph(graph, tmp_path / "g.npz")
    write_graph(graph, tmp_path / "folder")
    monkeypatch.chdir(tmp_path)
    for path in ("g.npz", "./g.npz", tmp_path / "g.npz", str(tmp_path / "g.npz"), Path("g.npz")):
        assert load_graph(path).equals(graph)
    assert load_graph("folder").num_edges == 3


def test_name_of_a_data_set_wins_over_a_folder_of_that_name(tmp_path, monkeypatch):
    (tmp_path / "karate").mkdir()
    monkeypatch.chdir(tmp_path)
    assert load_graph("karate", data_dir=tmp_path / "none").num_nodes == 34
    with pytest.raises(GraphError, match="karate"):
        load_graph("./karate")


def test_what_cannot_be_found(tmp_path):
    with pytest.raises(UnknownNameError, match=r"did you mean 'cora'.*corra\.npz in the data folder .* is found by its name"):
        load_graph("corra", data_dir=tmp_path)
    with pytest.raises(GraphError, match="there is no file"):
        load_graph("corra.npz", data_dir=tmp_path)
    with pytest.raises(UnknownNameError, match="unknown data set ''"):
        load_graph("", data_dir=tmp_path)
    with pytest.raises(DownloadError, match=r"put acmv9\.npz into the data folder"):
        load_graph("acmv9", data_dir=tmp_path)


def test_damaged_local_file_is_told_and_not_replaced(tmp_path):
    (tmp_path / "cora.npz").write_bytes(b"half a fi")
    with pytest.raises(GraphError, match=r"cora\.npz"):
        load_graph("cora", data_dir=tmp_path)
    assert (tmp_path / "cora.npz").read_bytes() == b"half a fi"


def test_features_by_name(tmp_path):
    x = np.array([[2.0, 0, 0], [0, 3, 0], [0, 0, 4], [0, 0, 0]])
    graph = Graph.build([[0, 1, 2], [1, 2, 3]], x=sp.csr_matrix(x), y=[0, 1, 0, 1], name="coauthor-cs")
    write_graph(graph, tmp_path / "coauthor-cs.npz")
    np.testing.assert_array_equal(load_graph("cs", data_dir=tmp_path).dense_features(), x)
    np.testing.assert_array_equal(load_graph("cs", data_dir=tmp_path, features="paper").dense_features(), x > 0)
    np.testing.assert_array_equal(load_graph("cs", data_dir=tmp_path, features="unit").dense_features(), x > 0)


def test_what_was_done_to_the_features_is_kept_with_the_graph(tmp_path):
    write_graph(small("citeseer"), tmp_path / "citeseer.npz")
    graph = load_graph("citeseer", features="paper", data_dir=tmp_path)
    assert graph.features == "row+center"
    assert load_graph("citeseer", data_dir=tmp_path).features == "raw"
    write_graph(graph, tmp_path / "done.npz")
    for features in ("raw", "row+center"):
        assert load_graph("done", features=features, data_dir=tmp_path).equals(graph)
    with pytest.raises(InputError, match=r"preprocessed already \(row\+center\), so unit can no longer be done"):
        load_graph("done", features="unit", data_dir=tmp_path)


def test_misspelt_features_are_told_before_a_download(tmp_path):
    with pytest.raises(UnknownNameError, match="did you mean 'unit'"):
        load_graph("coauthor-physics", data_dir=tmp_path / "none", features="unti")
    assert not (tmp_path / "none").exists()
