"""The page on the closed form states the constants that the code has."""

from __future__ import annotations

from pathlib import Path

from benchmarks.closed_form_page import constants_table, scores_at
from benchmarks.marks import filled
from nodewise.strategies.gain import Gain

PAGE = Path(__file__).parents[2] / "docs" / "closed-form.md"


def test_the_constants_on_the_page_are_the_programs() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert "<!-- constants:begin -->" in text
    assert filled(text, "constants", constants_table()) == text, "python -m benchmarks.closed_form_page"


def test_what_stands_between_two_marks_is_made_anew() -> None:
    page = "before\n<!-- one:begin -->\nold \\1\n<!-- one:end -->\nafter <!-- two:begin -->kept<!-- two:end -->"
    assert filled(page, "one", "new \\2") == page.replace("old \\1", "new \\2")


def test_the_newest_figures_are_shown_and_older_ones_are_marked() -> None:
    today, curve = (
        {"commit": "a", "gain": Gain.version},
        {"gain": {"2": 60.0, "4": 70.0}, "random": {"2": 50.0, "4": 65.0}},
    )
    at = {"labels": 2, "micro_f1": {"gain": [62.0, 1.0], "random": [51.0, 1.0]}, "machine": today}
    result = {"machine": {"commit": "b"}, "graphs": {"one": {"at": {"1": at}, "curve": curve}}}
    assert scores_at(result, "one", "2") == {"older": False, "gain": 62.0, "random": 51.0}
    assert scores_at(result, "one", "4") == {"older": True, "gain": 70.0, "random": 65.0}
    assert scores_at(result, "one", "3") == scores_at(result, "two", "2") == {}
