from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from nodewise.graph import Graph
from nodewise.graph.checks import frozen
from nodewise.ground.errors import GraphError

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
        ({"attributes": {"title": ["a"]}}, r"attribute 'title' must hold one string for each of the 3 nodes, received the shape \[1\]"),
        ({"attributes": {"": ["a", "b", "c"]}}, "attribute has an empty name"),
        ({"node_names": ["a", "b", "\ud800"]}, "half a surrogate pair"),
        ({"attributes": {"text": ["a", "\udfff", ""]}}, "attribute 'text'.*decode the source as UTF-8"),
    ],
)
def test_refusals_say_what_to_do(parts: dict[str, Any], message: str) -> None:
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
