"""Tables of nodes and edges: CSV files as people have them, one list of what column names mean, and one rule for
labels, by every way in.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from nodewise.graph import Graph, read_graph
from nodewise.graph.knn.knn import knn_from_table
from nodewise.graph.tables.table import (
    ID,
    LABEL,
    LINK,
    PICTURE,
    TEXT,
    TITLE,
    label_columns,
    never_features,
)
from nodewise.ground.errors import GraphError
from nodewise.studio.work.preview import preview_table


def write(folder: Path, nodes: str, edges: str) -> tuple[Path, Path]:
    (folder / "people.csv").write_text(nodes, encoding="utf-8")
    (folder / "links.csv").write_text(edges, encoding="utf-8")
    return folder / "people.csv", folder / "links.csv"


def test_finds_columns_by_their_usual_names(tmp_path: Path) -> None:
    graph = Graph.from_csv(
        *write(tmp_path, "ID;Class;Title\n007;red;Bond\nb;;Bee\nc;blue;\n", "From;To;Weight\n007;b;3\nc;b;1\nb;c;1\n")
    )
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
        (
            "id,label\na,x\n",
            "source,target\n",
            {"label": "lable"},
            r"people\.csv has no column 'lable'.*did you mean 'label'",
        ),
        ("id\na\n", "source,target\n", {"id": "node"}, "has no column 'node'"),
        ("id\na\n", "source,target\n", {"source": "sauce"}, r"links\.csv has no column 'sauce'.*did you mean 'source'"),
        ("id\na\n", "source,target\n", {"target": "x"}, "has no column 'x'"),
        ("id\na\n", "source,target\n", {"text": "body"}, "has no column 'body'"),
        ("id\na\n", "source,target\n", {"features": ["age"]}, "has no column 'age'"),
        (
            "id,age\na,1\nb,?\n",
            "source,target\n",
            {"features": ["age"]},
            r"line 3: column 'age' was to be a feature but holds '\?'",
        ),
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
def test_refusals_say_where_and_what_to_do(
    tmp_path: Path, nodes: str, edges: str, columns: dict[str, str], message: str
) -> None:
    with pytest.raises(GraphError, match=message):
        Graph.from_csv(*write(tmp_path, nodes, edges), **columns)


Columns = dict[str, list[str]]


def table(path: Path, columns: Columns) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([list(columns), *zip(*columns.values(), strict=True)])
    return path


def by_csv(folder: Path, columns: Columns) -> Graph:
    return Graph.from_csv(table(folder / "nodes.csv", {"id": _ids(columns), **columns}))


def by_folder(folder: Path, columns: Columns) -> Graph:
    table(folder / "nodes.csv", {"id": _ids(columns), **columns})
    table(folder / "edges.csv", {"source": ["n0"], "target": ["n1"]})
    return read_graph(folder)


def by_knn_of_a_file(folder: Path, columns: Columns) -> Graph:
    return knn_from_table(table(folder / "nodes.csv", columns), 2)


def by_knn_of_columns(folder: Path, columns: Columns) -> Graph:
    return knn_from_table(columns, 2)


def by_graphml(folder: Path, columns: Columns) -> Graph:
    graph = nx.Graph()
    numeric = {name for name, cells in columns.items() if all(cell.isdigit() and cell[0] != "0" for cell in cells)}
    for i, name in enumerate(_ids(columns)):
        graph.add_node(name, **{key: int(cells[i]) if key in numeric else cells[i] for key, cells in columns.items()})
    nx.write_graphml(graph, folder / "g.graphml")
    return read_graph(folder / "g.graphml")


def by_networkx(folder: Path, columns: Columns) -> Graph:
    graph = nx.Graph()
    for i, name in enumerate(_ids(columns)):
        graph.add_node(name, **{key: cells[i] for key, cells in columns.items()})
    return Graph.from_networkx(graph)


WAYS = [by_csv, by_folder, by_knn_of_a_file, by_knn_of_columns, by_graphml, by_networkx]

every_way = pytest.mark.parametrize("way", WAYS, ids=[way.__name__ for way in WAYS])


def _ids(columns: Columns) -> list[str]:
    return [f"n{i}" for i in range(len(next(iter(columns.values()))))]


def _others(rows: int = 12) -> Columns:
    return {"size": [str(1 + i % 5) for i in range(rows)], "age": [str(20 + i % 7) for i in range(rows)]}


@every_way
@pytest.mark.parametrize("name", [*LABEL, " Category "])
def test_a_column_of_a_labels_name_is_the_label_and_never_a_feature(
    way: Callable[..., Graph], name: str, tmp_path: Path
) -> None:
    if way is by_networkx and name not in LABEL:
        pytest.skip("attributes of networkx are called exactly as they are")
    graph = way(tmp_path, {name: [str(1 + i % 3) for i in range(12)], **_others()})
    assert graph.class_names == ("1", "2", "3")
    bare = way(tmp_path, _others())
    assert graph.num_features == bare.num_features


@every_way
def test_a_second_column_of_a_labels_name_is_no_feature_either(way: Callable[..., Graph], tmp_path: Path) -> None:
    columns = {
        "label": [str(1 + i % 3) for i in range(12)],
        "category": [str(5 + i % 3) for i in range(12)],
        **_others(),
    }
    graph = way(tmp_path, columns)
    assert graph.class_names == ("1", "2", "3")
    assert graph.num_features == way(tmp_path, _others()).num_features


@pytest.mark.parametrize("way", [by_csv, by_knn_of_a_file])
def test_labels_that_nobody_wants_are_no_features(way: Callable[..., Graph], tmp_path: Path) -> None:
    columns = {"category": [str(1 + i % 3) for i in range(12)], **_others()}
    path = table(tmp_path / "nodes.csv", {"id": _ids(columns), **columns})
    graph = Graph.from_csv(path, label="") if way is by_csv else knn_from_table(path, 2, label="")
    assert graph.y is None
    assert graph.num_features == 2
    assert "category" in graph.attributes


@every_way
def test_codes_with_leading_zeros_are_no_numbers(way: Callable[..., Graph], tmp_path: Path) -> None:
    graph = way(tmp_path, {"zip": [f"0{i}234" if i else "99999" for i in range(8)] + ["12345"] * 4, **_others()})
    assert graph.attributes["zip"][1] == "01234"
    assert graph.num_features == way(tmp_path, _others()).num_features


@every_way
def test_words_for_missing_values_are_no_classes(way: Callable[..., Graph], tmp_path: Path) -> None:
    graph = way(
        tmp_path, {"label": ["a", "nan", "NA", "null", "None", "b", "", " ", "N/A", "<NA>", "a", "b"], **_others()}
    )
    assert graph.class_names == ("a", "b")
    assert graph.y is not None
    assert graph.y.tolist() == [0, -1, -1, -1, -1, 1, -1, -1, -1, -1, 0, 1]
    assert any(
        "6 labels said 'nan', 'NA', 'null', 'None', 'N/A', '<NA>': taken as unlabelled" in note for note in graph.notes
    )


@every_way
@pytest.mark.parametrize(
    ("cells", "classes"),
    [
        (["1.0", "2", "", "3."], ("1", "2", "3")),
        (["1.0", "2.5", "", "x"], ("1.0", "2.5", "x")),
        (["01", "1", "", "2"], ("01", "1", "2")),
        (["\u00a0a", "a\tb", "Ka\u0308se", "no\u00a0break"], ("Käse", "a", "a b", "no\u00a0break")),
    ],
)
def test_classes_are_spelled_in_one_way(
    way: Callable[..., Graph], cells: list[str], classes: tuple[str, ...], tmp_path: Path
) -> None:
    assert way(tmp_path, {"label": cells * 3, **_others()}).class_names == classes


def test_numbers_of_any_type_become_the_same_classes() -> None:
    given: list[Any] = [
        [1, 2, -1],
        [1.0, 2.0, np.nan],
        ["1.0", "2.0", ""],
        ["1", "2", None],
        np.array([1.0, 2.0, None], dtype=object),
    ]
    for y in given:
        graph = Graph.build([[0], [1]], 3, y=y)
        assert graph.class_names == ("1", "2")
        assert graph.y is not None
        assert graph.y.tolist() == [0, 1, -1]


def test_coordinates_are_no_classes(tmp_path: Path) -> None:
    columns = {"x": [f"{i / 3:.2f}" for i in range(12)], "y": [f"{i % 4 / 3:.2f}" for i in range(12)]}
    assert label_columns(columns) == []
    assert by_csv(tmp_path, columns).num_features == by_knn_of_a_file(tmp_path, columns).num_features == 2
    assert label_columns({"x": ["a", "b"], "y": ["0.5", "1"]}) == ["y"]


@pytest.mark.parametrize("name", [*ID, *TITLE, *TEXT, *LINK, *PICTURE])
def test_what_a_person_is_shown_is_no_feature_of_its_own_accord(name: str, tmp_path: Path) -> None:
    columns = {name: [str(7 * i % 5) for i in range(12)], **_others()}
    assert never_features(columns) == {name}
    assert by_knn_of_a_file(tmp_path, columns).num_features == 2
    columns = {"id": _ids(columns), **columns} if name != "id" else {**_others(), "id": _ids(columns)}
    assert Graph.from_csv(table(tmp_path / "n.csv", columns)).num_features == 2


@pytest.mark.parametrize("name", LABEL)
def test_the_studio_proposes_the_same_label(name: str, tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", {name: ["a", "b", "a"] * 4, **_others()})
    assert preview_table(path)["guess"]["label"] == name
