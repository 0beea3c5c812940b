"""Weights, direction, relations and several classes a node: what each form keeps comes back to the bit, and what it
cannot keep is said.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings

from nodewise.graph import Graph, RelationalGraph, read_graph, write_graph
from nodewise.graph.differences import differences
from tests.graph.generated import graphs, relational_graphs

pytestmark = pytest.mark.long


@pytest.mark.parametrize("form", ["graph.npz", "graph.graphml", "graph"])
@given(graph=graphs(rich=True))
@settings(max_examples=40)
def test_files_keep_weights_direction_and_sets(
    tmp_path_factory: pytest.TempPathFactory, form: str, graph: Graph
) -> None:
    path = tmp_path_factory.mktemp("forms") / form
    assert write_graph(graph, path) == []
    assert differences(graph, read_graph(path)) == []


@given(graph=graphs(rich=True))
@settings(max_examples=40)
def test_networkx_keeps_weights_direction_and_sets(graph: Graph) -> None:
    assume(not {"label", "x"} & set(graph.attributes))
    assert differences(graph, Graph.from_networkx(graph.to_networkx())) == []


@pytest.mark.filterwarnings("ignore:the direction of the edges was dropped")
@given(graph=graphs(rich=True))
@settings(max_examples=40)
def test_other_libraries_keep_weights_and_sets(graph: Graph) -> None:
    plain = replace(graph, relations=None)
    assert differences(plain, Graph.from_pyg(graph.to_pyg(sparse=True))) == []
    adjacency, x, y = graph.to_scipy()
    again = Graph.from_scipy(adjacency, x, y, class_names=graph.class_names)
    bare = Graph.build(
        graph.edge_index,
        graph.num_nodes,
        x=x,
        y=graph.y if graph.y_sets is None else graph.y_sets,
        class_names=graph.class_names,
        edge_weight=graph.edge_weight,
    )
    assert differences(bare, again) == []


@given(graph=graphs(rich=True))
@settings(max_examples=25)
def test_edge_lists_keep_weights_and_say_what_they_drop(tmp_path_factory: pytest.TempPathFactory, graph: Graph) -> None:
    path = tmp_path_factory.mktemp("forms") / "graph.edges"
    dropped = write_graph(graph, path)
    assert any("direction" in line for line in dropped) == (graph.relations is not None)
    assert any("labels" in line for line in dropped) == (graph.y is not None or graph.y_sets is not None)
    parts = {"node_names": graph.node_names, "name": "graph", "edge_weight": graph.edge_weight}
    assert differences(Graph.build(graph.edge_index, graph.num_nodes, **parts), read_graph(path)) == []


@pytest.mark.parametrize("form", ["graph.npz", "graph"])
@given(whole=relational_graphs())
@settings(max_examples=40)
def test_files_keep_relations_with_all_they_hold(
    tmp_path_factory: pytest.TempPathFactory, form: str, whole: RelationalGraph
) -> None:
    path = tmp_path_factory.mktemp("forms") / form
    graph = whole.to_graph()
    assert write_graph(graph, path) == []
    assert differences(graph, read_graph(path)) == []
    assert whole.equals(RelationalGraph.of(read_graph(path)))


@given(whole=relational_graphs())
@settings(max_examples=40)
def test_other_libraries_keep_relations_with_all_they_hold(whole: RelationalGraph) -> None:
    assert RelationalGraph.from_pyg(whole.to_pyg(), labelled=whole.labelled).equals(whole)
    assert RelationalGraph.from_networkx(whole.to_networkx()).equals(whole)
