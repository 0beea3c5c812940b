"""Relations, weights and label sets that do not fit: one sentence, in Python and on the command line, nothing lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from nodewise.cli import main
from nodewise.graph import NodeType, Relation, RelationalGraph, read_graph, write_graph
from nodewise.ground.errors import GraphError

Prepare = Callable[[Path], Path]


def library() -> RelationalGraph:
    papers, authors = NodeType("paper", 3), NodeType("author", 2)
    written = Relation("written by", "paper", "author", [[0, 1, 2], [0, 1, 1]], [1.0, 2.0, 3.0])
    return RelationalGraph((papers, authors), (written,), "paper", [["a"], ["a", "b"], None])


def folder(file: str, text: str) -> Prepare:
    """A folder of tables with one file that holds something else; an empty text: without the file."""

    def prepare(path: Path) -> Path:
        target = path / "library"
        write_graph(library().to_graph(), target)
        (target / file).write_text(text) if text else (target / file).unlink()
        return target

    return prepare


def fields(**other: object) -> Prepare:
    """An npz file with some fields that hold something else."""

    def prepare(path: Path) -> Path:
        write_graph(library().to_graph(), path / "library.npz")
        with np.load(path / "library.npz") as held:
            np.savez(path / "bad.npz", **({key: held[key] for key in held.files} | other))
        return path / "bad.npz"

    return prepare


def weights(text: str) -> Prepare:
    return folder("edges-written by.csv", f"source,target,weight\n0,0,1\n1,1,{text}\n2,1,3\n")


TOLD = '{{"relations": {{"written by": ["{}", "{}"]}}{}}}'


def edges(rows: str) -> Prepare:
    return folder("edges-written by.csv", f"source,target,weight\n{rows}\n")


def told(text: str) -> Prepare:
    return folder("graph.json", text)


def loop(path: Path) -> Path:
    """A folder in which a table is a link to itself."""
    target = path / "library"
    write_graph(library().to_graph(), target)
    (target / "nodes-author.csv").unlink()
    (target / "nodes-author.csv").symlink_to("nodes-author.csv")
    return target


CASES: dict[str, tuple[Prepare, str]] = {
    "a type that is missing, folder": (
        folder("graph.json", TOLD.format("paper", "editor", "")),
        "the relation 'written by' names the type 'editor', which is missing: there are 'author', 'paper'",
    ),
    "a type that is missing, npz": (
        fields(relation_types=np.array([["paper", "editor"]])),
        "the relation 'written by' names the type 'editor', which is missing",
    ),
    "a node that is missing, folder": (
        folder("edges-written by.csv", "source,target\n0,0\n1,7\n"),
        "edges-written by.csv, line 3: '7' is no id of the type 'author'",
    ),
    "a node that is missing, npz": (
        fields(relation_0=np.array([[0, 1, 2], [0, 1, 7]])),
        "leads to node 7 of the type 'author', which has 2 nodes, numbered 0 to 1",
    ),
    "a negative index": (fields(relation_0=np.array([[0, 1, 2], [0, 1, -1]])), "nodes are numbered from 0"),
    "weight 0": (weights("0"), "line 3: the weight '0' is no positive, finite number"),
    "weight below 0": (weights("-2"), "line 3: the weight '-2' is no positive, finite number"),
    "weight nan": (weights("nan"), "line 3: the weight 'nan' is no positive, finite number"),
    "weight inf": (weights("inf"), "line 3: the weight 'inf' is no positive, finite number"),
    "weight that is no number": (weights("much"), "line 3: the weight 'much' is no positive, finite number"),
    "weight inf, npz": (fields(relation_0_weight=np.array([1, np.inf, 2])), "is inf: weights must be positive"),
    "weight of an edge nan, npz": (
        fields(edge_weight=np.full(library().to_graph().num_edges, np.nan)),
        "is nan: weights must be positive and finite",
    ),
    "a set with an unknown class, npz": (
        fields(y_multi=np.array([[1, 0, 0], [1, 1, 1], [-1, -1, -1]])),
        "y has 3 columns, and there are 2 class names, 'a', 'b': give one name for each column",
    ),
    "a set that is none, npz": (fields(y_multi=np.array([[1, 0], [1, 2], [-1, -1]])), "must hold 0 and 1"),
    "two types of one name": (
        fields(node_types=np.array(["paper", "paper"])),
        "two node types are called 'paper': give each a name of its own",
    ),
    "no labelled type, folder": (
        folder("graph.json", TOLD.format("paper", "author", ', "labelled": "reader"')),
        "has no type 'reader' to be labelled: there are 'author', 'paper'",
    ),
    "no labelled type, npz": (
        fields(labelled_type=np.array(["reader"])),
        "no node type carries the labels: received 'reader', there are 'paper', 'author'",
    ),
    "graph.json that is a list": (told("[]"), "graph.json cannot be understood"),
    "graph.json that is cut off": (told("{"), "graph.json cannot be understood"),
    "graph.json that is very deep": (told('{"a":' * 5000 + "1" + "}" * 5000), "graph.json cannot be understood"),
    "relations that are a list": (told('{"relations": [1]}'), "graph.json cannot be understood"),
    "a relation of one end": (told('{"relations": {"written by": ["paper"]}}'), "graph.json cannot be understood"),
    "a relation of numbers": (told('{"relations": {"written by": [1, 2]}}'), "graph.json cannot be understood"),
    "a labelled type that is a list": (
        told(TOLD.format("paper", "author", ', "labelled": ["paper"]')),
        "labelled is a name",
    ),
    "types that are a list": (told(TOLD.format("paper", "author", ', "types": ["paper"]')), "types holds"),
    "a type of which a number is said": (told(TOLD.format("paper", "author", ', "types": {"paper": 5}')), "graph.json"),
    "a relation without a table": (
        told('{"relations": {"written by": ["paper", "author"], "cites": ["paper", "paper"]}}'),
        "tells of the relation 'cites', but edges-cites.csv is missing",
    ),
    "a table without a relation": (
        folder("edges-cites.csv", "source,target\n0,1\n"),
        "does not say which types 'cites' joins",
    ),
    "a table that is a loop": (loop, "there is no file"),
    "a type without a name": (folder("nodes-.csv", "id\n0\n"), "a node type needs a name"),
    "nodes without an id": (folder("nodes-author.csv", "name\nAnn\n"), "has no column 'id'"),
    "an id that is there twice": (folder("nodes-author.csv", "id\n0\n0\n"), "every node needs an id of its own"),
    "a type without nodes": (folder("nodes-author.csv", "id\n"), "a graph needs at least one node"),
    "edges in one column": (folder("edges-written by.csv", "paper\n0\n"), "needs two columns"),
    "a row that is short": (edges("0,0"), "line 2: 2 cells where the first row has 3"),
    "a row that is long": (edges("0,0,1,5,6"), "line 2: 5 cells where the first row has 3"),
    "an end that is blank": (edges(",0,1"), "line 2: '' is no id of the type 'paper'"),
    "an end with a zero byte": (edges("0,\0000,1"), "is no id of the type 'author'"),
    "weight blank": (weights(""), "line 3: the weight '' is no positive, finite number"),
    "weight that float32 cannot hold": (weights("1e39"), "multiply all by one factor"),
    "weight that is too small": (weights("1e-60"), "multiply all by one factor"),
    "weights whose sum float32 cannot hold": (edges("0,0,3e38\n0,0,3e38\n1,1,2"), "multiply all by one factor"),
    "weights of too few edges": (fields(relation_0_weight=np.array([1.0, 2.0])), "each of its 3 edges"),
    "weights that are complex": (fields(relation_0_weight=np.array([1j, 2, 3])), "received complex128"),
    "weights that are true or false": (fields(relation_0_weight=np.array([True, True, False])), "received bool"),
    "edges that are fractions": (fields(relation_0=np.array([[0, 1.5, 2], [0, 1, 1]])), "needs edges as integers"),
    "edges of three ends": (fields(relation_0=np.zeros((3, 3), int)), "received int64 of the shape [3, 3]"),
    "types of one end": (fields(relation_types=np.array(["paper", "author"])), "received the shape [2]"),
    "names for no relation": (fields(relations=np.array([], str)), "must name two types for each of the 0 relations"),
    "a relation without its edges": (
        fields(relations=np.array(["a", "b"]), relation_types=np.array([["paper", "author"]] * 2)),
        "no field relation_1",
    ),
    "two relations of one name": (
        fields(
            relations=np.array(["a", "a"]),
            relation_types=np.array([["paper", "author"]] * 2),
            relation_1=np.zeros((2, 1), int),
        ),
        "two relations are called 'a'",
    ),
    "two labelled types": (fields(labelled_type=np.array(["paper", "author"])), "must name the one type"),
    "a labelled type of no name": (fields(labelled_type=np.array([], str)), "must name the one type"),
    "fewer than no nodes": (fields(counts=np.array([3, -2])), "the node type 'author' has -2 nodes"),
    "half a node": (fields(counts=np.array([3, 2.5])), "it needs a whole number"),
    "more nodes than the file can hold": (fields(counts=np.array([3, 10**15])), "more than a file of"),
    "counts of too few types": (fields(counts=np.array([3])), "one number in counts for each of the 2 node types"),
    "features of other nodes": (fields(x_author=np.ones((5, 2), np.float32)), "features have 5 rows"),
    "features that are nan": (fields(x_author=np.full((2, 2), np.nan)), "the node type 'author': features must be"),
    "names of too few nodes": (fields(names_author=np.array(["Ann"])), "one name for each of the 2 nodes"),
    "a name that is there twice": (fields(names_author=np.array(["Ann", "Ann"])), "the node name 'Ann' occurs twice"),
    "sets of other nodes": (fields(y_multi=np.ones((5, 2), int)), "for each of the 3 nodes, received the shape [5, 2]"),
    "sets of half a class": (fields(y_multi=np.array([[1, 0.5], [0, 1], [0, 0]])), "compare it with a threshold"),
    "sets that are answered in part": (
        fields(y_multi=np.array([[1, -1], [0, 1], [-1, -1]])),
        "node 0 has an answer for",
    ),
    "sets of no class": (fields(y_multi=np.zeros((3, 0), int)), "the matrix of labels has no column"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_graph_that_does_not_fit_is_refused_and_nothing_is_written(
    case: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    prepare, said = CASES[case]
    source = prepare(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(GraphError) as refused:
        read_graph(source)
    assert said in str(refused.value)
    for command in (["convert", str(source), str(tmp_path / "out.npz")], ["evaluate", str(source)]):
        assert main(command) == 2
        out, err = capfd.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert err.startswith(f"nodewise {command[0]}: ") and said in err
    assert main(["session", "new", str(tmp_path / "job.nodewise"), str(source)]) == 2
    assert sorted(tmp_path.rglob("*")) == before


def test_no_type_with_labels_asks_for_one(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "library"
    write_graph(library().to_graph(), target)
    (target / "graph.json").write_text(TOLD.format("paper", "author", ""))
    (target / "nodes-paper.csv").write_text("id\n0\n1\n2\n")
    assert main(["convert", str(target), str(tmp_path / "out.npz")]) == 2
    assert "no type has a label column, there are 'author', 'paper': say which type" in capfd.readouterr().err
    assert main(["convert", str(target), str(tmp_path / "out.npz"), "--labelled", "reader"]) == 2
    assert "has no type 'reader' to be labelled" in capfd.readouterr().err
    assert main(["convert", str(target), str(tmp_path / "out.npz"), "--labelled", "paper"]) == 0
