from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from torch_geometric.data import Data, HeteroData

from nodewise.graph import Graph, RelationalGraph
from nodewise.graph.differences import differences
from nodewise.ground.errors import InputError
from tests.graph.generated import ANYTHING, graphs


@given(graphs(ANYTHING))
def test_there_and_back_keeps_everything(graph: Graph) -> None:
    again = Graph.from_pyg(graph.to_pyg(sparse=True))
    assert differences(graph, again) == []
    assert type(again.x) is type(graph.x)


def test_data_is_what_models_expect() -> None:
    graph = Graph.build(
        [[0, 1], [1, 2]],
        4,
        x=np.eye(4),
        y=[0, 1, -1, 0],
        extra={"train_mask": np.array([True, False, False, True])},
        name="g",
    )
    data = graph.to_pyg()
    assert data.edge_index.tolist() == [[0, 1, 1, 2], [1, 2, 0, 1]]
    assert (data.x.dtype, data.y.dtype, data.num_nodes, data.is_undirected()) == (torch.float32, torch.int64, 4, True)
    assert data.validate()
    assert data.train_mask.tolist() == [True, False, False, True]
    assert differences(graph, Graph.from_pyg(data)) == []


def test_tensors_do_not_share_memory_with_the_graph() -> None:
    graph = Graph.build([[0], [1]], x=np.ones((2, 2)), y=[0, 1])
    data = graph.to_pyg()
    data.x.zero_()
    data.y.zero_()
    data.edge_index.zero_()
    assert graph.dense_features().min() == 1
    assert graph.edge_index.tolist() == [[0], [1]]


def test_dense_features_are_centred_ones() -> None:
    graph = Graph.build([[0], [1]], x=np.eye(2), x_offset=[0.5, 0.5])
    assert graph.to_pyg().x.tolist() == [[0.5, -0.5], [-0.5, 0.5]]


def test_sparse_tensors_of_any_layout_are_read() -> None:
    x = torch.tensor([[0.0, 2.0], [1.0, 0.0]])
    edges = torch.tensor([[0], [1]])
    found = Graph.from_pyg(Data(edge_index=edges, x=x.to_sparse_coo()))
    assert found.dense_features().tolist() == x.tolist()
    assert not isinstance(found.x, np.ndarray)


def test_isolated_nodes_weights_and_masks() -> None:
    data = Data(
        edge_index=torch.tensor([[0, 1, 1], [1, 0, 1]]),
        edge_attr=torch.ones(3, 2),
        num_nodes=4,
        mask=torch.ones(4, dtype=torch.bool),
        note="hi",
    )
    graph = Graph.from_pyg(data, name="mine")
    assert (graph.num_nodes, graph.num_edges, graph.name) == (4, 1, "mine")
    assert list(graph.extra) == ["mask"]
    assert graph.notes[:2] == (
        "the fields 'note' were dropped: they are no tensors",
        "what else the edges hold was dropped: 'edge_attr'",
    )


def test_labels_of_one_column_are_read() -> None:
    graph = Graph.from_pyg(Data(edge_index=torch.tensor([[0], [1]]), y=torch.tensor([[3], [7]])))
    assert graph.class_names == ("3", "7")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (Data(x=torch.ones(2, 1)), "neither edge_index nor adj_t, only 'x': set data.edge_index"),
        (Data(edge_index=torch.tensor([[0], [1]]), y=2 * torch.eye(2)), "must hold 0 and 1 .*, received"),
        (Data(edge_index=torch.tensor([[0], [5]]), x=torch.ones(2, 1)), "leads to a node that does not exist"),
        (HeteroData(), "one kind of nodes, received HeteroData: pass dataset"),
        ("cora", "received str"),
    ],
)
def test_refusals_say_what_to_do(data: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Graph.from_pyg(data)


def test_direction_is_kept_when_asked_for() -> None:
    data = Data(edge_index=torch.tensor([[1, 2, 2], [0, 1, 0]]), edge_weight=torch.tensor([1.0, 2.0, 3.0]))
    data.y = torch.tensor([0, 1, 1])
    graph = Graph.from_pyg(data, directed=True)
    assert graph.relations is not None and not any("dropped" in note for note in graph.notes)
    np.testing.assert_array_equal(graph.relations.relations[0].edge_index, [[1, 2, 2], [0, 0, 1]])
    assert RelationalGraph.from_pyg(RelationalGraph.of(graph).to_pyg()).to_graph().equals(graph)
    assert Graph.from_pyg(data).relations is None
