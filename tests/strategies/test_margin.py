from __future__ import annotations

import math

from nodewise.strategies import Margin
from tests.strategies.stages import next_choice, still_environment


def logs(*shares: float) -> list[float]:
    return [math.log(share) for share in shares]


def test_the_smallest_difference_between_the_two_likeliest_first() -> None:
    # margins 0.1, 0.05, 0.3: the second has less entropy than the first, and is asked before it
    logits = [[logs(0.4, 0.3, 0.3), logs(0.5, 0.45, 0.05), logs(0.6, 0.3, 0.1)]]
    environment, strategy = still_environment(logits=logits), Margin()
    environment.begin(strategy)
    assert [next_choice(environment, strategy)[0] for _ in range(3)] == [1, 0, 2]


def test_equal_margins_are_settled_at_random() -> None:
    logits = [[logs(0.5, 0.5), logs(0.5, 0.5), logs(0.9, 0.1)]]
    first = {next_choice(still_environment(logits=logits, seed=seed), Margin())[0] for seed in range(30)}
    assert first == {0, 1}
