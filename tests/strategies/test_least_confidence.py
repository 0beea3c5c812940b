from __future__ import annotations

import math

from nodewise.strategies import LeastConfidence
from tests.strategies.stages import next_choice, still_environment


def logs(*shares: float) -> list[float]:
    return [math.log(share) for share in shares]


def test_the_smallest_largest_probability_first() -> None:
    # 0.5, 0.45 and 0.6: the first has the smaller margin, and is asked after the second
    logits = [[logs(0.5, 0.48, 0.02), logs(0.45, 0.3, 0.25), logs(0.6, 0.2, 0.2)]]
    environment, strategy = still_environment(logits=logits), LeastConfidence()
    environment.begin(strategy)
    assert [next_choice(environment, strategy)[0] for _ in range(3)] == [1, 0, 2]
