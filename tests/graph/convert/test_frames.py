"""Graphs from data frames, pandas' or any other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from nodewise.graph import Graph
from nodewise.ground.errors import GraphError, InputError, WrongTypeError


class Frame:
    """What is used of a data frame, where pandas is not installed."""

    def __init__(self, columns: dict[Any, Sequence[Any]], index: Sequence[Any] | None = None) -> None:
        self._columns = columns
        self.columns = list(columns)
        if index is not None:
            self.index = index

    def __getitem__(self, key: Any) -> Sequence[Any]:
        return self._columns[key]


COLUMNS: dict[Any, Sequence[Any]] = {
    "size": np.array([1.0, 2.0, 900.0, 1000.0]),
    "share": [0.1, 0.2, math.nan, 0.9],
    "category": ["pet", None, "money", math.nan],
}


@pytest.mark.parametrize(
    "frame", [COLUMNS, Frame(COLUMNS), Frame(COLUMNS, range(4))], ids=["dict", "no index", "index"]
)
def test_numbers_are_standardised_and_the_label_is_found(frame: Any) -> None:
    graph = Graph.from_dataframe(frame, k=1, metric="euclidean")
    assert graph.class_names == ("money", "pet")
    assert graph.y is not None
    assert graph.y.tolist() == [1, -1, 0, -1]
    assert graph.node_names is None
    x = graph.dense_features()
    np.testing.assert_allclose(x[:, 0].std(), 1, rtol=1e-5)
    assert x[2, 1] == 0  # not known: the mean
    assert {tuple(edge) for edge in graph.edge_index.T.tolist()} == {(0, 1), (2, 3)}
    assert not any("scales" in note for note in graph.notes)


def test_the_index_names_the_nodes_where_it_says_something() -> None:
    assert Graph.from_dataframe(Frame(COLUMNS, list("wxyz")), k=1).node_names == ("w", "x", "y", "z")
    assert Graph.from_dataframe(Frame(COLUMNS, [1, 1, 2, 3]), k=1).node_names is None
    assert Graph.from_dataframe(Frame({"id": list("abcd"), **COLUMNS}, list("wxyz")), k=1).node_names == (
        "a",
        "b",
        "c",
        "d",
    )


def test_texts_with_an_encoder_of_ones_own() -> None:
    told: list[list[str]] = []

    def lengths(texts: list[str]) -> list[list[float]]:
        told.append(texts)
        return [[len(text), 1.0] for text in texts]

    frame = Frame({"body": ["a", "bb", "c" * 50, None], "topic": ["s", "s", "l", "l"]})
    graph = Graph.from_dataframe(frame, text="body", encoder=lengths, k=1)
    assert told == [["a", "bb", "c" * 50, ""]]
    assert graph.dense_features()[:, 0].tolist() == [1, 2, 50, 0]
    assert graph.attributes["text"].tolist() == ["a", "bb", "c" * 50, ""]
    assert graph.class_names == ("l", "s")


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(
        WrongTypeError, match="a data frame or a dict of columns is needed, received ndarray.*knn_graph"
    ):
        Graph.from_dataframe(np.zeros((3, 2)))
    with pytest.raises(GraphError, match="every column of the data frame needs a name of its own"):
        Graph.from_dataframe(Frame({1: [1, 2], "1": [3, 4]}))
    with pytest.raises(GraphError, match="has no column 'labl'"):
        Graph.from_dataframe({"a": [1, 2, 3], "label": ["x", "y", "x"]}, label="labl", k=1)


def test_with_pandas() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame(
        {"size": [1, 2, 8, 9], "label": pandas.array([1, None, 2, 2], dtype="Int64")}, index=list("wxyz")
    )
    graph = Graph.from_dataframe(frame, k=1, metric="euclidean")
    assert (graph.node_names, graph.class_names) == (("w", "x", "y", "z"), ("1", "2"))
    assert graph.y is not None
    assert graph.y.tolist() == [0, -1, 1, 1]


TEXTS = ["the cat sat", "a cat ran", "stocks fell", "stocks rose fast"]


class Vectorizer:
    """An object with a method, as of scikit-learn or sentence-transformers."""

    def __init__(self, method: str) -> None:
        setattr(
            self, method, lambda texts: np.array([["cat" in text, "stocks" in text] for text in texts], dtype=float)
        )


@pytest.mark.parametrize("method", ["encode", "fit_transform"])
def test_texts_by_an_object_that_encodes(method: str) -> None:
    graph = Graph.from_texts(TEXTS, ["pet", None, "money", ""], encoder=Vectorizer(method), k=1)  # type: ignore[arg-type]
    assert {tuple(edge) for edge in graph.edge_index.T.tolist()} == {(0, 1), (2, 3)}
    assert graph.y is not None
    assert graph.y.tolist() == [1, -1, 0, -1]


def test_texts_without_an_encoder_become_tfidf() -> None:
    graph = Graph.from_texts(TEXTS, k=1, name="news")
    assert {tuple(edge) for edge in graph.edge_index.T.tolist()} == {(0, 1), (2, 3)}
    assert (graph.name, graph.y) == ("news", None)


@pytest.mark.parametrize(
    ("encoder", "message"),
    [
        (
            lambda texts: np.zeros(len(texts)),
            r"one row of numbers for each of the 4 texts, received an array of shape \[4\]",
        ),
        (lambda texts: np.zeros((2, 3)), r"received an array of shape \[2, 3\]"),
        (lambda texts: [["a"]] * 4, r"received an array of shape \[4, 1\] of <U1"),
        ("tfidf", "an encoder is a function from a list of texts"),
    ],
)
def test_encoders_that_do_not_fit_are_refused(encoder: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Graph.from_texts(TEXTS, encoder=encoder, k=1)


def test_one_text_is_no_list_of_texts() -> None:
    with pytest.raises(InputError, match=r"received one text, 'the cat sat': give \[text, …\]"):
        Graph.from_texts(TEXTS[0])


@pytest.mark.parametrize("column", [{"label": {"source": [0], "target": [1]}}, {"text": 3}, {"id": ["a"]}])
def test_columns_are_named_by_a_text(column: dict[str, Any]) -> None:
    with pytest.raises(WrongTypeError, match="names a column of the data frame, received .* with Graph.from_csv"):
        Graph.from_dataframe({"size": [1, 2, 8, 9]}, k=1, **column)
