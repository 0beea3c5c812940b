from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from nodewise.graph import Graph
from nodewise.graph.io.graphml import read_graphml, write_graphml
from nodewise.ground.errors import GraphError


def test_writes_non_zero_features_only(tmp_path: Path) -> None:
    write_graphml(Graph.build([[0], [1]], x=sp.csr_matrix([[0, 0.1], [0, 0]]), y=["a", ""]), tmp_path / "a.graphml")
    text = (tmp_path / "a.graphml").read_text()
    assert '<node id="0"><data key="label">a</data><data key="x1">0.1</data></node>' in text
    assert '<node id="1"></node>' in text


def test_networkx_reads_what_is_written(tmp_path: Path) -> None:
    graph = Graph.build(
        [[0, 1], [1, 2]],
        4,
        x=np.eye(4, 2),
        y=["a", "b", "", ""],
        node_names=["p", "q<>", "r\n", "s"],
        attributes={"title": list("wxyz")},
    )
    write_graphml(graph, tmp_path / "a.graphml")
    other = nx.read_graphml(tmp_path / "a.graphml")
    assert list(other.nodes) == ["p", "q<>", "r\n", "s"]
    assert sorted(other.edges) == [("p", "q<>"), ("q<>", "r\n")]
    assert other.nodes["p"] == {"label": "a", "title": "w", "x0": 1.0}


def test_reads_what_networkx_writes(tmp_path: Path) -> None:
    other = nx.Graph()
    other.add_node("a", label="red", age=3, height=1.5, tall=True, title="A & B")
    other.add_node("b", label="blue", age=4)
    other.add_edge("a", "b", weight=2)
    other.add_edge("b", "c", weight=0.5)
    other.add_edge("a", "c")
    nx.write_graphml(other, tmp_path / "a.graphml")
    graph = read_graphml(tmp_path / "a.graphml")
    assert (graph.node_names, graph.class_names, graph.num_edges) == (("a", "b", "c"), ("blue", "red"), 3)
    assert graph.attributes["title"].tolist() == ["A & B", "", ""]
    assert sorted(graph.dense_features()[0].tolist()) == [1.0, 1.5, 3.0]
    assert graph.edge_weight is not None
    assert graph.edge_weight.tolist() == [2, 1, 0.5]
    assert "1 edge without a weight counted as 1" in graph.notes
    assert any("hold numbers and became features" in note for note in graph.notes)


def test_reads_defaults_prefixes_and_hyperedges(tmp_path: Path) -> None:
    (tmp_path / "a.graphml").write_text(
        '<g:graphml xmlns:g="http://graphml.graphdrawing.org/xmlns"><g:key id="d0" for="node" attr.name="color"'
        ' attr.type="string"><g:default>yellow</g:default></g:key><g:key id="d1" for="all" attr.name="n"'
        ' attr.type="int"/><g:graph edgedefault="directed"><g:node id="n0"><g:data key="d0">green</g:data><g:data'
        ' key="d1">x</g:data></g:node><g:node id="n1"/><g:edge source="n0" target="n1"/><g:edge source="n1"'
        ' target="n0"/><g:hyperedge/></g:graph></g:graphml>'
    )
    graph = read_graphml(tmp_path / "a.graphml")
    assert graph.attributes["color"].tolist() == ["green", "yellow"]
    assert graph.attributes["n"].tolist() == ["x", ""]
    assert graph.num_edges == 1
    assert any("hyperedges were dropped" in note for note in graph.notes)
    assert any("'n' should hold numbers" in note for note in graph.notes)


def test_a_display_label_is_no_class(tmp_path: Path) -> None:
    other = nx.path_graph(12)
    nx.set_node_attributes(other, {i: f"Person {i}" for i in range(12)}, "label")
    nx.write_graphml(other, tmp_path / "a.graphml")
    graph = read_graphml(tmp_path / "a.graphml")
    assert graph.y is None
    assert graph.attributes["label"][2] == "Person 2"


@pytest.mark.parametrize(
    ("graph", "what"),
    [
        (Graph.build([[0], [1]], node_names=["a\x01", "b"]), "the node name"),
        (Graph.build([[0], [1]], y=["a\ufffe", "b"]), "the class name"),
        (Graph.build([[0], [1]], attributes={"t": ["", "\ufffe"]}), "the text"),
        (Graph.build([[0], [1]], attributes={"\x00": ["", ""]}), "the attribute name"),
    ],
)
def test_characters_that_xml_cannot_hold_are_refused(tmp_path: Path, graph: Graph, what: str) -> None:
    with pytest.raises(GraphError, match=f"{what} .* which XML cannot hold: remove it, or write .npz"):
        write_graphml(graph, tmp_path / "a.graphml")
    assert list(tmp_path.iterdir()) == []


NODES = '<graphml><graph><node id="a"/><node id="b"/>{}</graph></graphml>'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            NODES.format('<edge source="a" target="z"/>'),
            "edge from 'a' to 'z' leads to 'z', a node that does not exist: add it or remove",
        ),
        (NODES.format('<node id="a"/>'), "node id 'a' occurs twice"),
        (NODES.format("<node/>"), "line 1: <node> has no 'id'; every node needs one"),
        (NODES.format('<edge source="a"/>'), "<edge> has no 'target'"),
        (NODES.format('<node id="c"><data key="k">1</data></node>'), "key 'k', which is not declared"),
        (NODES.format("")[:-20], "cannot be read as XML .*cut off"),
        ("<html/>", "XML but no GraphML: its first element is <html>"),
        ("<graphml><graph/></graphml>", "holds no nodes"),
        ("hello", "no GraphML file: it does not begin with an XML element"),
    ],
)
def test_refusals_say_what_to_do(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.graphml").write_text(text)
    with pytest.raises(GraphError, match=message):
        read_graphml(tmp_path / "a.graphml")


def test_damaged_features_of_our_own_are_refused(tmp_path: Path) -> None:
    write_graphml(Graph.build([[0], [1]], x=[[1.5], [0.0]]), tmp_path / "a.graphml")
    text = (tmp_path / "a.graphml").read_text()
    for broken in (
        text.replace(">1.5<", ">much<"),
        text.replace('key="x0">1.5', 'key="x9">1.5').replace('<key id="x0"', '<key id="x9"'),
    ):
        (tmp_path / "a.graphml").write_text(broken)
        with pytest.raises(GraphError, match="no number or no column"):
            read_graphml(tmp_path / "a.graphml")
