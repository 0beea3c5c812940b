"""The page on the closed form states the constants that the code has."""

from __future__ import annotations

from pathlib import Path

from benchmarks.closed_form_page import constants_table, filled

PAGE = Path(__file__).parents[2] / "docs" / "closed-form.md"


def test_the_constants_on_the_page_are_the_programs() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert "<!-- constants:begin -->" in text
    assert filled(text, "constants", constants_table()) == text, "python benchmarks/closed_form_page.py"


def test_what_stands_between_two_marks_is_made_anew() -> None:
    page = "before\n<!-- one:begin -->\nold \\1\n<!-- one:end -->\nafter <!-- two:begin -->kept<!-- two:end -->"
    assert filled(page, "one", "new \\2") == page.replace("old \\1", "new \\2")
