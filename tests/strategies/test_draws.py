from __future__ import annotations

import numpy as np
import pytest
import torch

from nodewise.strategies.draws import race


def test_draws_in_proportion_to_weights() -> None:
    weights = torch.tensor([1.0, 0.0, 3.0, 4.0]).expand(40000, 4)
    noise = torch.from_numpy(np.random.default_rng(0).random((40000, 4), dtype=np.float32))
    share = race(weights, noise).argmax(1).bincount(minlength=4) / 40000
    assert share.tolist() == pytest.approx([0.125, 0.0, 0.375, 0.5], abs=0.01)


def test_the_largest_noise_is_not_a_certain_win() -> None:
    finite = race(torch.tensor([[1.0, 1.0]]), torch.tensor([[0.0, 1 - 2**-24]]))
    assert torch.isfinite(finite).all()
