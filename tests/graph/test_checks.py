"""Edges, labels and names as they come, one rule for what a class may be called, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from nodewise.graph import Graph
from nodewise.graph.checks import (
    are_classes,
    class_name,
    class_text,
    frozen,
    label_ids,
    natural_order,
    tidy_name,
    undirected_edges,
)
from nodewise.ground.errors import GraphError, InputError, WrongTypeError


def test_sorts_and_unites() -> None:
    edges, size, notes = undirected_edges(np.array([[3, 1, 0, 3], [1, 3, 2, 3]], dtype=np.int32))
    assert (edges.tolist(), size) == ([[0, 1], [2, 3]], 4)
    assert edges.dtype == np.int64
    assert notes == ["1 self loop dropped", "1 repeated edge dropped (an edge and its reverse are one)"]


def test_says_nothing_about_edges_in_order() -> None:
    assert undirected_edges([[0, 0], [1, 2]])[2] == []


@pytest.mark.parametrize(
    ("edges", "size", "message"),
    [
        ([[0, 1, 2]], 3, r"shape \[2, edges\], received \[1, 3\]"),
        ([[0, 1], [1, 2], [2, 0]], 3, r"looks transposed: pass edge_index\.T"),
        ([0, 1], 2, r"received \[2\]"),
        ([[0.5], [1.0]], 2, "must hold integers, received float64"),
        ([["a"], ["b"]], 2, "map node names to indices"),
        ([[0, 0], [1, -1]], 2, r"edge 1 \(0, -1\) has a negative end"),
        (
            [[0, 0], [1, 5]],
            5,
            (
                r"edge 1 \(0, 5\) leads to a node that does not exist: there are 5 nodes, numbered 0 to 4; correct the"
                r" edge or add"
            ),
        ),
        ([[0], [10**10]], None, "number the nodes from 0 without gaps"),
    ],
)
def test_refused_edges_are_told_what_to_do(edges: object, size: int | None, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        undirected_edges(np.array(edges), size)


@pytest.mark.parametrize("kind", [np.int16, np.uint8, np.uint64, np.int64])
def test_any_integer_kind_gives_the_same(kind: type[np.integer]) -> None:
    edges, _, _ = undirected_edges(np.array([[200, 1], [3, 200]]).astype(kind), 201)
    assert edges.tolist() == [[1, 3], [200, 200]]


@pytest.mark.parametrize(
    ("y", "names", "ids", "classes"),
    [
        ([1, 0, -1], None, [1, 0, -1], ("0", "1")),
        ([7, 2, 2], None, [1, 0, 0], ("2", "7")),
        ([3, -1, 3], None, [0, -1, 0], ("3",)),
        ([-1, -1, -5], None, [-1, -1, -1], ()),
        (["b", "a", ""], None, [1, 0, -1], ("a", "b")),
        (["10", "9", None], None, [1, 0, -1], ("9", "10")),
        (["x", "", ""], ["z", "x", "y"], [1, -1, -1], ("z", "x", "y")),
        ([0, 0, 1], ["cat", "dog", "owl"], [0, 0, 1], ("cat", "dog", "owl")),
        ([2, 5, 7], ["cat", "dog", "owl"], [0, 1, 2], ("cat", "dog", "owl")),
        ([1.0, float("nan"), 0.0], None, [1, -1, 0], ("0", "1")),
        (["a", 1.0, float("nan")], None, [1, 0, -1], ("1", "a")),
        (np.array(["a", np.float32(1), np.int64(1)], dtype=object), None, [1, 0, 0], ("1", "a")),
        ([1, 0, 1], [1.0, 2], [1, 0, 1], ("1", "2")),
        ([[1], [0], [1]], None, [1, 0, 1], ("0", "1")),
        ([None, 4, 2], None, [-1, 1, 0], ("2", "4")),
    ],
)
def test_brings_any_form_to_ids_and_names(
    y: object, names: list[str] | None, ids: list[int], classes: tuple[str, ...]
) -> None:
    found, found_names, _ = label_ids(y, names, 3)
    assert (found.tolist(), found_names) == (ids, classes)
    assert found.dtype == np.int64


@pytest.mark.parametrize(
    ("y", "names", "message"),
    [
        ([0, 1, 0, 1], None, r"one label for each of the 3 nodes, received the shape \[4\]: give -1"),
        ([0, 1], None, r"received the shape \[2\]"),
        (np.eye(3), None, r"received the shape \[3, 3\]"),
        ([0.5, 1, 1], None, r"whole numbers or strings, received \[0\.5\]"),
        ([float("inf"), 1, 1], None, "whole numbers"),
        ([1j, 1, 1], None, "complex"),
        (["a", "b", "c"], ["a", "b"], "labels 'c' are not among the class names 'a', 'b': add them or correct"),
        (
            [0, 1, 5],
            ["a", "b"],
            "label 5 has no class name: there are 2 names, 'a', 'b', for ids 0 to 1; add names or correct the labels",
        ),
    ],
)
def test_refused_labels_are_told_what_to_do(y: object, names: list[str] | None, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        label_ids(y, names, 3)


@pytest.mark.parametrize("y", [[True, False, True], ["a", True, "b"], np.array([True, None, False], dtype=object)])
def test_truths_are_no_labels(y: object) -> None:
    with pytest.raises(WrongTypeError, match=r"whole numbers? or texts, received booleans|got True: give 'True' if"):
        label_ids(y, None, 3)
    with pytest.raises(WrongTypeError, match="got True"):
        label_ids([0, 1, 0], [True, "no"], 3)


@pytest.mark.parametrize("y", [[b"a", b"b", b"a"], ["a", b"b", "c"], np.array([b"a", b"b", b"c"])])
def test_bytes_are_no_labels(y: object) -> None:
    with pytest.raises(WrongTypeError, match="got the bytes b'.': decode them to a text"):
        label_ids(y, None, 3)


def test_numbers_among_texts_are_classes_and_noted() -> None:
    _, names, notes = label_ids(["a", 1, 1], None, 3)
    assert names == ("1", "a")
    assert notes == ["the labels are numbers and texts, 1 and 'a' for example: each is the class of that name"]


def test_one_rule_says_what_a_value_names() -> None:
    import pandas as pd
    import torch

    one = [1, 1.0, "1", np.int8(1), np.float32(1), np.array(1), torch.tensor(1.0), np.str_("1"), np.array("1")]
    assert {class_name(value) for value in one} == {"1"}
    for nothing in (None, float("nan"), np.float64("nan"), pd.NA, pd.NaT):
        assert class_text(nothing) == ""
        with pytest.raises(InputError, match="means unlabelled and is no class: give the class's name, or skip"):
            class_name(nothing)
    for other in ({"a": 1}, ["a"], object, Path("a")):
        with pytest.raises(WrongTypeError, match="named by a text or a whole number, got .* of the type"):
            class_name(other)
    with pytest.raises(InputError, match="got 1.5: give '1.5' if that is its name"):
        class_name(1.5)


def test_numbers_sort_by_value_and_words_by_letters() -> None:
    assert natural_order(["10", "9", "-1"]) == ["-1", "9", "10"]
    assert natural_order(["10", "9", "x"]) == ["10", "9", "x"]
    assert natural_order(["7", "07"]) == ["07", "7"]
    assert natural_order(["9" * 5000, "3", "-20", "-3", "0", "-" + "8" * 5000]) == [
        "-" + "8" * 5000,
        "-20",
        "-3",
        "0",
        "3",
        "9" * 5000,
    ]


def test_a_column_that_differs_everywhere_holds_no_classes() -> None:
    assert not are_classes([str(i) for i in range(10)])
    assert are_classes(["a", "b"])
    assert are_classes(["a"] * 5 + ["b"] * 5)
    assert are_classes([*(str(i) for i in range(10)), ""])


def test_listed_class_names_stand_for_themselves() -> None:
    assert label_ids(["nan", "NA", "a"], ["nan", "a"], 3)[0].tolist() == [0, -1, 1]
    assert label_ids([" a", "1.0", "b"], ["b", "a ", "1.0"], 3)[:2][1] == ("b", "a", "1.0")
    assert label_ids(["1.0", "2", ""], ["2", "1"], 3)[0].tolist() == [1, 0, -1]


def test_names_that_only_their_spelling_parts_are_one_class() -> None:
    ids, names, notes = label_ids([0, 1, 2], ["K\u00e4se", "Ka\u0308se", "x "], 3)
    assert (ids.tolist(), names) == ([0, 0, 1], ("Käse", "x"))
    assert "2 class names spelled in another way (Unicode's composed form" in notes[0]


def test_a_text_too_long_to_be_a_class_is_refused() -> None:
    with pytest.raises(
        GraphError,
        match=r"a name of 1 to 200 printable characters.*\(201 characters\): correct the label, or name another column",
    ):
        label_ids(["x" * 201, "a", "b"], None, 3)
    assert not are_classes(["x" * 201, "a"])


FAMILY = "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL}"

KEPT = [
    "a b",
    "Käse",
    "no\u00a0break",
    "می\u200cخواهم",
    FAMILY,
    "\N{WHITE HEAVY CHECK MARK}\ufe0f",
    "1.0",
    "nan",
    "=1+1",
    "क्‍ष",
    "x" * 200,
]


@pytest.mark.parametrize("name", KEPT)
def test_names_that_people_use_are_kept_as_they_are(name: str) -> None:
    assert class_name(name) == name


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (" a ", "a"),
        ("\u00a0a\u3000", "a"),
        ("a\tb", "a b"),
        ("a \r\n  b", "a b"),
        ("a\u2028b", "a b"),
        ("a\x00b\x1b", "ab"),
        ("\ufeffa", "a"),
        ("a\u202eb", "ab"),
        ("Ka\u0308se", "Käse"),
        ("e\x00\u0301", "é"),
        (7, "7"),
    ],
)
def test_what_cannot_be_seen_is_made_harmless(given: object, kept: str) -> None:
    assert class_name(given) == kept


@pytest.mark.parametrize("name", ["", "  ", "\u00a0", "\t\n", "\u200d\u200c", "\x00", "x" * 201])
def test_names_of_nothing_or_of_too_much_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="a class needs a name of 1 to 200 printable characters, got"):
        class_name(name)


@given(st.text())
def test_the_rule_changes_a_name_once(text: str) -> None:
    assert tidy_name(tidy_name(text)) == tidy_name(text)


NAN = float("nan")


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"x": [[1.0], [NAN], [0.0]]}, "features must be finite, received nan at node 1, column 0: replace it"),
        ({"x": sp.csr_matrix([[0, 1.0], [0, 0], [0, NAN]])}, "finite, received nan at node 2, column 1"),
        ({"x": [[1.0], [np.inf], [0.0]]}, "received inf at node 1"),
        ({"x": [[1e39], [1.0], [0.0]]}, "received inf at node 0"),
        ({"x": np.zeros((4, 2))}, "features have 4 rows, but there are 3 nodes: give one row for each node"),
        ({"x": np.zeros(3)}, r"shape \[nodes, features\], received \[3\]: reshape"),
        ({"x": [["a"], ["b"], ["c"]]}, "x must hold numbers, received <U1: turn texts into numbers"),
        ({"x": np.zeros((3, 2)), "x_offset": [1.0]}, r"one value for each of the 2 features, received the shape \[1\]"),
        ({"x": np.zeros((3, 1)), "x_offset": [NAN]}, "x_offset must be finite"),
        ({"x_offset": [1.0]}, "x_offset is given without x"),
        ({"node_names": ["a", "b", "a"]}, "node name 'a' occurs twice: node names must be unique"),
        ({"node_names": ["a", "b"]}, "one name for each of the 3 nodes, received 2"),
        ({"node_names": ["a", "", "b"]}, "node 1 has an empty name"),
        ({"y": [0, 1, 0], "class_names": ["a", "a"]}, "class name 'a' occurs twice"),
        (
            {"attributes": {"title": ["a"]}},
            r"attribute 'title' must hold one string for each of the 3 nodes, received the shape \[1\]",
        ),
        ({"attributes": {"": ["a", "b", "c"]}}, "attribute has an empty name"),
        ({"node_names": ["a", "b", "\ud800"]}, "half a surrogate pair"),
        ({"attributes": {"text": ["a", "\udfff", ""]}}, "attribute 'text'.*decode the source as UTF-8"),
    ],
)
def test_refused_parts_are_told_what_to_do(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        Graph.build([[0], [1]], 3, **parts)


@pytest.mark.parametrize("size", [0, -1, 2.5, True, None])
def test_number_of_nodes_must_be_a_positive_whole_number(size: Any) -> None:
    with pytest.raises(GraphError, match="at least one node"):
        Graph(np.zeros((2, 0), dtype=np.int64), size)


def test_large_finite_features_pass_although_their_sum_overflows() -> None:
    x = np.full((3, 2), 3e38, dtype=np.float32)
    assert np.array_equal(Graph.build([[0], [1]], x=x).dense_features(), x)


def test_missing_attribute_becomes_the_empty_string() -> None:
    graph = Graph.build([[0], [1]], attributes={"title": ["a", None]})  # type: ignore[list-item]
    assert graph.attributes["title"].tolist() == ["a", ""]


def test_frozen_copies_only_what_may_still_change() -> None:
    array = np.arange(3)
    once = frozen(array)
    assert once is not array
    assert frozen(once) is once
