from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

from nodewise.graph import Graph
from nodewise.ground.errors import GraphError
from tests.graph.generated import graphs


@given(graphs())
def test_there_and_back_keeps_edges_features_and_labels(graph: Graph) -> None:
    adjacency, x, y = graph.to_scipy()
    again = Graph.from_scipy(adjacency, x, y, class_names=graph.class_names)
    assert np.array_equal(again.edge_index, graph.edge_index)
    assert again.num_nodes == graph.num_nodes
    assert np.array_equal(again.dense_features(), graph.dense_features())
    assert (y is None) == (graph.y is None)
    if y is not None:
        assert np.array_equal(again.y, graph.y)


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csc_array, sp.coo_array, sp.lil_matrix, np.array])
def test_any_matrix_form_is_read(form: type) -> None:
    graph = Graph.from_scipy(form(np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 5.0]])), name="m")
    assert (graph.edge_index.tolist(), graph.name) == ([[0, 0], [1, 2]], "m")
    assert graph.edge_weight is not None
    assert graph.edge_weight.tolist() == [2, 1]
    assert "1 self loop dropped" in graph.notes


@pytest.mark.parametrize("kind", [float, int, bool])
@pytest.mark.parametrize("directed", [False, True])
def test_stored_zeros_are_no_edges_and_noted(kind: type, directed: bool) -> None:
    ends = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])
    matrix = sp.csr_matrix((np.array([0, 0, 1, 1], dtype=kind), (ends[0], ends[1])), shape=(3, 3))
    graph = Graph.from_scipy(matrix, notes=["mine"], directed=directed)
    assert graph.edge_index.tolist() == [[1], [2]]
    assert graph.notes[:2] == ("mine", "2 stored entries of 0 taken as no edge")
    assert Graph.from_scipy(matrix[:2, :2]).notes[0] == "2 stored entries of 0 taken as no edge"


def test_zeros_that_are_not_stored_are_not_noted() -> None:
    for matrix in (np.eye(3)[::-1], sp.csr_matrix(np.eye(3)[::-1])):
        assert not any("stored" in note for note in Graph.from_scipy(matrix).notes)


def test_a_matrix_that_is_not_square_is_refused() -> None:
    with pytest.raises(GraphError, match=r"must be square, received the shape \[2, 3\]: give one row and one column"):
        Graph.from_scipy(sp.csr_matrix(np.ones((2, 3))))


def test_direction_is_kept_when_asked_for_and_none_is_made_up() -> None:
    one_way = Graph.from_scipy(sp.csr_matrix(([1.0, 2.0, 3.0], ([1, 2, 0], [0, 1, 2])), (3, 3)), directed=True)
    assert one_way.relations is not None and not any("dropped" in note for note in one_way.notes)
    np.testing.assert_array_equal(one_way.relations.relations[0].edge_index, [[0, 1, 2], [2, 0, 1]])
    both_ways = sp.csr_matrix(([1.0, 1.0, 3.0, 3.0], ([0, 1, 2, 1], [1, 0, 1, 2])), (3, 3))
    assert Graph.from_scipy(both_ways, directed=True).relations is None


@pytest.mark.parametrize("value", [-1.0, np.inf])
def test_equal_entries_that_are_no_weights_are_refused(value: float) -> None:
    with pytest.raises(GraphError, match="weights must be positive"):
        Graph.from_scipy(sp.csr_matrix(([value, value], ([0, 1], [1, 0])), (2, 2)))
