from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from nodewise.ground.errors import InputError
from nodewise.strategies import DiffusAl
from nodewise.strategies.diffusal import Diffusion
from tests.strategies.stages import next_choice, still_environment

EDGES = [(0, 1), (0, 2), (0, 3), (3, 4)]


def test_importance_and_features_are_those_of_the_matrix() -> None:
    features = [[1.0, 0.0], [0.0, 2.0], [1.0, 1.0], [0.0, 0.0], [3.0, 1.0], [1.0, 1.0]]
    environment = still_environment(features=features, edges=EDGES)
    loops = np.eye(6)
    for one, other in EDGES:
        loops[one, other] = loops[other, one] = 1
    scale = np.diag(loops.sum(1) ** -0.5)
    matrix = 0.15 * np.linalg.inv(np.eye(6) - 0.85 * scale @ loops @ scale)
    matrix /= matrix.sum(1, keepdims=True)
    made = environment.graph.prepared_by(Diffusion(0.15))
    importance, diffused = matrix.sum(0), matrix @ np.array(features)
    assert np.allclose(made.importance, importance / importance.max(), atol=2e-3)
    assert np.allclose(made.features, diffused - diffused.mean(0), atol=1e-2)
    assert int(made.importance.argmax()) == 0  # the hub


def test_first_the_middles_of_two_clusters_a_class_then_the_product() -> None:
    # four groups that nothing joins, and two classes: four clusters
    features = [[x, y] for x, y in ((0, 0), (50, 0), (0, 50), (50, 50)) for x in (x, x + 1, x + 2)]
    even, sure = [0.0, 0.0], [math.log(0.9), math.log(0.1)]
    logits = [[sure] * 3 + [even, sure, even] + [sure] * 6]
    environment, strategy = still_environment(features=features, logits=logits, budget=6), DiffusAl()
    environment.begin(strategy)
    first = [next_choice(environment, strategy)[0] for _ in range(4)]
    assert sorted(first) == [1, 4, 7, 10]
    # nothing is joined, so all are as important, and each cluster has one label: the undecided ones are left
    assert sorted(next_choice(environment, strategy)[0] for _ in range(2)) == [3, 5]


def test_a_cluster_with_fewer_labels_is_worth_more() -> None:
    features = [[x, y] for x, y in ((0, 0), (50, 0), (0, 50), (50, 50)) for x in (x, x + 1, x + 2)]
    environment, strategy = still_environment(features=features, budget=6), DiffusAl()
    environment.begin(strategy)
    for node in (0, 1, 3, 6):  # others were asked: none of the last three
        environment.query(torch.tensor([node]))
    scores = strategy.scores(environment.observe())[0]
    # uncertainty and importance are one; of four labels none lies in the last cluster, two in the first
    assert scores[2].item() == pytest.approx(0.5, abs=1e-4)
    assert scores[4].item() == pytest.approx(0.75, abs=1e-4)
    assert (scores[9:] >= 1 - 1e-4).all()


def test_settings_that_mean_nothing_are_refused() -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        DiffusAl(alpha=1.0)
