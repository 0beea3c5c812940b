"""The policy network: its size, its formula, and what it must not depend on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError, PolicyFileError
from nodewise.policy import Policy, PolicySettings, load_policy, register_policy_network, save_policy
from nodewise.policy.network import POLICY_NETWORKS
from nodewise.policy.state import StateSettings
from nodewise.training import train_policy
from tests.small_graphs import random_graph, relabelled

PAIR = Graph.build([[0], [1]], 3)  # 0 – 1, and 2 alone; Â is ½ everywhere between 0 and 1, and 1 at 2


def states(nodes: int, runs: int = 2, features: int = 5) -> torch.Tensor:
    return torch.rand(runs, nodes, features, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


@pytest.mark.parametrize("architecture", ["gcn", "mlp"])
def test_the_paper_s_policy_has_128_parameters(architecture: str) -> None:
    policy = Policy(PolicySettings(architecture=architecture))  # type: ignore[arg-type]
    assert [tuple(p.shape) for p in policy.weights] == [(5, 8), (8, 8)]
    assert [tuple(p.shape) for p in policy.biases] == [(8,), (8,)]
    assert sum(p.numel() for p in policy.parameters()) == 5 * 8 + 8 + 8 * 8 + 8 + 8 == 128


def tiny(architecture: str) -> Policy:
    """One feature, one hidden unit: h = relu(Â (2 s − 1)), score = 3 h."""
    policy = Policy(PolicySettings(architecture=architecture, hidden=1, layers=1, state=StateSettings(features=("degree",))))  # type: ignore[arg-type]
    with torch.no_grad():
        policy.weights[0].fill_(2)
        policy.biases[0].fill_(-1)
        policy.output.fill_(3)
    return policy.double()


def test_the_bias_is_added_before_the_propagation() -> None:
    graph = GraphTensors(PAIR, dtype=torch.float64)
    s = torch.tensor([[[2.0], [0.25], [0.4]]], dtype=torch.float64)
    # 2 s − 1 = 3, −½, −0.2; propagated: (3 − ½)/2, (3 − ½)/2, −0.2; the bias after the propagation would give 2.25 − 1 for the first two
    assert tiny("gcn")(graph, s)[0].tolist() == pytest.approx([3 * 1.25, 3 * 1.25, 0.0])
    # on a path of three the rows of Â do not sum to one, which tells the two orders apart
    path = GraphTensors(Graph.build([[0, 1], [1, 2]], 3), dtype=torch.float64)
    end, middle = 1 / math.sqrt(6), 1 / 3
    values = [3.0, -0.5, -0.2]
    expected = [0.5 * 3 + end * -0.5, end * (3 - 0.2) + middle * -0.5, end * -0.5 + 0.5 * -0.2]
    assert tiny("gcn")(path, s)[0].tolist() == pytest.approx([3 * max(0.0, value) for value in expected])
    assert tiny("mlp")(path, s)[0].tolist() == pytest.approx([3 * max(0.0, value) for value in values])


def test_two_layers_by_plain_matrices() -> None:
    graph = random_graph()
    policy = Policy(seed=4).double()
    with torch.no_grad():
        for bias in policy.biases:
            bias.uniform_(-1, 1, generator=torch.Generator().manual_seed(1))
    loops = torch.from_numpy(graph.adjacency().toarray()).double() + torch.eye(graph.num_nodes, dtype=torch.float64)
    norm = loops.sum(1).rsqrt()[:, None] * loops * loops.sum(1).rsqrt()
    h = states(graph.num_nodes)
    expected = h
    for weight, bias in zip(policy.weights, policy.biases, strict=True):
        expected = torch.relu(norm @ (expected @ weight + bias))
    got = policy(GraphTensors(graph, dtype=torch.float64), h)
    torch.testing.assert_close(got, expected @ policy.output[0])
    for one, other in zip(
        torch.autograd.grad(got.square().sum(), policy.parameters()),
        torch.autograd.grad((expected @ policy.output[0]).square().sum(), policy.parameters()),
        strict=True,
    ):
        torch.testing.assert_close(one, other)


def test_the_mlp_ignores_neighbours_and_the_gcn_does_not() -> None:
    graph = random_graph()
    assert graph.degree[0] > 0
    neighbour = int(graph.adjacency()[0].indices[0])
    seen = states(graph.num_nodes)
    changed = seen.clone()
    changed[:, neighbour] += 1
    for architecture, same in (("mlp", True), ("gcn", False)):
        policy = Policy(PolicySettings(architecture=architecture), seed=2).double()  # type: ignore[arg-type]
        tensors = GraphTensors(graph, dtype=torch.float64)
        with torch.no_grad():
            assert torch.equal(policy(tensors, seen)[:, 0], policy(tensors, changed)[:, 0]) is same


@pytest.mark.parametrize("architecture", ["gcn", "mlp"])
def test_the_order_of_the_nodes_does_not_matter(architecture: str) -> None:
    graph = random_graph()
    order = np.random.default_rng(0).permutation(graph.num_nodes)
    policy = Policy(PolicySettings(architecture=architecture), seed=2).double()  # type: ignore[arg-type]
    seen = states(graph.num_nodes)
    one = policy(GraphTensors(graph, dtype=torch.float64), seen)
    other = policy(GraphTensors(relabelled(graph, order), dtype=torch.float64), seen[:, order])
    torch.testing.assert_close(one[:, order], other)


def test_the_same_policy_scores_graphs_of_any_size() -> None:
    policy = Policy(seed=2)
    for nodes in (5, 40):
        assert policy(GraphTensors(random_graph(nodes=nodes)), states(nodes, runs=3).float()).shape == (3, nodes)


def test_weights_start_within_their_bounds_biases_at_zero_and_all_follow_the_seed() -> None:
    policy = Policy(PolicySettings(hidden=64), seed=1)
    assert all((bias == 0).all() for bias in policy.biases)
    for weight in (*policy.weights, policy.output):
        limit = 1 / math.sqrt(weight.shape[1])
        assert 0.8 * limit < weight.abs().max() <= limit
        assert weight.detach().mean().abs() < 0.3 * limit
    same, other = Policy(PolicySettings(hidden=64), seed=1), Policy(PolicySettings(hidden=64), seed=2)
    assert all(torch.equal(a, b) for a, b in zip(policy.parameters(), same.parameters(), strict=True))
    assert not torch.equal(policy.weights[0], other.weights[0])


def test_settings_survive_json() -> None:
    import json

    settings = PolicySettings("mlp", hidden=3, layers=1, state=StateSettings(("degree", "entropy"), degree_alpha=7.5, kl_scaling="none"))
    assert PolicySettings.from_dict(json.loads(json.dumps(settings.as_dict()))) == settings


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"architecture": "gat"}, "unknown policy architecture 'gat'"), ({"hidden": 0}, "2 of 0"), ({"layers": 0}, "0 of 8")],
)
def test_settings_that_cannot_work_are_refused(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        PolicySettings(**wrong)  # type: ignore[arg-type]


class Linear(torch.nn.Module):
    """A score that is linear in the state: nothing hidden, no neighbours."""

    def __init__(self, features: int, generator: torch.Generator) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(features).uniform_(-1, 1, generator=generator))

    def forward(self, graph: GraphTensors, states: torch.Tensor) -> torch.Tensor:
        return states @ self.weight


@pytest.fixture
def linear() -> Iterator[str]:
    """A network of one's own, registered by name."""

    @register_policy_network("linear")
    def make(features: int, hidden: int, layers: int, generator: torch.Generator) -> torch.nn.Module:
        return Linear(features, generator)

    yield "linear"
    del POLICY_NETWORKS["linear"]


def test_a_registered_network_is_trained_kept_and_read_again(linear: str, tmp_path: Path) -> None:
    settings = PolicySettings(linear)
    fresh = Policy(settings, seed=3)
    assert torch.equal(fresh(GraphTensors(PAIR), states(3).float()), states(3).float() @ fresh.network.weight)  # type: ignore[union-attr]
    policy = train_policy([random_graph()], budgets=(2,), episodes=12, batch=2, policy=settings, device="cpu")
    save_policy(policy, tmp_path / "linear.safetensors")
    again = load_policy(tmp_path / "linear.safetensors")
    assert again.settings.architecture == "linear" and again.digest() == policy.digest()
    assert sum(parameter.numel() for parameter in again.parameters()) == 5


def test_a_network_that_nobody_registered_is_not_imported_for_a_file(linear: str, tmp_path: Path) -> None:
    save_policy(Policy(PolicySettings(linear)), tmp_path / "linear.safetensors")
    network = POLICY_NETWORKS.pop("linear")
    with pytest.raises(PolicyFileError, match="unknown policy architecture 'linear'"):
        load_policy(tmp_path / "linear.safetensors")
    POLICY_NETWORKS["tests.policy.test_network:Linear"] = network
    save_policy(Policy(PolicySettings("tests.policy.test_network:Linear")), tmp_path / "named.safetensors")
    del POLICY_NETWORKS["tests.policy.test_network:Linear"]
    with pytest.raises(PolicyFileError, match="opening a file imports no code"):
        load_policy(tmp_path / "named.safetensors")
    POLICY_NETWORKS["linear"] = network
