"""F1 scores, against scikit-learn's and by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from nodewise.environment import f1_scores

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


def test_by_hand() -> None:
    truth = torch.tensor([[0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 1, 1]])
    guess = torch.tensor([[0, 1, 1, 1, 2, 0], [0, 0, 0, 0, 0, 0]])
    scores = f1_scores(guess, truth, 4)
    assert scores.micro.tolist() == pytest.approx([4 / 6, 4 / 6])
    # class 0: 2·1/(2+2), class 1: 2·2/(2+3), class 2: 2·1/(2+1); class 3 occurs nowhere.   Second run: 2·4/(4+6) and 0
    assert scores.macro.tolist() == pytest.approx([(0.5 + 0.8 + 2 / 3) / 3, 0.8 / 2])


@pytest.mark.parametrize("device", DEVICES)
@given(st.integers(1, 9), st.integers(1, 60), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_as_scikit_learn_has_them(device: str, classes: int, nodes: int, runs: int, seed: int) -> None:
    """Small sets of nodes, so that classes are often absent from the truth, the guess or both."""
    rng = np.random.default_rng(seed)
    truth, guess = rng.integers(0, classes, (2, runs, nodes))
    guess = np.where(rng.random((runs, nodes)) < 0.5, truth, guess)
    scores = f1_scores(torch.from_numpy(guess).to(device), torch.from_numpy(truth).to(device), classes)
    for run in range(runs):
        for got, average in ((scores.micro, "micro"), (scores.macro, "macro")):
            assert float(got[run]) == pytest.approx(f1_score(truth[run], guess[run], average=average), abs=1e-6)
