"""A fitted learner: what it predicts, of nodes and of rows that were not there."""

import numpy as np
import pytest
import scipy.sparse as sp

import nodewise as nw
from nodewise.ground.errors import GraphError, InputError

WORDS = {"pet": ["cat", "dog", "fur", "paw", "tail"], "money": ["stock", "bond", "market", "price", "fund"]}


def clouds(number=60, seed=0):
    """Three clouds of rows and their classes."""
    draws = np.random.default_rng(seed)
    y = np.arange(number) % 3
    centre = np.array([[4, 0, 0, 0], [0, 4, 0, 0], [0, 0, 4, 0]])
    return (centre[y] + draws.normal(0, 0.5, (number, 4))).astype(np.float32), y


def texts(number=60, seed=0):
    """Texts of two topics, and these."""
    draws = np.random.default_rng(seed)
    names = [("pet", "money")[i % 2] for i in range(number)]
    return [" ".join(draws.choice(WORDS[name], 4)) for name in names], names


@pytest.fixture(scope="module")
def fitted():
    x, y = clouds()
    return nw.fit(nw.knn_graph(x, 5), {i: f"c{y[i]}" for i in range(9)})


def test_labels_may_be_a_dict_an_array_with_gaps_or_a_series():
    pandas = pytest.importorskip("pandas")
    x, y = clouds(30)
    graph = nw.knn_graph(x, 5, node_names=[f"n{i}" for i in range(30)], class_names=["c0", "c1", "c2"])
    some = range(6)
    array = [f"c{y[i]}" if i in some else None for i in range(30)]
    numbers = np.array([y[i] if i in some else -1 for i in range(30)])
    forms = [
        {f"n{i}": f"c{y[i]}" for i in some},
        {i: int(y[i]) for i in some},
        array,
        np.array(["" if one is None else one for one in array]),
        numbers,
        np.where(numbers < 0, np.nan, numbers),
        pandas.Series(array),
        pandas.Series({f"n{i}": f"c{y[i]}" for i in some}),
    ]
    first = nw.fit(graph, forms[0])
    for form in forms[1:]:
        other = nw.fit(graph, form)
        assert (other.labels, other.classes) == (first.labels, first.classes)
        np.testing.assert_array_equal(other.probabilities, first.probabilities)


def test_it_predicts_what_a_session_with_these_labels_does(tmp_path, fitted):
    session = nw.Session.create(tmp_path / "s.nodewise", fitted.graph, budget=20, classes=fitted.classes)
    for node, label in fitted.labels.items():
        session.tell(node, fitted.classes[label])
    np.testing.assert_allclose(session.predict().probabilities, fitted.probabilities, atol=1e-6)
    assert fitted.leave_one_out.shape == (9, 3)
    assert {each.node for each in fitted.explain(20)} == set(fitted.labels)
    assert fitted.explain(20)[0].label == fitted.predict().labels[20]
    asked = fitted.ask(2)
    assert len(set(asked)) == 2 and not set(asked) & set(fitted.labels)


def test_vectors_that_were_not_there_are_predicted(fitted):
    x, y = clouds(30, seed=1)
    found = fitted.predict(x)
    assert [f"c{one}" for one in y] == list(found.labels)
    assert not found.unlike.any()
    np.testing.assert_allclose(found.probabilities.sum(1), 1, atol=1e-5)
    far = fitted.predict([[0, 0, 0, 9.0], [0, 0, 0, 0]])
    assert far.words == ("like nothing seen",) * 2
    assert fitted.predict(np.zeros((0, 4))).labels == ()


def test_a_nodes_own_row_is_predicted_as_the_node_is(fitted):
    x, _ = clouds()
    np.testing.assert_allclose(fitted.predict(x).probabilities, fitted.probabilities, atol=0.05)


def test_rows_one_by_one_are_those_together(fitted):
    x, _ = clouds(6, seed=2)
    together = fitted.predict(x).probabilities
    np.testing.assert_allclose([fitted.predict(row[None]).probabilities[0] for row in x], together, atol=1e-5)


def test_texts_and_tables_that_were_not_there_are_predicted():
    old, names = texts()
    fitted = nw.fit(nw.Graph.from_texts(old, k=5), {i: names[i] for i in range(8)})
    new, wanted = texts(20, seed=1)
    assert list(fitted.predict(new).labels) == wanted
    assert fitted.predict(["zebra quantum"]).words == ("like nothing seen",)
    table = nw.Graph.from_dataframe({"title": old, "n": list(range(60))}, text="title", k=5)
    assert list(nw.fit(table, {i: names[i] for i in range(8)}).predict({"title": new}).labels) == wanted


def test_a_plain_graph_takes_vectors_with_neighbours():
    draws = np.random.default_rng(0)
    y = np.arange(40) % 2
    edges = [(i, j) for i in range(40) for j in range(i) if y[i] == y[j] and draws.random() < 0.3]
    x = (draws.random((40, 30)) < 0.1).astype(np.float32)
    graph = nw.Graph.build(np.array(edges).T, 40, x=sp.csr_matrix(x), node_names=[f"n{i}" for i in range(40)])
    fitted = nw.fit(graph, {i: "ab"[y[i]] for i in range(8)})
    rows = np.zeros((2, 30))
    rows[:, :2] = 1
    found = fitted.predict(rows, neighbours=[["n10", "n12", "n14"], [11, 13, 15]])
    assert found.labels == ("a", "b") and not found.unlike.any()
    masks = np.isin(np.arange(40), [10, 12, 14]), np.isin(np.arange(40), [11, 13, 15])
    np.testing.assert_array_equal(fitted.predict(rows, neighbours=masks).probabilities, found.probabilities)
    with pytest.raises(InputError, match="neighbours are 40 zeros and ones, one for each node"):
        fitted.predict(rows, neighbours=[mask.astype(int) for mask in masks])
    with pytest.raises(GraphError, match="does not say how its rows became features"):
        fitted.predict(["a text"])
    with pytest.raises(InputError, match="one list for each of the 2 rows"):
        fitted.predict(rows, neighbours=[["n10"]])


def test_a_class_without_a_label_is_listed_and_never_predicted():
    x, _ = clouds(30)
    graph = nw.knn_graph(x, 5)
    some = nw.fit(graph, {0: "c0", 1: "c1"}, classes=["c0", "c1", "c2"])
    assert (some.probabilities[:, 2] == 0).all() and (some.predict(x[:5]).probabilities[:, 2] == 0).all()
    none = nw.fit(graph, {}, classes=["c0", "c1"])
    np.testing.assert_allclose(none.predict(x[:2]).probabilities, 0.5)
    assert none.predict().labels[0] == "" and none.explain(0) == [] and none.leave_one_out is None


def test_a_classifier_that_is_trained_fits_and_says_what_it_cannot():
    x, y = clouds(30)
    fitted = nw.fit(nw.knn_graph(x, 5), {i: f"c{y[i]}" for i in range(6)}, "gcn")
    assert np.mean([label == f"c{one}" for label, one in zip(fitted.predict().labels, y, strict=True)]) > 0.8
    for call in (lambda: fitted.predict(x[:1]), lambda: fitted.save("x.fitted"), lambda: fitted.leave_one_out):
        with pytest.raises(InputError, match="the classifier 'gcn' cannot"):
            call()
    with pytest.raises(InputError, match="is trained, and there is no label"):
        nw.fit(nw.knn_graph(x, 5), {}, "gcn", classes=["a"])


def test_wrong_labels_are_refused_in_a_sentence():
    graph = nw.knn_graph(clouds(9)[0], 3)
    for labels, sentence in (
        ({99: "a"}, "no node 99"),
        (["a", None], "one entry for each of the 9 nodes"),
        ({}, "no class is named"),
    ):
        with pytest.raises(InputError, match=sentence):
            nw.fit(graph, labels)
    with pytest.raises(InputError, match="the labels name 'b', and the classes are 'a'"):
        nw.fit(graph, {0: "b"}, classes=["a"])


SETS = {0: ["c0"], 1: {"c1", "c2"}, 2: ("c2",), 3: ["c0"], 4: [], 5: ["c1"], 6: ["c0", "c2"], 7: ["c1"], 8: ["c2"]}


def test_sets_of_classes_may_be_a_dict_a_list_a_series_or_a_matrix():
    pandas = pytest.importorskip("pandas")
    graph = nw.knn_graph(clouds(30)[0], 5, class_names=["c0", "c1", "c2"])
    matrix = np.full((30, 3), -1)
    for node, names in SETS.items():
        matrix[node] = [f"c{i}" in names for i in range(3)]
    every = [SETS.get(node) for node in range(30)]
    numbers = {node: [int(name[1]) for name in names] for node, names in SETS.items()}
    first = nw.fit(graph, SETS)
    assert first.several and first.labels[1] == (1, 2) and first.labels[4] == ()
    for form in (
        every,
        matrix,
        np.where(matrix < 0, np.nan, matrix),
        pandas.Series(every),
        numbers,
        sp.csr_matrix(matrix),
    ):
        other = nw.fit(graph, form)
        assert (other.labels, other.classes, other.several) == (first.labels, first.classes, True)
        np.testing.assert_array_equal(other.probabilities, first.probabilities)


def test_with_sets_it_predicts_what_a_session_does_and_comes_back_from_its_file(tmp_path):
    x, _ = clouds(60)
    graph = nw.knn_graph(x, 5)
    fitted = nw.fit(graph, SETS, classes=["c0", "c1", "c2", "c3"])
    with nw.Session.create(
        tmp_path / "s.nodewise", graph, budget=20, classes=["c0", "c1", "c2", "c3"], several=True
    ) as session:
        for node, names in SETS.items():
            session.tell(node, sorted(names))
        told = session.predict()
    found = fitted.predict()
    np.testing.assert_allclose(told.probabilities, found.probabilities, atol=1e-6)
    assert list(found.sets) == list(told.sets) and list(found.labels) == told.names
    np.testing.assert_allclose(found.confidence, told.confidence, atol=1e-6)
    assert fitted.leave_one_out.shape == (9, 4)
    assert {each.label for each in fitted.explain(20)} >= {"c0", "c1;c2", ";"}
    asked = fitted.ask(2)
    assert len(set(asked)) == 2 and not set(asked) & set(SETS)
    fitted.save(tmp_path / "sets.fitted")
    again = nw.load_fitted(tmp_path / "sets.fitted")
    assert (again.several, again.labels) == (True, fitted.labels)
    np.testing.assert_array_equal(again.predict(x[:4]).probabilities, fitted.predict(x[:4]).probabilities)
    assert again.predict(x[:4]).given.shape == (4, 4) and not again.predict(x).given[:, 3].any()


def test_a_node_that_is_told_none_of_the_classes_is_an_answer_and_no_label_is_unknown():
    x, _ = clouds(30)
    none = nw.fit(nw.knn_graph(x, 5), {}, classes=["a", "b"], several=True)
    np.testing.assert_allclose(none.probabilities, 0.5)
    assert set(none.predict().labels) == {""} and set(none.predict().sets) == {()}
    odd = nw.fit(nw.knn_graph(x, 5), {0: ["a;b"], 1: ["c"]})
    assert odd.predict().labels[0] in ("a;b", "|") and odd.explain(5)[0].label in ("a;b", "c")


def test_sets_are_refused_where_they_cannot_be_learned_and_told_apart_from_single_labels():
    graph = nw.knn_graph(clouds(30)[0], 5)
    for call, sentence in (
        (lambda: nw.fit(graph, SETS, several=False), "one label a node was expected, received several"),
        (lambda: nw.fit(graph, {0: ["a"], 1: "b"}), "some nodes have sets of classes and others do not"),
        (lambda: nw.fit(graph, {0: "a"}, several=True), "some nodes have sets"),
        (lambda: nw.fit(graph, SETS, "gcn"), "cannot deal with several labels of a node"),
        (lambda: nw.fit(graph, {}, several=True), "no class is named"),
        (lambda: nw.fit(graph, {0: ["x"]}, classes=["y"]), "the labels name 'x', and the classes are 'y'"),
        (lambda: nw.fit(graph, {99: ["x"]}), "no node 99"),
        (lambda: nw.fit(graph, SETS, trust=True), "here a node may have several"),
        (lambda: nw.fit(graph, SETS, suggestions={"m": {0: "c0"}}), "here a node may have several"),
        (lambda: nw.fit(graph, SETS).label_trust, "cannot let labels that may be wrong count less"),
    ):
        with pytest.raises(InputError, match=sentence):
            call()
