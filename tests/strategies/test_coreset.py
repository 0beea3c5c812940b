from __future__ import annotations

import torch

from nodewise.strategies import Coreset
from tests.strategies.stages import next_choice, still_environment

THREE = [
    [0.0, 0.0],
    [0.2, 0.0],
    [-0.3, 0.1],
    [10.0, 0.0],
    [10.2, 0.0],
    [9.5, 0.4],
    [0.0, 20.0],
    [0.1, 20.3],
    [0.3, 19.0],
]
"""Three groups of three nodes; the first two of a group lie nearer to its mean than the third."""


def test_first_the_middle_of_all() -> None:
    environment = still_environment(hidden=[[[0.0, 0.0], [4.0, 0.0], [6.0, 0.0], [30.0, 0.0]]])  # the mean is 10
    strategy = Coreset()
    environment.begin(strategy)
    assert next_choice(environment, strategy) == [2]


def test_every_cluster_gets_a_label_before_one_gets_two() -> None:
    for seed in range(10):
        environment = still_environment(hidden=[THREE, THREE], seed=seed)
        strategy = Coreset()
        environment.begin(strategy)
        asked = torch.tensor([next_choice(environment, strategy) for _ in range(3)])
        assert sorted((asked[:, 0] // 3).tolist()) == [0, 1, 2]
        assert sorted((asked[:, 1] // 3).tolist()) == [0, 1, 2]


def test_the_node_nearest_to_the_new_clusters_centre() -> None:
    environment = still_environment(hidden=[THREE[:6]])
    environment.query(torch.tensor([0]))
    strategy = Coreset()
    environment.begin(strategy)  # in the midst of things, with a label there already
    assert next_choice(environment, strategy) == [3]  # the second group's mean is (9.9, 0.13); node 3 is nearest to it


def test_goes_on_when_labels_were_taken_back_or_added_by_others() -> None:
    environment = still_environment(hidden=[THREE], budget=7)
    strategy = Coreset()
    environment.begin(strategy)
    next_choice(environment, strategy)
    environment.query(environment.pool.int().argmax(1))
    environment.query(environment.pool.int().argmax(1))
    assert len({next_choice(environment, strategy)[0] for _ in range(3)}) == 3
    environment.clock.count = 1
    strategy.scores(environment.observe())
