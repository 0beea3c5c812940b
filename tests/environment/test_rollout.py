"""The loop that lets a strategy choose all nodes of an episode."""

from __future__ import annotations

import pytest
import torch

from nodewise.classifiers import Gcn
from nodewise.contracts import Observation, Strategy
from nodewise.environment import choose, rollout
from nodewise.policy import Policy
from nodewise.strategies import Centrality, Learned, Random
from tests.environment.fixed import Oracle, environment_of

HALVES = [[0.5, 0.5]] * 5


class Wanted(Strategy):
    """Always wants the same nodes, in the order of their scores."""

    name, recordable = "wanted", True

    def __init__(self, scores: list[list[float]]) -> None:
        self._scores = torch.tensor(scores, dtype=torch.float32)
        self.begun = 0
        self.steps: list[int] = []

    def begin(self, observation: Observation) -> None:
        self.begun += 1

    def scores(self, observation: Observation) -> torch.Tensor:
        self.steps.append(observation.step_number)
        return self._scores


def test_the_best_of_the_pool_is_chosen() -> None:
    scores = torch.tensor([[1.0, 5.0, 3.0], [9.0, -7.0, -8.0]])
    pool = torch.tensor([[True, False, True], [False, True, True]])
    assert choose(scores, pool).tolist() == [2, 1]


def test_a_node_outside_the_pool_is_never_chosen_whatever_its_score() -> None:
    pool = torch.tensor([[False, True, False]])
    for outside in (float("inf"), float("nan")):
        assert choose(torch.tensor([[outside, -1e30, outside]]), pool).tolist() == [1]
    assert choose(torch.full((1, 3), -torch.inf), pool).tolist() == [1]


def test_every_query_is_followed_by_an_epoch_and_the_last_by_the_closing_ones() -> None:
    environment = environment_of([(0, 1)], [HALVES, HALVES], budget=3)
    strategy = Wanted([[5, 4, 3, 2, 1], [1, 2, 3, 4, 5]])
    epochs = []
    learner = environment.learner
    assert isinstance(learner, Oracle)
    learner.closing_epochs = 7
    asked = rollout(
        environment,
        strategy,
        environment.splits,
        seed=0,
        each_query=lambda done: epochs.append((done, learner.epochs)),
    )
    assert asked.tolist() == [[0, 1, 2], [4, 3, 2]]
    assert strategy.steps == [0, 1, 2] and strategy.begun == 1
    assert epochs == [(1, 1), (2, 2), (3, 3)]
    assert learner.epochs == 3 + 7
    assert learner.labels == [([0, 4], [0, 0]), ([1, 3], [1, 1]), ([2, 2], [0, 0])]
    assert Gcn().closing_epochs == 35


def test_what_was_asked_stays_as_it_was_when_the_next_episode_begins() -> None:
    environment = environment_of([(0, 1)], [HALVES], budget=2)
    first = rollout(environment, Wanted([[5, 4, 3, 2, 1]]), environment.splits, seed=0)
    rollout(environment, Wanted([[1, 2, 3, 4, 5]]), environment.splits, seed=0)
    assert first.tolist() == [[0, 1]]


@pytest.mark.parametrize("strategy", [Random(), Centrality(), Learned(Policy()), Wanted([[1.0]])])
def test_strategies_are_recognised_by_what_they_can_do(strategy: Strategy) -> None:
    assert isinstance(strategy, Strategy)
    assert not isinstance(object(), Strategy)


def test_centrality_asks_the_largest_degree_and_breaks_ties_at_random() -> None:
    star = [(0, 1), (0, 2), (0, 3), (1, 2)]  # degrees 3, 2, 2, 1, 0
    environment = environment_of(star, [HALVES] * 64, budget=3)
    asked = rollout(environment, Centrality(), environment.splits, seed=0)
    assert (asked[:, 0] == 0).all()
    assert {tuple(sorted(pair)) for pair in asked[:, 1:].tolist()} == {(1, 2)}
    assert 10 < int((asked[:, 1] == 1).sum()) < 54


def test_random_asks_every_node_of_the_pool_as_often() -> None:
    environment = environment_of([(0, 1)], [HALVES] * 1000, budget=1)
    asked = rollout(environment, Random(), environment.splits, seed=0)
    counts = torch.bincount(asked[:, 0], minlength=5)
    assert (counts - 200).abs().max() < 4.5 * (1000 * 0.2 * 0.8) ** 0.5
