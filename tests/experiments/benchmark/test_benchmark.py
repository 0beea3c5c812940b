"""The benchmark: what is played, what it costs, its small result file, and the page made of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import nodewise as nw
from nodewise.classifiers import Views
from nodewise.cli import main
from nodewise.contracts import Observation, Strategy
from nodewise.evaluation.engine import LocalEngine
from nodewise.evaluation.processes import ProcessEngine
from nodewise.experiments.benchmark import (
    BenchmarkResult,
    BenchmarkSettings,
    foresee,
    graphs_at_hand,
    join,
    play,
    read_result,
    write_page,
)
from nodewise.experiments.benchmark import page as page_module
from nodewise.experiments.benchmark.page import benchmark_page
from nodewise.experiments.benchmark.plan import budgets_of
from nodewise.experiments.benchmark.results import PlayedGraph, Row, time_words
from nodewise.graph import write_graph
from nodewise.ground.errors import ClusterError, InputError
from nodewise.ground.events import Event, Silent
from tests.small_graphs import block_graph


def settings(**given: object) -> BenchmarkSettings:
    usual: dict[str, object] = {"strategies": ("random", "centrality"), "classifiers": ("views",), "labels": (1, 2)}
    return BenchmarkSettings(**{"graphs": ("wine",), "runs": 6, **usual, **given})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, BenchmarkResult]:
    out = tmp_path_factory.mktemp("benchmark")
    return out, play(settings(), out, LocalEngine(), Silent())


def test_budgets_are_labels_a_class_up_to_half_the_pool() -> None:
    wine = nw.load_graph("wine")  # 178 nodes, of which 90 are the pool
    assert budgets_of(wine, (1, 5, 20, 5)) == {1: 3, 5: 15} and budgets_of(wine, (15,)) == {15: 45}


def test_rows_are_those_of_a_comparison(played: tuple[Path, BenchmarkResult]) -> None:
    out, result = played
    table = nw.compare("wine", ["random", "centrality"], classifiers=["views"], budgets=[3, 6], runs=6)
    for setting in table.settings:
        row = next(row for row in result.rows if row.budget == setting.budget and row.strategy == "centrality")
        scores = setting.scores()
        assert row.micro_f1 == pytest.approx(scores["centrality"].mean(), abs=1e-3)
        assert row.lead == pytest.approx((scores["centrality"] - scores["random"]).mean(), abs=1e-3)
        assert row.p is not None and row.seconds > 0 and row.runs == 6
    assert read_result(out / "benchmark.json") == result
    assert (out / "benchmark.json").stat().st_size < 4000


def test_a_second_call_plays_nothing_again(played: tuple[Path, BenchmarkResult]) -> None:
    out, result = played
    written = {path: path.stat().st_mtime_ns for path in (out / "chunks").rglob("*.json")}
    again = play(settings(), out, LocalEngine(), Silent())
    assert written == {path: path.stat().st_mtime_ns for path in (out / "chunks").rglob("*.json")}
    assert again.rows == result.rows


def test_what_a_folder_s_result_holds_beside_stays_in_it(tmp_path: Path) -> None:
    first = play(settings(labels=(1,)), tmp_path, LocalEngine(), Silent())
    more = play(settings(strategies=("kcenter",)), tmp_path, LocalEngine(), Silent())
    assert more == read_result(tmp_path / "benchmark.json") and set(first.rows) <= set(more.rows)
    assert {(row.strategy, row.per_class) for row in more.rows} == {
        *(("random", 1), ("centrality", 1)),
        *(("kcenter", 1), ("kcenter", 2)),
    }
    assert {row.lead is None for row in more.rows if row.strategy == "kcenter" and row.per_class == 1} == {False}
    assert set(more.versions) == {"random", "centrality", "kcenter", "views"} and ";" not in more.machine
    longer = play(settings(strategies=("kcenter",), runs=7), tmp_path, LocalEngine(), Silent())
    assert {(row.strategy, row.runs) for row in longer.rows} == {("random", 6), ("centrality", 6), ("kcenter", 7)}
    written = (tmp_path / "benchmark.json").read_text()
    for other, expected in (
        ({"strategies": ("kcenter",), "runs": 6}, "has 7 runs of what is to be played in 6"),
        ({"strategies": ("kcenter",), "runs": 7, "seed": 1}, "results with the seeds 0 and 1 have other splits"),
    ):
        with pytest.raises(InputError, match=expected):
            play(settings(**other), tmp_path, LocalEngine(), Silent())
    assert (tmp_path / "benchmark.json").read_text() == written


def test_the_cost_is_told_before(tmp_path: Path) -> None:
    cost = foresee(settings(strategies=("random", "featprop")))
    assert cost.episodes == 6 + 12 and cost.queries == 6 * 6 + 6 * 9  # one reads its budget, one does not
    assert cost.seconds > 0 and "18 episodes with 90 queries, about" in str(cost)


def test_copies_are_played_in_place_of_a_graph(tmp_path: Path) -> None:
    result = play(settings(copies=2, labels=(1,), runs=2), tmp_path, LocalEngine(), Silent())
    assert [(row.graph, row.copy) for row in result.rows] == [("wine", 0)] * 2 + [("wine", 1)] * 2
    assert set(result.graphs) == {"wine"}


def test_a_graph_that_is_too_small_is_left_out_with_a_note(tmp_path: Path) -> None:
    write_graph(replace(block_graph(24), name="tiny"), tmp_path / "tiny.npz")
    told: list[Event] = []
    with pytest.raises(InputError, match="no graph has a pool"):
        play(settings(graphs=(str(tmp_path / "tiny.npz"),), labels=(5,)), tmp_path, LocalEngine(), told.append)
    assert "left out" in str(told)
    with pytest.raises(InputError, match="needs a graph"):
        settings(graphs=())


def test_graphs_at_hand_need_no_network(tmp_path: Path) -> None:
    write_graph(block_graph(40), tmp_path / "mine.npz")
    names = graphs_at_hand(tmp_path)
    assert {"wine", "digits", "mine"} <= set(names) and "cora" not in names


GRAPH = PlayedGraph("f", 10, 10, 2, "one")


def made(scores: dict[str, list[float]], domains: list[str]) -> BenchmarkResult:
    """A result with a graph for each number, and the domain of each."""
    graphs = {f"g{i}": replace(GRAPH, domain=domain) for i, domain in enumerate(domains)}
    rows = [
        Row(f"g{i}", -1, "views", name, 5, 10, 6, value, 1.0, value, 0.01, None if name == "random" else 1.0, 0.5, 0.01)
        for name, values in scores.items()
        for i, value in enumerate(values)
    ]
    return BenchmarkResult(0, graphs, tuple(rows))


def test_each_domain_has_one_rank_and_the_page_says_where_the_default_is_not_first(tmp_path: Path) -> None:
    result = made({"random": [50, 50, 60, 40], "gain": [70, 70, 55, 41], "age": [60, 60, 70, 45]}, ["a", "a", "b", "c"])
    ranking = result.ranking("views", 5)
    assert ranking is not None and ranking.graphs == 3
    assert ranking.ranks == pytest.approx({"age": 4 / 3, "gain": 2.0, "random": 8 / 3})
    page = benchmark_page(result)
    assert "With 5 labels a class `gain` is number 2, and `age` is first." in page
    assert "another strategy's mean is higher on 2 of 4 graphs." in page
    assert "3 / 0 of 4" not in page and "4 / 0 of 4" in page
    files = write_page(result, tmp_path)
    assert [path.name for path in files] == ["benchmark.md", "benchmark-views.png"]
    assert "](benchmark-views.png)" in files[0].read_text()


def test_who_shares_the_best_rank_is_named_and_without_ranks_there_is_no_table() -> None:
    page = benchmark_page(made({"random": [50, 60, 40], "gain": [60, 50, 50], "age": [60, 60, 40]}, ["a", "b", "c"]))
    assert "With 5 labels a class `gain` shares the best average rank with `age`." in page and "is number" not in page
    lone = benchmark_page(made({"random": [50.0], "gain": [60.0]}, ["a"]))
    assert "there are no ranks." in lone and "Average ranks with views" not in lone and "Nemenyi" not in lone


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.02, "1 second"), (41.0, "41 seconds"), (61.0, "1 minute"), (1800.0, "30 minutes"), (7200.0, "2.0 hours")],
)
def test_times_are_told_in_seconds_minutes_or_hours(seconds: float, words: str) -> None:
    assert time_words(seconds) == words


def test_ranks_are_of_the_largest_full_table_and_the_page_says_what_is_missing() -> None:
    result = made({"random": [50, 50, 60, 40], "gain": [70, 70, 55, 41], "age": [60, 60, 70, 45]}, ["a", "b", "c", "d"])
    cut = replace(result, rows=tuple(row for row in result.rows if (row.strategy, row.graph) != ("age", "g3")))
    assert set(cut.full_table("views", 5)) == {"g0", "g1", "g2"}  # the graph lacks a third, the strategy a quarter
    slow = replace(cut, rows=tuple(row for row in cut.rows if row.strategy != "age" or row.graph == "g0"))
    assert set(slow.full_table("views", 5)) == {"g0", "g1", "g2", "g3"}
    assert set(slow.domain_means("views", 5)) == {"random", "gain"}
    page = benchmark_page(slow)
    assert "Not all was played: of 4 graphs `age` on 1. The ranks leave out `age`." in page
    assert "Not all" not in benchmark_page(result) and "Not played" not in benchmark_page(result)
    other = replace(result, rows=result.rows + tuple(replace(row, classifier="gcn") for row in result.rows[:1]))
    assert "Not played with gcn: " in benchmark_page(other) and "Not played with views" not in benchmark_page(other)


def test_the_picture_says_that_domains_were_ranked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    monkeypatch.setattr(page_module, "save_figure", lambda figure, path: drawn.append(figure) or path)
    result = made({"random": [50, 50, 60, 40], "gain": [70, 70, 55, 41], "age": [60, 60, 70, 45]}, ["a", "a", "b", "c"])
    page_module.draw_ranks(result, tmp_path)
    texts = [text.get_text() for text in drawn[0].axes[0].texts]
    assert any(text.startswith("critical difference") and ", 3 domains, Friedman p" in text for text in texts)


def at_several_budgets() -> BenchmarkResult:
    """Three graphs of 10, 20 and 30 nodes at one and at ten labels a class, the smallest at one alone."""
    result = made({"random": [50, 50, 60], "gain": [70, 70, 55]}, ["a", "b", "c"])
    graphs = {name: replace(graph, nodes=10 * i + 10) for i, (name, graph) in enumerate(result.graphs.items())}
    rows = [replace(row, per_class=labels) for labels in (1, 10) for row in result.rows]
    return replace(result, graphs=graphs, rows=tuple(one for one in rows if (one.graph, one.per_class) != ("g0", 10)))


def test_scores_and_leads_at_every_number_of_labels_a_class_stand_in_one_table() -> None:
    page = benchmark_page(at_several_budgets())
    assert "**With views, by labels a class**" in page
    assert "| gain | 65.0 (+1.0) | 62.5 (+1.0) |" in page and "| random | 53.3 | 55.0 |" in page
    assert "so that more labels may have fewer graphs (1: 3, 10: 2)." in page
    assert "**With views, 1 label a class**" in page, "the number of labels that all graphs have, without five a class"
    assert "by labels a class" not in benchmark_page(made({"random": [50], "gain": [60]}, ["a"]))


@pytest.mark.slow
def test_a_time_limit_leaves_whole_cells_and_a_failure_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Event] = []
    monkeypatch.setenv("NODEWISE_COMMIT", "abc1234")
    engine = ProcessEngine(2, 300.0, leave_out=True)
    asked = settings(strategies=("random", "centrality", f"{__name__}:Failing"), labels=(1,))
    result = play(asked, tmp_path, engine, told.append, "cpu", partial=True)
    alone = play(settings(labels=(1,)), tmp_path / "alone", LocalEngine(), Silent(), "cpu")
    scores = {row.strategy: (row.micro_f1, row.lead) for row in result.rows}
    assert scores == {row.strategy: (row.micro_f1, row.lead) for row in alone.rows}
    assert "left out: runs 0 to 5 of 'failing' on 'wine' failed, RuntimeError: no room" in str(told)
    assert "2 processes at a time, commit abc1234" in result.machine
    late = ProcessEngine(1, 1e-9)
    kept = play(settings(strategies=("random", "age"), labels=(1,)), tmp_path, late, Silent(), "cpu", partial=True)
    assert late.over and {row.strategy for row in kept.rows} == {
        "centrality",
        "random",
    }  # kept before; age was not begun
    with pytest.raises(ClusterError, match="not played all of age on wine"):
        play(settings(strategies=("random", "age"), labels=(1,)), tmp_path, late, Silent(), "cpu")


class Failing(Strategy):
    """A strategy without room."""

    name = "failing"
    version = 1

    def scores(self, observation: Observation) -> torch.Tensor:
        raise RuntimeError("no room")


def test_results_are_joined_and_contradictions_refused() -> None:
    mine, theirs = (made({name: [50.0, 60.0]}, ["a", "b"]) for name in ("random", "new"))
    both = join([mine, theirs, mine])
    assert both.strategies == ["random", "new"] and len(both.rows) == 4
    other = made({"random": [51.0, 60.0]}, ["a", "b"])
    with pytest.raises(InputError, match="differently: 50.0 over 6 runs and 51.0 over 6"):
        join([mine, other])
    with pytest.raises(InputError, match="different graphs of the name 'g0'"):
        join([mine, replace(theirs, graphs={"g0": replace(GRAPH, fingerprint="x")})])
    with pytest.raises(InputError, match="use one seed"):
        join([mine, replace(theirs, seed=1)])


def test_results_of_different_versions_are_not_joined_and_the_page_tells_versions(
    played: tuple[Path, BenchmarkResult],
) -> None:
    _, result = played
    assert result.versions == {"random": "version 1", "centrality": "version 1", "views": f"version {Views.version}"}
    assert f"Versions: `random` 1, `centrality` 1, `views` {Views.version}." in benchmark_page(result)
    before = replace(result, versions={})  # a file from before versions were kept
    assert "does not tell the versions" in benchmark_page(before) and join([result, before]).rows == result.rows
    with pytest.raises(InputError, match=r"different code of 'views' \(version \d+ and version 1\)"):
        join([result, replace(result, versions={"views": "version 1"})])


def test_a_joined_strategy_has_its_lead_over_the_others_random_choice_without_a_test() -> None:
    mine, theirs = made({"random": [50.0, 60.0]}, ["a", "b"]), made({"new": [51.0, 64.0]}, ["a", "b"])
    alone = replace(theirs, rows=tuple(replace(row, lead=None, lead_ci95=None, p=None) for row in theirs.rows))
    both = join([mine, alone])
    assert [row.lead for row in both.rows] == [None, None, 1.0, 4.0] and both.rows[2].p is None
    assert "| new | 57.5 | +2.5 | – |" in benchmark_page(both)
    fewer = replace(alone, rows=tuple(replace(row, runs=3) for row in alone.rows))  # on other splits
    assert [row.lead for row in join([mine, fewer]).rows] == [None] * 4


def test_the_page_names_whom_the_default_cannot_be_told_from_by_its_ranks() -> None:
    scores = {"gain": [9.0] * 8, "age": [8.0] * 8, "random": [1.0] * 8}
    page = benchmark_page(made(scores, [f"d{i}" for i in range(8)]))
    assert "By the critical difference of the ranks `gain` cannot be told from `age`." in page
    assert "has the best average rank." in page and "mean |" not in page.partition("Critical")[0]


def test_the_command_tells_the_cost_plays_and_joins(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    theirs = play(settings(strategies=("kcenter",)), tmp_path / "theirs", LocalEngine(), Silent())
    assert theirs.rows
    command = ["benchmark", "--graphs", "wine", "--classifiers", "views", "--labels", "1,2", "--runs", "6"]
    assert main([*command, "--strategies", "random", "--dry-run"]) == 0
    assert "1 graph: 6 episodes with 36 queries" in capfd.readouterr().out and not (tmp_path / "out").exists()
    other = ["--join", str(tmp_path / "theirs" / "benchmark.json"), "--out", str(tmp_path / "out")]
    assert main([*command, "--strategies", "random", *other]) == 0
    page = (tmp_path / "out" / "benchmark.md").read_text()
    assert "2 strategies with views on 1 graph" in page and "kcenter" in page
    (tmp_path / "odd.json").write_text("{}")
    assert main([*command, "--join", str(tmp_path / "odd.json")]) == 2
    capfd.readouterr()
    assert main([*command, "--strategies", "random", *other[:2], "--seed", "3", "--out", str(tmp_path / "new")]) == 2
    told = capfd.readouterr()
    assert "results with the seeds 3 and 0 have other splits" in told.err and not (tmp_path / "new").exists()
    assert "episodes" not in told.out, "refused before the cost is measured"
    assert np.isfinite([row.micro_f1 for row in theirs.rows]).all()


OWN = """
import torch
from sklearn.linear_model import LogisticRegression

import nodewise as nw
from nodewise.classifiers import SklearnClassifier


class Hubs(nw.Strategy):
    name = "most-neighbours"

    def scores(self, observation):
        return observation.graph.degree.float().expand(observation.runs, -1)


line = SklearnClassifier(LogisticRegression(), name="regression")
"""


def test_a_strategy_classifier_and_graph_of_ones_own_on_the_command_line_on_copies_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own_benchmark.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    write_graph(block_graph(), tmp_path / "blocks.npz")
    command = ["benchmark", "--graphs", str(tmp_path / "blocks.npz"), "--labels", "1", "--runs", "2", "--copies", "2"]
    command += ["--strategies", "random,own_benchmark:Hubs", "--classifiers", "own_benchmark:line"]
    assert main([*command, "--out", str(tmp_path / "out"), "--device", "cpu"]) == 0, capfd.readouterr().err
    result = read_result(tmp_path / "out" / "benchmark.json")
    assert {(row.copy, row.strategy, row.classifier) for row in result.rows} == {
        (copy, name, "regression") for copy in (0, 1) for name in ("random", "most-neighbours")
    }
    assert set(result.versions) == {"random", "most-neighbours", "regression"}
    assert "Not told of" not in (tmp_path / "out" / "benchmark.md").read_text()
