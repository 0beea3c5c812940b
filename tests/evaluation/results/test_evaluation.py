"""An evaluation as a line, a data frame and a picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import nodewise as nw
from nodewise.evaluation import Evaluation
from tests.small_graphs import random_graph


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


def test_without_pandas_the_way_to_it_is_told(result: Evaluation, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(nw.NodewiseError, match="this needs pandas.*pip install '.*pandas]'"):
        result.to_dataframe()


@pytest.mark.parametrize("ending", [".png", ".svg"])
def test_the_runs_are_drawn(result: Evaluation, ending: str, tmp_path: Path) -> None:
    result.plot(tmp_path / f"runs{ending}")
    assert (tmp_path / f"runs{ending}").stat().st_size > 1000
    with pytest.raises(nw.NodewiseError, match=r"name a \.png, \.svg or \.pdf file in a folder that is there"):
        result.plot(tmp_path / "runs.doc")


def test_evaluate_is_a_comparison_of_one() -> None:
    """To the bit, in every part of the record but for who took how long."""
    alone = nw.evaluate(random_graph(), "random", budget=3, runs=12, seed=5)
    table = nw.compare(random_graph(), "random", budgets=3, runs=12, seed=5)
    (setting,) = table.settings
    among = setting.outcomes["random"]
    assert {**alone.as_dict(), "seconds": 0} == {**among.as_dict(), "seconds": 0}
    assert np.array_equal(alone.queries, among.queries)
