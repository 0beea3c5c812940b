"""REINFORCE's arithmetic, against numbers computed by hand."""

from __future__ import annotations

import math

import pytest
import torch

from nodewise.training import RunningScale, policy_loss, stepwise_returns


def test_the_running_scale_starts_from_the_first_batch() -> None:
    scale = RunningScale(rate=0.05)
    # mean 0.5, what is left ±0.2 and ±0.1, its mean square (0.04 + 0.01) / 2
    got = scale(torch.tensor([[0.3, 0.7, 0.4, 0.6]], dtype=torch.float64))
    root = math.sqrt(0.025)
    assert got[0].tolist() == pytest.approx([-0.2 / root, 0.2 / root, -0.1 / root, 0.1 / root])
    assert scale.mean is not None and scale.mean.tolist() == pytest.approx([0.5])


def test_the_running_scale_takes_in_a_batch_before_it_is_used() -> None:
    scale = RunningScale(rate=0.05)
    scale(torch.tensor([[0.3, 0.7, 0.4, 0.6]], dtype=torch.float64))
    got = scale(torch.tensor([[0.7, 0.9]], dtype=torch.float64))
    mean = 0.95 * 0.5 + 0.05 * 0.8  # 0.515
    left = [0.7 - mean, 0.9 - mean]
    square = 0.95 * 0.025 + 0.05 * (left[0] ** 2 + left[1] ** 2) / 2
    assert got[0].tolist() == pytest.approx([value / math.sqrt(square) for value in left])
    assert scale.square is not None and scale.square.tolist() == pytest.approx([square])


def test_every_step_can_have_a_scale_of_its_own() -> None:
    scale = RunningScale()
    got = scale(torch.tensor([[0.0, 2.0], [10.0, 30.0]], dtype=torch.float64))
    assert got.tolist() == [pytest.approx([-1, 1]), pytest.approx([-1, 1])]


def test_equal_returns_teach_nothing() -> None:
    scale = RunningScale()
    for _ in range(3):
        assert scale(torch.full((1, 4), 0.625)).abs().max() == 0


def test_stepwise_returns_are_what_is_still_to_be_gained() -> None:
    before = torch.tensor([[0.2, 0.5, 0.4], [0.1, 0.1, 0.6]], dtype=torch.float64)
    final = torch.tensor([0.7, 0.5], dtype=torch.float64)
    # gains of the first run: +0.3, −0.1, +0.3 (the last with the closing epochs); from each step on they add up to 0.5, 0.2, 0.3
    expected = [pytest.approx([0.5, 0.4]), pytest.approx([0.2, 0.4]), pytest.approx([0.3, -0.1])]
    assert stepwise_returns(before, final).tolist() == expected


def test_the_loss_by_hand() -> None:
    """Two runs of two steps on four nodes; a node leaves the softmax once it was asked, and was never in it outside the pool."""
    log = math.log
    scores = torch.tensor(
        [
            [[log(1), log(2), log(3), 9.0], [log(4), 7.0, log(1), 9.0]],  # pool 0 1 2; asks 1: 2/6, then 2: 1/5
            [[5.0, log(1), log(1), log(2)], [5.0, log(6), 7.0, log(2)]],  # pool 1 2 3; asks 2: 1/4, then 3: 2/8
        ],
        dtype=torch.float64,
    )
    pool = torch.tensor([[True, True, True, False], [False, True, True, True]])
    nodes = torch.tensor([[1, 2], [2, 3]])
    shared = torch.tensor([[2.0, -1.0]], dtype=torch.float64)
    one = 2.0 * (log(2 / 6) + log(1 / 5))
    other = -1.0 * (log(1 / 4) + log(2 / 8))
    assert policy_loss(scores, pool, nodes, shared).item() == pytest.approx(-(one + other) / 2)
    own = torch.tensor([[2.0, -1.0], [0.5, 3.0]], dtype=torch.float64)  # [step, run]
    one = 2.0 * log(2 / 6) + 0.5 * log(1 / 5)
    other = -1.0 * log(1 / 4) + 3.0 * log(2 / 8)
    assert policy_loss(scores, pool, nodes, own).item() == pytest.approx(-(one + other) / 2)


def test_the_gradient_of_the_loss_is_that_of_one_step_after_another() -> None:
    generator = torch.Generator().manual_seed(0)
    runs, steps, nodes = 3, 4, 9
    scores = torch.randn(runs, steps, nodes, generator=generator, dtype=torch.float64, requires_grad=True)
    pool = torch.rand(runs, nodes, generator=generator) < 0.8
    asked = torch.stack([torch.nonzero(row)[torch.randperm(int(row.sum()), generator=generator)[:steps], 0] for row in pool])
    advantages = torch.randn(steps, runs, generator=generator, dtype=torch.float64)
    (got,) = torch.autograd.grad(policy_loss(scores, pool, asked, advantages), scores)
    total = torch.zeros((), dtype=torch.float64)
    for run in range(runs):
        left = pool[run]
        for step in range(steps):
            p = torch.softmax(scores[run, step][left], 0)
            place = int(left[: asked[run, step]].sum())
            total = total - torch.log(p[place]) * advantages[step, run] / runs
            left = left & (torch.arange(nodes) != asked[run, step])
    (expected,) = torch.autograd.grad(total, scores)
    torch.testing.assert_close(got, expected)


def test_the_loss_finds_the_best_of_many_arms() -> None:
    """A bandit: one step, ten nodes, node 7 pays most; sampling, scale and loss are those of the training."""
    pays = torch.linspace(0, 0.5, 10)
    pays[7] = 1.0
    wanted = torch.zeros(10, requires_grad=True)
    adam = torch.optim.Adam([wanted], lr=0.1)
    scale, generator = RunningScale(), torch.Generator().manual_seed(0)
    pool = torch.ones(5, 10, dtype=torch.bool)
    for _ in range(150):
        noise = torch.rand(5, 10, generator=generator).clamp(1e-7, 1 - 6e-8)
        asked = (wanted.detach() - torch.log(-torch.log(noise))).argmax(1)
        returns = pays[asked] + 0.1 * torch.randn(5, generator=generator)
        loss = policy_loss(wanted.expand(5, 1, 10), pool, asked[:, None], scale(returns[None]))
        adam.zero_grad()
        loss.backward()
        adam.step()
    assert torch.softmax(wanted.detach(), 0)[7] > 0.9
