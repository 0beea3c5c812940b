"""The protocol's numbers, where a caller gives none."""

from __future__ import annotations

import numpy as np

from nodewise.environment import SplitSizes
from nodewise.evaluation.protocol import default_splits
from nodewise.graph import Graph


def test_a_graph_of_the_protocol_has_its_own_split_sizes() -> None:
    edges = [[0, 1], [1, 2]]
    assert default_splits(Graph.build(edges, 85, y=np.arange(85) % 3, name="reddit-case-study")) == SplitSizes(20, 20)
    assert default_splits(Graph.build(edges, 86, y=np.arange(86) % 3, name="reddit-case-study")) is None, (
        "another graph of that name"
    )
    assert default_splits(Graph.build(edges, 85, y=np.arange(85) % 3, name="mine")) is None
