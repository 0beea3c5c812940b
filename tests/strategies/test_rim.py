from __future__ import annotations

import pytest
import torch

from nodewise.ground.errors import InputError
from nodewise.strategies import Rim
from nodewise.strategies.rim import reliability
from nodewise.testing import check_strategy
from tests.strategies.stages import next_choice, still_environment

STAR_AND_PATH = [(0, 1), (0, 2), (0, 3), (0, 4), (5, 6), (6, 7)]
"""A star around 0 with four leaves, a path 5 - 6 - 7, and node 8 alone."""


def test_reliability_worked_out_by_hand() -> None:
    similarity = torch.tensor([[[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]]])
    same = torch.tensor([[[False, True, False], [True, False, False], [False, False, False]]])
    # two labels that agree: 0.7 · 0.5 / (0.7 · 0.5 + 0.3 · 0.5 / 2); the third has nobody
    assert torch.allclose(reliability(similarity, same, 0.7, 3), torch.tensor([[14 / 17, 14 / 17, 0.7]]))


def test_labels_that_are_trusted_more_weigh_more() -> None:
    similarity = torch.tensor([[[1.0, 0.9, 0.1], [0.9, 1.0, 0.1], [0.1, 0.1, 1.0]]])
    same = ~torch.eye(3, dtype=torch.bool)[None]
    right = [0.7 * s / (0.7 * s + 0.3 * (1 - s)) for s in (0.9, 0.1)]
    once = [(right[0] + right[1]) / 2, right[1]]
    twice = (once[0] * right[0] + once[1] * right[1]) / (once[0] + once[1])
    assert torch.allclose(reliability(similarity, same, 0.7, 2), torch.tensor([[twice, twice, right[1]]]))


def test_an_oracle_that_is_always_right_is_always_trusted() -> None:
    similarity, same = torch.rand(2, 4, 4), torch.rand(2, 4, 4) > 0.5
    assert torch.equal(reliability(similarity, same, 1.0, 5), torch.ones(2, 4))


def test_the_node_that_activates_most_then_what_is_left() -> None:
    environment = still_environment(features=[[1.0]] * 9, edges=STAR_AND_PATH, budget=3)
    strategy = Rim()
    environment.begin(strategy)
    # influence of 0 on its leaves: 1/2 · 1/2 + 1/2 · 1/5; of a leaf on another one: 1/2 · 1/5 = 0.1, above 0.05 too
    scores = strategy.scores(environment.observe())[0]
    assert scores.floor().tolist() == [5, 5, 5, 5, 5, 3, 3, 3, 1]
    assert [next_choice(environment, strategy)[0] for _ in range(3)][1] in (5, 6, 7)
    environment = still_environment(features=[[1.0]] * 9, edges=STAR_AND_PATH, budget=3)
    environment.begin(strategy)
    asked = [next_choice(environment, strategy)[0] for _ in range(3)]
    assert asked[0] < 5 and asked[2] == 8


def test_less_trust_activates_less() -> None:
    environment = still_environment(features=[[1.0]] * 9, edges=STAR_AND_PATH)
    # 0.4 · 0.1 is not above 0.05: a leaf reaches itself, 0.4 · 0.35, and the hub, 0.4 · (1/5 · 1/2 + 1/5 · 1/5)
    scores = Rim(accuracy=0.4).scores(environment.observe())[0]
    assert scores.floor().tolist() == [5, 2, 2, 2, 2, 3, 3, 3, 1]


def test_it_keeps_the_contract_with_an_oracle_that_errs() -> None:
    check_strategy(Rim(accuracy=0.7))


def test_settings_that_mean_nothing_are_refused() -> None:
    with pytest.raises(InputError, match="accuracy lies above 0"):
        Rim(accuracy=1.5)
