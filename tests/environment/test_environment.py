"""The decision process: its contract, what it refuses, and that it keeps the labels that were not asked to itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from nodewise.classifiers import Gcn
from nodewise.contracts import Observation, Strategy
from nodewise.environment import Environment, Splits, SplitSizes, draw_splits, rollout
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError
from nodewise.policy import Policy
from nodewise.policy.state import StateSettings, state
from nodewise.strategies import Centrality, Learned, Random
from tests.environment.contract import check_environment
from tests.learners import learner
from tests.small_graphs import KINDS, Kind, block_graph, random_graph, with_labels

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


def environment_on(
    graph: Graph, runs: int, budget: int, device: str = "cpu", dtype: torch.dtype = torch.float32, closing: int = 2
) -> Environment:
    return Environment.of(GraphTensors(graph, device, dtype), Gcn(closing_epochs=closing), runs, budget)


def partly_labelled() -> Graph:
    graph = random_graph()
    assert graph.y is not None
    return with_labels(graph, np.where(np.arange(graph.num_nodes) % 4 == 0, -1, graph.y))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_contract_is_kept_for_every_kind_of_features(kind: Kind, device: str) -> None:
    check_environment(environment_on(random_graph(kind), runs=3, budget=4, device=device))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "graph",
    [
        pytest.param(partly_labelled, id="some nodes without a label"),
        pytest.param(lambda: Graph.build([[], []], 30, x=np.eye(30, dtype=np.float32), y=np.arange(30) % 2), id="no edges"),
        pytest.param(lambda: Graph.build([[0, 1], [1, 2]], 30, y=np.arange(30) % 4), id="no features"),
        pytest.param(lambda: random_graph(classes=1), id="one class"),
        pytest.param(lambda: Graph.build([[0, 1], [1, 2]], 30, y=np.arange(30) % 2, class_names=["a", "b", "never"]), id="a class that no node has"),
    ],
)  # fmt: skip
def test_the_contract_is_kept_on_odd_graphs(graph: Callable[[], Graph], device: str) -> None:
    check_environment(environment_on(graph(), runs=2, budget=3, device=device))


@pytest.mark.parametrize("runs", [1, 7])
def test_the_contract_is_kept_for_one_run_and_many_and_in_double_precision(runs: int) -> None:
    check_environment(environment_on(random_graph(), runs, budget=2, dtype=torch.float64), SplitSizes(5, 5))


def test_a_whole_pool_can_be_asked() -> None:
    environment = environment_on(random_graph(nodes=20), runs=2, budget=10)
    asked = rollout(environment, Random(), draw_splits(environment.graph, 2, 0, sizes=SplitSizes(5, 5)), seed=0)
    assert not environment.pool.any()
    assert all(len(set(nodes)) == 10 for nodes in asked.tolist())


def test_a_budget_above_the_pool_is_refused_with_the_pool_s_size() -> None:
    environment = environment_on(random_graph(nodes=20), runs=2, budget=11)
    with pytest.raises(InputError, match="a budget of 11 queries is more than the pool's 10 nodes: lower the budget"):
        environment.reset(0, draw_splits(environment.graph, 2, 0))


@pytest.mark.parametrize("budget", [0, -3])
def test_a_budget_of_nothing_is_refused(budget: int) -> None:
    with pytest.raises(InputError, match=f"the budget must be at least 1, got {budget}"):
        environment_on(random_graph(), 1, budget)


class Watched(Strategy):
    """A strategy that keeps every state and choice of another."""

    def __init__(self, strategy: Strategy) -> None:
        self.strategy, self.name = strategy, strategy.name
        self.seen: list[torch.Tensor] = []

    def begin(self, observation: Observation) -> None:
        self.strategy.begin(observation)

    def scores(self, observation: Observation) -> torch.Tensor:
        scores = self.strategy.scores(observation)
        self.seen += [state(observation, StateSettings()).clone(), observation.embedding.clone(), scores.clone()]
        return scores


@pytest.mark.parametrize("make", [Random, Centrality, lambda: Learned(Policy(seed=3))], ids=["random", "centrality", "policy"])
def test_labels_that_were_not_asked_change_neither_state_nor_choice(make: Callable[[], Strategy]) -> None:
    graph = block_graph(nodes=80)
    assert graph.y is not None
    rng = np.random.default_rng(0)

    def play(which: Graph) -> tuple[torch.Tensor, list[torch.Tensor], torch.Tensor, Splits]:
        environment = environment_on(which, runs=3, budget=6, closing=5)
        splits = draw_splits(environment.graph, 3, seed=1)
        strategy = Watched(make())
        asked = rollout(environment, strategy, splits, seed=2)
        return asked, strategy.seen, environment.learner.logits(), splits

    asked, seen, logits, splits = play(graph)
    rest = np.setdiff1d(np.arange(80), asked.unique().numpy())
    scrambled = graph.y.copy()
    scrambled[rest] = (scrambled[rest] + rng.integers(1, 3, len(rest))) % 3  # every label that no run asked is now another
    asked_then, seen_then, logits_then, splits_then = play(with_labels(graph, scrambled))
    assert torch.equal(splits.test, splits_then.test)
    assert torch.equal(asked, asked_then)
    assert len(seen) == len(seen_then) == 18
    assert all(torch.equal(one, other) for one, other in zip(seen, seen_then, strict=True))
    assert torch.equal(logits, logits_then)


def test_labels_that_were_asked_do_change_the_state() -> None:
    graph = block_graph(nodes=80)
    assert graph.y is not None
    outputs = []
    for y in (graph.y, (graph.y + 1) % 3):
        environment = environment_on(with_labels(graph, y), runs=2, budget=3)
        strategy = Watched(Random())
        rollout(environment, strategy, draw_splits(environment.graph, 2, seed=1), seed=2)
        outputs.append(strategy.seen[-3])
    assert not torch.equal(*outputs)


def test_runs_together_score_as_the_same_runs_one_by_one() -> None:
    """Sixty runs in batches of ten, and the same splits one run at a time: the paired differences have a mean of zero."""
    graph = GraphTensors(block_graph())
    scores: dict[int, list[torch.Tensor]] = {10: [], 1: []}
    for runs, found in scores.items():
        environment = Environment(graph, learner("gcn", graph, runs), runs, 6)
        for first in range(0, 60, runs):
            splits = draw_splits(graph, runs, seed=3, first_run=first)
            rollout(environment, Random(), splits, seed=1000 * runs + first)
            found.append(environment.score(splits.test).micro)
    together, alone = (torch.cat(found) for found in scores.values())
    difference = (together - alone).double()
    assert together.mean() > 0.5
    assert difference.mean().abs() < 3 * difference.std() / 60**0.5
    assert 0.5 < together.std() / alone.std() < 2
