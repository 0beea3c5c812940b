"""One list of what column names mean, and one rule for labels, by every way in."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from nodewise.graph import Graph, read_graph
from nodewise.graph.io.column_names import ID, LABEL, LINK, PICTURE, TEXT, TITLE, label_columns, meaning, never_features
from nodewise.graph.knn.knn import knn_from_table
from nodewise.studio.work.preview import preview_table

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
def test_a_column_of_a_labels_name_is_the_label_and_never_a_feature(way: Callable[..., Graph], name: str, tmp_path: Path) -> None:
    if way is by_networkx and name not in LABEL:
        pytest.skip("attributes of networkx are called exactly as they are")
    graph = way(tmp_path, {name: [str(1 + i % 3) for i in range(12)], **_others()})
    assert graph.class_names == ("1", "2", "3")
    bare = way(tmp_path, _others())
    assert graph.num_features == bare.num_features


@every_way
def test_a_second_column_of_a_labels_name_is_no_feature_either(way: Callable[..., Graph], tmp_path: Path) -> None:
    columns = {"label": [str(1 + i % 3) for i in range(12)], "category": [str(5 + i % 3) for i in range(12)], **_others()}
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
    graph = way(tmp_path, {"label": ["a", "nan", "NA", "null", "None", "b", "", " ", "N/A", "<NA>", "a", "b"], **_others()})
    assert graph.class_names == ("a", "b")
    assert graph.y is not None
    assert graph.y.tolist() == [0, -1, -1, -1, -1, 1, -1, -1, -1, -1, 0, 1]
    assert any("6 labels said 'nan', 'NA', 'null', 'None', 'N/A', '<NA>': taken as unlabelled" in note for note in graph.notes)


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
def test_classes_are_spelled_in_one_way(way: Callable[..., Graph], cells: list[str], classes: tuple[str, ...], tmp_path: Path) -> None:
    assert way(tmp_path, {"label": cells * 3, **_others()}).class_names == classes


def test_numbers_of_any_type_become_the_same_classes() -> None:
    given: list[Any] = [[1, 2, -1], [1.0, 2.0, np.nan], ["1.0", "2.0", ""], ["1", "2", None], np.array([1.0, 2.0, None], dtype=object)]
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


def test_meanings() -> None:
    assert [meaning(name) for name in (" ID ", "Category", "body", "headline", "url", "photo", "age")] == [
        "id", "label", "text", "title", "link", "picture", None,
    ]  # fmt: skip
    every = [*LABEL, *ID, *TITLE, *TEXT, *LINK, *PICTURE]
    assert len(set(every)) == len(every)
