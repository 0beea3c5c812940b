"""The page on the closed form states the constants that the code has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.closed_form_page import classes_verdict, constants_table
from benchmarks.closed_form_result import read_result, scores_at, write_result
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


def test_a_machine_is_written_once_and_read_wherever_it_measured(tmp_path: Path) -> None:
    first, second = {"cpu": "one", "commit": "a", "gain": 3}, {"gpu": "two", "commit": "b", "gain": 4}
    at = {"1": {"labels": 2, "machine": first}, "2": {"labels": 4, "machine": second}}
    copies = {"number": 10, "at": {"1": {"gain": [1.0, 0.5], "machine": dict(first)}}}
    graph = {"at": at, "copies": copies, "curve_machine": second}
    result = {"schema": 1, "machine": first, "graphs": {"g": graph}}
    write_result(tmp_path / "result.json", result)
    text = (tmp_path / "result.json").read_text()
    assert text.count('"one"') == text.count('"two"') == 1
    assert read_result(tmp_path / "result.json") == result


def test_many_classes_are_judged_by_chance_and_what_was_not_played_is_named() -> None:
    def row(
        classes: int, gain: list[float] | None, by_views: list[float], gcn: list[float], nearest: float
    ) -> dict[str, Any]:
        told: dict[str, Any] = {"classes": classes, "kind": "16:0.3", "random, views": by_views, "random, gcn": gcn}
        told |= {"random, nearest row": nearest}
        return told if gain is None else {**told, "gain, views": gain}

    rows = [
        row(2, [90.0, 0.5], [92.0, 0.5], [95.0, 0.5], 92.4),  # behind random choice, which is behind the GCN
        row(10, [90.0, 3.0], [92.0, 0.5], [92.0, 0.5], 99.0),  # the first by chance; behind the nearest row
        row(200, None, [92.0, 0.5], [92.0, 0.5], 80.0),
    ]
    said = classes_verdict(rows)
    assert "`gain` is behind random choice in 1 of 2 rows" in said and "behind the GCN in 1 of 3 rows" in said
    assert "the nearest row in 1 of 3 rows" in said
    assert said.endswith(" Not played: `gain` with 200 classes, 16:0.3.")
    texts = classes_verdict([*rows[:2], {**rows[1], "kind": "texts:0.5"}])
    assert texts.endswith(" Not played: 2 classes, texts:0.5.")
    assert classes_verdict(rows[:2]).endswith(" All rows of the table were played.")
