"""Readings: their numbers come from result files, and none is typed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.readings import fill_reading
from nodewise.ground.errors import InputError
from tests.benchmarks.records import RECORDS

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"


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


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.reading.md")), ids=lambda path: path.name)
def test_no_reading_has_a_typed_score(path: Path) -> None:
    words = re.sub(r"\{[^{}]*\}|section \d\.\d", "", path.read_text(encoding="utf-8"))
    assert re.findall(r"\d+\.\d+|[+−-]\d+|\d+ (?:points?|%)|± ?\d", words) == []
