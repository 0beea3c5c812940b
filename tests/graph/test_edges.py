from __future__ import annotations

import numpy as np
import pytest

from nodewise.graph.edges import undirected_edges
from nodewise.ground.errors import GraphError


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
            r"edge 1 \(0, 5\) leads to a node that does not exist: there are 5 nodes, numbered 0 to 4; correct the edge or add",
        ),
        ([[0], [10**10]], None, "number the nodes from 0 without gaps"),
    ],
)
def test_refusals_say_what_to_do(edges: object, size: int | None, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        undirected_edges(np.array(edges), size)


@pytest.mark.parametrize("kind", [np.int16, np.uint8, np.uint64, np.int64])
def test_any_integer_kind_gives_the_same(kind: type[np.integer]) -> None:
    edges, _, _ = undirected_edges(np.array([[200, 1], [3, 200]]).astype(kind), 201)
    assert edges.tolist() == [[1, 3], [200, 200]]
