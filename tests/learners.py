"""Learners for tests, in one call."""

from __future__ import annotations

from typing import Any

from nodewise.classifiers import Gcn, make_classifier
from nodewise.contracts import Classifier, Learner
from nodewise.graph.tensors import GraphTensors


def learner(
    name: str | Classifier, tensors: GraphTensors, runs: int, settings: Gcn | None = None, budget: int = 64
) -> Any:
    """Runs of a classifier on a graph, reset with seed 0."""
    classifier = settings or make_classifier(name)
    started: Learner = classifier.start(
        tensors.unlabelled, tensors.prepared_by(classifier), runs, tensors.num_classes, budget
    )
    started.reset(0)
    return started
