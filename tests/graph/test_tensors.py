"""A graph's matrices on a device, applied to a batch of runs."""

from __future__ import annotations

from dataclasses import dataclass

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch

from nodewise.graph import Graph, structural_features
from nodewise.graph.tensors import GraphTensors, Sparse, csr_product
from tests.small_graphs import KINDS, Kind, random_graph

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


@pytest.mark.parametrize("device", DEVICES)
def test_a_product_is_the_dense_one_for_every_run(device: str) -> None:
    matrix = sp.random(17, 11, 0.3, format="csr", dtype=np.float32, random_state=0)
    sparse = Sparse(matrix, torch.device(device))
    for runs in (1, 3, 5, 3, 2, 4, 6, 3):  # more sizes than are kept
        dense = torch.randn(runs, 11, 6, generator=torch.Generator().manual_seed(0))
        got = sparse.mm(dense.to(device)).cpu()
        torch.testing.assert_close(got, torch.from_numpy(matrix.toarray()) @ dense, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("entries", [0.0, 0.3])
def test_a_product_is_torchs_to_the_bit_whatever_lay_in_the_output(entries: float) -> None:
    block = Sparse(
        sp.random(17, 11, entries, format="csr", dtype=np.float32, random_state=0), torch.device("cpu")
    ).block(3)
    dense = torch.randn(33, 6, generator=torch.Generator().manual_seed(0))
    assert torch.equal(csr_product(block, dense), torch.mm(block, dense))
    assert torch.equal(csr_product(block, dense, torch.full((51, 6), torch.nan)), torch.mm(block, dense))
    gradient = torch.autograd.grad(csr_product(block, dense.requires_grad_()).sum(), dense)[0]
    torch.testing.assert_close(gradient, block.to_dense().sum(0)[:, None].expand(33, 6))


@pytest.mark.parametrize("width", [1, 6, 64])
def test_a_product_does_not_read_what_stood_where_it_goes(width: int) -> None:
    matrix = sp.random(17, 11, 0.1, format="csr", dtype=np.float32, random_state=0)  # with empty rows
    dense = torch.randn(2, 11, width, generator=torch.Generator().manual_seed(0))
    out = torch.full((2, 17, width), torch.nan)
    got = Sparse(matrix, torch.device("cpu")).mm(dense, out)
    assert got.data_ptr() == out.data_ptr()
    torch.testing.assert_close(got, torch.from_numpy(matrix.toarray()) @ dense, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("device", DEVICES)
def test_the_propagation_is_the_normalised_adjacency_with_loops(device: str) -> None:
    graph = GraphTensors(Graph.build([[0, 1], [1, 2]], 4), device)  # degrees with loops 2, 3, 2, 1
    whole = graph.norm.mm(torch.eye(4, device=device)[None])[0].cpu()
    a, b = 1 / np.sqrt(6), 1 / 3
    torch.testing.assert_close(
        whole, torch.tensor([[0.5, a, 0, 0], [a, b, a, 0], [0, a, 0.5, 0], [0, 0, 0, 1.0]]).float()
    )
    neighbours = graph.adjacency.mm(torch.eye(4, device=device)[None])[0].cpu()
    assert neighbours.tolist() == [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    assert graph.degree.tolist() == [1, 2, 1, 0] and graph.max_degree == 2


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", KINDS)
def test_features_times_weights_in_every_form(kind: Kind, device: str) -> None:
    graph = random_graph(kind)
    weight = torch.randn(2, graph.num_features, 5, generator=torch.Generator().manual_seed(0))
    got = GraphTensors(graph, device).input_product(weight.to(device)).cpu()
    torch.testing.assert_close(got, torch.from_numpy(graph.dense_features()) @ weight, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_features_in_every_form(kind: Kind) -> None:
    graph = random_graph(kind)
    nodes = np.array([5, 0, 39, 5])
    torch.testing.assert_close(GraphTensors(graph).input_rows(nodes), torch.from_numpy(graph.dense_features()[nodes]))


def test_dense_features_that_are_centred_are_centred_once() -> None:
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    graph = GraphTensors(Graph.build([[0], [1]], 3, x=x, x_offset=np.array([2, 3], dtype=np.float32)))
    assert graph.offset is None and graph.dense_x is not None
    assert graph.dense_x.tolist() == [[-2, -2], [0, 0], [2, 2]]


@pytest.mark.parametrize("x", [None, np.zeros((5, 0), dtype=np.float32), sp.csr_matrix((5, 0), dtype=np.float32)])
def test_a_graph_without_features_gets_structural_ones(x: object) -> None:
    graph = Graph.build([[0, 1, 2], [1, 2, 3]], 5, x=x)
    tensors = GraphTensors(graph)
    assert tensors.dense_x is not None
    assert torch.equal(tensors.dense_x, torch.from_numpy(np.array(structural_features(graph))))
    assert tensors.y.tolist() == [-1] * 5


def test_degrees_are_ranked_without_gaps() -> None:
    star = GraphTensors(Graph.build([[0, 0, 0, 0, 1], [1, 2, 3, 4, 2]], 6))  # degrees 4 2 2 1 1 0
    assert star.degree_rank.tolist() == [3, 2, 2, 1, 1, 0]


@pytest.mark.parametrize("device", DEVICES)
def test_pagerank_is_networkx_s(device: str) -> None:
    graph = random_graph()
    other = nx.Graph()
    other.add_nodes_from(range(graph.num_nodes))
    other.add_edges_from(graph.edge_index.T.tolist())
    expected = nx.pagerank(other, alpha=0.85, tol=1e-12, max_iter=500)
    got = GraphTensors(graph, device).pagerank
    assert got.tolist() == pytest.approx([expected[node] for node in range(graph.num_nodes)], abs=1e-5)
    ranks = GraphTensors(graph, device).pagerank_rank
    assert torch.equal(ranks.argsort(), got.argsort()) or len(got.unique()) < len(got)


def test_edges_are_listed_in_both_directions_as_pytorch_geometric_has_them() -> None:
    graph = Graph.build([[0, 1, 3], [1, 2, 0]], 5)
    tensors = GraphTensors(graph)
    assert tensors.edge_index.dtype == torch.int64
    assert tensors.edge_index.tolist() == [[0, 0, 1, 1, 2, 3], [1, 3, 0, 2, 1, 0]]
    assert torch.equal(tensors.edge_index, tensors.unlabelled.edge_index)
    assert GraphTensors(Graph.build(np.zeros((2, 0), np.int64), 3)).edge_index.shape == (2, 0)


@pytest.mark.parametrize("kind", KINDS)
def test_features_as_a_dense_matrix_in_every_form(kind: Kind) -> None:
    tensors = GraphTensors(random_graph(kind))
    torch.testing.assert_close(tensors.x, tensors.input_rows(np.arange(tensors.num_nodes)))


@dataclass(frozen=True)
class Counted:
    number: int

    def identity(self) -> dict[str, int]:
        return {"number": self.number}

    def prepare(self, graph: GraphTensors, reporter: object = None) -> list[int]:
        return [self.number]


def test_what_was_asked_for_last_is_kept() -> None:
    tensors = GraphTensors(random_graph())
    first = [tensors.prepared_by(Counted(number)) for number in range(4)]
    assert tensors.prepared_by(Counted(0)) is first[0]
    tensors.prepared_by(Counted(4))  # the second was not asked for for longest
    assert tensors.unlabelled.prepared_by(Counted(0)) is first[0]
    assert tensors.prepared_by(Counted(3)) is first[3]
    assert tensors.prepared_by(Counted(1)) is not first[1]
