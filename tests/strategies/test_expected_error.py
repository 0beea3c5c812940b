from __future__ import annotations

import pytest
import torch

from nodewise.ground.errors import InputError
from nodewise.strategies import ExpectedError
from nodewise.strategies.expected_error import Ridge, expected_errors, ridge_posterior
from tests.strategies.stages import next_choice, still_environment

RIDGE, TEMPERATURE = 0.4, 6.0


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)), dtype=torch.float64)


def refitted(rows: torch.Tensor, targets: torch.Tensor, nodes: torch.Tensor) -> torch.Tensor:
    """Ridge regression by the normal equations, [run, node, class]."""
    width = rows.shape[-1]
    weights = torch.linalg.solve(rows.mT @ rows + RIDGE * torch.eye(width, dtype=rows.dtype), rows.mT @ targets)
    return nodes @ weights


def test_a_rank_one_update_equals_a_new_fit() -> None:
    rows, targets, nodes, candidates = drawn(2, 4, 3), drawn(2, 4, 5), drawn(2, 7, 3), drawn(2, 2, 3)
    fit = ridge_posterior(rows, targets, nodes, candidates, RIDGE)
    assert torch.allclose(fit.mean, refitted(rows, targets, nodes))
    assert torch.allclose(fit.own, refitted(rows, targets, candidates))
    answer = drawn(2, 1, 5)
    for number in range(2):
        updated = fit.mean + fit.shift[..., number, None] * (answer - fit.own[:, number, None])
        more = torch.cat([rows, candidates[:, number, None]], 1)
        assert torch.allclose(updated, refitted(more, torch.cat([targets, answer], 1), nodes))


def test_without_a_label_nothing_is_predicted() -> None:
    fit = ridge_posterior(drawn(1, 0, 3), drawn(1, 0, 2), drawn(1, 4, 3), drawn(1, 2, 3), RIDGE)
    assert torch.equal(fit.mean, torch.zeros(1, 4, 2, dtype=torch.float64))
    assert torch.equal(fit.own, torch.zeros(1, 2, 2, dtype=torch.float64))


def test_the_expected_error_is_that_of_trying_every_answer() -> None:
    classes, nodes, candidates = 4, 6, 3
    fit = Ridge(0.3 * drawn(2, nodes, classes), 0.3 * drawn(2, candidates, classes), 0.5 * drawn(2, nodes, candidates))
    counts = torch.tensor([[True] * 5 + [False], [True] * 6])
    expected = torch.zeros(2, candidates, dtype=torch.float64)
    for answer in range(classes):
        target = torch.eye(classes, dtype=torch.float64)[answer] - 1 / classes
        moved = fit.mean[:, :, None] + fit.shift[..., None] * (target - fit.own[:, None])
        error = (1 - torch.softmax(TEMPERATURE * moved, -1).amax(-1)) * counts[..., None]
        chance = torch.softmax(TEMPERATURE * fit.own, -1)[..., answer]
        expected += chance * error.sum(1) / counts.sum(1, keepdim=True)
    assert torch.allclose(expected_errors(fit, counts, TEMPERATURE), expected)


def test_the_first_query_speaks_for_most_nodes_the_second_for_the_others() -> None:
    # four nodes lie along one axis, two along the other: an answer tells all of its axis and nothing of the other
    features = [[1.0, 0.0], [2.0, 0.0], [-1.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]]
    for seed in range(5):
        environment, strategy = still_environment(features=features, seed=seed), ExpectedError()
        environment.begin(strategy)
        assert next_choice(environment, strategy)[0] < 4
        assert next_choice(environment, strategy)[0] >= 4


def test_candidates_are_drawn_from_the_pool() -> None:
    environment = still_environment(features=[[float(n), 1.0] for n in range(12)], pool=[2, 5, 7, 9, 11])
    scores = ExpectedError(candidates=3, nodes=4).scores(environment.observe())
    looked = torch.isfinite(scores[0]).nonzero()[:, 0].tolist()
    assert len(looked) == 3 and set(looked) <= {2, 5, 7, 9, 11}


def test_settings_that_mean_nothing_are_refused() -> None:
    with pytest.raises(InputError, match="above 0"):
        ExpectedError(ridge=0)
