"""A node's state beside that of the others: all of them, or a sample where there are very many."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch

from nodewise.policy.policy import StateSettings, state
from nodewise.session.learning.learner import MANY_NODES, SessionLearner

__all__ = ["States", "states"]

_COMPARED = 2048
"""Nodes that a node is compared with on a large graph: shares of all nodes are right to about two percent."""

Array = npt.NDArray[Any]


class States(Protocol):
    """The paper's five features of nodes."""

    def of(self, node: int) -> Array:
        """A node's features: [feature]."""
        ...

    def share_below(self, column: int, node: int) -> float:
        """The share of the nodes that have less of a feature than a node."""
        ...


def states(learner: SessionLearner) -> States:
    """The states of the moment."""
    return _Sampled(learner) if learner.tensors.num_nodes >= MANY_NODES else _All(learner)


class _All:
    def __init__(self, learner: SessionLearner) -> None:
        self._table = state(learner.observation, StateSettings())[0].numpy()  # [node, feature]

    def of(self, node: int) -> Array:
        row: Array = self._table[node]
        return row

    def share_below(self, column: int, node: int) -> float:
        values = self._table[:, column]
        return float((values < values[node]).mean())


class _Sampled:
    """Features of nodes as they are asked for; divergences are scaled by the largest of the sample."""

    def __init__(self, learner: SessionLearner) -> None:
        self._learner = learner
        count = learner.tensors.num_nodes
        self._compared = self._features(np.arange(0, count, max(1, count // _COMPARED)))
        self._largest = np.maximum(self._compared[:, 2:4].max(0), 1e-6)
        self._compared[:, 2:4] /= self._largest

    def of(self, node: int) -> Array:
        row: Array = self._features(np.array([node]))[0]
        row[2:4] /= np.maximum(self._largest, row[2:4])
        return row

    def share_below(self, column: int, node: int) -> float:
        return float((self._compared[:, column] < self.of(node)[column]).mean())

    def _features(self, nodes: npt.NDArray[np.int64]) -> Array:
        """Entropy, degree, the divergences from and to the neighbours (section 3.2) and whether it is labelled: [node, feature]."""
        learner, around = self._learner, self._learner.tensors.adjacency
        starts, ends = around.crow[nodes].numpy().astype(np.int64), around.crow[nodes + 1].numpy().astype(np.int64)
        degree = ends - starts
        of_node = np.repeat(np.arange(len(nodes)), degree)  # for every edge the place of its node
        edges = np.arange(len(of_node)) - np.repeat(np.cumsum(degree) - degree, degree) + np.repeat(starts, degree)
        needed, places = np.unique(np.concatenate([nodes, around.col[edges].numpy()]), return_inverse=True)
        own, other = places[: len(nodes)], places[len(nodes) :]
        p = np.maximum(learner.probabilities_of(torch.from_numpy(needed.astype(np.int64))).double().numpy(), 1e-10)
        log_p = np.log(p)
        negative = (p * log_p).sum(1)
        divided = np.maximum(degree, 1)
        towards = (p[own][of_node] * (log_p[own][of_node] - log_p[other])).sum(1)  # KL(node ‖ neighbour)
        back = (p[other] * (log_p[other] - log_p[own][of_node])).sum(1)
        forward, reverse = (np.bincount(of_node, each, len(nodes)) / divided for each in (towards, back))
        entropy = negative[own] / -np.log(max(p.shape[1], 2))
        labelled = learner.environment.labelled[0, torch.from_numpy(nodes)].numpy()
        return np.stack([entropy, np.minimum(degree / StateSettings().degree_alpha, 1), reverse, forward, labelled], 1).astype(np.float32)
