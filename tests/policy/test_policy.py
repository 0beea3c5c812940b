"""The policy network: its size, its formula, and what it must not depend on; state features, against numbers computed
by hand.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from nodewise.contracts import Observation
from nodewise.environment import Environment, draw_splits
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError, PolicyFileError, UnknownNameError
from nodewise.policy import Policy, PolicySettings, load_policy, register_policy_network, save_policy
from nodewise.policy.policy import (
    OUTLOOK_STATE_FEATURES,
    PAPER_STATE_FEATURES,
    POLICY_NETWORKS,
    STATE_FEATURES,
    Learned,
    StateSettings,
    register_state_feature,
    state,
)
from nodewise.training import train_policy
from tests.environment.fixed import environment_of
from tests.learners import learner
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
    policy = Policy(
        PolicySettings(architecture=architecture, hidden=1, layers=1, state=StateSettings(features=("degree",)))
    )  # type: ignore[arg-type]
    with torch.no_grad():
        policy.weights[0].fill_(2)
        policy.biases[0].fill_(-1)
        policy.output.fill_(3)
    return policy.double()


def test_the_bias_is_added_before_the_propagation() -> None:
    graph = GraphTensors(PAIR, dtype=torch.float64)
    s = torch.tensor([[[2.0], [0.25], [0.4]]], dtype=torch.float64)
    # 2 s − 1 = 3, −½, −0.2; propagated: (3 − ½)/2, (3 − ½)/2, −0.2; the bias after the propagation would give 2.25 − 1
    # for the first two
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

    settings = PolicySettings(
        "mlp", hidden=3, layers=1, state=StateSettings(("degree", "entropy"), degree_alpha=7.5, kl_scaling="none")
    )
    assert PolicySettings.from_dict(json.loads(json.dumps(settings.as_dict()))) == settings


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"architecture": "gat"}, "unknown policy architecture 'gat'"),
        ({"hidden": 0}, "2 of 0"),
        ({"layers": 0}, "0 of 8"),
    ],
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
    POLICY_NETWORKS["tests.policy.test_policy:Linear"] = network
    save_policy(Policy(PolicySettings("tests.policy.test_policy:Linear")), tmp_path / "named.safetensors")
    del POLICY_NETWORKS["tests.policy.test_policy:Linear"]
    with pytest.raises(PolicyFileError, match="opening a file imports no code"):
        load_policy(tmp_path / "named.safetensors")
    POLICY_NETWORKS["linear"] = network


EDGES = [(0, 1), (1, 2)]  # a path of three, and node 3 alone
HALVES = [0.5, 0.5]
PREDICTED = [HALVES, [0.25, 0.75], [0.75, 0.25], [0.9, 0.1]]

# KL(0‖1) = ½ ln 2 + ½ ln ⅔ = ½ ln 4/3;   KL(1‖0) = ¼ ln ½ + ¾ ln 3/2;   KL(1‖2) = KL(2‖1) = ½ ln 3
KL_01, KL_10, KL_12 = 0.5 * math.log(4 / 3), 0.25 * math.log(0.5) + 0.75 * math.log(1.5), 0.5 * math.log(3)
TO_NEIGHBOURS = [KL_01, (KL_10 + KL_12) / 2, KL_12, 0.0]
FROM_NEIGHBOURS = [KL_10, (KL_01 + KL_12) / 2, KL_12, 0.0]


def column(name: str, observation: Observation, **settings: object) -> torch.Tensor:
    return state(observation, StateSettings(features=(name,), **settings))[..., 0]  # type: ignore[arg-type]


def test_entropy_is_a_share_of_the_largest_possible() -> None:
    quarter = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75)) / math.log(2)
    tenth = -(0.1 * math.log(0.1) + 0.9 * math.log(0.9)) / math.log(2)
    got = column("entropy", environment_of(EDGES, [PREDICTED]).observe())
    assert got[0].tolist() == pytest.approx([1.0, quarter, quarter, tenth])
    thirds = environment_of([], [[[1 / 3] * 3, [0.5, 0.5, 0.0]]])
    assert column("entropy", thirds.observe())[0].tolist() == pytest.approx([1.0, math.log(2) / math.log(3)], abs=1e-8)


def test_divergences_are_means_over_neighbours_in_both_directions() -> None:
    observation = environment_of(EDGES, [PREDICTED]).observe()
    assert column("kl_to_neighbours", observation, kl_scaling="none")[0].tolist() == pytest.approx(TO_NEIGHBOURS)
    assert column("kl_from_neighbours", observation, kl_scaling="none")[0].tolist() == pytest.approx(FROM_NEIGHBOURS)


def test_scaled_divergences_are_shares_of_the_run_s_largest() -> None:
    same = [HALVES, HALVES, [0.75, 0.25], HALVES]  # a second run, where only node 2 differs from its neighbour
    observation = environment_of(EDGES, [PREDICTED, same]).observe()
    forward = column("kl_to_neighbours", observation)
    assert forward[0].tolist() == pytest.approx([value / KL_12 for value in TO_NEIGHBOURS])
    assert forward[1].tolist() == pytest.approx([0, (0.5 * KL_01) / KL_10, 1, 0])  # KL(½‖¾) = ½ ln 4/3, KL(¾‖½) = KL_10
    reverse = column("kl_from_neighbours", observation)
    assert reverse[0].tolist() == pytest.approx([value / KL_12 for value in FROM_NEIGHBOURS])


def test_probabilities_of_zero_count_as_one_in_ten_billion_in_logarithms() -> None:
    observation = environment_of([(0, 1)], [[[1.0, 0.0], HALVES]]).observe()
    assert observation.log_probabilities[0, 0].tolist() == pytest.approx([0.0, math.log(1e-10)])
    assert column("kl_to_neighbours", observation, kl_scaling="none")[0, 0].item() == pytest.approx(math.log(2))
    assert column("kl_from_neighbours", observation, kl_scaling="none")[0, 0].item() == pytest.approx(
        -math.log(2) - 0.5 * math.log(1e-10)
    )


def test_a_graph_of_one_class_or_without_edges_has_nothing_to_tell() -> None:
    single = state(environment_of(EDGES, [[[1.0]] * 4]).observe(), StateSettings())
    assert torch.isfinite(single).all()
    assert single[0, :, [0, 2, 3]].abs().max() == 0
    scattered = state(environment_of([], [PREDICTED]).observe(), StateSettings())
    assert torch.isfinite(scattered).all()
    assert scattered[0, :, 1:4].abs().max() == 0


@pytest.mark.parametrize("classes", [2, 3, 7, 10])
def test_predictions_that_are_all_alike_give_no_large_numbers(classes: int) -> None:
    edges = random_graph(nodes=300).edge_index
    graph = GraphTensors(Graph.build(edges, 300, x=np.zeros((300, 4), dtype=np.float32), y=np.arange(300) % classes))
    environment = Environment(graph, learner("gcn", graph, 4), 4, 1)
    environment.reset(0, draw_splits(graph, 4, 0))
    assert state(environment.observe(), StateSettings()).abs().max() < 1.1


def test_degree_is_scaled_and_clipped() -> None:
    star = [(0, node) for node in range(1, 4)]
    observation = environment_of(star, [PREDICTED]).observe()
    assert column("degree", observation)[0].tolist() == pytest.approx([3 / 20, 1 / 20, 1 / 20, 1 / 20])
    assert column("degree", observation, degree_alpha=2)[0].tolist() == pytest.approx([1.0, 0.5, 0.5, 0.5])


def test_labelled_marks_what_was_asked_in_each_run() -> None:
    environment = environment_of(EDGES, [PREDICTED, PREDICTED])
    environment.query(torch.tensor([2, 0]))
    assert column("labelled", environment.observe()).tolist() == [[0, 0, 1, 0], [1, 0, 0, 0]]


def test_the_paper_s_five_stand_in_the_released_policies_order() -> None:
    observation = environment_of(EDGES, [PREDICTED]).observe()
    whole = state(observation, StateSettings())
    assert PAPER_STATE_FEATURES == ("entropy", "degree", "kl_from_neighbours", "kl_to_neighbours", "labelled")
    assert whole.shape == (1, 4, 5)
    for place, name in enumerate(PAPER_STATE_FEATURES):
        assert torch.equal(whole[..., place], column(name, observation))


def test_the_outlook_s_features_by_hand() -> None:
    sure = [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]]  # nodes 0, 1 and 3 are predicted alike
    environment = environment_of(EDGES, [sure, PREDICTED])
    assert column("class_share", environment.observe()).abs().sum() == 0
    environment.query(torch.tensor([2, 0]))
    environment.is_recording = True  # none of them reads the step's number in Python
    seen = environment.observe()
    graph, said = seen.graph, seen.queried.labels[:, 0]
    assert (column("budget_used", seen) == 0.5).all()
    mean = float(graph.degree.mean()) / 20
    assert column("mean_degree", seen).flatten().tolist() == pytest.approx([mean] * 8)
    predicted = torch.tensor([0, 0, 1, 0])
    assert column("class_share", seen)[0].tolist() == (predicted == said[0]).float().tolist()
    ends = [(a, b) for a, b in EDGES if predicted[a] == predicted[b]]
    assert column("edge_agreement", seen)[0].tolist() == pytest.approx([len(ends) / len(EDGES)] * 4)
    assert column("edge_agreement", environment_of([], [sure]).observe()).abs().sum() == 0
    assert set(OUTLOOK_STATE_FEATURES) <= set(STATE_FEATURES)
    whole = Learned(Policy(PolicySettings(state=StateSettings((*PAPER_STATE_FEATURES, *OUTLOOK_STATE_FEATURES)))))
    assert whole.reads_budget and not whole.code  # no code of somebody's own: a kept result depends on no digest


def test_features_can_be_left_out() -> None:
    assert StateSettings().without(["degree", "labelled"]).features == (
        "entropy",
        "kl_from_neighbours",
        "kl_to_neighbours",
    )
    kept = StateSettings(degree_alpha=7, kl_scaling="none").without(["entropy"])
    assert (kept.degree_alpha, kept.kl_scaling) == (7, "none")
    with pytest.raises(UnknownNameError, match="unknown state feature 'entropi': did you mean 'entropy'?"):
        StateSettings().without(["entropi"])
    with pytest.raises(InputError, match="at least one"):
        StateSettings().without(PAPER_STATE_FEATURES)


@pytest.fixture
def share_used() -> Iterator[str]:
    """A further feature: the share of the budget that is used."""

    @register_state_feature("share used")
    def used(observation: Observation, settings: StateSettings) -> torch.Tensor:
        return torch.full((1, 1), observation.step_number / observation.budget, dtype=observation.graph.dtype)

    yield "share used"
    del STATE_FEATURES["share used"]


def test_features_can_be_added(share_used: str) -> None:
    environment = environment_of(EDGES, [PREDICTED, PREDICTED])
    environment.query(torch.tensor([2, 0]))
    got = state(environment.observe(), StateSettings(features=("degree", share_used)))
    assert got.shape == (2, 4, 2)
    assert (got[..., 1] == 0.5).all()


def test_a_feature_that_would_be_frozen_in_a_recorded_step_is_refused(share_used: str) -> None:
    environment = environment_of(EDGES, [PREDICTED])
    environment.is_recording = True
    with pytest.raises(
        InputError, match="the step's number, read in Python, would stay the same: use observation.step, a tensor"
    ):
        state(environment.observe(), StateSettings(features=("degree", share_used)))


def test_a_feature_that_reads_the_step_as_a_tensor_can_be_recorded() -> None:
    @register_state_feature("share used, recorded")
    def used(observation: Observation, settings: StateSettings) -> torch.Tensor:
        return (observation.step / observation.budget)[None].to(observation.graph.dtype)

    try:
        environment = environment_of(EDGES, [PREDICTED, PREDICTED])
        environment.query(torch.tensor([2, 0]))
        environment.is_recording = True
        assert (column("share used, recorded", environment.observe()) == 0.5).all()
    finally:
        del STATE_FEATURES["share used, recorded"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"features": ("entropy", "degre")}, "did you mean 'degree'"),
        ({"features": ()}, "at least one"),
        ({"features": ("degree", "degree")}, "only once"),
        ({"degree_alpha": 0.0}, "degree_alpha must be above 0"),
        ({"degree_alpha": float("nan")}, "degree_alpha must be above 0"),
        ({"kl_scaling": "sum"}, "kl_scaling max or none"),
    ],
)
def test_state_settings_that_cannot_work_are_refused(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(InputError) as refused:
        StateSettings(**wrong)  # type: ignore[arg-type]
    assert said in str(refused.value)
