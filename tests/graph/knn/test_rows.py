"""New rows of a graph that was made from rows."""

import json
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from PIL import Image

import nodewise as nw
from nodewise.graph import preprocess
from nodewise.graph.io.npz import read_npz, write_npz
from nodewise.graph.knn.knn import knn_from_images, knn_from_table
from nodewise.graph.knn.rows import NodeSearch, new_features, vector_features
from nodewise.graph.preparation import Preparation
from nodewise.ground.errors import GraphError, InputError

TEXTS = ["the cat sat on a mat", "a cat ran", "stocks fell on monday", "bonds rose, stocks fell", "the dog ran home"]
TABLE = {"size": ["1", "2", "8", "9", ""], "kind": ["a", "b", "a", "b", "a"], "label": ["p", "", "q", "", ""]}


def dense(x):
    return x.toarray() if sp.issparse(x) else x


def letters(texts):
    return np.array([[text.count(letter) for letter in "aeiost"] for text in texts], dtype=np.float32)


def pictures(folder, colour):
    draws = np.random.default_rng(0)
    for i in range(4):
        values = draws.integers(0, 255, (4, 4, 3) if colour else (4, 4), dtype=np.uint8)
        Image.fromarray(values).save(folder / f"{i}.png")
    return [folder / f"{i}.png" for i in range(4)]


def test_the_graphs_own_rows_become_its_own_features(tmp_path):
    files = pictures(tmp_path, True)
    x = np.random.default_rng(1).normal(size=(6, 3)).astype(np.float32)
    nodes = tmp_path / "nodes.csv"
    nodes.write_text("id,size,note\nu,1,red cat\nv,2.5,blue cat\nw,-1,red dog\n")
    made = [
        (nw.Graph.from_texts(TEXTS, k=2), TEXTS),
        (nw.Graph.from_texts(TEXTS, k=2, encoder=letters), TEXTS),
        (nw.Graph.from_dataframe(TABLE, k=2), TABLE),
        (knn_from_table({"title": TEXTS, "n": list("12345")}, 2, text="title"), {"title": TEXTS}),
        (knn_from_images(files, 2, size=3), files),
        (nw.knn_graph(x, 2), x),
        (nw.knn_graph(sp.csr_matrix(np.maximum(x, 0)), 2), np.maximum(x, 0)),
        (preprocess(nw.knn_graph(x, 2), "unit"), x),
        (preprocess(nw.Graph.from_texts(TEXTS, k=2), "binary+row+center"), TEXTS),
        (nw.Graph.from_csv(nodes, text="note", features=["size"]), nodes),
    ]
    for graph, rows in made:
        found = new_features(graph, rows, encoder=letters)
        assert sp.issparse(found) == sp.issparse(graph.x)
        np.testing.assert_allclose(dense(found), dense(graph.x), rtol=0, atol=1e-7)


def test_a_preparation_survives_npz_pickle_and_a_session(tmp_path):
    for graph in (
        nw.Graph.from_texts(TEXTS, k=2),
        nw.Graph.from_texts(TEXTS, k=2, encoder=letters),
        nw.Graph.from_dataframe(TABLE, k=2),
    ):
        write_npz(graph, tmp_path / "g.npz")
        again = read_npz(tmp_path / "g.npz")
        assert again.equals(graph) and again.preparation.equals(graph.preparation) and not again.extra
        assert pickle.loads(pickle.dumps(graph)).equals(graph)
    session = nw.Session.create(tmp_path / "s.nodewise", graph, budget=2)
    assert session.graph.preparation.equals(graph.preparation)
    assert session.graph.preparation.label == "label"


def test_texts_become_the_same_features_as_scikit_learns():
    from sklearn.feature_extraction.text import TfidfVectorizer

    theirs = TfidfVectorizer(strip_accents="unicode", sublinear_tf=True).fit(TEXTS)
    new = ["a cat fell home", "nothing known", "naïve dog dog"]
    ours = new_features(nw.Graph.from_texts(TEXTS, k=2), new)
    np.testing.assert_allclose(ours.toarray(), theirs.transform(new).toarray(), atol=1e-6)


def test_a_tables_new_rows_are_scaled_as_the_old_ones_were():
    graph = nw.Graph.from_dataframe({"size": ["0", "2", "4"], "kind": ["a", "b", "a"]}, k=1)
    rows = [{"size": 2, "kind": "c", "more": 1}, {"size": None, "kind": "a"}, {"size": 4 + 6**0.5, "kind": "b"}]
    deviation = np.std([0, 2, 4])
    expected = [[0, 0, 0], [0, 1, 0], [(2 + 6**0.5) / deviation, 0, 1]]
    np.testing.assert_allclose(new_features(graph, rows), expected, atol=1e-6)


def test_colour_becomes_grey_where_the_graph_is_grey(tmp_path):
    graph = knn_from_images(pictures(tmp_path, False), 2, size=2)
    Image.new("RGB", (3, 3), (255, 0, 0)).save(tmp_path / "red.png")
    np.testing.assert_allclose(new_features(graph, [tmp_path / "red.png"]), [[76 / 255] * 4], atol=1e-6)
    assert new_features(graph, ["red.png"], folder=tmp_path).shape == (1, 4)


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize("sparse", [False, True])
def test_nearest_nodes_are_those_that_comparing_all_finds(metric, sparse):
    draws = np.random.default_rng(0)
    x, rows = (np.round(draws.normal(size=(n, 5)), 1).astype(np.float32) for n in (60, 17))
    x[3] = x[4]
    rows[5] = 0
    graph = nw.knn_graph(sp.csr_matrix(x) if sparse else x, 3, metric)
    nodes, near = NodeSearch.of(graph).nearest(sp.csr_matrix(rows) if sparse else rows, 4)
    one, other = rows.astype(np.float64), x.astype(np.float64)
    if metric == "cosine":
        length = np.outer(np.linalg.norm(one, axis=1), np.linalg.norm(other, axis=1))
        every = np.divide(one @ other.T, length, out=np.zeros_like(length), where=length > 0)
        assert (nodes[5] == -1).all()
    else:
        every = -np.linalg.norm(one[:, None] - other[None], axis=2)
    for row in range(17):
        best = sorted(range(60), key=lambda node: (-round(every[row, node], 8), node))[:4]
        assert nodes[row].tolist() == best or (metric == "cosine" and row == 5)
    np.testing.assert_allclose(near[:5], np.take_along_axis(every, nodes, 1)[:5], atol=1e-6)


def test_what_cannot_be_prepared_is_refused_in_a_sentence(tmp_path):
    plain = nw.Graph.build([[0, 1], [1, 2]], x=np.eye(3))
    with pytest.raises(GraphError, match="does not say how its rows became features"):
        new_features(plain, TEXTS)
    assert vector_features(plain, np.ones((2, 3))).shape == (2, 3)
    table = nw.Graph.from_dataframe(TABLE, k=2)
    with pytest.raises(GraphError, match="no column 'kind', of which the graph's features were made"):
        new_features(table, {"size": ["1"], "sort": ["a"]})
    with pytest.raises(GraphError, match="row 2: column 'size' holds 'big' where the graph has numbers"):
        new_features(table, {"size": ["1", "big"], "kind": ["a", "b"]})
    with pytest.raises(GraphError, match="made from a table with the columns"):
        new_features(table, ["1", "2"])
    vectors = nw.knn_graph(np.eye(4), 2)
    with pytest.raises(GraphError, match="the rows have 3 columns and the graph's features 4"):
        new_features(vectors, np.ones((1, 3)))
    with pytest.raises(GraphError, match="no finite number"):
        new_features(vectors, np.full((1, 4), np.nan))
    encoded = nw.Graph.from_texts(TEXTS, k=2, encoder=letters)
    with pytest.raises(InputError, match=r"encoded by '.*letters', which is not kept"):
        new_features(encoded, TEXTS)
    with pytest.raises(InputError, match="not the encoder that the graph's texts were encoded by"):
        new_features(encoded, TEXTS, encoder=lambda texts: 2 * letters(texts))
    centred = preprocess(vectors, "center")
    with pytest.raises(GraphError, match="cannot be done to rows alone"):
        new_features(centred, np.ones((1, 4)))


def test_a_damaged_preparation_is_refused(tmp_path):
    good = nw.Graph.from_texts(TEXTS, k=2).preparation
    told = json.loads(good.to_json())
    arrays = list(good.arrays.values())
    for change in ({"schema": 9}, {"rows": "songs"}, {"parts": []}, {"arrays": []}, {"nearest": "many"}):
        with pytest.raises(GraphError, match="how its rows became features"):
            Preparation.from_json(json.dumps(told | change), arrays)
    told["parts"][0]["words"].pop()
    with pytest.raises(GraphError, match="does not fit its"):
        Preparation.from_json(json.dumps(told), arrays)
