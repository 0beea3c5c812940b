"""CSV comes back cell by cell, by our own reader, Python's and pandas', and runs nothing in a spreadsheet."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodewise.graph.tables.table import csv_text, harmless, read_table

RUN = ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-2+3", "-inf", "+1_0", "\t=1", "\r=1", " =1", "＝1+1", "=cmd"]


@pytest.mark.parametrize("text", RUN)
def test_cells_that_a_spreadsheet_runs_are_made_harmless(text: str) -> None:
    assert harmless(text) == "'" + text


@pytest.mark.parametrize("text", ["-1.5", "+3", "plain", "a=b", "", "1e-5", "n-1"])
def test_numbers_and_other_text_stay(text: str) -> None:
    assert harmless(text) == text


def test_numbers_none_and_quotes() -> None:
    assert csv_text(["a", "b"], [["x,y", None], [1, 'say "so"'], [-0.5, "a;b"]]) == (
        'a,b\n"x,y",\n1,"say ""so"""\n-0.5,a;b\n'
    )
    assert csv_text(["a"], [[""], ["b"]]) == 'a\n""\nb\n'


ODD = ["a\r=cmd", "\r", "a\r\nb", "\n=1", 'x"\r"y', "plain", "a,b", "'", '"', "", " ", "\u2028=1", "=1+1"]


def read_back(text: str, folder: Path) -> list[list[list[str]]]:
    """The rows by every reader."""
    path = folder / "table.csv"
    path.write_bytes(text.encode())
    ours = read_table(path, delimiter=",")
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    return [
        list(csv.reader(io.StringIO(text, newline=""))),
        [list(ours.columns), *map(list, zip(*ours.columns.values(), strict=True))],
        [list(frame.columns), *frame.to_numpy().tolist()],
    ]


@pytest.mark.parametrize("keep", [True, False])
def test_a_carriage_return_makes_no_row(keep: bool, tmp_path: Path) -> None:
    rows = [[text, f"row {number}"] for number, text in enumerate(ODD)]
    written = [["name", "note"], *([[one if keep else str(harmless(one)) for one in row] for row in rows])]
    for found in read_back(csv_text(["name", "note"], rows, keep_formulas=keep), tmp_path):
        assert found == written


@given(st.lists(st.tuples(st.text(st.sampled_from("a=+-@,;\"'\r\n\t ü")), st.just("x")), min_size=1))
def test_whatever_the_cells_hold_they_come_back(rows: list[tuple[str, str]]) -> None:
    text = csv_text(["a", "b"], rows, keep_formulas=True)
    assert [tuple(row) for row in csv.reader(io.StringIO(text, newline=""))] == [("a", "b"), *rows]
    for row in list(csv.reader(io.StringIO(csv_text(["a", "b"], rows), newline="")))[1:]:
        assert harmless(row[0]) == row[0]
