"""A curve from one rollout is, to the bit, what rollouts of each budget give; and a snapshot brings a classifier back."""

from __future__ import annotations

import pytest
import torch

from nodewise.classifiers import make_classifier
from nodewise.datasets import synthetic_graph
from nodewise.environment import Environment, Observation, draw_splits, rollout
from nodewise.evaluation.curves import reads_budget, rollout_curve
from nodewise.graph import preprocess
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError
from nodewise.policy import Policy
from nodewise.strategies import STRATEGIES, Learned, make_strategy

RUNS = 3


def small(features: int = 8, sparse: bool = False) -> GraphTensors:
    graph = synthetic_graph(nodes=120, classes=3, mean_degree=6, features=features, seed=3)
    return GraphTensors(preprocess(graph, "binary") if sparse else graph)


def strategy_named(name: str):  # type: ignore[no-untyped-def]
    return Learned(Policy(seed=5)) if name == "policy" else make_strategy(name)


def play(graph: GraphTensors, budget: int) -> Environment:
    return Environment(graph, make_classifier("gcn", graph, RUNS), RUNS, budget)


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_every_point_of_a_curve_is_a_rollout_of_its_own(name: str) -> None:
    graph = small()
    splits = draw_splits(graph, RUNS, 0)
    if reads_budget(strategy_named(name)):
        assert name == "anrmab"
        with pytest.raises(InputError, match="looks at its budget"):
            rollout_curve(play(graph, 9), strategy_named(name), splits, 7, [3, 9])
        return
    curve = rollout_curve(play(graph, 9), strategy_named(name), splits, 7, [9, 3, 4])
    assert sorted(curve.scores) == [3, 4, 9]
    for budget, scores in curve.scores.items():
        environment = play(graph, budget)
        queries = rollout(environment, strategy_named(name), splits, 7)
        alone = environment.score(splits.test)
        assert torch.equal(curve.queries[:, :budget], queries)
        assert torch.equal(scores.micro, alone.micro) and torch.equal(scores.macro, alone.macro)


def test_closing_epochs_are_trained_at_every_point() -> None:
    graph = small()
    splits = draw_splits(graph, RUNS, 0)
    with_closing = rollout_curve(play(graph, 6), make_strategy("random"), splits, 7, [3, 6]).scores
    without = rollout_curve(play(graph, 6), make_strategy("random"), splits, 7, [3, 6], closing_epochs=0).scores
    assert not torch.equal(with_closing[3].micro, without[3].micro)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_snapshot_brings_back_weights_optimiser_labels_and_dropout(sparse: bool) -> None:
    graph = small(sparse=sparse)
    disturbed, undisturbed = make_classifier("gcn", graph, RUNS), make_classifier("gcn", graph, RUNS)

    def label(classifier, nodes: list[int]) -> None:  # type: ignore[no-untyped-def]
        where = torch.tensor(nodes)
        classifier.add_labels(where, graph.y[where])
        classifier.epoch()

    for classifier in (disturbed, undisturbed):
        classifier.reset(11)
        label(classifier, [0, 1, 2])
    kept = disturbed.snapshot()
    for _ in range(2):  # a snapshot may be used more than once
        label(disturbed, [3, 4, 5])
        disturbed.epoch()
        disturbed.reset(12)
        label(disturbed, [9, 9, 9])
        disturbed.restore(kept)
        assert torch.equal(disturbed.logits(), undisturbed.logits())
    for classifier in (disturbed, undisturbed):
        label(classifier, [6, 7, 8])
        classifier.epoch()
    assert torch.equal(disturbed.w0, undisturbed.w0) and torch.equal(disturbed.w1, undisturbed.w1)


def test_a_snapshot_of_a_fresh_classifier_has_no_history() -> None:
    classifier = make_classifier("gcn", small(), RUNS)
    classifier.reset(1)
    kept, before = classifier.snapshot(), classifier.logits()
    where = torch.tensor([0, 1, 2])
    classifier.add_labels(where, classifier.graph.y[where])
    classifier.epoch()
    assert not torch.equal(before, classifier.logits())
    classifier.restore(kept)
    assert torch.equal(before, classifier.logits())
    assert classifier.labelled_count == 0


def test_a_strategy_that_does_not_say_is_taken_to_read_its_budget() -> None:
    class Silent:
        name, capturable = "silent", False

        def begin(self, environment: Environment) -> None: ...

        def scores(self, observation: Observation) -> torch.Tensor:
            return observation.noise

    assert reads_budget(Silent())


def test_budgets_must_fit_the_environment() -> None:
    graph = small()
    splits = draw_splits(graph, RUNS, 0)
    for wrong in ([], [3], [0, 9], [3, 12]):
        with pytest.raises(InputError, match="environment's 9"):
            rollout_curve(play(graph, 9), make_strategy("random"), splits, 7, wrong)


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["random", "age", "policy", "kcenter"])
def test_a_curve_on_a_gpu_is_that_of_single_rollouts(name: str) -> None:
    graph = GraphTensors(synthetic_graph(nodes=400, classes=3, mean_degree=6, features=8, seed=3), "cuda")
    splits = draw_splits(graph, RUNS, 0)
    curve = rollout_curve(play(graph, 9), strategy_named(name), splits, 7, [3, 9])
    for budget, scores in curve.scores.items():
        environment = play(graph, budget)
        queries = rollout(environment, strategy_named(name), splits, 7)
        assert torch.equal(curve.queries[:, :budget], queries)
        assert torch.allclose(scores.micro, environment.score(splits.test).micro, atol=0.02)


@pytest.mark.gpu
def test_a_snapshot_on_a_gpu_leaves_buffers_in_place() -> None:
    graph = GraphTensors(synthetic_graph(nodes=400, classes=3, mean_degree=6, features=8, seed=3), "cuda")
    classifier = make_classifier("gcn", graph, RUNS)
    classifier.reset(1)
    where = torch.tensor([0, 1, 2], device="cuda")
    classifier.add_labels(where, graph.y[where])
    classifier.epoch()
    kept, before, place = classifier.snapshot(), classifier.logits().clone(), classifier.w0.data_ptr()
    classifier.epoch()
    assert not torch.allclose(before, classifier.logits())
    classifier.restore(kept)
    assert torch.allclose(before, classifier.logits(), atol=1e-5) and classifier.w0.data_ptr() == place
