from __future__ import annotations

import torch

from nodewise.strategies import FeatProp
from nodewise.strategies.propagated import propagated_features
from tests.strategies.stages import next_choice, still_environment

TWO = [[0.0], [1.0], [1.2], [2.0], [10.0], [11.0], [12.6]]
"""Four nodes around 1.05, three around 11.2; nothing is joined, so propagation changes nothing."""


def test_features_are_propagated_over_two_steps() -> None:
    environment = still_environment(features=[[1.0], [0.0], [0.0]], edges=[(0, 1)])
    # A + I of the edge is all ones with degrees 2: both ends get the mean, 1/2, and keep it; node 2 stays alone
    expected = torch.tensor([[0.5], [0.5], [0.0]])
    assert torch.allclose(propagated_features(environment.graph), expected - expected.mean())


def test_the_medoids_of_two_clear_clusters_the_larger_first() -> None:
    for seed in range(10):
        environment, strategy = still_environment(features=TWO, budget=2, seed=seed), FeatProp()
        environment.begin(strategy)
        assert [next_choice(environment, strategy)[0] for _ in range(2)] == [1, 5]  # means 1.05 and 11.2


def test_a_medoid_lies_in_the_pool() -> None:
    environment, strategy = still_environment(features=TWO, budget=2, pool=[0, 3, 4, 6]), FeatProp()
    environment.begin(strategy)
    assert [next_choice(environment, strategy)[0] for _ in range(2)] == [3, 4]


def test_a_cluster_without_a_node_in_the_pool_is_passed_over() -> None:
    environment, strategy = still_environment(features=TWO, budget=2, pool=[0, 1, 3]), FeatProp()
    environment.begin(strategy)
    assert [next_choice(environment, strategy)[0] for _ in range(2)] == [1, 3]


def test_a_batch_is_the_beginning_of_the_plan() -> None:
    environment, strategy = still_environment(features=TWO, budget=3), FeatProp()
    environment.begin(strategy)
    together = strategy.batch(environment.observe(), 3)
    assert together is not None
    assert together.tolist()[0] == [next_choice(environment, strategy)[0] for _ in range(3)]
