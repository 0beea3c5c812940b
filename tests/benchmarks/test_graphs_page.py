"""The page on graphs lists the column names that the readers know."""

from __future__ import annotations

from benchmarks.graphs_page import PAGE, columns_table, page_text


def test_the_columns_on_the_page_are_the_readers() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert page_text(text) == text, "python -m benchmarks.graphs_page"
    assert columns_table() in text
