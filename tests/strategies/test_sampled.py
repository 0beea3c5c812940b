"""Gain on a large graph: from a sample of nodes, in which it is what it is on a graph of these nodes."""

from __future__ import annotations

import pytest
import torch

from nodewise.classifiers import make_classifier
from nodewise.classifiers.views import graph_views
from nodewise.environment import Environment, choose, draw_splits, rollout
from nodewise.graph.tensors import GraphTensors
from nodewise.strategies import gain, make_strategy, sampled
from tests.small_graphs import block_graph


@pytest.fixture
def moment(monkeypatch: pytest.MonkeyPatch) -> Environment:
    """Eight labels of two runs on a graph of 300 nodes that counts as large, with a sample of 40."""
    tensors = GraphTensors(block_graph(300))
    environment = Environment.of(tensors, make_classifier("views"), 2, 12)
    environment.reset(0, draw_splits(tensors, 2, 0))
    for number in range(8):
        environment.query(torch.nonzero(environment.pool)[:, 1].view(2, -1)[:, 5 * number])
    monkeypatch.setattr(graph_views, "SAMPLED", 40)
    monkeypatch.setattr(gain, "LARGE_POOL", 100)
    monkeypatch.setattr(sampled, "_FEWEST", 10)
    return environment


def test_only_the_sample_is_scored_and_no_mean_of_all_nodes_is_computed(moment: Environment) -> None:
    scores = make_strategy("gain").scores(moment.observe())
    nodes = moment.learner.views.sample[0]  # type: ignore[attr-defined]
    assert len(nodes) == 40 and torch.equal(torch.nonzero(torch.isfinite(scores[0]))[:, 0], nodes)
    assert moment.learner._mean is None  # type: ignore[attr-defined]
    assert moment.pool.gather(1, choose(scores, moment.pool)[:, None]).all()


def test_a_sample_of_all_nodes_changes_nothing(moment: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_views, "SAMPLED", 300)
    whole = make_strategy("gain").scores(moment.observe())
    batch = make_strategy("gain").batch(moment.observe(), 4)
    monkeypatch.setattr(gain, "LARGE_POOL", 10**9)
    torch.testing.assert_close(make_strategy("gain").scores(moment.observe()), whole)
    assert batch is not None and torch.equal(batch, make_strategy("gain").batch(moment.observe(), 4))  # type: ignore[arg-type]


def test_where_few_may_be_asked_these_are_looked_at(moment: Environment) -> None:
    nodes = moment.learner.views.sample[0]  # type: ignore[attr-defined]
    moment.pool[:, nodes] = False
    moment.pool[:, 20:] = False
    asked = choose(make_strategy("gain").scores(moment.observe()), moment.pool)
    assert moment.pool.gather(1, asked[:, None]).all()
    batch = make_strategy("gain").batch(moment.observe(), 3)
    assert batch is not None and moment.pool.gather(1, batch).all()


def test_nodes_that_are_waited_for_are_taken_for_answered(moment: Environment) -> None:
    strategy, seen = make_strategy("gain"), moment.observe()
    first = strategy.batch(seen, 3)
    assert first is not None
    seen.labelled, seen.pool = seen.labelled.clone(), seen.pool.clone()
    seen.labelled[:, first[0, 0]] = True
    seen.pool[:, first[0, 0]] = False
    later = strategy.batch(seen, 2)
    assert later is not None and later[0, 0] != first[0, 0] and not (later == first[0, 0]).any()


def test_an_episode_by_samples(moment: Environment) -> None:
    queries = rollout(moment, make_strategy("gain"), draw_splits(moment.graph, 2, 0), 0)
    assert all(len(set(row)) == 12 for row in queries.tolist())
