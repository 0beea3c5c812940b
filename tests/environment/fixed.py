"""An environment whose classifier's predictions are given, so that states can be computed by hand."""

from __future__ import annotations

import numpy as np
import torch

from nodewise.contracts import Learner
from nodewise.environment import Environment, Splits
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors


class Oracle(Learner):
    """A learner that predicts what it was told to: logits [run, node, class]."""

    def __init__(self, logits: torch.Tensor) -> None:
        self._logits, self.num_classes = logits, logits.shape[-1]
        self.closing_epochs = 0
        self.epochs = 0
        self.labels: list[tuple[list[int], list[int]]] = []

    def reset(self, seed: int) -> None:
        self.epochs, self.labels = 0, []

    def add(self, nodes: torch.Tensor, labels: torch.Tensor) -> None:
        self.labels.append((nodes[:, 0].tolist(), labels[:, 0].tolist()))

    def fit(self) -> None:
        self.epochs += 1

    def finish(self, reporter: object = None) -> None:
        self.epochs += self.closing_epochs

    def embedding(self) -> torch.Tensor:
        return self._logits.relu()

    def logits(self) -> torch.Tensor:
        return self._logits


def environment_of(
    edges: list[tuple[int, int]], probabilities: list[list[list[float]]], budget: int = 2
) -> Environment:
    """An environment right after its reset, everything in the pool.

    Args:
        probabilities: what is predicted: [run, node, class].
    """
    p = torch.tensor(probabilities, dtype=torch.float64)
    runs, nodes, classes = p.shape
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    names = [f"class {label}" for label in range(classes)]
    graph = Graph.build(ends, nodes, y=np.arange(nodes) % classes, class_names=names)
    environment = Environment(GraphTensors(graph, dtype=torch.float64), Oracle(p.log()), runs, budget)
    nowhere = torch.zeros(runs, 1, dtype=torch.int64)
    environment.reset(0, Splits(nowhere, nowhere, torch.ones(runs, nodes, dtype=torch.bool)))
    return environment
