"""What every registered strategy must do."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nodewise.classifiers import Gcn
from nodewise.contracts import Strategy
from nodewise.environment import Environment, Splits, SplitSizes, draw_splits, rollout
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.strategies import STRATEGIES
from tests.learners import learner
from tests.small_graphs import KINDS, Kind, block_graph, random_graph, relabelled, with_labels
from tests.strategies.stages import strategy_named

NAMES = sorted(STRATEGIES)
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
EXACT = Gcn(hidden=8, dropout=0.0, closing_epochs=1)
"""Without dropout, whose draws are dealt out over all runs, a run's classifier is the same to the bit in any company."""


def play(
    graph: Graph | GraphTensors, name: str | Strategy, *, runs: int = 3, budget: int = 6, seed: int = 0, splits: Splits | None = None,
    device: str = "cpu", settings: Gcn = EXACT,
) -> torch.Tensor:  # fmt: skip
    tensors = graph if isinstance(graph, GraphTensors) else GraphTensors(graph, device)
    environment = Environment(tensors, learner("gcn", tensors, runs, settings), runs, budget)
    strategy = strategy_named(name) if isinstance(name, str) else name
    return rollout(environment, strategy, splits or draw_splits(tensors, runs, 0), seed).cpu()


def narrow_splits(tensors: GraphTensors, runs: int, pool: int, seed: int = 0) -> Splits:
    """Splits that leave only so many nodes in the pool."""
    held_out = tensors.num_nodes - pool
    return draw_splits(tensors, runs, seed, sizes=SplitSizes(held_out // 2, held_out - held_out // 2))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_asks_nodes_of_the_pool_each_once(name: str, kind: Kind, device: str) -> None:
    tensors = GraphTensors(random_graph(kind), device)
    splits = draw_splits(tensors, 3, 0)
    asked = play(tensors, name, budget=8, splits=splits)
    assert asked.shape == (3, 8)
    assert splits.pool.cpu().gather(1, asked).all()
    assert all(len(set(row)) == 8 for row in asked.tolist())


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", NAMES)
def test_follows_from_the_seed(name: str, device: str) -> None:
    graph = block_graph()
    used = strategy_named(name)
    first = play(graph, used, device=device, settings=Gcn())
    play(graph, used, device=device, runs=2, budget=3)  # an episode of another size in between leaves nothing behind
    assert torch.equal(play(graph, used, device=device, settings=Gcn()), first)
    assert torch.equal(play(graph, name, device=device, settings=Gcn()), first)
    if name not in ("centrality", "centrality-pagerank"):
        assert not torch.equal(play(graph, name, device=device, seed=1, settings=Gcn()), first)


@pytest.mark.parametrize("name", NAMES)
def test_runs_do_not_see_each_other(name: str) -> None:
    tensors = GraphTensors(block_graph())
    one, other = draw_splits(tensors, 3, 0), draw_splits(tensors, 3, 99)
    mixed = Splits(
        *(torch.cat([a[:1], b[1:]]) for a, b in ((one.test, other.test), (one.validation, other.validation), (one.pool, other.pool)))
    )
    together, apart = play(tensors, name, splits=one), play(tensors, name, splits=mixed)
    assert torch.equal(together[0], apart[0])
    assert not torch.equal(together[1:], apart[1:])


@pytest.mark.parametrize("name", NAMES)
def test_runs_with_the_same_labels_in_another_order_of_runs(name: str) -> None:
    """Equal runs but for their noise: what is asked of run 0 does not change when runs 1 and 2 change places."""
    tensors = GraphTensors(block_graph())
    splits = draw_splits(tensors, 3, 0)
    swapped = Splits(*(part[[0, 2, 1]] for part in (splits.test, splits.validation, splits.pool)))
    assert torch.equal(play(tensors, name, splits=splits)[0], play(tensors, name, splits=swapped)[0])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", NAMES)
def test_labels_that_were_not_asked_for_change_nothing(name: str, device: str) -> None:
    graph = block_graph()
    asked = play(graph, name, device=device)
    others = np.setdiff1d(np.arange(graph.num_nodes), asked.numpy())
    assert graph.y is not None
    y = graph.y.copy()
    y[others] = np.random.default_rng(0).permutation(y[others])
    assert (y != graph.y).sum() > 50
    assert torch.equal(play(with_labels(graph, y), name, device=device), asked)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", NAMES)
def test_works_without_features(name: str, device: str) -> None:
    whole = block_graph()
    graph = Graph.build(whole.edge_index, whole.num_nodes, y=whole.y)
    assert play(graph, name, device=device).shape == (3, 6)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("edges", [0, 1, 5])
@pytest.mark.parametrize("name", NAMES)
def test_works_where_most_nodes_are_isolated(name: str, edges: int, device: str) -> None:
    whole = random_graph("dense")
    tensors = GraphTensors(Graph.build(whole.edge_index[:, :edges], whole.num_nodes, x=whole.x, y=whole.y), device)
    splits = draw_splits(tensors, 3, 0)
    assert splits.pool.cpu().gather(1, play(tensors, name, splits=splits)).all()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", NAMES)
def test_takes_the_last_node_of_the_pool(name: str, device: str) -> None:
    tensors = GraphTensors(random_graph("dense"), device)
    splits = narrow_splits(tensors, 3, 4)
    asked = play(tensors, name, budget=4, splits=splits)
    assert torch.equal(torch.zeros(3, 40, dtype=torch.bool).scatter_(1, asked, True), splits.pool.cpu())
    splits = narrow_splits(tensors, 3, 1)
    assert torch.equal(play(tensors, name, budget=1, splits=splits)[:, 0], splits.pool.cpu().int().argmax(1))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", NAMES)
def test_works_with_one_class(name: str, device: str) -> None:
    graph = random_graph("dense")
    tensors = GraphTensors(Graph.build(graph.edge_index, graph.num_nodes, x=graph.x, y=np.zeros(40, dtype=np.int64)), device)
    splits = draw_splits(tensors, 3, 0)
    assert splits.pool.cpu().gather(1, play(tensors, name, splits=splits)).all()


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


class Reordered(Environment):
    """The environment of a reordered graph, with every node's own noise."""

    order: torch.Tensor

    def uniform(self, purpose: str, shape: tuple[int, ...]) -> torch.Tensor:
        drawn = super().uniform(purpose, shape)
        return drawn[..., self.order] if shape[-1] == len(self.order) else drawn


@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_nodes_does_not_matter(name: str) -> None:
    graph = block_graph()
    order = np.random.default_rng(1).permutation(graph.num_nodes)
    tensors, turned = (GraphTensors(g, dtype=torch.float64) for g in (graph, relabelled(graph, order)))
    splits, place = draw_splits(tensors, 3, 0), torch.from_numpy(np.argsort(order))
    moved = Splits(place[splits.test], place[splits.validation], splits.pool[:, torch.from_numpy(order)])
    asked = play(tensors, name, splits=splits, budget=8)
    environment = Reordered(turned, learner("gcn", turned, 3, EXACT), 3, 8)
    environment.order = torch.from_numpy(order)
    assert torch.equal(rollout(environment, strategy_named(name), moved, 0), place[asked])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", NAMES)
def test_scores_are_numbers_of_the_graphs_kind(name: str, device: str) -> None:
    tensors = GraphTensors(block_graph(), device)
    environment = Environment(tensors, learner("gcn", tensors, 2, EXACT), 2, 4)
    strategy = strategy_named(name)
    with torch.no_grad():
        environment.reset(0, draw_splits(tensors, 2, 0))
        environment.begin(strategy)
        for _ in range(4):
            scores = strategy.scores(environment.observe())
            assert scores.shape == (2, tensors.num_nodes)
            assert scores.dtype == torch.float32 and scores.device == tensors.degree.device
            assert torch.isfinite(scores[environment.pool]).all()
            environment.query(scores.masked_fill(~environment.pool, -torch.inf).argmax(1))
            environment.learner.fit()


@pytest.mark.gpu
@pytest.mark.parametrize("name", [name for name in NAMES if strategy_named(name).recordable])
def test_a_recorded_step_chooses_as_a_played_one(name: str) -> None:
    tensors = GraphTensors(block_graph(), "cuda")
    recorded, played = strategy_named(name), strategy_named(name)
    played.recordable = False
    environment = Environment(tensors, learner("gcn", tensors, 3), 3, 6)
    for seed in range(3):
        splits = draw_splits(tensors, 3, seed)
        replayed = rollout(environment, recorded, splits, seed)
        assert torch.equal(replayed.cpu(), play(tensors, played, seed=seed, splits=splits, settings=Gcn()))


class SharedNoise(Environment):
    """An environment whose noise is the CPU's on any device."""

    def uniform(self, purpose: str, shape: tuple[int, ...]) -> torch.Tensor:
        from nodewise.ground.seeds import numpy_generator

        return torch.from_numpy(numpy_generator(self.seed, purpose, self.step).random(shape, dtype="float32")).to(self.graph.device)


@pytest.mark.gpu
@pytest.mark.parametrize("name", [name for name in NAMES if name != "centrality-pagerank"])  # rounding moves its ranks by whole numbers
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
