"""Further scores, by hand."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import nodewise as nw
from nodewise.evaluation import SCORES, EvaluationProtocol
from nodewise.ground.errors import UnknownNameError

TRUTH = np.array([0, 0, 0, 1])
CHANCES = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.4, 0.6]])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("balanced_accuracy", 100 * (2 / 3 + 1) / 2),
        ("log_loss", -(math.log(0.9) + math.log(0.8) + math.log(0.3) + math.log(0.6)) / 4),
        ("calibration_error", 100 * (0.1 + 0.2 + 0.7 + 0.4) / 4),  # four bins, one node each
        ("average_precision", 100 * ((1 + 1 + 3 / 4) / 3 + 1 / 2) / 2),
        ("area_under_curve", 100 * 2 / 3),
    ],
)
def test_scores_by_hand(name: str, expected: float) -> None:
    assert SCORES[name](CHANCES, TRUTH) == pytest.approx(expected)


def worst(probabilities: npt.NDArray[np.float64], truth: npt.NDArray[np.int64]) -> float:
    return float(probabilities[np.arange(len(truth)), truth].min())


def test_an_evaluation_has_them_and_ones_own(tmp_path: Path) -> None:
    protocol = EvaluationProtocol(scores=(*SCORES, worst))
    result = nw.evaluate("wine", "random", budget=8, runs=2, protocol=protocol)
    assert set(result.further) == {*SCORES, "worst"} and result.values("worst").shape == (2,)
    assert result.as_dict()["log_loss"]["mean"] == pytest.approx(result.interval("log_loss").mean)
    plain = nw.evaluate("wine", "random", budget=8, runs=2)
    assert plain.micro_f1.tolist() == result.micro_f1.tolist(), "scores do not change a run"
    assert "log_loss" in result.to_dataframe() and "log_loss" not in plain.as_dict()
    with pytest.raises(UnknownNameError, match="unknown score 'logloss': did you mean 'log_loss'"):
        nw.evaluate("wine", protocol=EvaluationProtocol(scores="logloss"))  # type: ignore[arg-type]


def test_kept_chunks_hold_them(tmp_path: Path) -> None:
    protocol = EvaluationProtocol(scores=("log_loss",))
    one, again = (
        nw.compare("wine", ["random"], budgets=[5, 8], runs=2, store=tmp_path, protocol=protocol) for _ in range(2)
    )
    for first, second in zip(one.settings, again.settings, strict=True):
        values = first.outcomes["random"].further["log_loss"]
        assert values.tolist() == second.outcomes["random"].further["log_loss"].tolist()
    usual = nw.compare("wine", ["random"], budgets=[5], runs=2, store=tmp_path)
    assert not usual.settings[0].outcomes["random"].further, "another protocol is another chunk"


def test_queries_cost_what_their_nodes_cost() -> None:
    result = nw.evaluate("wine", "random", budget=5, runs=2)
    assert result.costs(np.arange(178)).tolist() == result.queries.sum(1).tolist()
