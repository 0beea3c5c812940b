"""Weights that alone carry the classes are used by classifiers and strategies; a common factor changes nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import nodewise as nw
from nodewise.classifiers import Gcn, Views
from nodewise.contracts import Capability, can
from nodewise.evaluation.copies import graph_copies
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.events import Note


def told_by_weights(nodes: int = 240) -> nw.Graph:
    """Edges that join any two nodes, heavy ones within a class and light ones between classes."""
    draw = np.random.default_rng(0)
    y = draw.permutation(nodes) % 3
    edges = draw.integers(0, nodes, (2, 20 * nodes))
    weights = np.where(y[edges[0]] == y[edges[1]], 1.0, 0.05) * draw.uniform(0.8, 1.2, edges.shape[1])
    x = draw.standard_normal((nodes, 16)).astype(np.float32)
    return nw.Graph.build(edges, nodes, x=x, y=y, edge_weight=weights, name="weights")


GRAPH = told_by_weights()


@dataclass(frozen=True)
class BlindGcn(Gcn):
    """The GCN without a word of weights."""

    name = "blind"
    capabilities = frozenset[Capability]({"grow-classes"})


@pytest.mark.parametrize("classifier", ["views", "gcn"])
def test_classifiers_learn_from_weights_alone(classifier: str) -> None:
    def score(graph: nw.Graph) -> Any:
        return nw.evaluate(graph, "random", classifier=classifier, runs=4, budget=15).micro_f1.mean()

    assert score(GRAPH) > 90
    assert score(replace(GRAPH, edge_weight=None)) < 40  # chance is one in three


def predicted(graph: nw.Graph, classifier: Views | Gcn) -> np.ndarray:
    """The chances of all classes for every node, from eight labels."""
    tensors = GraphTensors(graph)
    assert graph.y is not None
    prepared = tensors.prepared_by(classifier)
    learner = classifier.start(tensors.unlabelled, prepared, 1, graph.num_classes, 8)
    nodes = np.arange(8)
    learner.add(torch.from_numpy(nodes)[None], torch.from_numpy(graph.y[nodes])[None])
    return learner.logits()[0].softmax(1).numpy()


@settings(max_examples=8)
@given(st.integers(0, 2**16), st.integers(-20, 20), st.floats(0.01, 100))
def test_what_is_predicted_does_not_depend_on_a_common_factor(seed: int, power: int, factor: float) -> None:
    draw = np.random.default_rng(seed)
    edges, weights = draw.integers(0, 40, (2, 120)), draw.uniform(0.05, 1.0, 120)
    x, y = draw.standard_normal((40, 6)).astype(np.float32), np.arange(40) % 3
    graph = nw.Graph.build(edges, 40, x=x, y=y, edge_weight=weights)
    assert graph.edge_weight is not None
    for classifier in (Views(), Gcn()):
        usual = predicted(graph, classifier)
        doubled = replace(graph, edge_weight=graph.edge_weight * np.float32(2.0**power))
        assert np.array_equal(predicted(doubled, classifier), usual)
        scaled = replace(graph, edge_weight=graph.edge_weight * np.float32(factor))
        np.testing.assert_allclose(predicted(scaled, classifier), usual, atol=1e-5)


@pytest.mark.parametrize(
    "strategy", ["gain", "age", "centrality-pagerank", "policy", "grain-ball", "graphpart", "rim", "igp"]
)
def test_a_common_factor_changes_no_choice(strategy: str) -> None:
    assert GRAPH.edge_weight is not None
    scaled = replace(GRAPH, edge_weight=GRAPH.edge_weight * np.float32(4))
    one, other = (nw.evaluate(graph, strategy, runs=2, budget=4).micro_f1.tolist() for graph in (GRAPH, scaled))
    assert one == other


def test_a_classifier_that_cannot_use_weights_is_given_none_and_that_is_said() -> None:
    said: list[Any] = []
    plain = replace(GRAPH, edge_weight=None)
    blind = nw.evaluate(GRAPH, "random", classifier=BlindGcn(), runs=2, budget=5, reporter=said.append)
    usual = nw.evaluate(plain, "random", classifier=Gcn(), runs=2, budget=5)
    assert blind.micro_f1.tolist() == usual.micro_f1.tolist()
    words = "the edges of 'weights' have weights: blind cannot use them, and is given none"
    assert words in [event.message for event in said if isinstance(event, Note)]
    assert can(Views(), "weights")
    assert can(Gcn(), "weights")


def test_the_data_set_of_that_kind_has_weights_that_alone_tell_the_classes() -> None:
    graph = nw.load_graph("sbm-weighted")
    assert graph.edge_weight is not None
    assert graph.homophily == pytest.approx(1 / 3, abs=1e-4)
    for classifier in ("views", "gcn"):
        assert nw.evaluate(graph, "random", classifier=classifier, runs=4, budget=15).micro_f1.mean() > 90
        plain = replace(graph, edge_weight=None)
        assert nw.evaluate(plain, "random", classifier=classifier, runs=4, budget=15).micro_f1.mean() < 40


def test_copies_keep_the_weights_of_the_edges_that_stay() -> None:
    graph = nw.Graph.build([[0, 0, 1, 2, 3], [1, 2, 3, 4, 4]], 5, edge_weight=[1, 2, 3, 4, 5], y=[0, 1, 0, 1, 0])
    for copy in graph_copies(graph, copies=3):
        assert copy.num_nodes == 4
        weights = set() if copy.edge_weight is None else set(copy.edge_weight.tolist())
        assert weights <= {1, 2, 3, 4, 5}
