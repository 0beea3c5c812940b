from __future__ import annotations

import math
from typing import cast

import pytest
import torch

from nodewise.environment import Environment
from nodewise.strategies import Anrmab
from nodewise.strategies.anrmab import arm_chances, smallest_chance, updated_log_weights
from tests.strategies.stages import next_choice, still_environment


def log_weights(environment: Environment) -> torch.Tensor:
    """What the arms are worth, as the bandit remembers it."""
    return cast(torch.Tensor, environment.memory["bandit"].log_weights)


def test_chances_worked_out_by_hand() -> None:
    # 0.7 · (2, 1, 1) / 4 + 0.1
    chances = arm_chances(torch.tensor([[2.0, 1.0, 1.0]]).log(), 0.1)
    assert chances[0].tolist() == pytest.approx([0.45, 0.275, 0.275])


def test_no_arm_falls_below_its_smallest_chance() -> None:
    assert smallest_chance(3, 35) == pytest.approx(math.sqrt(math.log(3) / 105))
    assert smallest_chance(3, 1) == pytest.approx(1 / 3)
    chances = arm_chances(torch.tensor([[500.0, 0.0, 0.0]]), 0.1)
    assert chances[0].tolist() == pytest.approx([0.8, 0.1, 0.1])


def test_the_update_worked_out_by_hand() -> None:
    chances, advice = torch.full((2, 3), 1 / 3), torch.tensor([[0.6, 0.3, 0.0], [0.0, 0.0, 0.0]])
    # Σ p q = 0.3, r̂ = 2 · (0.6, 0.3, 0) / 0.3 = (4, 2, 0), bonus / p = 0.6; 0.1 / 2 · (r̂ + 0.6). A node that none
    # advised pays nothing.
    updated = updated_log_weights(
        torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]), chances, advice, torch.tensor([2.0, 2.0]), 0.1, 0.2
    )
    assert updated[0].tolist() == pytest.approx([0.23, 1.13, 0.03])
    assert updated[1].tolist() == pytest.approx([0.03, 0.03, 0.03])


def test_arms_are_paid_for_what_is_predicted_right() -> None:
    """Run 0 predicts every label right, run 1 every label wrong."""
    nodes = 40
    right = [[0.05 * node + 0.1, 0.0] for node in range(nodes)]
    wrong = [[0.0, 0.05 * node + 0.1] for node in range(nodes)]
    environment = still_environment(logits=[right, wrong], labels=[0] * nodes, budget=10)
    strategy = Anrmab()
    environment.begin(strategy)
    for _ in range(10):
        next_choice(environment, strategy)
    strategy.scores(environment.observe())
    weights = log_weights(environment)
    assert torch.allclose(
        weights[1], weights[1, :1].expand(3), atol=1e-5
    )  # nothing but the equal bonus for an arm's being rarely used
    assert (weights[0] - weights[1]).max() > 0.01


def test_the_reward_worked_out_by_hand() -> None:
    environment = still_environment(logits=[[[1.0, 0.0]] * 5], labels=[0, 0, 0, 0, 1], budget=3)
    strategy = Anrmab()
    environment.begin(strategy)
    next_choice(environment, strategy)
    asked_right = environment.queried.labels[0, 0].item() == 0
    strategy.scores(environment.observe())
    # all nodes are alike: every arm gives each 1/5, φ = 1/5, r = [right] / (5 · 1/5), r̂ = r for each arm
    smallest = smallest_chance(3, 3)
    bonus = math.sqrt(math.log(5 / 0.1) / 9)
    expected = smallest / 2 * (float(asked_right) + bonus * 3)
    assert log_weights(environment)[0].tolist() == pytest.approx([expected] * 3, rel=1e-5)


def test_nothing_is_paid_twice_or_for_labels_taken_back() -> None:
    environment = still_environment(logits=[[[1.0, 0.0]] * 5], labels=[0] * 5)
    strategy = Anrmab()
    environment.begin(strategy)
    next_choice(environment, strategy)
    strategy.scores(environment.observe())
    paid = log_weights(environment).clone()
    strategy.scores(environment.observe())
    assert torch.equal(log_weights(environment), paid)
    environment.clock.count = 0
    strategy.scores(environment.observe())
    assert torch.equal(log_weights(environment), paid)
