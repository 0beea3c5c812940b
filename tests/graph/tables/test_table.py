"""Tables of texts: CSV files as people have them, and what column names mean."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodewise.graph.tables.table import (
    ID,
    LABEL,
    LINK,
    PICTURE,
    TEXT,
    TITLE,
    cell,
    guess_delimiter,
    meaning,
    numbers,
    read_rows,
    read_table,
)
from nodewise.ground.errors import GraphError
from tests.graph.generated import ODD


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_reads_what_people_have(tmp_path: Path, delimiter: str, ending: str, mark: bytes) -> None:
    text = (
        ending.join([delimiter.join(row) for row in (["id", "note"], ["007", '"a, b; c\nd ""e"""'], ["ä", ""])])
        + ending
        + ending
    )
    (tmp_path / "a.csv").write_bytes(mark + text.encode())
    table = read_table(tmp_path / "a.csv")
    assert table.columns == {"id": ["007", "ä"], "note": ['a, b; c\nd "e"', ""]}
    assert len(table) == 2


def test_long_cells_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,text\n1," + "x" * 300_000)
    assert len(read_table(tmp_path / "a.csv").columns["text"][0]) == 300_000


def test_other_encodings_can_be_told(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("id\nä\n".encode("latin-1"))
    assert read_table(tmp_path / "a.csv", encoding="latin-1").columns == {"id": ["ä"]}
    with pytest.raises(GraphError, match="not encoded as utf-8.*save it as UTF-8, or say its encoding"):
        read_table(tmp_path / "a.csv")
    with pytest.raises(GraphError, match="'klingon' is no known encoding"):
        read_table(tmp_path / "a.csv", encoding="klingon")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1\n", r"line 2: 1 cells where the first row has 2; the file may be cut off"),
        ('a,b\n1,2\n\n"x\ny",1,3\n', "line 5: 3 cells"),
        ('a,b\n1,"2', "cannot be read as CSV .* cut off within quotes"),
        ("a,a\n1,2\n", "every column needs a name of its own"),
        ("\n\n", "has no rows"),
    ],
)
def test_damaged_tables_are_refused_with_the_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(GraphError, match=message):
        read_table(tmp_path / "a.csv")


def test_unnamed_columns_get_a_name(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(",x\n0,1\n")
    assert read_table(tmp_path / "a.csv").columns == {"column 1": ["0"], "x": ["1"]}


def test_missing_column_says_what_was_meant(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,label\n")
    table = read_table(tmp_path / "a.csv")
    with pytest.raises(GraphError, match="no column 'lable'; its columns are 'id', 'label': did you mean 'label'"):
        table.column("lable")
    with pytest.raises(GraphError, match="no column 'zzz'.*name one of these"):
        table.column("zzz")
    assert table.find(["x", "label"]) == "label"


def test_comments_are_passed_over_outside_quotes(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('# top\n"x\n# y",1\n% more\n2,3\n')
    assert list(read_rows(tmp_path / "a.csv", comments="#%")) == [(3, ["x\n# y", "1"]), (5, ["2", "3"])]


@given(
    st.lists(
        st.sampled_from(ODD) | st.text(st.characters(codec="utf-8", exclude_characters="\0")), min_size=1, max_size=4
    )
)
def test_cells_are_read_back_by_any_reader(texts: list[str]) -> None:
    line = ",".join(map(cell, texts)) + "\n"
    assert next(csv.reader(io.StringIO(line, newline=""), strict=True)) == texts


def test_delimiters_within_quotes_do_not_count() -> None:
    assert guess_delimiter('"a;b;c",d') == ","
    assert guess_delimiter("a;b,c;d") == ";"
    assert guess_delimiter("a") == ","


def test_numbers_are_finite_and_no_codes() -> None:
    assert numbers(["1", "-2.5", "1e3", " 4 ", "0", "0.5", "-0"]) == [1, -2.5, 1000, 4, 0, 0.5, 0]
    for text in ("007", "", "nan", "inf", "1_000", "x", "-01", "٣"):
        assert numbers(["1", text]) is None


def test_meanings() -> None:
    assert [meaning(name) for name in (" ID ", "Category", "body", "headline", "url", "photo", "age")] == [
        "id",
        "label",
        "text",
        "title",
        "link",
        "picture",
        None,
    ]
    every = [*LABEL, *ID, *TITLE, *TEXT, *LINK, *PICTURE]
    assert len(set(every)) == len(every)
