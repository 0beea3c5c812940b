"""Readings: their numbers come from result files, and the page is what the files give."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from nodewise.experiments.gpa.agreement import compared_cells, far_table, lead_counts
from nodewise.experiments.gpa.readings import fill_reading
from nodewise.experiments.gpa.report import departures_text, report_text
from nodewise.ground.errors import InputError

ROOT = Path(__file__).parents[3]
RESULTS = ROOT / "benchmarks" / "results"


def result(name: str, micro: float, macro: float = 50.0, paper: dict[str, float] | None = None) -> dict[str, Any]:
    return {
        "name": name,
        "micro_f1": {"mean": micro, "ci95": 0.5},
        "macro_f1": {"mean": macro, "ci95": 0.5},
        "paper": paper,
    }


def lead(second: str, difference: float, p: float | None) -> dict[str, Any]:
    return {"first": "GPA", "second": second, "difference": difference, "corrected_p": p}


def setting(
    graph: str, features: str = "raw", budget: int = 5, gpa: float = 71.04, p: float | None = 0.01
) -> dict[str, Any]:
    results = [
        result("AGE", 70.0, 60.0, {"micro_f1": 70.5, "macro_f1": 63.0}),
        result("AGE, fixed weights", 66.0, 55.0, {"micro_f1": 70.5, "macro_f1": 63.0}),
        result("GPA", gpa, 61.0, {"micro_f1": 72.0, "macro_f1": 62.0}),
        result("k-center", 60.0),
    ]
    leads = [lead("AGE", gpa - 70, p), lead("AGE, fixed weights", gpa - 66, 0.001), lead("k-center", gpa - 60, None)]
    return {"graph": graph, "features": features, "budget": budget, "results": results, "leads": leads}


def record(name: str, *settings: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"experiment": name, "parts": [{"settings": list(settings)}], **more}


RECORDS = {
    "one": record("one", setting("cora"), setting("pubmed", p=0.2), setting("reddit1", "structural", gpa=65.0)),
    "two": record("two", setting("cora", budget=5, gpa=75.0), setting("cora", budget=9, gpa=68.0)),
}


@pytest.mark.parametrize(
    ("reading", "filled"),
    [
        ("{score cora | GPA}", "71.0"),
        ("{score cora | GPA | macro}", "61.0"),
        ("{score featured | AGE; GPA}", "70.0 / 70.0 / 71.0 / 71.0"),
        ("{paper cora | GPA}", "72.0"),
        ("{gap featured | AGE}", "−0.5 / −0.5"),
        ("{gap cora | AGE | macro}", "−3.0"),
        ("{farthest featured | AGE; GPA}", "1.0"),
        ("{lead featured | GPA | AGE}", "+1.0 / +1.0"),
        ("{paper-lead cora | GPA | AGE}", "+1.5"),
        ("{span all | GPA | AGE; AGE, fixed weights}", "−5.0 to +5.0"),
        ("{ahead featured | GPA | AGE}", "cora"),
        ("{level featured | GPA | AGE}", "pubmed"),
        ("{behind all | GPA | AGE}", "reddit1"),
        ("{behind all | AGE | GPA}", "cora"),
        ("{behind featured | GPA | AGE}", "none"),
        ("{level all | GPA | k-center}", "cora, pubmed and reddit1"),
        ("{ahead two:all | GPA | AGE}", "5 labels"),
        ("{versus two:cora@5 | GPA | cora | GPA}", "+4.0"),
        ("{paper-versus two:cora@9 | GPA | cora | AGE}", "+1.5"),
        ("{best featured}", "GPA and GPA"),
        ("{mean all | GPA}", "69.0"),
        ("{p cora | GPA | AGE}", "0.01"),
        ("{names structural}", "reddit1"),
        ("Nothing to fill, not even {this} or { that }.", None),
    ],
)
def test_placeholders_by_hand(reading: str, filled: str | None) -> None:
    if filled is None:
        with pytest.raises(InputError, match="has \\{this\\}, which no result gives"):
            fill_reading(reading, "one", RECORDS)
    else:
        assert fill_reading(f"So {reading} it is.", "one", RECORDS) == f"So {filled} it is."


@pytest.mark.parametrize(
    "reading",
    [
        "{score citeseer | GPA}",
        "{score cora | nobody}",
        "{score three:cora | GPA}",
        "{gap reddit1 | GPA}",
        "{gap cora | k-center}",
        "{score}",
        "{p cora | GPA}",
    ],
)
def test_what_no_result_gives_is_told(reading: str) -> None:
    with pytest.raises(InputError, match=re.escape(f"the reading of one has {reading}")):
        fill_reading(reading, "one", RECORDS)


def test_no_difference_is_drawn_on_structural_features() -> None:
    with pytest.raises(InputError, match="no difference is drawn"):
        fill_reading("{gap structural | GPA}", "one", RECORDS)


def test_every_printed_cell_counts_once() -> None:
    again = record("again", setting("cora"))  # the same runs beside the same numbers, in another table
    other = record(
        "other", setting("cora", gpa=71.05)
    )  # other runs beside them, such as a GPU's: the paper's number is one all the same
    cells = compared_cells([RECORDS["one"], again, other])
    assert {(c.experiment, c.graph, c.method, c.metric) for c in cells} == {
        ("one", graph, method, metric)
        for graph in ("cora", "pubmed")
        for method in ("AGE", "GPA")
        for metric in ("micro_f1", "macro_f1")
    }
    assert [row[:4] for row in far_table([RECORDS["one"]]).rows] == [
        ("one", "cora", "AGE", "Macro-F1"),
        ("one", "pubmed", "AGE", "Macro-F1"),
    ]
    assert ("one", "own", "AGE", "1", "1", "0") in lead_counts([RECORDS["one"]]).rows
    assert ("one", "structural", "AGE", "0", "0", "1") in lead_counts([RECORDS["one"]]).rows


def test_the_page_is_what_the_result_files_give() -> None:
    assert (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8") == report_text(RESULTS), (
        "docs/reproduction.md is old: run python -m nodewise.experiments.gpa.report"
    )


def test_the_page_of_departures_is_what_its_template_gives() -> None:
    page = (ROOT / "docs" / "departures.md").read_text(encoding="utf-8")
    assert page == departures_text(RESULTS, ROOT / "benchmarks" / "departures.md") and "{" not in page


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.reading.md")), ids=lambda path: path.name)
def test_no_reading_has_a_typed_score(path: Path) -> None:
    words = re.sub(r"\{[^{}]*\}|section \d\.\d", "", path.read_text(encoding="utf-8"))
    assert re.findall(r"\d+\.\d+|[+−-]\d+|\d+ (?:points?|%)|± ?\d", words) == []
