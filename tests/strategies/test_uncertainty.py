from __future__ import annotations

from nodewise.strategies import Uncertainty
from tests.strategies.stages import next_choice, still_environment


def test_least_sure_first() -> None:
    logits = [[[4.0, 0.0], [1.0, 0.0], [0.0, 0.0], [2.0, 0.0]], [[0.0, 1.0], [0.0, 9.0], [0.0, 3.0], [0.0, 2.0]]]
    environment = still_environment(logits=logits)
    strategy = Uncertainty()
    environment.begin(strategy)
    assert [next_choice(environment, strategy) for _ in range(3)] == [[2, 0], [1, 3], [3, 2]]


def test_ties_at_random() -> None:
    first = {
        next_choice(still_environment(logits=[[[0.0, 0.0]] * 6 + [[5.0, 0.0]]], seed=seed), Uncertainty())[0]
        for seed in range(40)
    }
    assert first == {0, 1, 2, 3, 4, 5}
