"""The state's GPU kernels, against the same formulas on the CPU."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.policy.policy import StateSettings, state
from tests.environment.fixed import environment_of
from tests.kernel_devices import KERNEL_DEVICES
from tests.learners import learner
from tests.policy.test_policy import EDGES, FROM_NEIGHBOURS, PREDICTED, TO_NEIGHBOURS
from tests.small_graphs import random_graph


@pytest.mark.parametrize("device", KERNEL_DEVICES)
@pytest.mark.parametrize("classes", [1, 2, 7])
def test_predictions_and_divergences_are_the_cpu_s(classes: int, device: str) -> None:
    from nodewise.environment.prediction_kernels import divergences, predictions

    graph = random_graph(classes=classes)
    logits = 8 * torch.randn(3, graph.num_nodes, classes, generator=torch.Generator().manual_seed(0))
    logits[0, 0] = 0
    logits[0, 1, 0] = 80  # as sure as can be
    observation = environment_of(
        list(map(tuple, graph.edge_index.T.tolist())), logits.double().softmax(-1).tolist()
    ).observe()
    packed = predictions(logits.to(device))
    torch.testing.assert_close(packed.cpu().double(), observation._packed, rtol=1e-4, atol=1e-5)
    other_order = logits.transpose(0, 1).contiguous().transpose(0, 1)  # [node, run, class] in memory, as views have it
    torch.testing.assert_close(predictions(other_order.to(device)), packed, rtol=0, atol=0)
    for got, expected in zip(divergences(GraphTensors(graph, device), packed), observation.divergences, strict=True):
        torch.testing.assert_close(got.cpu().double(), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("device", KERNEL_DEVICES)
def test_divergences_by_hand(device: str) -> None:
    from nodewise.environment.prediction_kernels import divergences, predictions

    graph = GraphTensors(Graph.build(np.array(EDGES).T, len(PREDICTED), y=[0, 1, 0, 1]), device)
    forward, reverse = divergences(graph, predictions(torch.tensor([PREDICTED]).log().to(device)))
    assert forward[0].tolist() == pytest.approx(TO_NEIGHBOURS, abs=1e-6)
    assert reverse[0].tolist() == pytest.approx(FROM_NEIGHBOURS, abs=1e-6)


@pytest.mark.gpu
def test_a_state_on_the_gpu_is_the_cpu_s() -> None:
    from nodewise.classifiers import Gcn
    from nodewise.environment import Environment, draw_splits

    graph = random_graph(classes=4)
    states = []
    for device in ("cpu", "cuda"):
        tensors = GraphTensors(graph, device)
        classifier = learner("gcn", tensors, 3, Gcn(dropout=0))
        environment = Environment(tensors, classifier, 3, 2)
        environment.reset(0, draw_splits(tensors, 3, 0))
        weights = torch.Generator().manual_seed(5)
        for weight in (classifier.w0, classifier.w1):
            weight.copy_(torch.randn(weight.shape, generator=weights))
        environment.query(torch.tensor([0, 1, 2], device=device))
        with torch.no_grad():
            states.append(state(environment.observe(), StateSettings()).cpu())
    torch.testing.assert_close(states[0], states[1], rtol=1e-3, atol=1e-3)
