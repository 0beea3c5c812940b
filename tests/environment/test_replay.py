"""Recorded episodes on a GPU: they are what the same steps give one by one, and in distribution what the CPU gives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from nodewise.classifiers import Gcn
from nodewise.contracts import Observation, Strategy
from nodewise.environment import Environment, draw_splits, rollout
from nodewise.graph.tensors import GraphTensors
from nodewise.policy import Policy
from nodewise.strategies import Centrality, Learned, Random
from tests.learners import learner
from tests.small_graphs import KINDS, Kind, block_graph, random_graph

pytestmark = pytest.mark.gpu

STRATEGIES: dict[str, Callable[[], Strategy]] = {
    "random": Random,
    "centrality": Centrality,
    "policy": lambda: Learned(Policy(seed=3)),
}


class Eager(Strategy):
    """The same strategy, step by step."""

    def __init__(self, strategy: Strategy) -> None:
        self.strategy, self.name = strategy, strategy.name

    def begin(self, observation: Observation) -> None:
        self.strategy.begin(observation)

    def scores(self, observation: Observation) -> torch.Tensor:
        return self.strategy.scores(observation)


def environment_on(device: str, kind: Kind = "sparse", runs: int = 4, budget: int = 5, closing: int = 1) -> Environment:
    tensors = GraphTensors(random_graph(kind), device)
    return Environment(tensors, learner("gcn", tensors, runs, Gcn(closing_epochs=closing)), runs, budget)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", STRATEGIES)
def test_a_recorded_episode_is_the_same_as_one_played_step_by_step(name: str, kind: Kind) -> None:
    recorded, eager = environment_on("cuda", kind, closing=6), environment_on("cuda", kind, closing=6)
    strategy = STRATEGIES[name]()
    for episode in range(3):  # the first records, the others replay with other seeds and other splits
        splits = draw_splits(recorded.graph, 4, seed=episode)
        asked = rollout(recorded, strategy, splits, seed=episode)
        expected = rollout(eager, Eager(STRATEGIES[name]()), splits, seed=episode)
        assert torch.equal(asked, expected)
        assert torch.equal(recorded.queried.labels, eager.queried.labels)
        assert torch.equal(recorded.pool, eager.pool) and torch.equal(recorded.labelled, eager.labelled)
        assert recorded.step == eager.step == 5
        torch.testing.assert_close(recorded.learner.logits(), eager.learner.logits(), rtol=0.01, atol=0.01)


def test_another_strategy_is_recorded_anew() -> None:
    environment = environment_on("cuda")
    splits = draw_splits(environment.graph, 4, seed=0)
    by_noise = rollout(environment, Random(), splits, seed=0)
    by_degree = rollout(environment, Centrality(), splits, seed=0)
    assert not torch.equal(by_noise, by_degree)
    degrees = environment.graph.degree[by_degree]
    assert (degrees[:, :-1] >= degrees[:, 1:]).all()
    assert torch.equal(rollout(environment, Random(), splits, seed=0), by_noise)


def test_a_policy_that_learns_is_not_played_as_it_was_when_recorded() -> None:
    environment = environment_on("cuda", budget=3)
    splits = draw_splits(environment.graph, 4, seed=0)
    policy = Policy(seed=3).to("cuda")
    strategy = Learned(policy)
    before = rollout(environment, strategy, splits, seed=0)
    with torch.no_grad():
        policy.output.neg_()  # what was wanted most is now wanted least
    after = rollout(environment, strategy, splits, seed=0)
    assert not torch.equal(before, after)
    assert torch.equal(after, rollout(environment_on("cuda", budget=3), Learned(policy), splits, seed=0))


def test_a_look_after_each_query_sees_that_moment() -> None:
    environment = environment_on("cuda")
    splits = draw_splits(environment.graph, 4, seed=0)
    seen: list[tuple[int, int, int]] = []

    def look(done: int) -> None:
        seen.append((done, environment.queries.shape[1], int(environment.labelled.sum())))

    rollout(environment, Random(), splits, seed=0, each_query=look)
    assert seen == [(done, done, 4 * done) for done in range(1, 6)]


@pytest.mark.parametrize("name", STRATEGIES)
def test_scores_are_the_cpu_s_in_distribution(name: str) -> None:
    """Same splits, other weights and dropout: the paired differences of the scores have a mean of zero."""
    scores: dict[str, list[np.ndarray]] = {"cpu": [], "cuda": []}
    graph = block_graph(nodes=200)
    for device, found in scores.items():
        tensors = GraphTensors(graph, device)
        environment = Environment(tensors, learner("gcn", tensors, 20), 20, 8)
        strategy = STRATEGIES[name]()
        for chunk in range(6):
            splits = draw_splits(tensors, 20, seed=0, first_run=20 * chunk)
            rollout(environment, strategy, splits, seed=chunk)
            found.append(environment.score(splits.test).micro.cpu().numpy())
    difference = np.concatenate(scores["cpu"]) - np.concatenate(scores["cuda"])
    assert np.concatenate(scores["cuda"]).mean() > 0.5
    assert abs(difference.mean()) < 3.5 * difference.std(ddof=1) / len(difference) ** 0.5
