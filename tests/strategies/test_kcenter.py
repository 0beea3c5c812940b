from __future__ import annotations

import torch

from nodewise.strategies import KCenter
from nodewise.strategies.kcenter import cover_distance
from tests.strategies.stages import next_choice, still_environment


def line(*points: float) -> list[list[float]]:
    return [[point, 0.0] for point in points]


def test_squared_distance_to_the_nearest_worked_out_by_hand() -> None:
    points = torch.tensor([line(0, 3, 10), line(1, 1, 2)])
    nodes = torch.tensor([[0, 2], [1, 1]])
    assert torch.allclose(cover_distance(points, nodes), torch.tensor([[0.0, 9.0, 0.0], [0.0, 0.0, 1.0]]), atol=1e-5)


def test_the_least_covered_first() -> None:
    environment = still_environment(hidden=[line(0, 1, 5, 9, 6)], pool=[1, 2, 3, 4], budget=4)
    environment.query(torch.tensor([1]))
    strategy = KCenter()
    environment.begin(strategy)
    assert [next_choice(environment, strategy)[0] for _ in range(3)] == [
        3,
        2,
        4,
    ]  # 9 is 8 from 1; then 5 is 4 from both, 6 only 3


def test_the_first_query_is_random() -> None:
    first = {next_choice(still_environment(hidden=[line(0, 1, 5, 9)], seed=seed), KCenter())[0] for seed in range(40)}
    assert first == {0, 1, 2, 3}
