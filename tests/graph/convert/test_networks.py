from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given

from nodewise.graph import Graph, write_graph
from nodewise.graph.differences import differences
from nodewise.ground.errors import GraphError
from tests.graph.generated import ANYTHING, graphs


@given(graphs(ANYTHING))
def test_there_and_back_keeps_everything(graph: Graph) -> None:
    assume(not {"label", "x"} & set(graph.attributes))
    again = Graph.from_networkx(graph.to_networkx())
    assert differences(graph, again) == []
    assert type(again.x) is type(graph.x)


def test_nodes_carry_names_labels_and_attributes() -> None:
    other = Graph.build(
        [[0], [1]], 3, x=np.eye(3), y=["a", "b", ""], node_names=["p", "q", "r"], attributes={"title": ["", "Q", ""]}
    ).to_networkx()
    assert list(other.edges) == [("p", "q")]
    assert other.nodes["q"]["label"] == "b"
    assert other.nodes["q"]["title"] == "Q"
    assert other.nodes["q"]["x"].tolist() == [0, 1, 0]
    assert "label" not in other.nodes["r"]


def test_reads_a_well_known_graph() -> None:
    graph = Graph.from_networkx(nx.karate_club_graph(), label="club")
    assert (graph.num_nodes, graph.num_edges, graph.class_names, graph.node_names) == (
        34,
        78,
        ("Mr. Hi", "Officer"),
        None,
    )
    assert graph.homophily == pytest.approx(67 / 78)


def test_a_graph_is_called_as_one_says_else_as_networkx_calls_it() -> None:
    blocks = nx.stochastic_block_model([4, 4], [[0.9, 0.1], [0.1, 0.9]], seed=0)
    assert Graph.from_networkx(blocks, label="block").name == "stochastic_block_model"
    assert Graph.from_networkx(blocks, label="block", name="blocks").name == "blocks"


def test_directed_parallel_and_looping_edges_become_one() -> None:
    other = nx.MultiDiGraph()
    other.add_edges_from([("a", "b"), ("b", "a"), ("a", "b"), ("b", "b"), ("b", 3)])
    graph = Graph.from_networkx(other)
    assert (graph.node_names, graph.edge_index.tolist()) == (("a", "b", "3"), [[0, 1], [1, 2]])


def test_features_from_numbers_or_rows() -> None:
    other = nx.path_graph(2)
    nx.set_node_attributes(
        other, {0: {"age": 3, "tall": True, "row": [1, 2], "y": 5}, 1: {"age": 4, "row": (3, 4), "y": 2}}
    )
    graph = Graph.from_networkx(other, features=["age", "tall"])
    assert graph.dense_features().tolist() == [[3, 1], [4, 0]]
    assert graph.class_names == ("2", "5")
    assert Graph.from_networkx(other, features="row").dense_features().tolist() == [[1, 2], [3, 4]]
    assert any("'age', 'tall', 'row'" in note for note in Graph.from_networkx(other).notes)


@pytest.mark.parametrize(
    ("attributes", "columns", "message"),
    [
        ({0: {"a": 1}}, {"label": "club"}, "no node has the attribute 'club'; there are 'a': name one of these"),
        ({0: {"a": "x"}, 1: {"a": 1}}, {"features": ["a"]}, "must hold one number each"),
        ({0: {"a": [1, 2]}, 1: {"a": [1]}}, {"features": "a"}, "must hold rows of numbers, all of one length"),
        ({0: {"a": [1, 2]}}, {"features": "a"}, "must hold rows of numbers|finite"),
    ],
)
def test_refusals_say_what_to_do(attributes: dict[int, dict[str, Any]], columns: dict[str, Any], message: str) -> None:
    other = nx.path_graph(2)
    nx.set_node_attributes(other, attributes)
    with pytest.raises(GraphError, match=message):
        Graph.from_networkx(other, **columns)


def test_a_graphml_file_of_ours_that_networkx_has_read(tmp_path: Path) -> None:
    graph = Graph.build([[0], [1]], 3, x=np.eye(3), y=["a", "b", ""], attributes={"title": ["", "Q", ""]})
    write_graph(graph, tmp_path / "g.graphml")
    again = Graph.from_networkx(nx.read_graphml(tmp_path / "g.graphml"), features=["x0", "x1", "x2"])
    assert again.class_names == ("a", "b")
    assert again.dense_features().tolist() == np.eye(3).tolist()


def test_an_attribute_that_differs_on_every_node_is_no_class() -> None:
    other = nx.path_graph(12)
    nx.set_node_attributes(other, {i: {"label": f"node {i}", "topic": "ab"[i % 2]} for i in other})
    graph = Graph.from_networkx(other)
    assert graph.class_names == ("a", "b")
    assert graph.attributes["label"][3] == "node 3"
    assert "the node attribute 'label' differs on every node" in graph.notes[0]
    assert Graph.from_networkx(other, label="label").num_classes == 12


def test_empty_graphs_and_clashing_names_are_refused() -> None:
    with pytest.raises(GraphError, match="has no nodes"):
        Graph.from_networkx(nx.Graph())
    with pytest.raises(GraphError, match="rename it first"):
        Graph.build([[0], [1]], attributes={"x": ["", ""]}).to_networkx()
    other = nx.Graph()
    other.add_edge(1, "1")
    with pytest.raises(GraphError, match="node name '1' occurs twice"):
        Graph.from_networkx(other)
