"""The policy's GPU layer, against the plain one."""

from __future__ import annotations

import pytest
import torch

from nodewise.graph.tensors import GraphTensors
from nodewise.policy import Policy, PolicySettings
from tests.kernel_devices import KERNEL_DEVICES
from tests.small_graphs import random_graph


@pytest.mark.parametrize("device", KERNEL_DEVICES)
@pytest.mark.parametrize("hidden", [3, 8])
def test_a_fused_layer_is_the_plain_one(hidden: int, device: str) -> None:
    from nodewise.policy.layer_kernels import layer

    graph = random_graph()
    host, there = GraphTensors(graph), GraphTensors(graph, device)
    policy = Policy(PolicySettings(hidden=hidden), seed=1)
    generator = torch.Generator().manual_seed(0)
    h = torch.rand(3, graph.num_nodes, 5, generator=generator)
    with torch.no_grad():
        for bias in policy.biases:
            bias.uniform_(-1, 1, generator=generator)
        expected = policy(host, h)
        for weight, bias in zip(policy.weights, policy.biases, strict=True):
            h = layer(there, h.to(device), weight.to(device), bias.to(device))
        torch.testing.assert_close((h @ policy.output.T.to(device)).squeeze(-1).cpu(), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.gpu
@pytest.mark.parametrize("architecture", ["gcn", "mlp"])
def test_scores_on_the_gpu_are_the_cpu_s_with_and_without_gradients(architecture: str) -> None:
    graph = random_graph()
    policy = Policy(PolicySettings(architecture=architecture), seed=1)  # type: ignore[arg-type]
    states = torch.rand(3, graph.num_nodes, 5, generator=torch.Generator().manual_seed(0))
    expected = policy(GraphTensors(graph), states)
    gradient = torch.autograd.grad(expected.square().sum(), policy.parameters())
    there = GraphTensors(graph, "cuda")
    policy.to("cuda")
    with torch.no_grad():
        torch.testing.assert_close(policy(there, states.cuda()).cpu(), expected.detach(), rtol=1e-4, atol=1e-5)
    scores = policy(there, states.cuda())
    torch.testing.assert_close(scores.cpu(), expected, rtol=1e-4, atol=1e-5)
    for got, right in zip(torch.autograd.grad(scores.square().sum(), policy.parameters()), gradient, strict=True):
        torch.testing.assert_close(got.cpu(), right, rtol=1e-3, atol=1e-4)
