from __future__ import annotations

import numpy as np
import pytest

from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.strategies import influence
from nodewise.strategies.influence import influence_blocks

PATH = GraphTensors(Graph.build([[0, 1], [1, 2]], 4, x=np.eye(4, dtype=np.float32), y=np.array([0, 1, 0, 1])))
"""0 - 1 - 2 and node 3 alone."""


def whole(graph: GraphTensors, least: float = 0.0) -> np.ndarray:
    return np.vstack([rows.toarray() for _, rows in influence_blocks(graph, least)])


def test_two_steps_of_a_walk_worked_out_by_hand() -> None:
    # P: node 0 stays or goes to 1 by 1/2 each, node 1 has three ways, node 3 stays
    third, half = 1 / 3, 1 / 2
    walk = np.array([[half, half, 0, 0], [third, third, third, 0], [0, half, half, 0], [0, 0, 0, 1]])
    assert np.allclose(whole(PATH), walk @ walk)
    assert np.allclose(whole(PATH).sum(1), 1)


def test_small_entries_are_left_out() -> None:
    # from 0 to 2 the walk has 1/2 · 1/3
    assert whole(PATH, 0.2)[0, 2] == 0 and whole(PATH, 0.1)[0, 2] > 0


def test_blocks_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    together = whole(PATH)
    monkeypatch.setattr(influence, "_ENTRIES", 3)
    assert [first for first, _ in influence_blocks(PATH)] == [0, 1, 2, 3]
    assert np.allclose(whole(PATH), together)
