"""What stands for a graph becomes one; what does not is refused with what to do."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.data import Data, HeteroData

from nodewise.datasets import as_graph
from nodewise.graph import Graph, write_graph
from nodewise.ground.errors import InputError

GRAPH = Graph.build([[0, 1], [1, 2]], y=["a", "b", ""])


def test_graphs_names_files_and_other_libraries_graphs(tmp_path: Path) -> None:
    write_graph(GRAPH, tmp_path / "mine.npz")
    assert as_graph(GRAPH) is GRAPH
    for one in (tmp_path / "mine.npz", str(tmp_path / "mine.npz")):
        assert as_graph(one).equals(GRAPH)
    assert as_graph("mine", data_dir=tmp_path).num_nodes == 3
    assert as_graph("karate").num_nodes == 34
    assert as_graph(GRAPH.to_pyg()).equals(GRAPH)
    assert as_graph(GRAPH.to_networkx()).equals(GRAPH)
    assert as_graph(nx.DiGraph([(0, 1)])).num_edges == 1


class Frame(SimpleNamespace):
    """Stands for pandas' data frame, which need not be installed."""


Frame.__module__ = "pandas.core.frame"


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        (np.zeros((3, 2)), r"received ndarray of shape \[3, 2\]: make a graph of features with knn_graph\(x\)"),
        (torch.zeros(3, 2), r"received Tensor of shape \[3, 2\]: make a graph of features"),
        (sp.eye(3), r"of shape \[3, 3\]: make a graph of an adjacency matrix with Graph.from_scipy"),
        (HeteroData(), r"received HeteroData: pass dataset\[0\], or the to_homogeneous\(\)"),
        ([GRAPH], r"received list: give one graph, not a list; texts become one with Graph.from_texts"),
        (None, "received NoneType: give a Graph, a data set's name or a file"),
        (Frame(), r"received Frame: make a graph of a table with Graph.from_dataframe"),
        (7, "received int: give a Graph, a data set's name, a file, a PyTorch Geometric Data or a networkx graph"),
    ],
)
def test_what_is_no_graph_is_refused_with_what_to_do(thing: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        as_graph(thing)


def test_a_data_without_edges_says_so() -> None:
    with pytest.raises(InputError, match="neither edge_index nor adj_t"):
        as_graph(Data(x=torch.ones(2, 1)))
