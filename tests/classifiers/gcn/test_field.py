"""Which nodes the labelled nodes' loss reaches."""

from __future__ import annotations

import numpy as np
import torch

from nodewise.classifiers.gcn.field import Field
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors

PATH = Graph.build([[0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6]], 8, x=np.eye(8, 3, dtype=np.float32), y=np.zeros(8, dtype=int))  # 7 is alone


def test_one_and_two_steps_along_a_path() -> None:
    field = Field(GraphTensors(PATH), 2)
    field.add(np.array([0, 7]))
    field.build()
    assert field.far_count.tolist() == [3, 1]
    assert field.far_run.tolist() == [0, 0, 0, 1] and field.far_node.tolist() == [0, 1, 2, 7]
    assert field.first.forward.shape == (3, 4)  # near: 0 and 1 of the first run, 7 of the second
    assert field.second.forward.shape == (2, 3)
    field.add(np.array([4, 0]))
    field.build()
    assert field.far_count.tolist() == [7, 4]
    assert field.second.forward.shape == (4, 2 + 3 + 1 + 2)


def test_the_restricted_matrices_are_parts_of_the_propagation() -> None:
    graph = GraphTensors(PATH)
    whole = graph.norm.block(1).to_dense()
    field = Field(graph, 1)
    field.add(np.array([3]))
    field.build()
    near, far = [2, 3, 4], [1, 2, 3, 4, 5]
    torch.testing.assert_close(field.first.forward.to_dense(), whole[near][:, far])
    torch.testing.assert_close(field.second.forward.to_dense(), whole[[3]][:, near])
    for fold in (field.first, field.second):
        torch.testing.assert_close(fold.backward.to_dense(), fold.forward.to_dense().T)


def test_a_copy_grows_by_itself() -> None:
    field = Field(GraphTensors(PATH), 1)
    field.add(np.array([0]))
    twin = field.copy()
    twin.add(np.array([6]))
    field.build()
    twin.build()
    assert field.far_node.tolist() == [0, 1, 2]
    assert twin.far_node.tolist() == [0, 1, 2, 4, 5, 6]
