"""What is read off a comparison: the best, what comes near, leads, ranks, and the tables and files made of them."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import nodewise as nw
from nodewise.evaluation import Comparison, Evaluation, EvaluationProtocol, Setting, paired_comparison
from nodewise.evaluation.results.comparison import lead_table, long_form, score_table, time_table
from nodewise.evaluation.results.evaluation import GivenSplits
from nodewise.evaluation.results.files import write_comparison
from nodewise.evaluation.results.statistics import rank_strategies
from nodewise.evaluation.results.tables import Entry, to_rows
from nodewise.ground.errors import InputError
from tests.small_graphs import random_graph

RUNS = 30


def outcome(
    name: str, micro: np.ndarray, macro: np.ndarray, graph: str = "g", budget: int = 2, seconds: float = 1.5
) -> Evaluation:
    queries = np.zeros((len(micro), budget), dtype=np.int64)
    return Evaluation(graph, "raw", name, None, "gcn", budget, len(micro), 0, "cpu", seconds, micro, macro, queries)


def setting(graph: str = "g", budget: int = 5, **shifts: float) -> Setting:
    base = np.random.default_rng(budget).normal(60, 5, RUNS)  # easy and hard splits, shared by all
    outcomes = {}
    for place, (name, shift) in enumerate(shifts.items()):
        noise = np.random.default_rng([len(graph), budget, place]).normal(0, 1, RUNS)
        outcomes[name] = outcome(name, base + shift + noise, base - 5 + shift + noise, graph, budget)
    return Setting(graph, "raw", "gcn", budget, outcomes)


@pytest.fixture
def comparison() -> Comparison:
    shifts = {"random": 0.0, "age": 3.9, "policy": 4.0}
    return Comparison(tuple(setting(graph, budget, **shifts) for graph in ("g", "hh") for budget in (5, 9)), 0, "cpu")


def test_the_best_and_what_is_not_significantly_worse() -> None:
    one = setting(random=0.0, age=4.0, policy=4.1, poor=-3.0)
    assert one.best() in ("age", "policy")
    assert one.near_best() == {"age", "policy"} - {one.best()}
    test = next(test for test in one.tests if {test.first, test.second} == {"random", "policy"})
    alone = paired_comparison(one.outcomes["random"].micro_f1, one.outcomes["policy"].micro_f1)
    assert test.t_p == alone.t_p and test.corrected_p >= alone.t_p and test.significant()


def test_score_table_marks_within_each_setting(comparison: Comparison) -> None:
    table = score_table(comparison)
    assert table.columns == ("strategy", "g, 5 labels", "g, 9 labels", "hh, 5 labels", "hh, 9 labels")
    for place, one in enumerate(comparison.settings, start=1):
        column = {str(row[0]): row[place] for row in table.rows}
        marks = {name: entry.mark for name, entry in column.items() if isinstance(entry, Entry)}
        assert marks[one.best()] == "best" and list(marks.values()).count("best") == 1
        assert {name for name, mark in marks.items() if mark == "near"} == one.near_best()
        mean = one.outcomes["random"].micro_f1.mean()
        entry = column["random"]
        assert isinstance(entry, Entry) and entry.text.startswith(f"{mean:.2f} ± ")


def test_many_settings_become_rows() -> None:
    table = score_table(Comparison(tuple(setting(budget=b, a=0, b=1) for b in (1, 2, 3, 4, 5)), 0, "cpu"))
    assert table.columns == ("setting", "a", "b") and [row[0] for row in table.rows] == [
        "g, 1 label",
        *(f"g, {b} labels" for b in (2, 3, 4, 5)),
    ]


def test_lead_table_says_how_far_ahead_the_best_is(comparison: Comparison) -> None:
    rows = [row for row in lead_table(comparison).rows if row[0] == "g, 5 labels"]
    one = comparison.settings[0]
    assert {row[1] for row in rows} == {one.best()} and len(rows) == 2
    random = next(row for row in rows if row[2] == "random")
    lead = (one.outcomes[one.best()].micro_f1 - one.outcomes["random"].micro_f1).mean()
    assert str(random[3]).startswith(f"{lead:+.2f} ± ")
    assert random[5] == "< 0.0001"


def test_long_form_has_a_row_for_each_setting_and_method(comparison: Comparison) -> None:
    columns, rows = long_form(comparison)
    assert len(rows) == 12 and all(len(row) == len(columns) for row in rows)
    assert sum(row[columns.index("best")] == 1 for row in rows) == 4


def test_what_is_not_as_usual_has_columns_of_its_own(comparison: Comparison, tmp_path: Path) -> None:
    unusual = {"classifier_settings", "protocol", "splits"}
    for held in (comparison, comparison.to_dataframe(), comparison.to_dataframe(runs=True)):
        assert not unusual & set(long_form(held)[0] if isinstance(held, Comparison) else held.columns)

    protocol = EvaluationProtocol(round_size=2, noise=0.1)
    splits = GivenSplits("2 splits of mine.json, in turn", {})
    changed = {
        name: replace(
            one, protocol=protocol, splits=splits, classifier_settings={"hidden": 32} if name == "age" else {}
        )
        for name, one in comparison.settings[0].outcomes.items()
    }
    mixed = replace(comparison, settings=(replace(comparison.settings[0], outcomes=changed), comparison.settings[1]))
    write_comparison(mixed, tmp_path, plots=False)
    rows = list(csv.DictReader((tmp_path / "table.csv").read_text().splitlines()))
    told = {row["name"]: tuple(row[name] for name in sorted(unusual)) for row in rows[:3]}
    words = ("rounds of 2 queries, 10 % of the answers wrong", splits.words)
    assert told == {"random": ("", *words), "age": ("hidden=32", *words), "policy": ("", *words)}
    assert all(row[name] == "" for row in rows[3:] for name in unusual)
    for frame in (mixed.to_dataframe(), mixed.to_dataframe(runs=True)):
        assert frame["protocol"].iloc[0] == words[0] and frame["splits"].isna().iloc[-1]
    assert changed["age"].to_dataframe()["classifier_settings"].tolist() == ["hidden=32"] * 30


def test_scores_alone_are_no_other_protocol(comparison: Comparison) -> None:
    one = next(iter(comparison.settings[0].outcomes.values()))
    assert replace(one, protocol=EvaluationProtocol(scores=("log_loss",))).unusual == {}


def test_ranking_counts_a_graph_once(comparison: Comparison) -> None:
    ranking = comparison.ranking()
    assert (
        ranking is not None and ranking.graphs == 2 and list(ranking.ranks)[-1] == "random"
    )  # two graphs, two budgets each
    by_hand = {
        name: [
            np.mean([s.outcomes[name].micro_f1.mean() for s in comparison.select(graph=graph)]) for graph in ("g", "hh")
        ]
        for name in comparison.methods
    }
    assert ranking == rank_strategies(by_hand)


def test_ranking_counts_a_domain_once(comparison: Comparison) -> None:
    more = Comparison((*comparison.settings, setting("third", random=0.0, age=1.0, policy=2.0)), 0, "cpu")
    ranking = more.ranking({"g": "citations", "hh": "citations"})
    assert ranking is not None and ranking.graphs == 2
    assert more.ranking({"g": "all", "hh": "all", "third": "all"}) is None


def test_of_a_loss_the_smallest_is_best_and_has_a_table_of_its_own(comparison: Comparison) -> None:
    scores = {"log_loss": 1.0, "mine": 2.0}
    settings = tuple(
        replace(
            one,
            outcomes={
                name: replace(each, further={score: factor * each.micro_f1 for score, factor in scores.items()})
                for name, each in one.outcomes.items()
            },
        )
        for one in comparison.settings
    )
    with_scores = replace(comparison, settings=settings)
    assert with_scores.further == ["log_loss", "mine"] and comparison.further == []
    assert {one.best("log_loss") for one in settings} == {"random"}
    assert {one.best("mine") for one in settings} == {one.best() for one in settings}
    assert "log loss in nats (less is better), mean" in with_scores.to_markdown("log_loss")
    assert "Mine (more counts as better), mean $\\pm$" in with_scores.to_latex("mine")
    columns, rows = long_form(with_scores)
    assert columns[-4:] == ["log_loss", "log_loss_ci95", "mine", "mine_ci95"] and rows[0][-2] == 2 * rows[0][-4]
    assert with_scores.to_dataframe(runs=True)["mine"].iloc[0] == pytest.approx(2 * settings[0].scores()["random"][0])


def test_times_are_of_a_query_of_one_run(comparison: Comparison) -> None:
    table = time_table(comparison)
    assert table.columns[:2] == ("strategy", "g, 5 labels") and table.rows[0][1] == f"{1500 / (30 * 5):.3g}"


def test_ranking_needs_two_graphs_with_every_method() -> None:
    assert Comparison((setting(a=0, b=1),), 0, "cpu").ranking() is None
    partly = Comparison((setting(a=0, b=1), setting("hh", a=0)), 0, "cpu")
    assert partly.ranking() is None
    assert score_table(partly).rows[1][2] is None


@pytest.mark.slow
def test_all_files_are_written_and_agree(comparison: Comparison, tmp_path: Path) -> None:
    files = write_comparison(comparison, tmp_path / "out")
    names = {path.name for path in files}
    assert names == {
        "comparison.json",
        "table.md",
        "table.tex",
        "table.csv",
        "curves-g.png",
        "curves-hh.png",
        "win-rates.png",
    }
    assert {path.name for path in (tmp_path / "out").iterdir()} == names
    record = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert record["schema"] == 1 and len(record["settings"]) == 4
    result = record["settings"][0]["results"][0]
    assert result["micro_f1"]["mean"] == pytest.approx(np.mean(result["micro_f1"]["values"]), abs=1e-3)
    rows = list(csv.DictReader((tmp_path / "out" / "table.csv").read_text().splitlines()))
    assert float(rows[0]["micro_f1"]) == pytest.approx(result["micro_f1"]["mean"], abs=1e-3)
    for path in files:
        if path.suffix == ".png":
            assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_critical_differences_are_drawn_for_three_graphs(tmp_path: Path) -> None:
    shifts = {"random": 0.0, "age": 3.9, "policy": 4.0}
    three = Comparison(tuple(setting(graph, **shifts) for graph in ("g", "hh", "iii")), 0, "cpu")
    assert "critical-difference.png" in {path.name for path in write_comparison(three, tmp_path)}


def test_one_run_has_no_interval_and_nothing_is_near(tmp_path: Path) -> None:
    outcomes = {name: outcome(name, np.array([v]), np.array([v])) for name, v in (("a", 1.0), ("b", 2.0))}
    one = Comparison((Setting("g", "raw", "gcn", 2, outcomes),), 0, "cpu")
    assert to_rows(score_table(one)) == [("a", "1.00"), ("b", "2.00 *")]
    assert to_rows(lead_table(one))[0][3:] == ("+1.00", "100 %", "–", "–")
    assert (
        "mean over 1 run, too few for an interval" in score_table(one).notes[0]
        and "significantly" not in score_table(one).notes[0]
    )
    write_comparison(one, tmp_path)


def test_no_lead_is_called_significant_from_two_runs() -> None:
    outcomes = {name: outcome(name, np.array(v), np.array(v)) for name, v in (("a", [50.0, 60.0]), ("b", [70.0, 80.0]))}
    one = Comparison((Setting("g", "raw", "gcn", 2, outcomes),), 0, "cpu")
    assert to_rows(score_table(one)) == [("a", "55.00"), ("b", "75.00 *")]
    assert to_rows(lead_table(one))[0][3:] == ("+20.00", "100 %", "–", "–")
    assert not any(test.significant() for test in one.settings[0].tests) and one.settings[0].near_best() == frozenset()
    assert "6 runs or more can tell whether its lead is chance" in score_table(one).notes[0]


@pytest.fixture(scope="module")
def table() -> Comparison:
    graphs = [random_graph(), random_graph(classes=4, seed=1)]  # both are called the same
    return nw.compare(graphs, ["random", "centrality"], budgets=[2, 4], runs=7)


def test_a_comparison_shows_its_table_and_what_it_rests_on(table: Comparison) -> None:
    shown = repr(table)
    assert "random" in shown and "centrality" in shown and "7 runs" in shown and "*" in shown
    assert all(len(line) <= 120 for line in shown.splitlines())
    html = table._repr_html_()
    assert html.count("<tr>") == 3 and "<b>" in html


def test_graphs_of_one_name_stay_apart(table: Comparison) -> None:
    assert table.graphs == ["random sparse", "random sparse 2"]


def test_html_escapes_what_comes_from_the_caller() -> None:
    import dataclasses

    graph = dataclasses.replace(random_graph(), name="<script>alert(1)</script>")
    for shown in (
        nw.evaluate(graph, "random", budget=2, runs=1)._repr_html_(),
        nw.compare(graph, "random", budgets=2, runs=1)._repr_html_(),
    ):
        assert "<script>" not in shown and "&lt;script&gt;" in shown


def test_a_comparison_as_a_frame(table: Comparison) -> None:
    means, runs = table.to_dataframe(), table.to_dataframe(runs=True)
    assert len(means) == 2 * 2 * 2 and len(runs) == 7 * len(means)
    first = table.settings[0]
    row = means[(means["graph"] == first.graph) & (means["budget"] == first.budget) & (means["name"] == "random")].iloc[
        0
    ]
    assert row["micro_f1"] == pytest.approx(first.outcomes["random"].micro_f1.mean(), abs=1e-4)
    assert means["best"].dtype == bool and means.groupby(["graph", "budget"])["best"].sum().eq(1).all()
    again = runs.groupby(["graph", "budget", "name"])["micro_f1"].mean()
    assert again[first.graph, first.budget, "random"] == pytest.approx(row["micro_f1"], abs=1e-4)


@pytest.mark.parametrize("ending", [".png", ".svg"])
def test_pictures_are_written_and_hold_every_method(table: Comparison, ending: str, tmp_path: Path) -> None:
    figure = table.plot(tmp_path / f"curves{ending}")
    assert (tmp_path / f"curves{ending}").stat().st_size > 1000
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["random", "centrality"]
    assert len(figure.axes) == 2


def test_one_budget_is_drawn_as_means() -> None:
    figure = nw.compare(random_graph(), ["random", "centrality"], budgets=3, runs=3).plot()
    assert [tick.get_text() for tick in figure.axes[0].get_xticklabels()] == ["random", "centrality"]


def test_a_table_stands_alone_as_markdown_and_latex() -> None:
    table = nw.compare("wine", ["random", "centrality"], budgets=[4], runs=6)
    markdown, latex = table.to_markdown(caption="Wine"), table.to_latex("macro_f1", caption="Wine by strategies")
    assert markdown.startswith("**Wine**") and "Bold: the best mean of a setting; italics: what" in markdown
    assert "4 labels; views on raw features; seed 0." in markdown
    assert r"\caption{Wine by strategies. Macro-F1 in percent" in latex and "underlined: what" in latex
    assert r"4 labels; views on raw features; seed 0." in latex


def test_a_panel_is_drawn_into_given_axes_and_several_are_refused() -> None:
    from nodewise.evaluation.results.plots import new_figure

    table = nw.compare("wine", ["random", "centrality"], classifiers=["views", "gcn"], budgets=[4, 6], runs=2)
    axes = new_figure(3, 3).subplots()
    assert table.chosen(classifier="views").plot(ax=axes) is axes.figure and len(axes.lines) >= 2
    other = new_figure(3, 3).subplots()
    assert table.settings[0].outcomes["random"].plot(ax=other) is other.figure and other.lines
    with pytest.raises(InputError, match=r"given for 2 panels \(wine with views; wine with gcn\)"):
        table.plot(ax=axes)


def test_equal_budgets_and_graphs_are_played_once() -> None:
    table = nw.compare(["wine", "wine"], ["random"], budgets=[4, 4], runs=2)
    assert [(setting.graph, setting.budget) for setting in table.settings] == [("wine", 4)]


def test_a_policy_with_its_own_classifier_is_told_apart() -> None:
    beside = nw.compare("wine", ["random", "policy"], budgets=[4], runs=2)
    assert "policy with gcn: what a policy was trained with" in repr(beside).replace("\n", " ")
    same = nw.compare("wine", ["random", "policy"], classifiers=["views"], budgets=[4], runs=2)
    assert "Not all strategies" not in repr(same) and len(same.settings) == 1
