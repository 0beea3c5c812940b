from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from nodewise.graph import Graph
from nodewise.ground.errors import GraphError


def write(folder: Path, nodes: str, edges: str) -> tuple[Path, Path]:
    (folder / "people.csv").write_text(nodes, encoding="utf-8")
    (folder / "links.csv").write_text(edges, encoding="utf-8")
    return folder / "people.csv", folder / "links.csv"


def test_finds_columns_by_their_usual_names(tmp_path: Path) -> None:
    graph = Graph.from_csv(*write(tmp_path, "ID;Class;Title\n007;red;Bond\nb;;Bee\nc;blue;\n", "From;To;Weight\n007;b;3\nc;b;1\nb;c;1\n"))
    assert graph.node_names == ("007", "b", "c")
    assert graph.edge_index.tolist() == [[0, 1], [1, 2]]
    assert graph.class_names == ("blue", "red")
    assert graph.y is not None
    assert graph.y.tolist() == [1, -1, 0]
    assert {key: values.tolist() for key, values in graph.attributes.items()} == {"Title": ["Bond", "Bee", ""]}
    assert (graph.name, graph.x) == ("people", None)


def test_columns_can_be_named(tmp_path: Path) -> None:
    nodes, edges = write(tmp_path, "label,code,kind\nAnn,x1,cat\nBob,x2,dog\n", "w,one,two\n5,x1,x2\n")
    graph = Graph.from_csv(nodes, edges, id="code", label="kind", source="one", target="two", name="pets")
    assert (graph.node_names, graph.class_names, graph.name) == (("x1", "x2"), ("cat", "dog"), "pets")
    assert graph.attributes["label"].tolist() == ["Ann", "Bob"]
    assert graph.num_edges == 1


def test_ids_0_to_n_are_indices_not_names(tmp_path: Path) -> None:
    graph = Graph.from_csv(*write(tmp_path, "id,y\n0,a\n1,b\n2,a\n", "source,target\n0,2\n"))
    assert graph.node_names is None
    assert graph.edge_index.tolist() == [[0], [2]]


def test_numbers_that_a_spreadsheet_changed_are_still_found(tmp_path: Path) -> None:
    graph = Graph.from_csv(*write(tmp_path, "id,label\n10,1.0\n11,\n12,2.0\n", "source,target\n10.0, 12\n11 ,12.0\n"))
    assert graph.num_edges == 2
    assert graph.class_names == ("1", "2")


def test_leading_zeros_count(tmp_path: Path) -> None:
    graph = Graph.from_csv(*write(tmp_path, "id\n7\n07\n007\n", "source,target\n7,007\n"))
    assert graph.node_names == ("7", "07", "007")
    assert graph.edge_index.tolist() == [[0], [2]]


def test_edges_without_a_header(tmp_path: Path) -> None:
    graph = Graph.from_csv(*write(tmp_path, "id\nu\nv\nw\n", "u,v\nv,w\n"))
    assert graph.num_edges == 2


def test_columns_of_numbers_become_features_and_texts_attributes(tmp_path: Path) -> None:
    nodes, edges = write(tmp_path, "id,age,size,zip,mood\na,30,1.5,01234,ok\nb,-4,0,99999,\n", "source,target\na,b\n")
    graph = Graph.from_csv(nodes, edges)
    assert graph.dense_features().tolist() == [[30, 1.5], [-4, 0]]
    assert list(graph.attributes) == ["zip", "mood"]
    assert "the columns 'age', 'size' hold numbers and became features" in graph.notes
    assert Graph.from_csv(nodes, edges, features=["size"]).dense_features().tolist() == [[1.5], [0]]
    assert Graph.from_csv(nodes, edges, features=[]).x is None


def test_text_becomes_tfidf_and_stays_to_be_shown(tmp_path: Path) -> None:
    nodes, edges = write(tmp_path, 'id,body,age\na,"The cat\nsat",1\nb,"The dog, ran",2\n', "source,target\na,b\n")
    graph = Graph.from_csv(nodes, edges, text="body")
    assert sp.issparse(graph.x)
    assert graph.num_features == 5  # the, cat, sat, dog, ran
    assert np.allclose(np.linalg.norm(graph.dense_features(), axis=1), 1)
    assert graph.attributes["body"].tolist() == ["The cat\nsat", "The dog, ran"]
    assert Graph.from_csv(nodes, edges, text="body", features=["age"]).num_features == 6
    assert Graph.from_csv(nodes, edges, text="body", max_words=2).num_features == 2


def test_without_edges_there_is_a_hint(tmp_path: Path) -> None:
    nodes, _ = write(tmp_path, "id\na\nb\n", "")
    graph = Graph.from_csv(nodes)
    assert graph.num_edges == 0
    assert any("knn_graph" in note for note in graph.notes)


def test_a_display_label_is_no_class(tmp_path: Path) -> None:
    rows = "".join(f"n{i},Person {i}\n" for i in range(12))
    nodes, edges = write(tmp_path, "id,label\n" + rows, "source,target\nn0,n1\n")
    graph = Graph.from_csv(nodes, edges)
    assert graph.y is None
    assert graph.attributes["label"][3] == "Person 3"
    assert Graph.from_csv(nodes, edges, label="label").num_classes == 12


def test_first_column_is_the_id_where_none_is_called_so(tmp_path: Path) -> None:
    graph = Graph.from_csv(*write(tmp_path, "paper,venue\np1,x\np2,y\n", "left,right\np1,p2\n"))
    assert graph.node_names == ("p1", "p2")
    assert "the first column, 'paper', was taken as the id" in graph.notes
    assert any("'left' and 'right', were taken as the ends" in note for note in graph.notes)


@pytest.mark.parametrize(
    ("nodes", "edges", "columns", "message"),
    [
        ("id,label\na,x\n", "source,target\n", {"label": "lable"}, r"people\.csv has no column 'lable'.*did you mean 'label'"),
        ("id\na\n", "source,target\n", {"id": "node"}, "has no column 'node'"),
        ("id\na\n", "source,target\n", {"source": "sauce"}, r"links\.csv has no column 'sauce'.*did you mean 'source'"),
        ("id\na\n", "source,target\n", {"target": "x"}, "has no column 'x'"),
        ("id\na\n", "source,target\n", {"text": "body"}, "has no column 'body'"),
        ("id\na\n", "source,target\n", {"features": ["age"]}, "has no column 'age'"),
        ("id,age\na,1\nb,?\n", "source,target\n", {"features": ["age"]}, r"line 3: column 'age' was to be a feature but holds '\?'"),
        ("id\na\na\n", "source,target\n", {}, "line 3: the id 'a' in column 'id' was on line 2 already"),
        ("id,x\na,1\n ,2\n", "source,target\n", {}, "line 3: the id in column 'id' is empty"),
        ("id\n", "source,target\n", {}, "names columns but holds no nodes"),
        (
            "id\na\n",
            "source,target\na,zz\n",
            {},
            "line 2: the edge from 'a' to 'zz' leads to 'zz', which is no node's id .*add the node or correct",
        ),
        ("id\na\n", "source\na\n", {}, "needs two columns"),
        ("id\na\nb\n", "source,target\na,b\na\n", {}, "line 3: 1 cells where the first row has 2"),
        ("id,text\na,!\nb,?\n", "source,target\n", {"text": "text"}, "none of the 2 texts holds a word"),
    ],
)
def test_refusals_say_where_and_what_to_do(tmp_path: Path, nodes: str, edges: str, columns: dict[str, str], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        Graph.from_csv(*write(tmp_path, nodes, edges), **columns)
