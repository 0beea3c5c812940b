"""Weights that alone carry the classes are used by classifiers and strategies; a common factor changes nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import nodewise as nw
from nodewise.classifiers import Gcn, Views
from nodewise.contracts import Capability, can
from nodewise.evaluation.copies import graph_copies
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
        return nw.evaluate(graph, "random", classifier=classifier, runs=2, budget=15).micro_f1.mean()

    assert score(GRAPH) > 85
    assert score(replace(GRAPH, edge_weight=None)) < 45


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
    assert nw.evaluate(graph, "random", runs=3, budget=15).micro_f1.mean() > 90
    assert nw.evaluate(replace(graph, edge_weight=None), "random", runs=3, budget=15).micro_f1.mean() < 45


def test_copies_keep_the_weights_of_the_edges_that_stay() -> None:
    graph = nw.Graph.build([[0, 0, 1, 2, 3], [1, 2, 3, 4, 4]], 5, edge_weight=[1, 2, 3, 4, 5], y=[0, 1, 0, 1, 0])
    for copy in graph_copies(graph, copies=3):
        assert copy.num_nodes == 4
        weights = set() if copy.edge_weight is None else set(copy.edge_weight.tolist())
        assert weights <= {1, 2, 3, 4, 5}
