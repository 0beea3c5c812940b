from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nodewise.datasets.reddit.component import largest_component


def test_the_largest_part_with_its_edges_renumbered() -> None:
    found = largest_component(np.array([[0, 2, 3, 3], [1, 3, 5, 6]]), 8)
    assert found.nodes.tolist() == [2, 3, 5, 6]
    assert found.edge_index.tolist() == [[0, 1, 1], [1, 2, 3]]
    assert (found.components, found.isolated) == (4, 2)


def test_of_parts_of_the_same_size_the_one_that_comes_first() -> None:
    assert largest_component(np.array([[1, 0], [4, 3]]), 5).nodes.tolist() == [0, 3]


@given(
    st.lists(
        st.tuples(st.integers(0, 14), st.integers(0, 14)).filter(lambda pair: pair[0] < pair[1]),
        max_size=20,
        unique=True,
    )
)
def test_agrees_with_networkx(pairs: list[tuple[int, int]]) -> None:
    graph = nx.Graph(pairs)
    graph.add_nodes_from(range(15))
    parts = sorted((sorted(part) for part in nx.connected_components(graph)), key=lambda part: (-len(part), part[0]))
    found = largest_component(np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2).T, 15)
    assert found.nodes.tolist() == parts[0]
    assert found.edge_index.T.tolist() == [
        [parts[0].index(a), parts[0].index(b)] for a, b in sorted(pairs) if a in parts[0]
    ]
    assert found.components == len(parts)
