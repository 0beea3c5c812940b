"""The protocol's classifier written once more, plainly: dense matrices, the whole graph, gradients by autograd, one run
at a time.

Dropout is drawn as `nodewise.classifiers.Gcn` draws it: first for the input at the nodes within two steps of a label,
then for the hidden layer at those within one. What is drawn nowhere is left as it is; if it mattered, gradients would
differ.
"""

from __future__ import annotations

import math

import numpy as np
import torch

from nodewise.classifiers import Gcn
from nodewise.graph import Graph
from nodewise.ground.compute import numpy_generator


class PlainGcn:
    """One run.

    Args:
        graph: as `Gcn` takes it. w0, w1: the run's weights; copied.
    """

    def __init__(self, graph: Graph, w0: torch.Tensor, w1: torch.Tensor, settings: Gcn) -> None:
        loops = torch.from_numpy(graph.adjacency().toarray()).double() + torch.eye(graph.num_nodes, dtype=torch.float64)
        scale = loops.sum(1).rsqrt()
        self.norm = scale[:, None] * loops * scale
        features = graph.x if isinstance(graph.x, np.ndarray) else graph.x.toarray()
        self.x = (
            torch.tensor(features).double() - torch.tensor(0.0 if graph.x_offset is None else graph.x_offset).double()
        )
        self.weights = [w.detach().clone().double().requires_grad_() for w in (w0, w1)]
        self.settings = settings
        self.adam = torch.optim.Adam(self.weights, lr=settings.learning_rate, weight_decay=settings.weight_decay)

    def output(
        self, input_factor: torch.Tensor | float = 1.0, hidden_factor: torch.Tensor | float = 1.0
    ) -> torch.Tensor:
        """[node, class]."""
        w0, w1 = self.weights
        hidden = torch.relu(self.norm @ (self.x * input_factor) @ w0) * hidden_factor
        return self.norm @ hidden @ w1

    def loss(
        self, nodes: torch.Tensor, labels: torch.Tensor, factors: tuple[torch.Tensor, torch.Tensor]
    ) -> torch.Tensor:
        """Mean cross-entropy over the labelled nodes × min(their number, warm-up) / warm-up."""
        log_p = torch.log_softmax(self.output(*factors)[nodes], -1)
        error = -log_p.gather(1, labels[:, None]).mean()
        return error * min(len(nodes), self.settings.warm_up) / self.settings.warm_up

    def gradients(
        self, nodes: torch.Tensor, labels: torch.Tensor, factors: tuple[torch.Tensor, torch.Tensor]
    ) -> tuple[torch.Tensor, ...]:
        return torch.autograd.grad(self.loss(nodes, labels, factors), self.weights)

    def epoch(self, nodes: torch.Tensor, labels: torch.Tensor, factors: tuple[torch.Tensor, torch.Tensor]) -> None:
        self.adam.zero_grad()
        self.loss(nodes, labels, factors).backward()
        self.adam.step()


def dropout_factors(
    graph: Graph, queried: np.ndarray, seed: int, epoch: int, settings: Gcn
) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """What dropout multiplies the input [node, feature] and the hidden layer [node, hidden] with, for each run.

    Args:
        queried: the labelled nodes: [run, label].
    """
    noise = numpy_generator(seed, "dropout", epoch)
    reach = graph.adjacency().toarray() + np.eye(graph.num_nodes) > 0
    near = np.stack([reach[nodes].any(0) for nodes in queried])
    far = np.stack([reach[nodes].any(0) for nodes in near])

    def factors(*shape: int) -> np.ndarray:
        dropped = noise.integers(0, 2**16, size=shape, dtype=np.uint16) < round(settings.dropout * 2**16)
        return np.where(dropped, 0.0, 1 / (1 - settings.dropout))

    inputs = np.ones((len(queried), graph.num_nodes, graph.num_features))
    if isinstance(graph.x, np.ndarray) or graph.x_offset is not None:
        drawn = factors(len(queried), int(far.sum(1).max()), graph.num_features)
        for run, nodes in enumerate(far):
            inputs[run, nodes] = drawn[run, : nodes.sum()]
    else:
        there = far[:, :, None] & (graph.x.toarray() != 0)
        inputs[there] = factors(int(there.sum()))
    hidden = np.ones((len(queried), graph.num_nodes, settings.hidden))
    hidden[near] = factors(int(near.sum()), settings.hidden)
    return [(torch.from_numpy(a), torch.from_numpy(b)) for a, b in zip(inputs, hidden, strict=True)]


def bound(weight: torch.Tensor) -> float:
    """1/√columns, the limit of the first weights."""
    return 1 / math.sqrt(weight.shape[-1])
