"""A graph is checked and immutable, and equal to another if it holds the same."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

from nodewise.graph import Graph
from nodewise.graph.differences import differences
from nodewise.graph.graph import fingerprint
from nodewise.ground.errors import GraphError
from tests.graph.generated import graphs


@pytest.fixture
def triangle() -> Graph:
    """A triangle 0-1-2 with a tail 2-3 and node 4 alone; classes a, a, b, b, unlabelled."""
    return Graph.build([[1, 2, 0, 2], [0, 1, 2, 3]], 5, x=np.eye(5), y=["a", "a", "b", "b", ""], name="triangle")


def test_holds_edges_in_canonical_form(triangle: Graph) -> None:
    assert triangle.edge_index.tolist() == [[0, 0, 1, 2], [1, 2, 2, 3]]
    assert triangle.edge_index.dtype == np.int64
    assert (triangle.num_nodes, triangle.num_edges, triangle.num_features, triangle.num_classes) == (5, 4, 5, 2)


def test_degree_adjacency_and_homophily_by_hand(triangle: Graph) -> None:
    assert triangle.degree.tolist() == [2, 2, 3, 1, 0]
    dense = triangle.adjacency().toarray()
    assert dense.dtype == np.float32
    assert dense.tolist() == [[0, 1, 1, 0, 0], [1, 0, 1, 0, 0], [1, 1, 0, 1, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]
    assert triangle.homophily == 0.5  # 0-1 and 2-3 of four edges


def test_homophily_counts_only_edges_between_labelled_nodes() -> None:
    assert Graph.build([[0, 1], [1, 2]], y=[0, 0, -1]).homophily == 1.0
    assert Graph.build([[0, 1], [1, 2]], y=[0, -1, 1]).homophily is None
    assert Graph.build([[0], [1]]).homophily is None


def test_is_immutable(triangle: Graph) -> None:
    with pytest.raises(FrozenInstanceError):
        triangle.name = "other"  # type: ignore[misc]
    for array in (triangle.edge_index, triangle.x, triangle.y, triangle.degree):
        assert isinstance(array, np.ndarray)
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(TypeError):
        triangle.attributes["title"] = np.array(["x"] * 5)  # type: ignore[index]


def test_does_not_follow_changes_of_what_it_was_built_from() -> None:
    x, y, matrix = np.ones((2, 3), dtype=np.float32), np.array([0, 1]), sp.csr_matrix(np.eye(2, dtype=np.float32))
    dense, sparse = Graph.build([[0], [1]], x=x, y=y), Graph.build([[0], [1]], x=matrix)
    x[:], y[:], matrix.data[:] = 7, 0, 7
    assert dense.dense_features().max() == 1
    assert dense.y is not None
    assert dense.y.tolist() == [0, 1]
    assert sparse.dense_features().tolist() == [[1, 0], [0, 1]]


def test_notes_say_what_was_dropped() -> None:
    graph = Graph.build([[0, 1, 1, 2, 0], [1, 0, 1, 1, 1]], y=[2, 5, 5])
    assert graph.notes == (
        "1 self loop dropped",
        "2 repeated edges dropped (an edge and its reverse are one)",
        "label ids '2', '5' have gaps: classes are numbered 0 to 1 and named by their id",
    )


def test_without_edges_is_a_graph_with_a_note() -> None:
    graph = Graph.build(np.zeros((2, 0)), 3)
    assert (graph.num_edges, graph.degree.tolist(), graph.adjacency().nnz) == (0, [0, 0, 0], 0)
    assert "there are no edges" in graph.notes[0]


@pytest.mark.parametrize("parts", [{}, {"num_nodes": 0}, {"x": np.zeros((0, 3))}, {"y": []}])
def test_without_nodes_is_refused(parts: dict[str, object]) -> None:
    with pytest.raises(GraphError, match=r"at least one node.*check that the source is not empty"):
        Graph.build(np.zeros((2, 0)), **parts)


def test_number_of_nodes_comes_from_what_is_given() -> None:
    assert Graph.build([[0], [1]]).num_nodes == 2
    assert Graph.build([[0], [1]], y=[0, 1, 1]).num_nodes == 3
    assert Graph.build([[0], [1]], node_names="abcd").num_nodes == 4
    assert Graph.build([[0], [1]], x=np.zeros((5, 1))).num_nodes == 5


def test_one_class_only_is_told() -> None:
    graph = Graph.build([[0], [1]], y=["cat", "cat"])
    assert graph.class_names == ("cat",)
    assert "only one class, 'cat'" in graph.notes[0]


def test_constructor_refuses_what_build_would_put_in_order() -> None:
    with pytest.raises(GraphError, match=r"use Graph\.build"):
        Graph(np.array([[1], [0]]), 2)
    with pytest.raises(GraphError, match=r"use Graph\.build"):
        Graph(np.array([[0, 0], [1, 1]]), 2)
    with pytest.raises(GraphError, match="outside 0 to 1"):
        Graph(np.array([[0], [2]]), 2)


def test_offset_is_subtracted_from_the_features() -> None:
    graph = Graph.build([[0], [1]], x=sp.csr_matrix([[1.0, 0.0], [0.0, 3.0]]), x_offset=[0.5, 1.5])
    assert graph.dense_features().tolist() == [[0.5, -1.5], [-0.5, 1.5]]
    assert graph.x is not None
    assert graph.x.nnz == 2
    assert Graph.build([[0], [1]]).dense_features().shape == (2, 0)


def test_sparse_features_become_canonical() -> None:
    doubled = sp.csr_matrix((np.array([1.0, 2.0, 0.0, 4.0]), np.array([1, 1, 0, 0]), np.array([0, 3, 4])), shape=(2, 2))
    graph = Graph.build([[0], [1]], x=doubled)
    assert isinstance(graph.x, sp.csr_matrix)
    assert (graph.x.data.tolist(), graph.x.indices.tolist(), graph.x.dtype) == ([3.0, 4.0], [1, 0], np.float32)


@given(graphs())
def test_pickle_and_copy_keep_everything(graph: Graph) -> None:
    for other in (pickle.loads(pickle.dumps(graph)), copy.deepcopy(graph), replace(graph)):
        assert differences(graph, other) == []
        assert other.notes == graph.notes
        assert not other.edge_index.flags.writeable


@given(graphs())
def test_building_again_changes_nothing(graph: Graph) -> None:
    again = Graph.build(
        graph.edge_index,
        graph.num_nodes,
        graph.x,
        graph.y,
        graph.class_names,
        graph.node_names,
        graph.attributes,
        graph.name,
        x_offset=graph.x_offset,
        features=graph.features,
        edge_weight=graph.edge_weight,
    )
    assert differences(graph, again) == []


@given(graphs())
def test_direction_order_and_repetition_of_edges_do_not_matter(graph: Graph) -> None:
    shuffled = np.concatenate([graph.edge_index[::-1], graph.edge_index], axis=1)[:, ::-1]
    assert np.array_equal(Graph.build(shuffled, graph.num_nodes).edge_index, graph.edge_index)


BASE = Graph.build(
    [[0], [1]],
    3,
    x=np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 2.0]]),
    y=[0, 1, -1],
    node_names="abc",
    attributes={"t": ["x", "y", "z"]},
    extra={"mask": np.array([1.0, np.nan])},
)


def test_same_values_are_equal_in_either_storage() -> None:
    assert BASE.equals(BASE)
    assert BASE.equals(replace(BASE, x=sp.csr_matrix(BASE.dense_features()), notes=("other",)))


def test_every_field_is_compared() -> None:
    changed = {
        "edge_index": np.array([[0], [2]]),
        "x": np.ones((3, 2)),
        "y": np.array([0, 1, 1]),
        "class_names": ("0", "2"),
        "node_names": ("a", "b", "d"),
        "name": "other",
        "x_offset": np.zeros(2),
        "features": "unit",
        "attributes": {"t": np.array(["x", "y", "w"])},
        "extra": {"mask": np.array([1.0, 2.0])},
    }
    for field, value in changed.items():
        assert [found.partition("[")[0] for found in differences(BASE, replace(BASE, **{field: value}))] == [field]


def test_missing_and_added_parts_are_found() -> None:
    bare = Graph.build([[0], [1]], 3)
    assert set(differences(BASE, bare)) == {"x", "y", "class_names", "node_names", "attributes['t']", "extra['mask']"}
    assert set(differences(bare, BASE)) == set(differences(BASE, bare))
    assert "num_nodes" in differences(bare, Graph.build([[0], [1]], 4))


def test_the_fingerprint_sees_edges_features_and_labels_and_nothing_else() -> None:
    assert (
        BASE.fingerprint
        == fingerprint(BASE)
        == fingerprint(replace(BASE, name="other", node_names=None, attributes={}, extra={}))
    )
    changed = [replace(BASE, edge_index=np.array([[0], [2]])), replace(BASE, y=None), replace(BASE, x=np.ones((3, 2)))]
    assert len({graph.fingerprint for graph in [BASE, *changed]}) == 4


def test_the_fingerprint_is_the_digest_that_stored_results_hold() -> None:
    assert BASE.fingerprint == "f082ae3a6bf60874"
