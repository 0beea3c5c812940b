"""The classifier `views` on whole graphs: any node order, any class order, anything missing."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nodewise.classifiers.views import construction
from nodewise.classifiers.views.views import Views, ViewsLearner
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from tests.learners import learner
from tests.small_graphs import block_graph, random_graph, relabelled, with_labels

NOTHING = np.zeros((2, 0), np.int64)


def taught(graph: Graph, nodes: np.ndarray) -> ViewsLearner:
    """A run that has learned the graph's own labels of these nodes."""
    started: ViewsLearner = learner("views", GraphTensors(graph), 1)
    assert graph.y is not None
    if len(nodes):
        started.add(torch.from_numpy(nodes)[None], torch.from_numpy(graph.y[nodes]).long()[None])
    return started


def probabilities(graph: Graph, nodes: np.ndarray) -> torch.Tensor:
    return torch.softmax(taught(graph, nodes).logits()[0], -1)


@pytest.mark.parametrize("graph", [block_graph(150), random_graph(nodes=200, columns=300)], ids=["blocks", "random"])
@pytest.mark.parametrize("count", [1, 6, 30])
def test_node_order_does_not_matter(graph: Graph, count: int) -> None:
    order = np.random.default_rng(7).permutation(graph.num_nodes)
    nodes = np.random.default_rng(8).permutation(graph.num_nodes)[:count]
    there = probabilities(relabelled(graph, order), np.argsort(order)[nodes])
    torch.testing.assert_close(probabilities(graph, nodes)[order], there, atol=1e-3, rtol=0)


@pytest.mark.parametrize("count", [1, 6, 30])
def test_class_order_does_not_matter(count: int) -> None:
    graph, order = block_graph(150), np.array([2, 0, 1])
    assert graph.y is not None
    nodes = np.random.default_rng(8).permutation(150)[:count]
    other = probabilities(with_labels(graph, order[graph.y]), nodes)
    torch.testing.assert_close(probabilities(graph, nodes), other[:, order], atol=1e-3, rtol=0)


def test_lanczos_way_gives_the_same_predictions(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(nodes=400, columns=350)
    nodes = np.arange(0, 400, 13)
    exact = probabilities(graph, nodes)
    monkeypatch.setattr(construction, "_DENSE", 10)
    assert (probabilities(graph, nodes) - exact).abs().max() < 1e-3


def test_forms_of_the_features_give_the_same_predictions() -> None:
    nodes = np.arange(0, 40, 4)
    torch.testing.assert_close(probabilities(random_graph("dense"), nodes), probabilities(random_graph("sparse"), nodes), atol=1e-4, rtol=0)


@pytest.mark.parametrize("missing", ["features", "edges", "both", "nothing"])
@pytest.mark.parametrize("count", [0, 1, 5, 40])
def test_whatever_is_missing_predictions_are_probabilities(missing: str, count: int) -> None:
    full = random_graph("dense")
    graph = Graph.build(
        NOTHING if missing in ("edges", "both") else full.edge_index, 40, x=None if missing in ("features", "both") else full.x, y=full.y
    )
    table = probabilities(graph, np.arange(count))
    assert torch.isfinite(table).all() and torch.allclose(table.sum(1), torch.ones(40), atol=1e-5)
    if not count:
        assert torch.allclose(table, torch.full((40, 3), 1 / 3), atol=1e-6)


def test_deterministic_to_the_bit() -> None:
    nodes = np.arange(0, 150, 7)
    assert torch.equal(probabilities(block_graph(150), nodes), probabilities(block_graph(150), nodes))


def test_what_can_be_learned_is_learned() -> None:
    graph = block_graph(150, signal=4.0)
    assert graph.y is not None
    nodes = np.concatenate([np.flatnonzero(graph.y == number)[:5] for number in range(3)])
    right = probabilities(graph, nodes).argmax(1).numpy() == graph.y
    assert right.mean() > 0.9


def test_leave_one_out_is_what_a_learner_without_the_label_predicts() -> None:
    """Not to the last digit: temperature and weights are those of all labels but for each label's own loss."""
    graph = block_graph(150)
    nodes = np.arange(0, 150, 6)
    left_out = taught(graph, nodes).leave_one_out()
    assert left_out is not None and left_out.shape == (1, 25, 3)
    refitted = torch.stack([probabilities(graph, np.delete(nodes, i))[nodes[i]] for i in range(25)])
    assert (left_out[0].argmax(1) == refitted.argmax(1)).float().mean() > 0.9
    assert (left_out[0] - refitted).abs().mean() < 0.05
    assert taught(graph, nodes[:0]).leave_one_out() is None


def test_a_class_nobody_has_named_yet() -> None:
    tensors = GraphTensors(block_graph(60))
    classifier = Views()
    started = classifier.start(tensors.unlabelled, tensors.prepared_by(classifier), 1, 0, 10)
    assert started.num_classes == 1 and started.logits().shape == (1, 60, 1)
    for number, name in enumerate("abc"):
        started.add_classes([name])
        started.add(torch.tensor([[number]]), torch.tensor([[number]]))
    known = classifier.start(tensors.unlabelled, tensors.prepared_by(classifier), 1, 3, 10)
    known.add(torch.tensor([[0, 1, 2]]), torch.tensor([[0, 1, 2]]))
    torch.testing.assert_close(started.logits(), known.logits(), atol=1e-5, rtol=0)
    started.reset(0)
    assert started.num_classes == 1


def test_more_labels_than_there_was_room_for() -> None:
    graph = block_graph(150)
    tensors, classifier = GraphTensors(graph), Views()
    small = classifier.start(tensors.unlabelled, tensors.prepared_by(classifier), 1, 3, 2)
    for node in range(9):
        small.add(torch.tensor([[node]]), tensors.y[None, [node]])
    torch.testing.assert_close(small.logits(), taught(graph, np.arange(9)).logits(), atol=1e-4, rtol=0)
