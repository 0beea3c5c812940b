"""What the script that plays the benchmark says beforehand, and in which order it plays."""

from __future__ import annotations

import sys
from dataclasses import replace
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


def test_other_budgets_are_played_by_those_next_to_gain_and_are_a_part_of_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    monkeypatch.delitem(sys.modules, "benchmark", raising=False)
    import benchmark
    import benchmark_page

    scores = {"views": {"random": 50, "gain": 60, "age": 58, "rim": 57}, "gcn": {"random": 66, "gain": 60, "igp": 59}}
    graphs = {name: PlayedGraph(name, nodes, 1, 3, name) for name, nodes in (("a", 1200), ("b", 90))}
    rows = tuple(
        Row(graph, -1, classifier, name, labels, 15, 10, score, 1.0, score, 0.1, None, None, None, None)
        for graph in graphs
        for labels in (1, 5)
        for classifier, each in scores.items()
        for name, score in each.items()
    )
    result = BenchmarkResult(0, graphs, rows, "a machine", {"gain": "version 3"})
    assert benchmark.next_to_gain(result, 1) == ("random", "gain", "age", "igp")
    assert benchmark_page.MOST_NODES == benchmark.MOST_NODES
    told = benchmark_page.budgets_part(result)
    assert told.startswith("## Other numbers of labels a class")
    assert "the 2 smallest of the graphs above, up to 1,200 nodes, 10 runs." in told
    assert "with either classifier: `age`, `rim`, `igp`." in told
    assert "python benchmarks/benchmark.py --other-budgets --most-nodes 1200 --device cpu" in told
    assert "### Other budgets: with views" in told and "### Other budgets: by graph" in told
    assert "\n# " not in told and told.count("\n## ") == 0, "one part of a page"
    assert "Versions: `gain` 3." in told


def test_the_whole_part_ends_before_the_first_graph_that_lacks_a_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    from benchmark import whole_part

    graphs = {f"g{size}": PlayedGraph("a", 10 * size, 1, 3, "a") for size in (3, 1, 2)}
    rows = tuple(
        Row(graph, -1, "views", strategy, labels, 3, 2, 50.0, None, 50.0, 0.1, None, None, None, None)
        for graph in graphs
        for strategy in ("random", "gain")
        for labels in ((1,) if graph == "g1" else (1, 10))
    )
    result, who, what = BenchmarkResult(0, graphs, rows, "a machine"), ("random", "gain"), ("views",)
    assert set(whole_part(result, who, what).rows) == set(rows), "the smallest has no pool for ten a class: no hole"
    cut = replace(result, rows=tuple(row for row in rows if (row.graph, row.strategy) != ("g2", "gain")))
    part = whole_part(cut, who, what)
    assert list(part.graphs) == ["g1"] and {row.graph for row in part.rows} == {"g1"}
    assert not whole_part(result, ("random", "gain", "age"), what).rows
