from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nodewise.strategies.scoring import gumbel_scores, percentiles


def test_draws_in_proportion_to_weights() -> None:
    weights = torch.tensor([1.0, 0.0, 3.0, 4.0]).expand(40000, 4)
    noise = torch.from_numpy(np.random.default_rng(0).random((40000, 4), dtype=np.float32))
    share = gumbel_scores(weights, noise).argmax(1).bincount(minlength=4) / 40000
    assert share.tolist() == pytest.approx([0.125, 0.0, 0.375, 0.5], abs=0.01)


def test_the_largest_noise_is_not_a_certain_win() -> None:
    finite = gumbel_scores(torch.tensor([[1.0, 1.0]]), torch.tensor([[0.0, 1 - 2**-24]]))
    assert torch.isfinite(finite).all()


def test_share_of_smaller_values_worked_out_by_hand() -> None:
    values = torch.tensor([[3.0, 1.0, 2.0, 2.0], [5.0, 5.0, 5.0, 5.0], [-1.0, 0.0, -0.0, 7.0]])
    expected = torch.tensor([[0.75, 0.0, 0.25, 0.25], [0.0, 0.0, 0.0, 0.0], [0.0, 0.25, 0.25, 0.75]])
    assert torch.equal(percentiles(values), expected)


@given(st.lists(st.lists(st.integers(-3, 3), min_size=7, max_size=7), min_size=1, max_size=4))
def test_share_of_smaller_values_by_counting(rows: list[list[int]]) -> None:
    table = np.array(rows, dtype=np.float32)
    counted = (table[:, None, :] < table[:, :, None]).mean(-1)
    assert percentiles(torch.from_numpy(table)).numpy() == pytest.approx(counted)


def test_one_row_and_many_axes() -> None:
    assert percentiles(torch.tensor([2.0, 9.0])).tolist() == [0.0, 0.5]
    assert percentiles(torch.zeros(2, 3, 1)).shape == (2, 3, 1)


@pytest.mark.gpu
def test_the_same_on_a_gpu() -> None:
    values = torch.from_numpy(np.random.default_rng(0).integers(0, 3000, (2, 5, 5000)).astype(np.float32))
    assert torch.allclose(
        percentiles(values.cuda()).cpu(), percentiles(values), rtol=1e-6
    )  # a mean of 5000 may round differently
