"""What every registered strategy must do."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nodewise.classifiers import Gcn
from nodewise.contracts import Strategy
from nodewise.environment import Environment, Splits, draw_splits, rollout
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.strategies import STRATEGIES
from nodewise.testing import check_strategy
from tests.learners import learner
from tests.small_graphs import block_graph
from tests.strategies.stages import strategy_named

NAMES = sorted(STRATEGIES)
WHATEVER_THE_SEED = {"centrality", "centrality-pagerank", "expected-error", "gain", "grain-ball", "grain-nn", "rim"}
"""Those that draw nothing on a small graph whose nodes differ."""

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
EXACT = Gcn(hidden=8, dropout=0.0, closing_epochs=1)
"""Without dropout, whose draws are dealt out over all runs, a run's classifier is the same to the bit in any company.
"""


def play(
    graph: Graph | GraphTensors,
    name: str | Strategy,
    *,
    runs: int = 3,
    budget: int = 6,
    seed: int = 0,
    splits: Splits | None = None,
    device: str = "cpu",
    settings: Gcn = EXACT,
) -> torch.Tensor:
    tensors = graph if isinstance(graph, GraphTensors) else GraphTensors(graph, device)
    environment = Environment(tensors, learner("gcn", tensors, runs, settings), runs, budget)
    strategy = strategy_named(name) if isinstance(name, str) else name
    return rollout(environment, strategy, splits or draw_splits(tensors, runs, 0), seed).cpu()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", NAMES)
def test_every_strategy_keeps_the_contract(name: str, device: str) -> None:
    check_strategy(strategy_named(name), device)


@pytest.mark.parametrize("name", NAMES)
def test_another_seed_asks_other_nodes(name: str) -> None:
    if name in WHATEVER_THE_SEED:
        pytest.skip("asks the same nodes whatever the seed")
    first, other = (play(block_graph(), name, seed=seed, settings=Gcn()) for seed in (0, 1))
    assert not torch.equal(first, other)


@pytest.mark.parametrize("name", NAMES)
def test_runs_with_the_same_labels_in_another_order_of_runs(name: str) -> None:
    """Equal runs but for their noise: what is asked of run 0 does not change when runs 1 and 2 change places."""
    tensors = GraphTensors(block_graph())
    splits = draw_splits(tensors, 3, 0)
    swapped = Splits(*(part[[0, 2, 1]] for part in (splits.test, splits.validation, splits.pool)))
    assert torch.equal(play(tensors, name, splits=splits)[0], play(tensors, name, splits=swapped)[0])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", NAMES)
def test_works_where_all_nodes_are_alike(name: str, device: str) -> None:
    """A ring of equal nodes: nothing but chance can choose."""
    nodes = np.arange(30)
    ring = Graph.build(np.stack([nodes, (nodes + 1) % 30]), 30, x=np.ones((30, 2), dtype=np.float32), y=nodes % 2)
    tensors = GraphTensors(ring, device)
    splits = draw_splits(tensors, 20, 0)
    asked = play(tensors, name, runs=20, budget=3, splits=splits)
    assert splits.pool.cpu().gather(1, asked).all()
    if name != "policy":  # whose argmax is the paper's, ties and all
        places = splits.pool.cpu().cumsum(1).gather(1, asked[:, :1])  # 1 would be the first node of the pool
        assert len(places.unique()) > 3


@pytest.mark.gpu
@pytest.mark.parametrize("name", [name for name in NAMES if strategy_named(name).recordable])
def test_a_recorded_step_chooses_as_a_played_one(name: str) -> None:
    tensors = GraphTensors(block_graph(), "cuda")
    recorded, played = strategy_named(name), strategy_named(name)
    object.__setattr__(played, "recordable", False)  # some are frozen
    environment = Environment(tensors, learner("gcn", tensors, 3), 3, 6)
    for seed in range(3):
        splits = draw_splits(tensors, 3, seed)
        replayed = rollout(environment, recorded, splits, seed)
        assert torch.equal(replayed.cpu(), play(tensors, played, seed=seed, splits=splits, settings=Gcn()))


class SharedNoise(Environment):
    """An environment whose noise is the CPU's on any device."""

    def uniform(self, purpose: str, shape: tuple[int, ...]) -> torch.Tensor:
        from nodewise.ground.compute import numpy_generator

        return torch.from_numpy(numpy_generator(self.seed, purpose, self.step).random(shape, dtype="float32")).to(
            self.graph.device
        )


@pytest.mark.gpu
@pytest.mark.parametrize(
    "name", [name for name in NAMES if name != "centrality-pagerank"]
)  # rounding moves its ranks by whole numbers
def test_scores_agree_between_cpu_and_gpu(name: str) -> None:
    graph, tables = block_graph(), []
    weights: list[torch.Tensor] = []
    for device in ("cpu", "cuda"):
        tensors = GraphTensors(graph, device)
        classifier = learner("gcn", tensors, 3, EXACT)
        environment, strategy = SharedNoise(tensors, classifier, 3, 6), strategy_named(name)
        with torch.no_grad():
            environment.reset(0, draw_splits(tensors, 3, 0))
            weights = weights or [classifier.w0.clone(), classifier.w1.clone()]
            classifier.w0.copy_(weights[0])
            classifier.w1.copy_(weights[1])
            environment.begin(strategy)
            for _ in range(4):
                scores = strategy.scores(environment.observe())
                tables.append(scores.masked_fill(~environment.pool, 0).cpu())
                environment.query(environment.pool.int().argmax(1))
    for one, other in zip(tables[:4], tables[4:], strict=True):
        close = torch.isclose(one, other, rtol=1e-3, atol=0.02)  # two nodes whose values nearly agree may change ranks
        assert close.float().mean() > 0.98
