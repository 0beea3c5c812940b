"""Every strategy, and every wrapped classifier, on graphs with weights, direction, relations and several labels."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from torch_geometric.nn import GCN

import nodewise as nw
from nodewise.classifiers import Committee, SklearnClassifier, TorchClassifier, make_classifier
from nodewise.datasets import directed_graph, library_graph, overlapping_graph
from nodewise.ground.errors import InputError
from nodewise.ground.events import Progress
from nodewise.strategies import list_strategies

pytestmark = pytest.mark.long


def weighted() -> nw.Graph:
    draws = np.random.default_rng(0)
    edges, weights = draws.integers(0, 40, (2, 160)), draws.uniform(0.1, 2.0, 160)
    return nw.Graph.build(edges, 40, x=draws.standard_normal((40, 4)), y=np.arange(40) % 3, edge_weight=weights)


KINDS = {"weighted": weighted(), "directed": directed_graph(40), "relational": library_graph(40)}
WRAPPED = {
    "sklearn": SklearnClassifier(LogisticRegression()),
    "torch": TorchClassifier(partial(GCN, hidden_channels=4, num_layers=2), epochs=3),
    "committee": Committee(make_classifier("gcn"), size=2),
}


def plays(graph: nw.Graph, strategy: str, classifier: Any) -> None:
    result = nw.evaluate(graph, strategy, classifier=classifier, runs=1, budget=2)
    assert np.isfinite(result.micro_f1).all()
    assert len(set(result.queries[0].tolist())) == 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("strategy", sorted(list_strategies()))
def test_every_strategy_plays(strategy: str, kind: str) -> None:
    plays(KINDS[kind], strategy, "gcn" if strategy == "bald-dropout" else "views")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("classifier", WRAPPED)
def test_wrapped_classifiers_play(classifier: str, kind: str) -> None:
    plays(KINDS[kind], "uncertainty", WRAPPED[classifier])


@pytest.mark.parametrize("strategy", sorted(list_strategies()))
def test_several_labels_are_played_or_refused_before_anything_is_done(strategy: str) -> None:
    said: list[Any] = []
    graph = overlapping_graph(40, 3, features=4)
    if strategy in ("gain", "uncertainty", "random", "centrality", "centrality-pagerank"):
        assert np.isfinite(nw.evaluate(graph, strategy, runs=1, budget=2).micro_f1).all()
        return
    classifier = "gcn" if strategy == "bald-dropout" else "views"  # which has no dropout that it could ask for
    with pytest.raises(InputError, match="cannot deal with several labels"):
        nw.evaluate(graph, strategy, classifier=classifier, runs=1, budget=2, reporter=said.append)
    assert not [event for event in said if isinstance(event, Progress)]
