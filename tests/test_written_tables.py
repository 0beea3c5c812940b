"""Every table that is written as CSV: whatever names, notes and labels hold, a row stays a row by every reader, and no
cell is one that a spreadsheet runs.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import nodewise as nw
from nodewise.cli import main
from nodewise.evaluation.results.files import write_comparison
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


def test_no_table_is_written_by_pythons_own_writer() -> None:
    """It leaves a carriage return bare before 3.13, and readers begin a new row there."""
    found = [path for path in SOURCE.rglob("*.py") if "csv.writer(" in path.read_text(encoding="utf-8")]
    assert found == []
