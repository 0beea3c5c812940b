from __future__ import annotations

import math

import pytest
import torch

from nodewise.ground.errors import InputError
from nodewise.strategies import Badge
from nodewise.strategies.badge import gradients
from tests.strategies.stages import next_choice, still_environment


def test_the_gradient_embedding_of_two_classes_by_hand() -> None:
    probabilities = torch.tensor([[[0.7, 0.3], [0.4, 0.6]]])
    hidden = torch.tensor([[[1.0, 2.0], [3.0, 0.0]]])
    made = gradients(probabilities, hidden)
    # ŷ is the first class, then the second: (p − e) ⊗ h = (−0.3, 0.3) ⊗ (1, 2) and (0.4, −0.4) ⊗ (3, 0)
    explicit = torch.tensor([[-0.3, -0.6, 0.3, 0.6], [1.2, 0.0, -1.2, 0.0]])
    assert torch.allclose(torch.einsum("knc,knw->kncw", made.error, made.hidden).flatten(2)[0], explicit)
    assert torch.allclose(made.squares, torch.tensor([[0.9, 2.88]]))
    assert torch.allclose(made.squared_distance(torch.tensor([0])), torch.tensor([[0.0, 1.5**2 * 2 + 0.6**2 * 2]]))


def test_the_distance_is_that_of_the_products() -> None:
    generator = torch.Generator().manual_seed(0)
    probabilities = torch.rand(2, 5, 3, generator=generator, dtype=torch.float64).softmax(-1)
    made = gradients(probabilities, torch.rand(2, 5, 4, generator=generator, dtype=torch.float64))
    explicit = torch.einsum("knc,knw->kncw", made.error, made.hidden).flatten(2)
    to_third = (explicit - explicit[:, 3:4]).square().sum(-1)
    assert torch.allclose(made.squared_distance(torch.tensor([3, 3])), to_third)


def test_the_largest_gradient_first_then_one_that_points_elsewhere() -> None:
    even, sure = [0.0, 0.0], [math.log(0.999), math.log(0.001)]
    # all undecided; nodes 0 and 1 have the same hidden row, node 2 another one, node 3 is decided
    environment = still_environment(
        hidden=[[[2.0, 0.0], [2.1, 0.0], [0.0, 2.0], [0.0, 2.0]]], logits=[[even, even, even, sure]]
    )
    strategy = Badge()
    environment.begin(strategy)
    assert next_choice(environment, strategy) == [1]
    draws = set()
    for seed in range(30):
        environment = still_environment(
            hidden=[[[2.0, 0.0], [2.1, 0.0], [0.0, 2.0], [0.0, 2.0]]], logits=[[even, even, even, sure]], seed=seed
        )
        environment.begin(strategy)
        draws.add(tuple(next_choice(environment, strategy)[0] for _ in range(2)))
    assert draws <= {(1, 2), (1, 3)} and (1, 2) in draws  # node 0 lies 0.005 from 1: one draw in hundreds


def test_a_round_is_asked_to_its_end_before_the_next_is_drawn() -> None:
    hidden = [[[float(n), 1.0] for n in range(8)]]
    environment, strategy = still_environment(hidden=hidden, budget=6), Badge(round_size=3)
    environment.begin(strategy)
    strategy.scores(environment.observe())
    drawn = environment.memory["nodes"].tolist()[0]
    assert [next_choice(environment, strategy)[0] for _ in range(3)] == drawn
    next_choice(environment, strategy)
    assert environment.memory["first"] == 3


def test_a_round_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="at least one query"):
        Badge(round_size=0)
