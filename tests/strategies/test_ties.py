from __future__ import annotations

import torch

from nodewise.strategies.ties import break_ties
from tests.strategies.stages import still_environment


def test_only_the_pools_best_get_noise() -> None:
    environment = still_environment(logits=[[[0.0, 0.0]] * 5], pool=[0, 1, 2, 3])
    scores = torch.tensor([[2.0, 1.0, 2.0, 0.0, 9.0]])
    observation = environment.observe()
    broken = break_ties(scores, observation)
    expected = scores.clone()
    expected[0, [0, 2]] += observation.noise[0, [0, 2]]
    assert torch.equal(broken, expected)
