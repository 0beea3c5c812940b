"""Several labels a node: every form they come in, and the way back."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import nodewise as nw
from nodewise.graph.io.files import read_graph, write_graph
from nodewise.graph.label_sets import separator_for, set_texts, split_sets
from nodewise.ground.errors import GraphError

EDGES = [[0, 1, 2], [1, 2, 3]]
SETS = [["a", "b"], [], None, ["b"]]
TABLE = np.array([[1, 1], [0, 0], [-1, -1], [0, 1]], dtype=np.int8)


def test_every_form_gives_the_same_sets() -> None:
    matrix = np.where(TABLE < 0, np.nan, TABLE)
    forms = [
        nw.Graph.build(EDGES, y=SETS),
        nw.Graph.build(EDGES, y=[{"b", "a"}, (), None, frozenset({"b"})]),
        nw.Graph.build(EDGES, y=["a; b", ";", "", "b"], separator=";"),
        nw.Graph.build(EDGES, y=TABLE, class_names=["a", "b"]),
        nw.Graph.build(EDGES, y=matrix, class_names=["a", "b"]),
    ]
    for graph in forms:
        assert graph.several and graph.y is None and graph.class_names == ("a", "b")
        np.testing.assert_array_equal(graph.y_sets, TABLE)
        assert graph.labelled.tolist() == [True, True, False, True]
    assert nw.Graph.build(EDGES, y=sp.csr_matrix(np.eye(4, dtype=np.int8))).num_classes == 4


def test_numbers_in_sets_are_classes_and_gaps_are_compacted() -> None:
    graph = nw.Graph.build(EDGES, y=[{7, 2}, set(), {2}, None])
    assert graph.class_names == ("2", "7")
    assert graph.y_sets is not None and graph.y_sets.tolist() == [[1, 1], [0, 0], [1, 0], [-1, -1]]


def test_a_graph_with_sets_shows_itself_and_is_pickled() -> None:
    graph = nw.Graph.build(EDGES, y=SETS)
    assert "several a node, 1 unlabelled" in repr(graph)
    assert pickle.loads(pickle.dumps(graph)).equals(graph)
    assert graph.homophily == 0.0  # {a, b} beside {}
    assert graph.fingerprint != nw.Graph.build(EDGES, y=[["a"], [], None, ["b"]]).fingerprint


@pytest.mark.parametrize("form", ["g.npz", "g.graphml", "folder"])
def test_files_keep_sets(tmp_path: Path, form: str) -> None:
    for names in (["a", "b"], ["a;b", "c|d"], ["<x&y>", '"q"']):
        graph = nw.Graph.build(EDGES, y=TABLE, class_names=names, name="g")
        write_graph(graph, tmp_path / form)
        assert read_graph(tmp_path / form).equals(graph)


def test_other_libraries_keep_sets() -> None:
    graph = nw.Graph.build(EDGES, y=SETS)
    assert nw.Graph.from_networkx(graph.to_networkx()).equals(graph)
    pytest.importorskip("torch_geometric")
    assert nw.Graph.from_pyg(graph.to_pyg()).equals(graph)
    adjacency, _, y = graph.to_scipy()
    assert nw.Graph.from_scipy(adjacency, y=y, class_names=graph.class_names).equals(graph)


def test_where_a_file_has_both_one_label_counts_unless_asked(tmp_path: Path) -> None:
    edges, both = np.array(EDGES), np.array([[1, 1], [0, 0], [1, 0], [0, 1]], dtype=np.uint8)
    np.savez(tmp_path / "both.npz", edge_index=edges, y=np.array([0, 1, 0, 1]), y_multi=both)
    plain, sets = nw.load_graph(tmp_path / "both.npz"), nw.load_graph(tmp_path / "both.npz", several=True)
    assert not plain.several and plain.y is not None and "y_multi" in plain.extra
    assert sets.several and "asked for" in sets.notes[0]
    write_graph(plain, tmp_path / "again.npz")
    assert nw.load_graph(tmp_path / "again.npz", several=True).several


def test_a_table_names_classes_with_a_separator(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("id,label\n0,a|b\n1,|\n2,\n3,b\n", encoding="utf-8")
    (tmp_path / "edges.csv").write_text("source,target\n0,1\n1,2\n2,3\n", encoding="utf-8")
    graph = nw.Graph.from_csv(tmp_path / "nodes.csv", tmp_path / "edges.csv", separator="|")
    np.testing.assert_array_equal(graph.y_sets, TABLE)
    assert split_sets(set_texts(TABLE, "ab", "|"), "|") == SETS


@pytest.mark.parametrize(
    ("y", "names", "said"),
    [
        ([["a", "c"], [], None, ["b"]], ["a", "b"], "labels 'c' are not among the class names"),
        ([["a"], "b", [], None], None, "some nodes have sets of classes and others do not"),
        ([[0, 1], [1, 0], [1, 1], [0, 0]], None, "give np.array"),
        ([[["a"]], [], [], []], None, "is a list itself"),
        ([["a", None], [], [], []], None, "holds what means unlabelled"),
        ([["a"], [], []], None, "one set of classes for each of the 4 nodes"),
        ([[], [], None, []], None, "no class occurs"),
        (np.full((4, 2), 2), None, "must hold 0 and 1"),
        (np.array([[0, -1], [0, 0], [0, 0], [1, 1]]), None, "for all classes or for none"),
        (TABLE, ["a"], "one name for each column"),
        (np.zeros((4, 2), dtype="U1"), None, "must hold 0 and 1"),
    ],
)
def test_what_is_no_set_of_classes_is_refused(y: object, names: list[str] | None, said: str) -> None:
    with pytest.raises(GraphError, match=said):
        nw.Graph.build(EDGES, 4, y=y, class_names=names)


def test_separators_that_no_name_holds() -> None:
    assert separator_for(["a", "b"]) == ";" and separator_for(["a;b"]) == "|"
    with pytest.raises(GraphError, match="rename one"):
        separator_for([";|,/+&\u241f"])
    with pytest.raises(GraphError, match="must be a character"):
        nw.Graph.build(EDGES, y=["a", "b", "", ""], separator=" ")


def test_both_kinds_of_labels_are_refused() -> None:
    graph = nw.Graph.build(EDGES, y=[0, 1, 0, 1])
    with pytest.raises(GraphError, match="both y and y_sets"):
        nw.Graph(graph.edge_index, 4, y=graph.y, class_names=("0", "1"), y_sets=np.zeros((4, 2), dtype=np.int8))
    with pytest.raises(GraphError, match="whole row"):
        nw.Graph(graph.edge_index, 4, class_names=("0", "1"), y_sets=np.array([[0, -1]] * 4, dtype=np.int8))


def test_rows_of_a_table_may_name_several_classes(tmp_path: Path) -> None:
    rows = {"size": [1.0, 2.0, 8.0, 9.0], "label": ["a;b", ";", "", "b"]}
    graph = nw.Graph.from_dataframe(rows, k=1, separator=";")
    np.testing.assert_array_equal(graph.y_sets, TABLE)


@pytest.mark.parametrize("separator", [5, "", " ", b";"])
def test_a_separator_is_a_character(separator: Any) -> None:
    with pytest.raises(GraphError, match="the separator between classes must be a character"):
        nw.Graph.build(EDGES, y=["a;b", "b", "", ";"], separator=separator)
