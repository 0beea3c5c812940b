"""What the script that plays the benchmark says beforehand, and in which order it plays."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from nodewise.experiments.benchmark import BenchmarkSettings
from nodewise.experiments.benchmark.results import BenchmarkResult, PlayedGraph, Row


def test_seconds_are_expected_from_graphs_that_are_not_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    monkeypatch.delitem(sys.modules, "benchmark", raising=False)
    from benchmark import expected_seconds

    elsewhere = {"nowhere-small": PlayedGraph("a", 89, 1, 3, "a"), "nowhere-large": PlayedGraph("b", 10_000, 1, 3, "b")}
    rows = tuple(
        Row(name, -1, "views", "random", 1, 3, 2, 50.0, None, 50.0, seconds, None, None, None, None)
        for name, seconds in (("nowhere-small", 0.25), ("nowhere-large", 9.0))
    )
    settings = BenchmarkSettings(("wine",), ("random", "gain"), ("views",), (1, 2), 10)
    known = BenchmarkResult(0, elsewhere, rows, "a machine")
    seconds = expected_seconds(settings, known, {"wine": 178})
    assert seconds == {"wine": pytest.approx(0.25 * 2 * (3 + 6) * 10)}, "wine has twice as many nodes"


def test_what_is_cheap_is_played_first_and_everything_at_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    from benchmark import stages

    assert stages(("random", "badge", "expected-error")) == [
        ("random",),
        ("random", "badge"),
        ("random", "badge", "expected-error"),
    ]
    assert stages(("random", "gain")) == [("random", "gain")]
