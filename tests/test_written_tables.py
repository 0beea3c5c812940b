"""Every table that is written as CSV: whatever names, notes and labels hold, a row stays a row by every reader, and no
cell is one that a spreadsheet runs.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import nodewise as nw
from nodewise.cli import main
from nodewise.evaluation.results.files import write_comparison
from nodewise.graph import RelationalGraph, read_graph, write_graph
from nodewise.graph.relations import NodeType, Relation
from nodewise.graph.tables.table import csv_text, harmless, read_table
from nodewise.session import Session
from nodewise.session.files.people import answer_rows
from tests.small_graphs import random_graph

SOURCE = Path(nw.__file__).parent
EVIL = "a\r=cmd"
TEXTS = ["cat dog", "dog fur", "cat fur", "stock bond", "bond price", "stock price", "cat paw", "stock fund"]
IDS = [EVIL, "\r@SUM(A1)", "=1+1", "b\r\n+1+1", *(f"t{number}" for number in range(4))]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    table = {"id": IDS, "title": TEXTS, "\r=more": [EVIL, *("\r-1+1" for _ in range(7))]}
    graph = nw.Graph.from_dataframe(table, id="id", text="title", k=3)
    session = Session.create(tmp_path_factory.mktemp("job") / "job", graph, budget=4, classes=["=pet", "+money"])
    session.tell([0, 3], ["=pet", "+money"], "@ada")
    session.suggest("-model", dict.fromkeys(range(8), "=pet"))
    session.add_note(1, f"odd\r=cmd\n{EVIL}", "@ada")
    session.add_note(1, "\r=cmd")
    return session


def export(session: Session, folder: Path, *options: str) -> Path:
    assert main(["session", "export", str(session.path), str(folder / "out.csv"), *options]) == 0
    return folder / "out.csv"


def votes(session: Session, folder: Path) -> Path:
    (folder / "out.csv").write_bytes(csv_text(*answer_rows(session.opinions())).encode())
    return folder / "out.csv"


def predictions(session: Session, folder: Path) -> Path:
    """Of new rows, by a learner that was taken along."""
    rows = {"id": IDS, "title": TEXTS, "\r=more": [""] * 8}
    (folder / "new.csv").write_bytes(
        csv_text(list(rows), zip(*rows.values(), strict=True), keep_formulas=True).encode()
    )
    learned, out = str(folder / "job.fitted"), folder / "out.csv"
    assert main(["session", "export-fitted", str(session.path), learned]) == 0
    assert main(["predict", learned, str(folder / "new.csv"), "--out", str(out)]) == 0
    return out


def comparison(session: Session, folder: Path) -> Path:
    table = nw.compare([replace(random_graph(), name=name) for name in (EVIL, "=g")], "random", budgets=2, runs=2)
    return next(path for path in write_comparison(table, folder / "out") if path.name == "table.csv")


WRITERS: dict[str, tuple[Callable[[Session, Path], Path], int]] = {
    "export": (export, 8),
    "full export": (lambda session, folder: export(session, folder, "--format", "full"), 8),
    "votes": (votes, 2),
    "predictions of new rows": (predictions, 8),
    "comparison": (comparison, 2),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_a_row_stays_a_row_and_nothing_is_run(writer: str, session: Session, tmp_path: Path) -> None:
    write, rows = WRITERS[writer]
    path = write(session, tmp_path)
    with path.open(encoding="utf-8", newline="") as file:
        plain = list(csv.reader(file))
    ours = read_table(path, delimiter=",")
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    assert len(plain) == rows + 1 and {len(row) for row in plain} == {len(plain[0])}
    assert [list(row) for row in zip(*ours.columns.values(), strict=True)] == plain[1:] == frame.to_numpy().tolist()
    assert [cell for row in plain for cell in row if harmless(cell) != cell] == []
    assert any("\r" in cell for row in plain[1:] for cell in row), "what was dangerous is there"


HARMFUL = [
    "=1+1",
    "'=1+1",
    "''@x",
    "'",
    "''",
    "-5",
    "+5x",
    " =x",
    "\t=x",
    "'\r",
    "a,=1+1&b,c",
    "x;=1;y",
    "\uff1dy",
    "b",
]


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    names=st.permutations(HARMFUL),
    more=st.lists(
        st.text(st.sampled_from("'=+-@ \t\r\n,;\"x5\uff0b"), min_size=1, max_size=5), unique=True, max_size=6
    ),
)
def test_a_graph_comes_back_and_no_cell_of_it_is_run(names: list[str], more: list[str], tmp_path: Path) -> None:
    """Folders, also of several types, and edge lists: names, classes, texts and the names of columns."""
    names = list(dict.fromkeys([*names, *more]))
    count = len(names)
    plain = nw.Graph.build(
        [list(range(count - 1)), list(range(1, count))],
        y=[node % 3 for node in range(count)],
        class_names=["=a", "'=a", "b"],
        node_names=names,
        attributes={"=text": names, "'=text": names[::-1]},
        x=np.eye(count, 3),
    )
    typed = RelationalGraph(
        (NodeType("word", count, None, tuple(names)), NodeType("text", 2, None, ("=t", "'=t"))),
        (Relation("in", "word", "text", np.array([range(count), [0, 1] * (count // 2) + [0] * (count % 2)])),),
        "text",
        np.array([0, 1]),
        ("=a", "'=a"),
    ).to_graph()
    for graph, form in ((plain, "folder"), (typed, "types"), (plain, "edges.csv"), (plain, "edges.tsv")):
        write_graph(graph, tmp_path / form)
        back = read_graph(tmp_path / form)
        assert list(back.node_names or ()) == list(graph.node_names or ())
        assert sorted(map(tuple, back.edge_index.T.tolist())) == sorted(map(tuple, graph.edge_index.T.tolist()))
        if form in ("folder", "types"):
            assert back.class_names == graph.class_names and back.y.tolist() == graph.y.tolist()
            assert {name: list(cells) for name, cells in back.attributes.items()} == {
                name: list(cells) for name, cells in graph.attributes.items()
            }
        for file in [tmp_path / form] if "." in form else (tmp_path / form).glob("*.csv"):
            with file.open(encoding="utf-8", newline="") as handle:
                own = list(csv.reader(handle, delimiter="\t" if file.suffix == ".tsv" else ","))
            assert [cell for row in own for cell in row if harmless(cell) != cell] == [], file
        assert read_graph_relations(back) == read_graph_relations(graph)


def read_graph_relations(graph: nw.Graph) -> object:
    """Names of all types and edges of all relations; None where there is one type."""
    if graph.relations is None:
        return None
    whole = RelationalGraph.of(graph)
    return (
        {kind.name: kind.names for kind in whole.types},
        {each.name: sorted(map(tuple, each.edge_index.T.tolist())) for each in whole.relations},
    )


def test_no_table_is_written_by_pythons_own_writer() -> None:
    """It leaves a carriage return bare before 3.13, and readers begin a new row there."""
    found = [path for path in SOURCE.rglob("*.py") if "csv.writer(" in path.read_text(encoding="utf-8")]
    assert found == []
