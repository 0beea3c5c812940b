"""One task, one function that plays it: chunks, several budgets from one episode, graphs by reference; edited chunks
are not believed.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nodewise.classifiers import Gcn, make_classifier
from nodewise.contracts import Classifier, Learner, Observation, Strategy
from nodewise.datasets import synthetic_graph
from nodewise.environment import Environment, SplitSizes, TestNodes, draw_splits, rollout
from nodewise.evaluation.engine import LocalEngine
from nodewise.evaluation.task import Chunk, ChunkStore, GraphReference, Task, default_splits
from nodewise.graph import Graph, preprocess, write_graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import derive_seed
from nodewise.ground.errors import InputError
from nodewise.policy import Policy
from nodewise.strategies import STRATEGIES, Learned, Random, make_strategy
from tests.learners import learner

RUNS = 3


def small(features: int = 8, sparse: bool = False) -> Graph:
    graph = synthetic_graph(nodes=120, classes=3, mean_degree=6, features=features, seed=3)
    return preprocess(graph, "binary") if sparse else graph


def strategy_named(name: str) -> Strategy:
    return Learned(Policy(seed=5)) if name == "policy" else make_strategy(name)


def task(graph: Graph, strategy: Strategy, *budgets: int, **more: Any) -> Task:
    return Task(
        GraphReference.of(graph),
        more.pop("classifier", Gcn()),
        strategy,
        budgets,
        7,
        more.pop("first", 0),
        RUNS,
        **more,
    )


def played(graph: Graph, one: Task) -> dict[int, Chunk]:
    engine = LocalEngine()
    engine.prepare(graph, one.graph, one.device)
    return engine.play_one(one)


def by_hand(
    graph: Graph, strategy: Strategy, budget: int, classifier: Classifier | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What an episode of that budget alone gives: micro and macro F1, percent, and the queries."""
    tensors = GraphTensors(graph)
    splits = draw_splits(tensors, RUNS, 7)
    environment = Environment.of(tensors, classifier or Gcn(), RUNS, budget)
    queries = rollout(environment, strategy, splits, derive_seed(7, "chunk", 0))
    micro, macro = (100 * part.double().numpy() for part in environment.score(splits.test))
    return micro, macro, queries.numpy()


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_every_point_of_a_curve_is_a_rollout_of_its_own(name: str) -> None:
    graph = small()
    if strategy_named(name).reads_budget:
        assert name not in {"gain", "random", "uncertainty", "centrality", "coreset", "kcenter", "age", "policy"}
        with pytest.raises(InputError, match="looks at its budget"):
            task(graph, strategy_named(name), 3, 9)
        return
    chunks = played(graph, task(graph, strategy_named(name), 9, 3, 4))
    assert sorted(chunks) == [3, 4, 9]
    for budget, chunk in chunks.items():
        micro, macro, queries = by_hand(graph, strategy_named(name), budget)
        assert np.array_equal(chunk.queries, queries)
        assert np.array_equal(chunk.micro_f1, micro) and np.array_equal(chunk.macro_f1, macro)


def test_closing_epochs_are_trained_at_every_point() -> None:
    graph = small()
    closed, left = (
        played(graph, task(graph, make_strategy("random"), 3, 6, classifier=Gcn(closing_epochs=epochs)))[3].micro_f1
        for epochs in (35, 0)
    )
    assert not np.array_equal(closed, left)


class Forgetful(Classifier):
    """The GCN, with learners that cannot go back."""

    name = "forgetful"

    def start(self, graph: GraphTensors, prepared: Any, runs: int, classes: int, budget: int) -> Learner:
        learner = Gcn(hidden=4, closing_epochs=3).start(graph, prepared, runs, classes, budget)
        learner.snapshot = lambda: None  # type: ignore[method-assign]
        return learner


def test_without_snapshots_every_budget_is_an_episode_of_its_own() -> None:
    graph = small()
    chunks = played(graph, task(graph, make_strategy("random"), 3, 6, classifier=Forgetful()))
    for budget in (3, 6):
        micro, _, queries = by_hand(graph, make_strategy("random"), budget, Gcn(hidden=4, closing_epochs=3))
        assert np.array_equal(chunks[budget].micro_f1, micro) and np.array_equal(chunks[budget].queries, queries)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_snapshot_brings_back_weights_optimiser_labels_and_dropout(sparse: bool) -> None:
    graph = GraphTensors(small(sparse=sparse))
    disturbed, undisturbed = learner("gcn", graph, RUNS), learner("gcn", graph, RUNS)

    def label(runs: Any, nodes: Sequence[int]) -> None:
        where = torch.tensor(nodes)[:, None]
        runs.add(where, graph.y[where])
        runs.fit()

    for runs in (disturbed, undisturbed):
        runs.reset(11)
        label(runs, [0, 1, 2])
    kept = disturbed.snapshot()
    for _ in range(2):  # a snapshot may be used more than once
        label(disturbed, [3, 4, 5])
        disturbed.fit()
        disturbed.reset(12)
        label(disturbed, [9, 9, 9])
        disturbed.restore(kept)
        assert torch.equal(disturbed.logits(), undisturbed.logits())
    for runs in (disturbed, undisturbed):
        label(runs, [6, 7, 8])
        runs.fit()
    assert torch.equal(disturbed.w0, undisturbed.w0) and torch.equal(disturbed.w1, undisturbed.w1)


def test_a_snapshot_of_a_fresh_classifier_has_no_history() -> None:
    graph = GraphTensors(small())
    runs = learner("gcn", graph, RUNS)
    runs.reset(1)
    kept, before = runs.snapshot(), runs.logits()
    where = torch.tensor([[0], [1], [2]])
    runs.add(where, graph.y[where])
    runs.fit()
    assert not torch.equal(before, runs.logits())
    runs.restore(kept)
    assert torch.equal(before, runs.logits())
    assert runs.labelled_count == 0


def test_a_strategy_that_does_not_say_is_taken_to_read_its_budget() -> None:
    class Silent(Strategy):
        name = "silent"

        def scores(self, observation: Observation) -> torch.Tensor:
            return observation.noise

    assert Silent().reads_budget
    with pytest.raises(InputError, match="strategy 'silent' looks at its budget"):
        task(small(), Silent(), 3, 9)


@pytest.mark.parametrize("wrong", [(), (0, 9), (-1,)])
def test_budgets_below_one_are_refused(wrong: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="runs and budgets must be at least 1"):
        task(small(), make_strategy("random"), *wrong)


def test_a_task_can_be_pickled_and_finds_its_graph_by_itself(tmp_path: Path) -> None:
    write_graph(small(), tmp_path / "small.npz")
    graph = preprocess(small(), "unit")
    for name in ("random", "policy", "age"):
        one = Task(GraphReference.of(graph, tmp_path / "small.npz"), Gcn(), strategy_named(name), (4,), 7, 0, RUNS)
        again = pickle.loads(pickle.dumps(one))
        assert again.key(4) == one.key(4) and again.path(4) == one.path(4)
        assert np.array_equal(LocalEngine().play_one(again)[4].micro_f1, played(graph, one)[4].micro_f1)


def test_a_graph_that_is_not_to_be_had_or_has_changed_is_told(tmp_path: Path) -> None:
    one = task(small(), make_strategy("random"), 4)
    with pytest.raises(InputError, match="lies in another process's memory: write it to a file"):
        LocalEngine().play_one(one)
    write_graph(synthetic_graph(nodes=90, classes=3, mean_degree=6, features=8, seed=4), tmp_path / "small.npz")
    moved = Task(GraphReference.of(small(), tmp_path / "small.npz"), Gcn(), make_strategy("random"), (4,), 7, 0, RUNS)
    with pytest.raises(InputError, match="has changed since the work began"):
        LocalEngine().play_one(moved)


def test_the_key_holds_all_that_the_numbers_depend_on() -> None:
    graph = small()
    base = task(graph, make_strategy("random"), 4)
    others = [
        task(preprocess(graph, "unit"), make_strategy("random"), 4),
        task(graph, make_strategy("random"), 4, classifier=Gcn(hidden=8)),
        task(graph, make_strategy("age"), 4),
        task(graph, make_strategy("age", settings={"weights": (0.2, 0.3, 0.5)}), 4),
        task(graph, make_strategy("random"), 4, first=RUNS),
        task(graph, make_strategy("random"), 4, splits=SplitSizes(10, 10)),
        task(graph, make_strategy("random"), 4, splits=TestNodes.of([1, 2, 3])),
        task(graph, make_strategy("random"), 4, score_on="validation"),
        task(graph, make_strategy("random"), 4, splits_of=(0, 0, 1)),
        task(graph, make_strategy("random"), 4, device="cuda"),
        Task(GraphReference.of(graph), Gcn(), make_strategy("random"), (4,), 8, 0, RUNS),
        Task(GraphReference.of(graph), Gcn(), make_strategy("random"), (4,), 7, 0, RUNS + 1),
    ]
    paths = [base.path(4), base.path(5), *(one.path(4) for one in others)]
    assert len(set(paths)) == len(paths)
    assert task(graph, make_strategy("random"), 4, classifier=make_classifier("gcn")).path(4) == base.path(4)


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["random", "age", "policy", "kcenter"])
def test_a_curve_on_a_gpu_is_that_of_single_rollouts(name: str) -> None:
    graph = synthetic_graph(nodes=400, classes=3, mean_degree=6, features=8, seed=3)
    chunks = played(graph, task(graph, strategy_named(name), 3, 9, device="cuda"))
    for budget, chunk in chunks.items():
        alone = played(graph, task(graph, strategy_named(name), budget, device="cuda"))[budget]
        assert np.array_equal(chunk.queries, alone.queries)
        assert np.allclose(chunk.micro_f1, alone.micro_f1, atol=2)


@pytest.mark.gpu
def test_a_snapshot_on_a_gpu_leaves_buffers_in_place() -> None:
    graph = GraphTensors(synthetic_graph(nodes=400, classes=3, mean_degree=6, features=8, seed=3), "cuda")
    runs = learner("gcn", graph, RUNS)
    runs.reset(1)
    where = torch.tensor([[0], [1], [2]], device="cuda")
    runs.add(where, graph.y[where])
    runs.fit()
    kept, before, place = runs.snapshot(), runs.logits().clone(), runs.w0.data_ptr()
    runs.fit()
    assert not torch.allclose(before, runs.logits())
    runs.restore(kept)
    assert torch.allclose(before, runs.logits(), atol=1e-5) and runs.w0.data_ptr() == place


def test_a_graph_of_the_protocol_has_its_own_split_sizes() -> None:
    edges = [[0, 1], [1, 2]]
    assert default_splits(Graph.build(edges, 85, y=np.arange(85) % 3, name="reddit-case-study")) == SplitSizes(20, 20)
    assert default_splits(Graph.build(edges, 86, y=np.arange(86) % 3, name="reddit-case-study")) is None, (
        "another graph of that name"
    )
    assert default_splits(Graph.build(edges, 85, y=np.arange(85) % 3, name="mine")) is None


TASK = Task(GraphReference("g", "f"), Gcn(), Random(), (2,), seed=0, first=0, runs=2)


def kept(folder: Path) -> Path:
    chunk = Chunk(np.array([50.0, 60.0]), np.array([40.0, 50.0]), np.array([[3, 1], [0, 2]]), 0.1)
    ChunkStore(folder).save(TASK, 2, chunk)
    return folder / TASK.path(2)


def test_a_chunk_is_read_as_it_was_kept(tmp_path: Path) -> None:
    kept(tmp_path)
    chunk = ChunkStore(tmp_path).load(TASK, 2)
    assert chunk is not None and chunk.micro_f1.tolist() == [50, 60] and chunk.queries.tolist() == [[3, 1], [0, 2]]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("micro_f1", [1e9, 60.0]),
        ("micro_f1", [float("nan"), 60.0]),
        ("macro_f1", [-1.0, 60.0]),
        ("micro_f1", [50.0]),
        ("queries", [[3, 3], [0, 2]]),
        ("queries", [[3], [0]]),
        ("queries", [[-1, 1], [0, 2]]),
        ("seconds", -1),
    ],
)
def test_an_edited_chunk_is_played_again(tmp_path: Path, name: str, value: object) -> None:
    path = kept(tmp_path)
    path.write_text(json.dumps({**json.loads(path.read_text()), name: value}))
    assert ChunkStore(tmp_path).load(TASK, 2) is None
