"""The decision process: its contract, what it refuses, and that it keeps the labels that were not asked to itself;
rollouts, splits and scores.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from nodewise.classifiers import Gcn
from nodewise.contracts import Observation, Strategy
from nodewise.environment import (
    Environment,
    Splits,
    SplitSizes,
    TestNodes,
    break_ties,
    choose,
    draw_splits,
    f1_scores,
    rollout,
)
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError
from nodewise.policy import Policy
from nodewise.policy.policy import StateSettings, state
from nodewise.strategies import Centrality, Learned, Random
from tests.environment.contract import check_environment
from tests.environment.fixed import Oracle, environment_of
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
        pytest.param(
            lambda: Graph.build([[], []], 30, x=np.eye(30, dtype=np.float32), y=np.arange(30) % 2), id="no edges"
        ),
        pytest.param(lambda: Graph.build([[0, 1], [1, 2]], 30, y=np.arange(30) % 4), id="no features"),
        pytest.param(lambda: random_graph(classes=1), id="one class"),
        pytest.param(
            lambda: Graph.build([[0, 1], [1, 2]], 30, y=np.arange(30) % 2, class_names=["a", "b", "never"]),
            id="a class that no node has",
        ),
    ],
)
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


@pytest.mark.parametrize(
    "make", [Random, Centrality, lambda: Learned(Policy(seed=3))], ids=["random", "centrality", "policy"]
)
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
    scrambled[rest] = (
        scrambled[rest] + rng.integers(1, 3, len(rest))
    ) % 3  # every label that no run asked is now another
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


@pytest.mark.slow
def test_runs_together_score_as_the_same_runs_one_by_one() -> None:
    """Sixty runs in batches of ten, and the same splits one run at a time: the paired differences have a mean of
    zero.
    """
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


def test_only_the_pools_best_get_noise() -> None:
    observation = environment_of([], [[[0.5, 0.5]] * 5]).observe()
    observation.pool[0, 4] = False
    scores = torch.tensor([[2.0, 1.0, 2.0, 0.0, 9.0]], dtype=torch.float64)
    expected = scores.clone()
    expected[0, [0, 2]] += observation.noise[0, [0, 2]]
    assert torch.equal(break_ties(scores, observation), expected)


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


def labelled(nodes: int, unlabelled: tuple[int, ...] = (), device: str = "cpu") -> GraphTensors:
    y = np.arange(nodes) % 3
    y[list(unlabelled)] = -1
    return GraphTensors(Graph.build([[0], [1]], nodes, y=y, name="some"), device)


@pytest.mark.parametrize(
    ("nodes", "test", "validation"),
    [
        (34493, 1000, 500),
        (2708, 1000, 500),
        (2251, 1000, 500),
        (2250, 562, 562),
        (100, 25, 25),
        (86, 21, 21),
        (85, 21, 21),
        (84, 21, 21),
        (4, 1, 1),
    ],
)
def test_sizes_are_the_protocol_s(nodes: int, test: int, validation: int) -> None:
    assert SplitSizes.default(nodes) == SplitSizes(test, validation)


def test_every_labelled_node_is_in_exactly_one_part() -> None:
    hidden = (3, 50, 99)
    splits = draw_splits(labelled(100, hidden), 6, seed=0)
    assert splits.test.shape == splits.validation.shape == (6, 24)  # a quarter of 97
    assert splits.pool.shape == (6, 100) and splits.pool.dtype == torch.bool
    for run in range(6):
        parts = (splits.test[run], splits.validation[run], torch.nonzero(splits.pool[run])[:, 0])
        assert torch.cat(parts).sort().values.tolist() == [node for node in range(100) if node not in hidden]


def test_runs_and_seeds_differ() -> None:
    graph = labelled(100)
    splits = draw_splits(graph, 5, seed=0)
    assert len(splits.test.unique(dim=0)) == 5
    assert not torch.equal(draw_splits(graph, 5, seed=1).test, splits.test)


@pytest.mark.parametrize("device", DEVICES)
def test_a_run_has_its_split_however_runs_are_batched_and_wherever(device: str) -> None:
    whole = draw_splits(labelled(100), 10, seed=4)
    graph = labelled(100, device=device)
    for first, runs in ((0, 10), (0, 3), (3, 7), (9, 1)):
        part = draw_splits(graph, runs, seed=4, first_run=first)
        for name in ("test", "validation", "pool"):
            got = getattr(part, name)
            assert got.device.type == device
            assert torch.equal(got.cpu(), getattr(whole, name)[first : first + runs])


def test_every_node_is_as_likely_as_any_other() -> None:
    splits = draw_splits(labelled(40), 2000, seed=0)
    shares = torch.bincount(splits.test.ravel(), minlength=40) / 2000
    assert (shares - 0.25).abs().max() < 4.5 * (0.25 * 0.75 / 2000) ** 0.5


def test_other_sizes_can_be_asked_for() -> None:
    splits = draw_splits(labelled(100), 2, seed=0, sizes=SplitSizes(7, 11))
    assert splits.test.shape[1] == 7 and splits.validation.shape[1] == 11
    assert splits.pool.sum(1).tolist() == [82, 82]


def test_a_graph_without_labels_is_refused() -> None:
    for graph in (
        Graph.build([[0], [1]], 50, name="bare"),
        Graph.build([[0], [1]], 50, y=[-1] * 50, class_names=["a"], name="bare"),
    ):
        with pytest.raises(InputError, match="graph 'bare' has no labels"):
            draw_splits(GraphTensors(graph), 1, seed=0)


@pytest.mark.parametrize(
    ("nodes", "sizes"), [(3, None), (10, SplitSizes(5, 5)), (10, SplitSizes(0, 2)), (10, SplitSizes(2, 0))]
)
def test_splits_that_leave_nothing_are_refused(nodes: int, sizes: SplitSizes | None) -> None:
    with pytest.raises(InputError, match=f"graph 'some' has {nodes} labelled nodes, too few for"):
        draw_splits(labelled(nodes), 1, seed=0, sizes=sizes)


def test_by_hand() -> None:
    truth = torch.tensor([[0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 1, 1]])
    guess = torch.tensor([[0, 1, 1, 1, 2, 0], [0, 0, 0, 0, 0, 0]])
    scores = f1_scores(guess, truth, 4)
    assert scores.micro.tolist() == pytest.approx([4 / 6, 4 / 6])
    # class 0: 2·1/(2+2), class 1: 2·2/(2+3), class 2: 2·1/(2+1); class 3 occurs nowhere.   Second run: 2·4/(4+6) and 0
    assert scores.macro.tolist() == pytest.approx([(0.5 + 0.8 + 2 / 3) / 3, 0.8 / 2])


@pytest.mark.parametrize("device", DEVICES)
@given(st.integers(1, 9), st.integers(1, 60), st.integers(1, 4), st.integers(0, 2**32 - 1))
@pytest.mark.slow
def test_as_scikit_learn_has_them(device: str, classes: int, nodes: int, runs: int, seed: int) -> None:
    """Small sets of nodes, so that classes are often absent from the truth, the guess or both."""
    rng = np.random.default_rng(seed)
    truth, guess = rng.integers(0, classes, (2, runs, nodes))
    guess = np.where(rng.random((runs, nodes)) < 0.5, truth, guess)
    scores = f1_scores(torch.from_numpy(guess).to(device), torch.from_numpy(truth).to(device), classes)
    for run in range(runs):
        for got, average in ((scores.micro, "micro"), (scores.macro, "macro")):
            assert float(got[run]) == pytest.approx(f1_score(truth[run], guess[run], average=average), abs=1e-6)


def test_test_nodes_of_a_known_graph_may_be_named_and_masks_must_fit() -> None:
    graph = Graph.build([[0, 1], [1, 2]], 4, y=[0, 1, 0, 1], node_names=["ann", "bob", "cy", "dora"])
    for nodes in ([1, 3], ["dora", "bob"], [False, True, False, True], torch.tensor([False, True, False, True])):
        assert TestNodes.of(nodes, graph).columns == ((1, 3),)
    masks = np.array([[True, False], [False, True], [False, False], [True, True]])
    assert TestNodes.of(masks, graph).columns == ((0, 3), (1, 3))
    with pytest.raises(InputError, match="a mask needs one True or False for each of the 4 nodes"):
        TestNodes.of([True, False], graph)
    with pytest.raises(InputError, match="test nodes are 4 zeros and ones"):
        TestNodes.of([0, 1, 0, 1], graph)
