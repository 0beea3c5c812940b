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
    "weight 0": (weights("0"), "is 0.0: weights must be positive"),
    "weight below 0": (weights("-2"), "is -2.0: weights must be positive"),
    "weight nan": (weights("nan"), "line 3: the weight 'nan' is no finite number"),
    "weight inf": (weights("inf"), "line 3: the weight 'inf' is no finite number"),
    "weight that is no number": (weights("much"), "line 3: the weight 'much' is no finite number"),
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
