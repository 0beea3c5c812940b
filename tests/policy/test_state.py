"""State features, against numbers computed by hand."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
import torch

from nodewise.contracts import Observation
from nodewise.environment import Environment, draw_splits
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError, UnknownNameError
from nodewise.policy.state import PAPER_FEATURES, STATE_FEATURES, StateSettings, register_state_feature, state
from tests.environment.fixed import environment_of
from tests.learners import learner
from tests.small_graphs import random_graph

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
    assert column("kl_from_neighbours", observation, kl_scaling="none")[0, 0].item() == pytest.approx(-math.log(2) - 0.5 * math.log(1e-10))


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
    assert PAPER_FEATURES == ("entropy", "degree", "kl_from_neighbours", "kl_to_neighbours", "labelled")
    assert whole.shape == (1, 4, 5)
    for place, name in enumerate(PAPER_FEATURES):
        assert torch.equal(whole[..., place], column(name, observation))


def test_features_can_be_left_out() -> None:
    assert StateSettings().without(["degree", "labelled"]).features == ("entropy", "kl_from_neighbours", "kl_to_neighbours")
    kept = StateSettings(degree_alpha=7, kl_scaling="none").without(["entropy"])
    assert (kept.degree_alpha, kept.kl_scaling) == (7, "none")
    with pytest.raises(UnknownNameError, match="unknown state feature 'entropi': did you mean 'entropy'?"):
        StateSettings().without(["entropi"])
    with pytest.raises(InputError, match="at least one"):
        StateSettings().without(PAPER_FEATURES)


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
    with pytest.raises(InputError, match="the step's number, read in Python, would stay the same: use observation.step, a tensor"):
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
        ({"features": ("entropy", "degre")}, "did you mean 'degree'?"),
        ({"features": ()}, "at least one"),
        ({"features": ("degree", "degree")}, "only once"),
        ({"degree_alpha": 0.0}, "degree_alpha must be above 0"),
        ({"degree_alpha": float("nan")}, "degree_alpha must be above 0"),
        ({"kl_scaling": "sum"}, "kl_scaling max or none"),
    ],
)
def test_settings_that_cannot_work_are_refused(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(InputError) as refused:
        StateSettings(**wrong)  # type: ignore[arg-type]
    assert said in str(refused.value)
