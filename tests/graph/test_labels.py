from __future__ import annotations

import numpy as np
import pytest

from nodewise.graph.labels import are_classes, label_ids, natural_order
from nodewise.ground.errors import GraphError


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
        ([True, False, True], None, [1, 0, 1], ("0", "1")),
        ([[1], [0], [1]], None, [1, 0, 1], ("0", "1")),
        ([None, 4, 2], None, [-1, 1, 0], ("2", "4")),
    ],
)
def test_brings_any_form_to_ids_and_names(y: object, names: list[str] | None, ids: list[int], classes: tuple[str, ...]) -> None:
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
        ([0, 1, 5], ["a", "b"], "label 5 has no class name: there are 2 names, 'a', 'b', for ids 0 to 1; add names or correct the labels"),
    ],
)
def test_refusals_say_what_to_do(y: object, names: list[str] | None, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        label_ids(y, names, 3)


def test_numbers_sort_by_value_and_words_by_letters() -> None:
    assert natural_order(["10", "9", "-1"]) == ["-1", "9", "10"]
    assert natural_order(["10", "9", "x"]) == ["10", "9", "x"]
    assert natural_order(["7", "07"]) == ["07", "7"]


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
        GraphError, match=r"a name of 1 to 200 printable characters.*\(201 characters\): correct the label, or name another column"
    ):
        label_ids(["x" * 201, "a", "b"], None, 3)
    assert not are_classes(["x" * 201, "a"])
