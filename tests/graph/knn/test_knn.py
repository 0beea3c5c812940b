import numpy as np
import pytest
import scipy.sparse as sp

from nodewise.graph import Graph, knn_graph
from nodewise.graph.knn.knn import graph_from_things, knn_from_images, knn_from_npy, knn_from_table, knn_from_texts
from nodewise.ground.errors import GraphError, InputError, UnknownNameError

TEXTS = ["the cat sat", "a cat ran", "stocks fell", "stocks rose fast", "bond stocks"]


def edges(graph):
    return set(map(tuple, graph.edge_index.T.tolist()))


def test_joined_if_either_is_nearest_to_the_other():
    graph = knn_graph([[0.0], [1.0], [2.5], [10.0]], k=1, metric="euclidean", y=["a", "a", "b", "b"], name="line")
    assert edges(graph) == {(0, 1), (1, 2), (2, 3)}
    assert (graph.name, graph.num_features, graph.class_names, graph.notes) == ("line", 1, ("a", "b"), ())
    np.testing.assert_array_equal(graph.x, np.float32([[0], [1], [2.5], [10]]))


def test_every_node_has_at_least_k_neighbours():
    x = np.random.default_rng(0).normal(size=(200, 5))
    for metric in ("cosine", "euclidean"):
        assert knn_graph(x, 7, metric).degree.min() >= 7


def test_same_from_sparse_and_dense_and_at_each_call():
    x = (np.random.default_rng(1).random((80, 12)) < 0.2).astype(np.float32)
    for metric in ("cosine", "euclidean"):
        dense = knn_graph(x, 4, metric)
        assert dense.equals(knn_graph(x, 4, metric))
        np.testing.assert_array_equal(dense.edge_index, knn_graph(sp.csr_matrix(x), 4, metric).edge_index)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_weights_are_how_much_alike_the_ends_are(form):
    x = np.array([[0.0, 1.0], [0.0, 2.0], [3.0, 2.0], [3.0, 6.0]])
    by_angle = knn_graph(form(x), 1, weighted=True)
    one, other = x[by_angle.edge_index[0]], x[by_angle.edge_index[1]]
    cosine = (one * other).sum(1) / np.linalg.norm(one, axis=1) / np.linalg.norm(other, axis=1)
    np.testing.assert_allclose(by_angle.edge_weight, cosine, rtol=1e-6)
    by_distance = knn_graph(form(x), 1, "euclidean", weighted=True)
    far = np.linalg.norm(x[by_distance.edge_index[0]] - x[by_distance.edge_index[1]], axis=1)
    np.testing.assert_allclose(by_distance.edge_weight, 1 / (1 + far / far.mean()), rtol=1e-6)
    plain = knn_graph(form(x), 1)
    assert plain.edge_weight is None and edges(plain) == edges(by_angle)


def test_every_way_to_a_graph_of_nearest_rows_takes_weights(tmp_path):
    (tmp_path / "table.csv").write_text("name,a,b\np,0,1\nq,1,1\nr,5,2\ns,2,9\n")
    (tmp_path / "lines.txt").write_text("\n".join(TEXTS))
    for made in (
        knn_from_texts(TEXTS, 1, weighted=True),
        Graph.from_texts(TEXTS, k=1, weighted=True),
        Graph.from_dataframe({"a": [0, 1, 5, 2], "b": [1, 1, 2, 9]}, k=1, metric="euclidean", weighted=True),
        graph_from_things(tmp_path / "table.csv", knn=1, metric="euclidean", weighted=True),
        graph_from_things(tmp_path / "lines.txt", knn=1, weighted=True),
    ):
        assert made.edge_weight is not None and (made.edge_weight > 0).all()


def test_equal_rows_and_rows_with_nothing_in_common_have_weights_that_are_allowed():
    assert knn_graph([[1.0], [1.0], [1.0]], 1, "euclidean", weighted=True).edge_weight is None
    assert knn_graph([[1.0, 0.0], [0.0, 1.0]], 1, weighted=True).num_edges == 0
    assert knn_graph([[1.0, 1e-30], [0.0, 1.0], [1.0, 0.0]], 1, weighted=True).num_edges >= 1


def test_isolated_nodes_are_told():
    graph = knn_graph([[1.0, 0.0], [1.0, 0.1], [0.0, 0.0]], k=2)
    assert edges(graph) == {(0, 1)}
    assert graph.notes == ("1 node with nothing in common with any other: isolated",)


@pytest.mark.parametrize("k", [0, 5, 6, -1, 2.0, True])
def test_k_must_fit(k):
    with pytest.raises(InputError, match="k must be a whole number from 1 to 4, below the 5 rows, received"):
        knn_graph(np.eye(5), k)


def test_bad_tables_and_metrics():
    with pytest.raises(UnknownNameError, match="did you mean 'euclidean'"):
        knn_graph(np.eye(5), 2, "euclidian")
    with pytest.raises(GraphError, match=r"shape \[nodes, features\].*received \[5\]"):
        knn_graph(np.ones(5), 2)
    with pytest.raises(GraphError, match="finite"):
        knn_graph([[1.0], [np.nan], [2.0]], 1)
    with pytest.raises(GraphError, match="one label for each of the 5 nodes"):
        knn_graph(np.eye(5), 2, y=[1, 2])


def test_texts_join_by_their_words_and_are_kept():
    graph = knn_from_texts([*TEXTS, "§"], k=2, y=["pets", "pets", "money", "money", "", ""])
    assert edges(graph) == {(0, 1), (2, 3), (2, 4), (3, 4)}
    assert graph.attributes["text"].tolist() == [*TEXTS, "§"]
    assert graph.y.tolist() == [1, 1, 0, 0, -1, -1]
    assert sp.issparse(graph.x)


def test_embeddings(tmp_path):
    x = np.random.default_rng(2).normal(size=(30, 4))
    np.save(tmp_path / "mine.npy", x)
    graph = knn_from_npy(tmp_path / "mine.npy", 3)
    assert graph.name == "mine"
    assert edges(graph) == edges(knn_graph(x, 3))


def test_embeddings_with_pickled_objects_or_of_another_form_are_refused(tmp_path):
    np.save(tmp_path / "pickled.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    np.save(tmp_path / "flat.npy", np.zeros(4))
    (tmp_path / "empty.npy").touch()
    (tmp_path / "other.npy").write_text("not an array")
    whole = tmp_path / "whole.npy"
    np.save(whole, np.zeros((9, 9)))
    (tmp_path / "half.npy").write_bytes(whole.read_bytes()[:300])
    for name, message in {
        "pickled": "no array of numbers",
        "flat": r"received \(4,\)",
        "empty": "is empty",
        "other": "no array",
        "half": "no array",
    }.items():
        with pytest.raises(GraphError, match=message):
            knn_from_npy(tmp_path / f"{name}.npy", 2)
    with pytest.raises(GraphError, match="there is no file"):
        knn_from_npy(tmp_path / "gone.npy", 2)


def write_table(path, rows=12):
    lines = ["name,size,colour,weight,label"]
    lines += [
        "item"
        f" {i},{i // 6 + 0.01 * i},{'red' if i < 6 else 'blue'},{i % 3},{'low' if i < 6 else 'high' if i < 11 else ''}"
        for i in range(rows)
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_table(tmp_path):
    graph = knn_from_table(write_table(tmp_path / "items.csv"), 3, "euclidean")
    assert (graph.name, graph.num_nodes, graph.num_features) == ("items", 12, 4)
    assert graph.node_names[:2] == ("item 0", "item 1")
    assert graph.class_names == ("high", "low")
    assert graph.y.tolist() == [1] * 6 + [0] * 5 + [-1]
    assert graph.attributes["colour"][0] == "red"
    assert "label" not in graph.attributes
    assert graph.homophily == 1


def test_labels_never_become_features(tmp_path):
    path = write_table(tmp_path / "items.csv")
    changed = tmp_path / "changed.csv"
    changed.write_text(path.read_text().replace("low", "high"))
    for label in (None, "label"):
        one, other = (knn_from_table(p, 3, label=label) for p in (path, changed))
        np.testing.assert_array_equal(one.x, other.x)
        np.testing.assert_array_equal(one.edge_index, other.edge_index)


def test_table_from_columns_in_memory():
    graph = knn_from_table({"a": [1, 2, 3, None], "b": ["x", "y", "x", "y"]}, 1, "euclidean")
    assert graph.num_nodes == 4
    assert graph.notes == ("column 'a': 1 empty cell filled with the mean",)
    assert graph.y is None


def test_table_in_memory_must_be_complete():
    for columns in ({}, {"a": [1, 2], "b": [1]}, {"a": []}):
        with pytest.raises(GraphError, match="same number of rows"):
            knn_from_table(columns, 1)


def test_wide_tables_keep_only_words_as_attributes():
    columns = {f"pixel{i}": ["1", "2", "4"] for i in range(60)} | {"title": ["x", "y", "z"]}
    assert list(knn_from_table(columns, 1).attributes) == ["title"]


def pictures(folder):
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    for i in range(8):
        path = folder / ("dark" if i < 4 else "bright") / f"{i}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        noise = np.random.default_rng(i).integers(0, 60, size=(9, 9, 3))
        image.fromarray((noise + (0 if i < 4 else 190)).astype(np.uint8)).save(path)
    return folder


def test_folder_of_pictures(tmp_path):
    graph = graph_from_things(pictures(tmp_path / "photos"), knn=2, metric="euclidean", label="folder")
    assert (graph.name, graph.num_nodes, graph.num_features, graph.homophily) == ("photos", 8, 32 * 32 * 3, 1)
    assert graph.class_names == ("bright", "dark")
    assert graph.node_names[0] == "bright/4.png"
    assert graph.attributes["picture"][0] == str((tmp_path / "photos/bright/4.png").resolve())
    assert graph_from_things(tmp_path / "photos", knn=2).y is None
    with pytest.raises(InputError, match="can be 'folder'"):
        graph_from_things(tmp_path / "photos", knn=2, label="class")


def test_column_of_pictures_is_relative_to_the_table(tmp_path):
    pictures(tmp_path)
    (tmp_path / "list.csv").write_text(
        "file,note\n" + "\n".join(f"{'dark' if i < 4 else 'bright'}/{i}.png,n{i}" for i in range(8))
    )
    graph = graph_from_things(tmp_path / "list.csv", knn=2, images="file", metric="euclidean")
    assert edges(graph) == edges(
        knn_from_images([tmp_path / ("dark" if i < 4 else "bright") / f"{i}.png" for i in range(8)], 2, "euclidean")
    )
    assert graph.attributes["note"][3] == "n3"
    assert graph.attributes["picture"][0].endswith("0.png")


def test_things_by_their_ending(tmp_path):
    (tmp_path / "news.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    (tmp_path / "news.tsv").write_text("body\tlabel\n" + "\n".join(f"{text}\tx" for text in TEXTS))
    lines, table = (
        graph_from_things(tmp_path / "news.txt", knn=1),
        graph_from_things(tmp_path / "news.tsv", knn=1, text="body"),
    )
    assert edges(lines) == edges(table)
    assert table.attributes["text"].tolist() == TEXTS
    np.save(tmp_path / "e.npy", np.eye(5) + 1)
    assert isinstance(graph_from_things(tmp_path / "e.npy", knn=1), Graph)
    assert graph_from_things(write_table(tmp_path / "t.csv"), knn=2).num_classes == 2


def test_things_that_cannot_be(tmp_path):
    path = write_table(tmp_path / "t.csv")
    np.save(tmp_path / "e.npy", np.eye(5))
    (tmp_path / "x.pdf").write_text("x")
    (tmp_path / "bare.csv").write_text("a,b\n")
    (tmp_path / "latin.txt").write_bytes("é".encode("latin-1"))
    for source, options, message in [
        (path, {"text": "body"}, "has no column 'body'; its columns are 'name'"),
        (path, {"label": "labl"}, "has no column 'labl'.*did you mean"),
        (path, {"text": "name", "images": "name"}, "received both"),
        (path, {"images": "name"}, "there is no picture"),
        (tmp_path / "e.npy", {"text": "body"}, "has no columns, received text 'body'"),
        (tmp_path / "e.npy", {"label": "y"}, "has no columns, received label 'y'"),
        (tmp_path / "x.pdf", {}, "no graph can be made of"),
        (tmp_path / "gone.csv", {}, "there is no file"),
        (tmp_path / "bare.csv", {}, "names columns but holds no rows"),
        (tmp_path / "latin.txt", {}, "not UTF-8"),
        (tmp_path, {}, "there are no pictures"),
    ]:
        with pytest.raises(InputError, match=message):
            graph_from_things(source, knn=2, **options)
