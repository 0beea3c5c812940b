"""Scores of label sets, against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.metrics import average_precision_score, f1_score

from nodewise.environment import set_scores
from nodewise.environment.set_scores import average_precision, set_f1


@pytest.fixture
def drawn() -> tuple[torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng(0)
    truth = rng.random((3, 40, 6)) < 0.25
    truth[..., 5] = False  # a class that no node has
    odds = np.round(truth + rng.normal(size=truth.shape), 1)  # many are equal
    return torch.from_numpy(odds), torch.from_numpy(truth)


def test_f1_is_scikit_learns(drawn: tuple[torch.Tensor, torch.Tensor]) -> None:
    odds, truth = drawn
    guess = odds > 0.5
    micro, macro = set_f1(guess, truth)
    for run in range(3):
        assert float(micro[run]) == pytest.approx(f1_score(truth[run], guess[run], average="micro"))
        held = (truth[run].any(0) | guess[run].any(0)).numpy()
        expected = f1_score(truth[run], guess[run], average=None, zero_division=0)[held].mean()
        assert float(macro[run]) == pytest.approx(expected)


def test_average_precision_is_scikit_learns(drawn: tuple[torch.Tensor, torch.Tensor]) -> None:
    odds, truth = drawn
    ours = average_precision(odds, truth)
    for run in range(3):
        held = truth[run].any(0).numpy()
        theirs = average_precision_score(truth[run][:, held], odds[run][:, held], average="macro")
        assert float(ours[run]) == pytest.approx(theirs)


def test_the_known_number_takes_so_many_of_the_likeliest() -> None:
    odds = torch.tensor([[[3.0, 2.0, 1.0], [0.0, 1.0, 2.0], [5.0, 5.0, 5.0]]])
    truth = torch.tensor([[[1, 1, 0], [1, 0, 0], [0, 0, 0]]])
    scores = set_scores(odds, torch.full((1, 3), 10.0), truth)
    assert float(scores.micro) == 0.0 and float(scores.micro_known) == pytest.approx(2 * 2 / 6)


def test_nothing_there_and_nothing_given_is_right() -> None:
    nothing = torch.zeros(1, 4, 2, dtype=torch.bool)
    assert [float(score) for score in set_f1(nothing, nothing)] == [1.0, 1.0]
    assert float(average_precision(torch.zeros(1, 4, 2), nothing)) == 0.0
