"""Which nodes are meant: indices, names and masks are told apart, what is ambiguous is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from nodewise.graph import Graph
from nodewise.graph.nodes import node_index, node_indices
from nodewise.ground.errors import InputError

NAMED = Graph.build([[0, 1], [1, 2]], 4, node_names=["ann", "bob", "1", "dora\0"], name="people")
BARE = Graph.build([[0, 1], [1, 2]], 4)
MASK = [False, True, False, True]


@pytest.mark.parametrize(
    "nodes",
    [
        MASK,
        tuple(MASK),
        np.array(MASK),
        torch.tensor(MASK),
        pd.Series(MASK),
        [np.bool_(one) for one in MASK],
        np.array(MASK, dtype=object),
        [1, 3],
        [1, 3, 1],
        (np.int64(1), 3),
        np.array([1, 3], dtype=np.uint8),
        torch.tensor([1, 3]),
        pd.Series([1, 3]),
        range(1, 4, 2),
        (node for node in (1, 3)),
        ["bob", "dora\0"],
        pd.Series(["bob", "dora\0"]),
        {"bob": 1, "dora\0": 2}.keys(),
    ],
)
def test_masks_indices_and_names_are_told_apart(nodes: Any) -> None:
    chosen = node_indices(nodes, NAMED)
    assert chosen.dtype == np.int64
    assert chosen.tolist() == [1, 3]


def test_the_order_is_kept_and_none_are_none() -> None:
    assert node_indices([3, 0, 3, 1], BARE).tolist() == [3, 0, 1]
    assert node_indices(["1", "ann"], NAMED).tolist() == [2, 0]  # a text is a name where there are names
    assert node_indices(["1", "0"], BARE).tolist() == [1, 0]
    assert node_indices([0, 1], Graph.build([[0], [1]])).tolist() == [0, 1]  # each once: no mask
    for none in ([], np.array([], dtype=bool).astype(int), np.zeros(4, dtype=bool), set()):
        assert node_indices(none, BARE).tolist() == []


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([0, 1, 1, 0], "chosen are 4 zeros and ones, one for each node.*mask.astype"),
        (np.array([1, 1, 1, 1]), "chosen are 4 zeros and ones"),
        ([True, False], r"a mask needs one True or False for each of the 4 nodes, received \[2\]"),
        (np.ones((4, 2), dtype=bool), r"received \[4, 2\]"),
        ([True, 3], "all indices, all names or all True and False, received True and 3"),
        (["ann", 1], "received 'ann' and 1"),
        ([0.0, 1.0], r"received object of shape \[2\]"),
        (np.array([0.0, 1.0]), r"received float64 of shape \[2\]"),
        ([[0, 1]], r"received object of shape \[1, 2\]"),
        ([None], "must be indices of nodes, from 0 to 3, names, or a mask"),
        ([4], "there is no node 4, the graph 'people' has nodes 0 to 3"),
        ([-1], "there is no node -1"),
        (["anne"], "no node named 'anne': did you mean 'ann'"),
        ("ann", r"must be several nodes, received 'ann': give a list, \['ann'\]"),
        (3, r"must be several nodes, received 3: give a list, \[3\]"),
    ],
)
def test_refusals_say_what_to_do(nodes: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        node_indices(nodes, NAMED, "chosen")


def test_one_node() -> None:
    assert [node_index(node, NAMED) for node in (0, np.int32(2), "1", "dora\0")] == [0, 2, 2, 3]
    assert node_index("3", BARE) == 3
    for node, message in (
        (True, "there is no node True"),
        (np.True_, "there is no node"),
        (1.0, "by its index or its name, got 1.0"),
        (None, "by its index or its name, got None"),
        (4, "there is no node 4: the graph 'people' has nodes 0 to 3"),
        ("bab", "did you mean 'bob'"),
    ):
        with pytest.raises(InputError, match=message):
            node_index(node, NAMED)
    for text in ("4", "x", "-1", "٣"):
        with pytest.raises(InputError, match="is not an index|there is no node"):
            node_index(text, BARE)
