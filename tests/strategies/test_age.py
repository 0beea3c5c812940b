from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import stats

from nodewise.environment import Environment, draw_splits, rollout
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError
from nodewise.strategies import Age, Centrality, Uncertainty
from nodewise.strategies.age import beta_quantile
from tests.learners import learner
from tests.small_graphs import block_graph
from tests.strategies.stages import next_choice, still_environment


def test_the_quantile_worked_out_by_hand_and_by_scipy() -> None:
    assert beta_quantile(torch.tensor(0.75), torch.tensor(0.5)).item() == pytest.approx(1 - 0.25**2)
    assert beta_quantile(torch.tensor(0.3), torch.tensor(1.0)).item() == pytest.approx(0.3)
    u = np.linspace(0, 0.999, 50)
    for b in (0.005, 0.0525, 0.5, 1.0):
        ours = beta_quantile(torch.from_numpy(u), torch.tensor(b, dtype=torch.float64))
        assert ours.numpy() == pytest.approx(stats.beta.ppf(u, 1, b), abs=1e-9)


@pytest.mark.parametrize("basef", [0.8, 0.95, 0.995])
def test_the_weights_move_from_the_graph_to_the_classifier(basef: float) -> None:
    environment = still_environment(logits=[[[0.0, 0.0]] * 60] * 500, budget=50)
    strategy = Age(basef=basef)
    environment.begin(strategy)
    for labels in (0, 10, 50):
        while environment.step < labels:
            environment.query(environment.pool.int().argmax(1))
        weights = strategy._weights_now(environment.observe())
        assert weights.shape == (500, 3)
        assert torch.allclose(weights.sum(1), torch.ones(500)) and torch.equal(weights[:, 0], weights[:, 2])
        b = 1.005 - basef**labels
        assert weights[:, 1].mean().item() == pytest.approx(1 / (1 + b), abs=0.06)  # the mean of Beta(1, b)


def test_every_run_may_have_a_basef_of_its_own() -> None:
    environment = still_environment(logits=[[[0.0, 0.0]] * 60] * 3, budget=20)
    strategies = [Age(basef=[0.5, 0.95, 0.995]), Age(basef=0.5), Age(), Age(basef=0.995)]
    found = []
    for strategy in strategies:
        environment = still_environment(logits=[[[0.0, 0.0]] * 60] * 3, budget=20)
        environment.begin(strategy)
        for _ in range(10):
            environment.query(environment.pool.int().argmax(1))
        found.append(strategy._weights_now(environment.observe()))
    for run in range(3):
        assert torch.allclose(found[0][run], found[1 + run][run])
    assert strategies[0].identity() == {"basef": [0.5, 0.95, 0.995]} and strategies[2].identity() == {"basef": 0.95}
    assert Age((0, 1, 0), basef=0.5).identity() == Age((0, 1, 0)).identity()  # fixed weights make no use of it


@pytest.mark.parametrize("basef", [-0.1, 1.5, float("nan"), "much", [[0.9]], None])
def test_a_bad_basef_is_refused(basef: object) -> None:
    with pytest.raises(InputError, match="basef must be a number between 0 and 1"):
        Age(basef=basef)  # type: ignore[arg-type]


STAR = [(0, node) for node in range(1, 5)] + [(5, 6), (5, 7), (8, 9)]
"""Node 0 is the most central one, then 5."""


def test_one_heuristic_alone() -> None:
    # entropy falls from node 9 to node 0; 6 lies in the midst of the larger cluster
    logits = [[[float(9 - node), 0.0] for node in range(10)]]
    environment = still_environment(logits=logits, edges=STAR)
    for weights, expected in (((1, 0, 0), 9), ((0, 1, 0), 0), ((0.5, 0, 0), 9)):
        strategy = Age(weights)
        environment.begin(strategy)
        assert strategy.scores(environment.observe()).argmax(1).tolist() == [expected]


def test_density_is_nearness_to_a_centre() -> None:
    probabilities = torch.tensor([[0.98, 0.02], [0.96, 0.04], [0.9, 0.1], [0.03, 0.97], [0.05, 0.95], [0.3, 0.7]])
    environment = still_environment(logits=[probabilities.log().tolist()])
    strategy = Age((0, 0, 1))
    environment.begin(strategy)
    scores = strategy.scores(environment.observe())[0]
    # the centres are (0.947, 0.053) and (0.127, 0.873): distances along one axis 0.033, 0.013, 0.047, 0.097, 0.077,
    # 0.173
    assert scores.argsort(descending=True).tolist() == [1, 0, 2, 4, 3, 5]


def test_every_run_has_weights_of_its_own() -> None:
    graph = GraphTensors(block_graph())
    splits = draw_splits(graph, 3, 0)

    def play(strategy: object) -> torch.Tensor:
        return rollout(Environment(graph, learner("gcn", graph, 3), 3, 1), strategy, splits, 0)  # type: ignore[arg-type]

    mixed = play(Age([[1, 0, 0], [0, 1, 0], [0, 0, 1]]))
    assert mixed[0] == play(Uncertainty())[0]
    assert mixed[1] == play(Centrality("pagerank"))[1]
    assert mixed[2] == play(Age((0, 0, 1)))[2]


def test_ties_at_random() -> None:
    environments = [still_environment(logits=[[[0.0, 0.0]] * 6], seed=seed) for seed in range(40)]
    first = set()
    for environment in environments:
        strategy = Age()
        environment.begin(strategy)
        first.add(next_choice(environment, strategy)[0])
    assert first == set(range(6))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ((1.0, 2.0), "three weights"),
        ([[[1.0, 0.0, 0.0]]], "three weights"),
        ((0.5, -0.1, 0.6), "none below 0"),
        ((0.0, 0.0, 0.0), "not all 0"),
        ((float("nan"), 0.5, 0.5), "finite"),
        (("a", "b", "c"), "must be numbers"),
    ],
)
def test_bad_weights_are_refused(weights: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Age(weights)  # type: ignore[arg-type]


def test_weights_for_other_runs_are_refused() -> None:
    with pytest.raises(InputError, match="weights for 2 runs, but 1 are played"):
        Age([[1, 0, 0], [0, 1, 0]]).begin(still_environment(logits=[[[0.0, 0.0]] * 6]).observe())
    with pytest.raises(InputError, match="weights for 2 runs, but 1 are played: give one basef a run"):
        Age(basef=[0.9, 0.8]).begin(still_environment(logits=[[[0.0, 0.0]] * 6]).observe())
