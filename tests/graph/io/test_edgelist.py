from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest

from nodewise.graph import Graph
from nodewise.graph.io.edgelist import read_edgelist, write_edgelist
from nodewise.ground.errors import GraphError


@pytest.mark.parametrize(
    "text",
    [
        "0 1\n1 2\n",
        "# comment\n% other\n0\t1\n1\t2",
        "0,1\r\n1,2\r\n",
        "source;target\n0;1\n1;2\n",
        "  0   1  \n\n1 2 \n",
        "From,To\n0, 1\n1, 2\n",
        "citing,cited,year\n0,1,1999\n1,2,2000\n",
        "\ufeff0 1\n2 1\n1 0\n",
    ],
)
def test_reads_any_usual_form(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.edges").write_text(text, encoding="utf-8", newline="")
    graph = read_edgelist(tmp_path / "a.edges")
    assert (graph.edge_index.tolist(), graph.node_names, graph.name) == ([[0, 1], [1, 2]], None, "a")


def test_ids_with_gaps_or_letters_become_names_in_order(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("10 2\n2 400\n")
    numbers = read_edgelist(tmp_path / "a.txt")
    assert (numbers.node_names, numbers.edge_index.tolist()) == (("2", "10", "400"), [[0, 0], [1, 2]])
    (tmp_path / "b.txt").write_text('"New York" b\nb a\n007 a\nalone\n')
    words = read_edgelist(tmp_path / "b.txt")
    assert words.node_names == ("007", "New York", "a", "alone", "b")
    assert words.degree.tolist() == [1, 1, 2, 0, 2]


def test_a_third_column_holds_weights(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("source,target,weight\n0,1,0.5\n1,2,2\n2,1,1\n")
    graph = read_edgelist(tmp_path / "a.csv")
    assert graph.edge_weight is not None
    assert graph.edge_weight.tolist() == [0.5, 3]
    assert graph.notes[0] == "the first row, 'source', 'target', was taken as the names of the columns"
    (tmp_path / "b.edges").write_text("a b likes\nb c hates\n")
    told = read_edgelist(tmp_path / "b.edges")
    assert told.edge_weight is None
    assert told.notes == ("what else the edges hold was dropped: 'column 3'",)


@pytest.mark.parametrize("third", ["", " 0", " -1", " nan", " inf", " much"])
def test_a_line_without_a_good_weight_is_named(tmp_path: Path, third: str) -> None:
    (tmp_path / "a.edges").write_text(f"a b 2\nb c{third}\n")
    with pytest.raises(GraphError, match=f"line 2: the edge has the weight '{third.strip()}': a weight is a positive"):
        read_edgelist(tmp_path / "a.edges")


def test_keeps_isolated_nodes_and_tells_what_it_drops(tmp_path: Path) -> None:
    graph = Graph.build([[0], [1]], 5, y=["a", "b", "", "", ""])
    assert write_edgelist(graph, tmp_path / "a.edges") == [
        "labels: an edge list holds edges and their weights alone",
        "class names: an edge list holds edges and their weights alone",
    ]
    assert (tmp_path / "a.edges").read_text() == "# nodewise edge list: 5 nodes, 1 edges\n0\t1\n"
    assert read_edgelist(tmp_path / "a.edges").num_nodes == 5


def test_networkx_reads_what_is_written(tmp_path: Path) -> None:
    write_edgelist(Graph.build([[0, 1], [1, 2]], node_names=["a", "b", "c"]), tmp_path / "a.edges")
    with (tmp_path / "a.edges").open("rb") as handle:
        assert sorted(nx.read_edgelist(handle).edges) == [("a", "b"), ("b", "c")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# nothing\n", "holds no edges: an edge list has one on each line"),
        ("a\nb\n", "holds no edges"),
        (
            "id,label,age,size\n1,a,2,3\n",
            r"line 1: 'id', .* is no edge but a row of a table.*nodes\.csv and edges\.csv.*--knn",
        ),
        ("id,text\n1,hello\n", "line 1: 'id', 'text' is no edge but a row of a table"),
        ("a,b,c,d\n", "'a', 'b', 'c', 'd' is no edge but a row of a table"),
        ("source,target\n", "holds no edges"),
        ("a,b\nc,\n,d\n", "line 2: an end of the edge is missing"),
        (
            "# nodewise edge list: 3 nodes, 2 edges\n0\t1\n",
            "holds 1 edges, its first line says 2: the file was cut off",
        ),
        ("# nodewise edge list: 3 nodes, 1 edges\n0\t7\n", "line 2: '0', '7' are not the ids of two of the 3 nodes"),
        ("# nodewise edge list: 3 nodes, 1 edges\n0\n", "line 2: '0' are not the ids"),
        ("# nodewise edge list: 2 nodes, 1 edges\n# names: [1\na\tb\n", "names at the top are damaged"),
        ('"a b\n', "cannot be read as CSV"),
    ],
)
def test_refusals_say_what_to_do(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.edges").write_text(text)
    with pytest.raises(GraphError, match=message):
        read_edgelist(tmp_path / "a.edges")


def test_binary_rubbish_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.edges").write_bytes(bytes(range(256)))
    with pytest.raises(GraphError, match="cannot be read as text.*save it as UTF-8"):
        read_edgelist(tmp_path / "a.edges")


@pytest.mark.parametrize("form", ["a.csv", "a.edges"])
def test_a_line_break_in_the_first_name_does_not_hide_the_delimiter(tmp_path: Path, form: str) -> None:
    graph = Graph.build([[0], [1]], node_names=["two\nlines", "b"], name="a")
    write_edgelist(graph, tmp_path / form)
    assert read_edgelist(tmp_path / form).equals(graph)


def test_names_like_columns_are_nodes_where_they_come_again(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("u v\nv w\n")
    assert read_edgelist(tmp_path / "a.txt").node_names == ("u", "v", "w")
    (tmp_path / "b.txt").write_text("u v\nx w\n")
    assert read_edgelist(tmp_path / "b.txt").node_names == ("w", "x")
