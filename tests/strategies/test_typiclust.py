from __future__ import annotations

import torch

from nodewise.strategies import TypiClust
from nodewise.strategies.typiclust import typicality
from tests.strategies.stages import next_choice, still_environment


def test_typicality_worked_out_by_hand() -> None:
    points = torch.tensor([[0.0], [1.0], [3.0]])
    assert torch.allclose(typicality(points, 2), torch.tensor([1 / 2, 1 / 1.5, 1 / 2.5]), atol=1e-4)
    assert torch.allclose(typicality(points, 1), torch.tensor([1.0, 1.0, 0.5]), atol=1e-4)


def test_a_node_is_not_its_own_neighbour_where_another_lies_in_its_place() -> None:
    assert typicality(torch.tensor([[0.0], [0.0], [4.0]]), 1)[2] < 0.26


def test_the_largest_cluster_first_small_ones_last() -> None:
    large = [[float(x)] for x in (0, 1, 2, 3, 4, 5, 6, 7)]
    middle = [[100.0 + x] for x in range(6)]
    lonely = [[1000.0], [1001.0]]
    for seed in range(5):
        environment = still_environment(features=large + middle + lonely, budget=3, seed=seed)
        strategy = TypiClust()
        environment.begin(strategy)
        asked = [next_choice(environment, strategy)[0] for _ in range(3)]
        assert asked[0] < 8 and 8 <= asked[1] < 14 and asked[2] >= 14


def test_the_most_typical_node_of_the_pool() -> None:
    # of one cluster: node 3 lies in the midst, the others farther out
    features = [[-4.0], [-2.0], [-1.0], [0.0], [1.0], [2.0], [4.0]]
    strategy = TypiClust()
    environment = still_environment(features=features, budget=1)
    environment.begin(strategy)
    assert next_choice(environment, strategy) == [3]
    environment = still_environment(features=features, budget=1, pool=[0, 1, 6])
    environment.begin(strategy)
    assert next_choice(environment, strategy) == [1]
