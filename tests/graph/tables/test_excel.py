"""Excel files in and out: what people have, what a sheet must not run, and files that would grow without end."""

from __future__ import annotations

import datetime
import zipfile
from pathlib import Path

import pytest

from nodewise.graph.tables import excel
from nodewise.graph.tables.excel import excel_rows, write_excel
from nodewise.ground.errors import GraphError

openpyxl = pytest.importorskip("openpyxl")


def test_a_sheet_is_read_as_texts_with_the_numbers_of_its_rows(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.create_sheet("second", 0)  # an empty one comes first
    sheet = book["Sheet"]
    for row in (["id", "text", "when", "price"], [], [7, "a\nb", datetime.datetime(2026, 1, 2), 2.5], [8, None, True]):
        sheet.append(row)
    book.save(tmp_path / "table.xlsx")
    assert list(excel_rows(tmp_path / "table.xlsx")) == [
        (1, ["id", "text", "when", "price"]),
        (3, ["7", "a\nb", "2026-01-02", "2.5"]),
        (4, ["8", "", "true", ""]),
    ]


def test_what_is_written_is_read_back_and_nothing_of_it_is_run(tmp_path: Path) -> None:
    rows = [["=1+1", "-2", "plain"], ["a\x07b", "\ud800", "x" * 40_000]]
    write_excel(tmp_path / "out.xlsx", ["one", "two", "three"], rows)
    read = [cells for _, cells in excel_rows(tmp_path / "out.xlsx")]
    assert read == [["one", "two", "three"], ["=1+1", "-2", "plain"], ["a b", " ", "x" * 32_767]]
    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx").active
    assert sheet["A2"].data_type == "s", "a text, not a formula"
    with pytest.raises(GraphError, match="16,384 columns at most"):
        write_excel(tmp_path / "wide.xlsx", ["c"] * 20_000, [])


def test_a_file_that_would_grow_without_end_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b" " * (2**28 + 1))
    assert (tmp_path / "bomb.xlsx").stat().st_size < 2**20
    with pytest.raises(GraphError, match="would grow to 256 MB"):
        list(excel_rows(tmp_path / "bomb.xlsx"))
    write_excel(tmp_path / "small.xlsx", ["a", "b"], [["1", "2"]] * 10)
    monkeypatch.setattr(excel, "CELLS", 15)
    with pytest.raises(GraphError, match="more than 15 cells"):
        list(excel_rows(tmp_path / "small.xlsx"))


def test_rows_that_a_sheet_cannot_have_are_not_waited_for(tmp_path: Path) -> None:
    write_excel(tmp_path / "small.xlsx", ["a", "b"], [["1", "2"]])
    sheet = "xl/worksheets/sheet1.xml"
    with (
        zipfile.ZipFile(tmp_path / "small.xlsx") as small,
        zipfile.ZipFile(tmp_path / "far.xlsx", "w") as far,
    ):
        for name in small.namelist():
            content = small.read(name)
            far.writestr(name, content.replace(b'<row r="2"', b'<row r="2000000"') if name == sheet else content)
    with pytest.raises(GraphError, match="more than the 1,048,576 rows of a sheet"):
        list(excel_rows(tmp_path / "far.xlsx"))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 nothing", b"id,text"])
def test_what_is_no_excel_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "table.xlsx").write_bytes(content)
    with pytest.raises(GraphError, match="cannot be read as an Excel file .*: save it as"):
        list(excel_rows(tmp_path / "table.xlsx"))
