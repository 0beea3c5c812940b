"""Results as a line, a table, HTML, a data frame and a picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import nodewise as nw
from nodewise.evaluation import Comparison, Evaluation
from tests.small_graphs import random_graph


@pytest.fixture(scope="module")
def table() -> Comparison:
    graphs = [random_graph(), random_graph(classes=4, seed=1)]  # both are called the same
    return nw.compare(graphs, ["random", "centrality"], budgets=[2, 4], runs=7)


@pytest.fixture(scope="module")
def result() -> Evaluation:
    return nw.evaluate(random_graph(), "random", budget=3, runs=4, seed=5)


def test_an_evaluation_is_one_line_with_its_means(result: Evaluation) -> None:
    line = repr(result)
    assert (
        line.startswith("Evaluation(") and "3 labels, 4 runs" in line and str(result.micro) in line and "\n" not in line
    )


def test_an_evaluation_as_a_frame_has_a_row_a_run(result: Evaluation) -> None:
    frame = result.to_dataframe()
    assert list(frame["run"]) == [0, 1, 2, 3]
    assert np.array_equal(frame["micro_f1"], result.micro_f1) and set(frame["seed"]) == {5}


def test_html_escapes_what_comes_from_the_caller() -> None:
    import dataclasses

    graph = dataclasses.replace(random_graph(), name="<script>alert(1)</script>")
    for shown in (
        nw.evaluate(graph, "random", budget=2, runs=1)._repr_html_(),
        nw.compare(graph, "random", budgets=2, runs=1)._repr_html_(),
    ):
        assert "<script>" not in shown and "&lt;script&gt;" in shown


def test_a_comparison_shows_its_table_and_what_it_rests_on(table: Comparison) -> None:
    shown = repr(table)
    assert "random" in shown and "centrality" in shown and "7 runs" in shown and "*" in shown
    assert all(len(line) <= 120 for line in shown.splitlines())
    html = table._repr_html_()
    assert html.count("<tr>") == 3 and "<b>" in html


def test_graphs_of_one_name_stay_apart(table: Comparison) -> None:
    assert table.graphs == ["random sparse", "random sparse 2"]


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
def test_pictures_are_written_and_hold_every_method(
    table: Comparison, result: Evaluation, ending: str, tmp_path: Path
) -> None:
    figure = table.plot(tmp_path / f"curves{ending}")
    assert (tmp_path / f"curves{ending}").stat().st_size > 1000
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["random", "centrality"]
    assert len(figure.axes) == 2
    result.plot(tmp_path / f"runs{ending}")
    assert (tmp_path / f"runs{ending}").stat().st_size > 1000


def test_one_budget_is_drawn_as_means() -> None:
    figure = nw.compare(random_graph(), ["random", "centrality"], budgets=3, runs=3).plot()
    assert [tick.get_text() for tick in figure.axes[0].get_xticklabels()] == ["random", "centrality"]


def test_without_pandas_the_way_to_it_is_told(result: Evaluation, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(nw.NodewiseError, match="this needs pandas.*pip install '.*pandas]'"):
        result.to_dataframe()
