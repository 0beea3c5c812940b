from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from torch_geometric.data import Data

from nodewise.graph import Graph
from nodewise.graph.differences import differences
from nodewise.graph.graph import fingerprint
from nodewise.graph.io.npz import read_npz, write_npz
from nodewise.graph.tensors import GraphTensors, csr_tensor
from nodewise.graph.weights import mirrored_once, relative_weights
from nodewise.ground.errors import GraphError
from tests.graph.generated import graphs

PATH = [[0, 1, 2], [1, 2, 3]]
EDGES = hnp.arrays(np.int64, st.tuples(st.just(2), st.integers(1, 12)), elements=st.integers(0, 5))


def weighted(weights: Any) -> Graph:
    return Graph.build(PATH, edge_weight=weights)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1, 0, 2], "the weight of edge 1 (1, 2) is 0: weights must be positive; leave the edge out"),
        ([1, -0.5, 2], "the weight of edge 1 (1, 2) is -0.5: weights must be positive; a larger one means"),
        ([1, 2, float("nan")], "the weight of edge 2 (2, 3) is nan: weights must be positive and finite; give"),
        ([float("inf"), 2, 3], "the weight of edge 0 (0, 1) is inf: weights must be positive and finite"),
        ([1e-60, 2, 3], "the weight of edge 0 (0, 1) is 1e-60: float32 cannot hold it: multiply all weights"),
        ([1, 2], "edge_weight must hold one number for each of the 3 edges, received the shape [2]"),
        ([[1, 2], [3, 4], [5, 6]], "edge_weight must hold one number for each of the 3 edges, received the shape"),
        (["a", "b", "c"], "edge_weight must hold numbers, received <U1"),
        ([True, False, True], "edge_weight must hold numbers, received bool"),
    ],
)
def test_bad_weights_are_refused_in_a_sentence(weights: Any, words: str) -> None:
    for make in (weighted, lambda some: replace(weighted(None), edge_weight=np.asarray(some))):
        with pytest.raises(GraphError) as error:
            make(weights)
        assert words in str(error.value)


def test_weights_without_edges_are_refused() -> None:
    with pytest.raises(GraphError, match="each of the 0 edges"):
        Graph.build([], 3, edge_weight=[1.0, 2.0])


def test_weights_are_kept_as_given_and_used_divided_by_their_mean() -> None:
    graph = weighted([1, 2, 6])
    assert graph.edge_weight is not None
    assert graph.edge_weight.dtype == np.float32
    assert graph.edge_weight.tolist() == [1, 2, 6]
    assert not graph.edge_weight.flags.writeable
    expected = np.zeros((4, 4), np.float32)
    for (low, high), weight in zip(np.transpose(PATH), (1, 2, 6), strict=True):
        expected[low, high] = expected[high, low] = np.float32(weight / 3)
    assert graph.adjacency(weighted=True).toarray().tolist() == expected.tolist()
    assert graph.adjacency().toarray().tolist() == weighted(None).adjacency().toarray().tolist()
    assert repr(graph) == "Graph('graph': 4 nodes, 3 weighted edges)"
    assert "1 to 6, 3 on average" in graph._repr_html_()


@given(EDGES, st.floats(width=32, min_value=2.0**-60, max_value=2.0**60))
def test_equal_weights_are_the_same_as_none(edges: np.ndarray, weight: float) -> None:
    plain = Graph.build(edges, 6)
    same = Graph.build(edges, 6, edge_weight=[weight] * edges.shape[1])
    assert same.edge_weight is None
    assert differences(plain, same) == []
    assert plain.notes == same.notes
    assert fingerprint(plain) == fingerprint(same)


@given(EDGES, st.data())
def test_weights_of_the_same_edge_add_up(edges: np.ndarray, data: st.DataObject) -> None:
    weights = data.draw(hnp.arrays(np.int64, edges.shape[1], elements=st.integers(1, 9)))
    graph = Graph.build(edges, 6, edge_weight=weights)
    total = np.zeros((6, 6))
    for (one, other), weight in zip(edges.T, weights, strict=True):
        total[min(one, other), max(one, other)] += weight
    sums = total[tuple(graph.edge_index)]
    if len(set(weights.tolist())) < 2 or len(set(sums.tolist())) < 2:
        assert graph.edge_weight is None
    else:
        assert graph.edge_weight is not None
        assert graph.edge_weight.tolist() == sums.tolist()


def test_what_was_added_up_is_noted() -> None:
    graph = Graph.build([[0, 1, 1], [1, 0, 2]], edge_weight=[1, 2, 4])
    assert graph.notes == ("1 repeated edge added to the weight of the first (an edge and its reverse are one)",)


@given(hnp.arrays(np.float32, st.integers(2, 20), elements=st.floats(width=32, min_value=2.0**-40, max_value=2.0**40)))
def test_a_common_factor_changes_nothing(weights: np.ndarray) -> None:
    relative = relative_weights(weights)
    assert (relative > 0).all()
    assert (relative_weights(weights * np.float32(0.25)) == relative).all()  # exact: only the exponent changes
    np.testing.assert_allclose(relative_weights(weights * np.float32(3.7)), relative, rtol=1e-6)


def test_an_edge_that_hardly_counts_is_still_there() -> None:
    graph = weighted([1e-30, 1, 1e30])
    assert (graph.adjacency(weighted=True).data > 0).all()


def test_both_directions_that_agree_are_one() -> None:
    edges = np.array([[0, 1, 2, 1, 2], [1, 0, 1, 2, 2]])
    once, weights = mirrored_once(edges, np.array([3, 3, 5, 5, 9]))
    assert (once.tolist(), weights.tolist()) == ([[0, 1, 2], [1, 2, 2]], [3, 5, 9])
    for other in ([3, 4, 5, 5, 9], [3, 3, 5, 6, 9]):
        assert mirrored_once(edges, np.array(other))[0] is edges
    assert mirrored_once(edges[:, 1:], np.array([3, 5, 5, 9]))[1].tolist() == [3, 5, 5, 9]


def test_digest_and_equality_tell_weights_apart_and_pickling_keeps_them(tmp_path: Path) -> None:
    plain, one, other = weighted(None), weighted([1, 2, 3]), weighted([1, 2, 4])
    assert len({plain.fingerprint, one.fingerprint, other.fingerprint}) == 3
    assert differences(one, other) == ["edge_weight"]
    assert differences(one, plain) == ["edge_weight"]
    assert pickle.loads(pickle.dumps(one)).equals(one)
    write_npz(one, tmp_path / "one.npz")
    assert read_npz(tmp_path / "one.npz").equals(one)


def test_npz_without_weights_has_no_field_for_them(tmp_path: Path) -> None:
    write_npz(weighted([2, 2, 2]), tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as fields:
        assert "edge_weight" not in fields
    np.savez(tmp_path / "b.npz", edge_index=np.array(PATH), edge_weight=np.array([1.0, 2.0]))
    with pytest.raises(GraphError, match="each of the 3 edges"):
        read_npz(tmp_path / "b.npz")


def test_tensors_hold_relative_weights_and_their_sums() -> None:
    graph = GraphTensors(weighted([1, 2, 6]))
    assert graph.weighted
    np.testing.assert_allclose(graph.degree.numpy(), [1 / 3, 1, 8 / 3, 2], rtol=1e-6)
    loops = weighted([1, 2, 6]).adjacency(weighted=True).toarray() + np.eye(4)
    scale = np.diag(loops.sum(1) ** -0.5)
    norm = csr_tensor(graph.norm.crow, graph.norm.col, graph.norm.values, (4, 4)).to_dense()
    np.testing.assert_allclose(norm.numpy(), scale @ loops @ scale, rtol=1e-5)
    np.testing.assert_allclose(float(graph.pagerank.sum()), 1, rtol=1e-5)


def test_a_graph_of_equal_weights_has_the_tensors_of_one_without() -> None:
    plain, same = GraphTensors(weighted(None)), GraphTensors(weighted([3, 3, 3]))
    assert not same.weighted
    assert plain.fingerprint == same.fingerprint
    assert plain.unweighted is plain
    assert torch.equal(plain.divisor, plain.degree.clamp_min(1))


def test_whoever_cannot_use_weights_gets_the_graph_without() -> None:
    graph, plain = GraphTensors(weighted([1, 2, 6])), GraphTensors(weighted(None))
    assert graph.fingerprint != plain.fingerprint
    twin = graph.unweighted
    assert twin.fingerprint == plain.fingerprint
    for part in ("degree", "divisor", "pagerank", "degree_rank"):
        assert torch.equal(getattr(twin, part), getattr(plain, part))
    assert torch.equal(twin.norm.values, plain.norm.values)
    assert torch.equal(twin.unlabelled.adjacency.values, plain.adjacency.values)
    assert not torch.equal(graph.norm.values, plain.norm.values)


@given(graphs())
def test_other_libraries_hand_weights_back_to_the_bit(graph: Graph) -> None:
    plain = Graph.build(graph.edge_index, graph.num_nodes, edge_weight=graph.edge_weight)
    for again in (
        Graph.from_networkx(plain.to_networkx()),
        Graph.from_pyg(plain.to_pyg()),
        Graph.from_scipy(plain.to_scipy()[0]),
    ):
        assert differences(plain, again) == []


def test_weights_by_their_usual_names(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("id\na\nb\nc\n")
    (tmp_path / "edges.csv").write_text("source,target,W,since\na,b,2.5,1999\nb,c,1,2001\n")
    parts = tmp_path / "nodes.csv", tmp_path / "edges.csv"
    kept = Graph.from_csv(*parts)
    assert kept.edge_weight is not None
    assert kept.edge_weight.tolist() == [2.5, 1]
    assert kept.notes == ("what else the edges hold was dropped: 'since'",)
    other = Graph.from_csv(*parts, weight="since")
    assert other.edge_weight is not None
    assert other.edge_weight.tolist() == [1999, 2001]
    assert other.notes == ("further weights of the edges were dropped: an edge has one",)
    assert Graph.from_csv(*parts, weight="").edge_weight is None
    with pytest.raises(GraphError, match=r"has no column 'size' of weights, beside the ends 'W', 'since'"):
        Graph.from_csv(*parts, weight="size")
    (tmp_path / "edges.csv").write_text("source,target,W\na,b,2.5\nb,c,0\n")
    with pytest.raises(GraphError, match=r"edges.csv, line 3: the edge from 'b' to 'c' has the weight '0': a"):
        Graph.from_csv(*parts)


def test_an_attribute_of_one_number_an_edge_is_its_weight() -> None:
    both = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    graph = Graph.from_pyg(Data(edge_index=both, edge_attr=torch.tensor([2.0, 2, 3, 3]), num_nodes=3))
    assert graph.edge_weight is not None
    assert graph.edge_weight.tolist() == [2, 3]
    signed = Graph.from_pyg(Data(edge_index=both, edge_attr=torch.tensor([1.0, 1, -1, -1]), num_nodes=3))
    assert signed.edge_weight is None
    assert "what else the edges hold was dropped: 'edge_attr'" in signed.notes
    with pytest.raises(GraphError, match="is -1.0: weights must be positive"):
        Graph.from_pyg(Data(edge_index=both, edge_weight=torch.tensor([1.0, 1, -1, -1]), num_nodes=3))
