from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

import nodewise as nw
from nodewise.contracts import Capability
from nodewise.ground.errors import InputError
from nodewise.strategies import Bald
from nodewise.strategies.bald import mutual_information, posterior_marginals
from tests.strategies.stages import Still, next_choice, still_environment


def test_mutual_information_by_hand() -> None:
    members = torch.tensor(
        [
            [[1.0, 0.0], [0.0, 1.0]],  # both sure, and of different things: all of an even answer's entropy
            [[0.5, 0.5], [0.5, 0.5]],  # undecided alike: nothing
            [[0.9, 0.1], [0.9, 0.1]],  # of one mind: nothing
            [[1.0, 0.0], [0.5, 0.5]],  # H(3/4, 1/4) − 1/2 H(1/2, 1/2)
        ]
    )
    last = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25)) - 0.5 * math.log(2)
    assert torch.allclose(mutual_information(members), torch.tensor([math.log(2), 0.0, 0.0, last]), atol=1e-6)


def test_mean_and_variance_are_those_of_bayesian_linear_regression() -> None:
    generator = torch.Generator().manual_seed(0)
    labelled, targets = (torch.randn(2, 4, n, generator=generator, dtype=torch.float64) for n in (3, 5))
    rows = torch.randn(6, 3, generator=generator, dtype=torch.float64)
    found = posterior_marginals(labelled, targets, rows, 0.7)
    covariance = torch.linalg.inv(torch.eye(3, dtype=torch.float64) + labelled.mT @ labelled / 0.7)
    assert torch.allclose(found.mean, rows @ covariance @ labelled.mT @ targets / 0.7)
    assert torch.allclose(found.deviation.square(), ((rows @ covariance) * rows).sum(-1))


def test_without_a_label_the_prior_is_left() -> None:
    rows = torch.tensor([[0.6, 0.8], [0.0, 0.0]])
    found = posterior_marginals(torch.zeros(1, 0, 2), torch.zeros(1, 0, 3), rows, 0.3)
    assert torch.equal(found.mean, torch.zeros(1, 2, 3))
    assert torch.allclose(found.deviation, torch.tensor([[1.0, 0.0]]))


def test_where_labels_reach_little_is_left_to_disagree_about() -> None:
    # after centring, nodes 0 to 3 lie along one axis and 4 and 5 along another: labels of these say nothing of those
    features = [[1.0, 0.0], [2.0, 0.0], [-1.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]]
    for seed in range(5):
        environment, strategy = still_environment(features=features, seed=seed), Bald()
        for node in (0, 1):
            environment.query(torch.tensor([node]))
        assert next_choice(environment, strategy)[0] in (4, 5)


def test_a_single_member_is_refused() -> None:
    with pytest.raises(InputError, match="two members at least"):
        Bald(members=1)


class Linear(Still):
    """A learner whose output is its hidden layer's first two units."""

    capabilities = frozenset[Capability]({"from-embedding"})

    def logits_from(self, embedding: torch.Tensor) -> torch.Tensor:
        return embedding[..., :2]


def test_passes_with_dropout_disagree_where_units_contradict_each_other() -> None:
    hidden = torch.tensor([[[0.0, 0.0], [9.0, 9.0], [0.1, 0.0], [9.0, 0.0]]])
    environment = still_environment(hidden=hidden.tolist())
    environment.learner = Linear(hidden, hidden)
    strategy = Bald(dropout=0.5)
    environment.begin(strategy)
    # node 1 is of either class as units fall away; node 3 is of the first, or of none
    assert next_choice(environment, strategy) == [1]
    assert next_choice(environment, strategy) == [3]
    assert next_choice(environment, strategy) == [2]


def test_dropout_needs_a_classifier_that_can() -> None:
    environment = still_environment(hidden=[[[0.0], [1.0], [2.0]]])
    with pytest.raises(InputError, match="use the classifier gcn, or the strategy bald"):
        environment.begin(Bald(dropout=0.2))
    with pytest.raises(InputError, match="between 0 and 1"):
        Bald(dropout=1.5)


def test_a_job_and_a_comparison_whose_classifier_cannot_are_refused_before_they_begin(tmp_path: Path) -> None:
    lacking = (
        "the classifier 'views' cannot predict from an embedding that others changed, and the strategy 'bald-dropout'"
        " needs that: use the classifier gcn"
    )
    with pytest.raises(InputError, match=lacking):
        nw.Session.create(tmp_path / "job", "wine", budget=3, strategy="bald-dropout", classifier="views")
    assert not list(tmp_path.iterdir()), "no file is left behind"
    with pytest.raises(InputError, match=lacking):
        nw.evaluate("wine", "bald-dropout", classifier="views", budget=3, runs=1)
    with nw.Session.create(tmp_path / "job", "wine", budget=3, strategy="bald-dropout", classifier="gcn") as session:
        assert session.ask().node in range(178) and session.settings.strategy == "bald-dropout"
    assert Bald().needs == frozenset() and Bald(dropout=0.2).needs == {"from-embedding"}
