from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from nodewise.graph import Graph


def test_line_names_what_there_is() -> None:
    graph = Graph.build([[0, 1], [1, 2]], 4, x=sp.eye(4), y=["a", "b", "", ""], name="pets")
    assert repr(graph) == "Graph('pets': 4 nodes, 2 edges, 4 sparse features, 2 classes, 2 unlabelled)"
    assert repr(Graph.build([[0], [1]])) == "Graph('graph': 2 nodes, 1 edge)"
    assert "4 sparse features after unit, 2 classes" in repr(replace(graph, features="unit"))
    assert "1 dense feature" in repr(Graph.build([[0], [1]], x=np.ones((2, 1))))


def test_table_escapes_what_comes_from_the_data() -> None:
    evil = "<img src=x onerror=alert(1)>"
    graph = Graph.build(
        [[0], [1]],
        y=[evil, "b"],
        node_names=[evil, "b"],
        attributes={evil: ["", ""]},
        name=evil,
        extra={evil: np.ones(1)},
    )
    table = graph._repr_html_()
    assert "<img" not in table
    assert table.count("&lt;img") == 5


def test_table_tells_counts_degree_homophily_and_notes() -> None:
    table = Graph.build([[0, 1, 1], [1, 0, 2]], 4, y=[0, 0, 1, -1])._repr_html_()
    for part in (
        "4 (1 isolated)",
        "2 (degree 1.0 on average, 2 at most)",
        "none (views looks at the edges alone",
        "2: 0, 1",
        "0.500",
        "1 repeated edge dropped",
    ):
        assert part in table


def test_table_tells_centred_sparse_features() -> None:
    graph = Graph.build([[0], [1]], x=sp.csr_matrix([[1.0, 0.0], [0.0, 0.0]]), x_offset=[0.5, 0.0])
    assert "2 (sparse, 25.00 % non-zero, centred)" in graph._repr_html_()
