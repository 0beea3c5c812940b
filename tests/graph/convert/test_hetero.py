"""PyTorch Geometric's HeteroData becomes a graph of several types, and comes back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.data import HeteroData
from torch_geometric.transforms import ToUndirected

import nodewise as nw
from nodewise.graph import NodeType, Relation, RelationalGraph
from nodewise.graph.io.files import from_foreign
from nodewise.ground.errors import GraphError


def real() -> Any:
    data: Any = HeteroData()
    data["paper"].x = torch.eye(5)
    data["paper"].y = torch.tensor([0, 1, 1, -1, 0])
    data["paper"].train_mask = torch.tensor([True, True, False, False, False])
    data["author"].num_nodes = 3
    data["author", "writes", "paper"].edge_index = torch.tensor([[0, 0, 1, 2], [0, 1, 2, 3]])
    data["paper", "cites", "paper"].edge_index = torch.tensor([[0, 1], [4, 4]])
    return data


def test_a_hetero_data_is_a_graph_of_its_labelled_type() -> None:
    whole = RelationalGraph.from_pyg(real())
    assert (whole.labelled, [kind.name for kind in whole.types]) == ("paper", ["paper", "author"])
    assert [(one.name, one.source, one.target) for one in whole.relations] == [
        ("writes", "author", "paper"),
        ("cites", "paper", "paper"),
    ]
    assert whole.y.tolist() == [0, 1, 1, -1, 0]
    assert whole.extra["train_mask"].tolist() == [True, True, False, False, False]
    graph = from_foreign(real())
    assert graph.relations is not None
    assert (0, 1) in set(zip(*graph.edge_index.tolist(), strict=True))


def test_reverse_relations_that_a_transform_added_are_left_out() -> None:
    whole = RelationalGraph.from_pyg(ToUndirected(merge=False)(real()))
    assert [one.name for one in whole.relations] == ["writes", "cites"]


def test_there_and_back_is_the_same_to_the_bit() -> None:
    papers = NodeType(
        "paper", 4, sp.random(4, 6, 0.5, "csr", np.float32, rng=0), tuple("abcd"), {"t": np.array(list("wxyz"))}
    )
    written = Relation("written by", "paper", "author", np.array([[0, 1, 2], [0, 1, 1]]), np.array([1.0, 0.1, 0.3]))
    whole = RelationalGraph(
        (papers, NodeType("author", 2, np.ones((2, 3), np.float32))),
        (written,),
        "paper",
        ["x", "y", None, "x"],
        name="small",
        extra={"split": np.array([0, 1, 2, 3])},
    )
    assert RelationalGraph.from_pyg(whole.to_pyg()).equals(whole)


def test_what_cannot_be_told_is_asked_for() -> None:
    data = real()
    del data["paper"].y
    with pytest.raises(GraphError, match="no type has labels"):
        RelationalGraph.from_pyg(data)
    assert RelationalGraph.from_pyg(data, labelled="author").labelled == "author"
    data["paper", "cites", "paper"].edge_index = torch.tensor([[0], [9]])
    with pytest.raises(GraphError, match="leads to node 9 of the type 'paper'"):
        RelationalGraph.from_pyg(data, labelled="paper")


def test_evaluate_takes_one_as_it_is() -> None:
    data = real()
    draws = np.random.default_rng(0)
    y = np.arange(60) % 2
    data["paper"].x, data["paper"].y = torch.randn(60, 4), torch.from_numpy(y)
    del data["paper"].train_mask
    data["author"].num_nodes = 20
    ends = np.stack([10 * np.repeat(y, 2) + draws.integers(0, 10, 120), np.repeat(np.arange(60), 2)])
    data["author", "writes", "paper"].edge_index = torch.from_numpy(ends)
    assert nw.evaluate(data, "random", runs=2, budget=10).micro.mean > 70
