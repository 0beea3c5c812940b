"""Views where a node may have several classes: against plain fits without the label, thresholds, and classes alone."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import nodewise as nw
from nodewise.classifiers.views.label_sets import SetMembers, SetPosterior, _best_cut, log_odds
from nodewise.classifiers.views.posterior import RIDGES
from nodewise.classifiers.views.views import SetsLearner, Views
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError


def communities(nodes: int = 120, classes: int = 4, seed: int = 0) -> nw.Graph:
    """A graph of communities that overlap: a node has the classes of its own, some have two, some none."""
    rng = np.random.default_rng(seed)
    sets = np.zeros((nodes, classes), dtype=np.int8)
    sets[np.arange(nodes), rng.integers(classes, size=nodes)] = 1
    sets[rng.random(nodes) < 0.3, 0] = 1
    sets[rng.random(nodes) < 0.1] = 0
    alike = (sets @ sets.T > 0) & (rng.random((nodes, nodes)) < 0.15)
    return nw.Graph.build(np.stack(np.nonzero(np.triu(alike, 1))), nodes, y=sets, x=sets + rng.normal(size=sets.shape))


@pytest.fixture(scope="module")
def tensors() -> GraphTensors:
    return GraphTensors(communities())


def learner_of(tensors: GraphTensors, nodes: torch.Tensor, budget: int = 64) -> SetsLearner:
    views = Views()
    learner = views.start_several(
        tensors.unlabelled, tensors.prepared_by(views), len(nodes), tensors.num_classes, budget
    )
    learner.reset(0)
    assert tensors.y_sets is not None
    learner.add(nodes, tensors.y_sets[nodes])
    return learner


def members_of(learner: SetsLearner) -> SetMembers:
    members = learner.solution().members()
    assert isinstance(members, SetMembers)
    return members


def test_leave_one_out_is_what_a_fit_without_the_label_says(tensors: GraphTensors) -> None:
    nodes = torch.randperm(120, generator=torch.Generator().manual_seed(1))[None, :24]
    learner = learner_of(tensors, nodes)
    posterior, members = learner.posterior, members_of(learner)
    assert isinstance(posterior, SetPosterior) and members.others is not None
    view, ridge, label = 1, 2, 5
    rest = [i for i in range(24) if i != label]
    z = posterior.rows[view, 0, :24]
    centre = members.others[0, :, label].double()
    targets = posterior.targets[0, rest] - centre
    plain = (
        z[label]
        @ z[rest].T
        @ torch.linalg.solve(z[rest] @ z[rest].T + RIDGES[ridge] * torch.eye(23, dtype=torch.float64), targets)
    )
    scale = members.scale[0, view, ridge, 0].double()
    torch.testing.assert_close(
        members.predicted[0, view, ridge, 0, :, label].double(), scale * plain, atol=1e-4, rtol=1e-3
    )
    without = (posterior.targets[0, rest].sum(0) + (posterior.targets[0, rest].sum() + 1) / (23 * 4 + 2)) / 24
    torch.testing.assert_close(centre, without, atol=1e-6, rtol=1e-6)


def test_one_by_one_is_as_all_at_once(tensors: GraphTensors) -> None:
    nodes = torch.arange(40).reshape(2, 20)
    together, apart = learner_of(tensors, nodes), learner_of(tensors, nodes[:, :1])
    assert tensors.y_sets is not None
    for column in range(1, 20):
        apart.add(nodes[:, [column]], tensors.y_sets[nodes[:, [column]]])
    torch.testing.assert_close(together.logits(), apart.logits(), atol=2e-3, rtol=1e-3)
    torch.testing.assert_close(together.thresholds(), apart.thresholds(), atol=2e-3, rtol=1e-3)


def test_an_answer_of_none_of_the_classes_is_learned_from(tensors: GraphTensors) -> None:
    nodes = torch.arange(20)[None]
    one, other = learner_of(tensors, nodes), learner_of(tensors, nodes[:, :19])
    assert tensors.y_sets is not None
    other.add(nodes[:, 19:], torch.zeros(1, 1, 4, dtype=torch.int8))
    kept = other.posterior.labels()
    assert kept[0].shape == (1, 20) and int(kept[1][0, 19].sum()) == 0
    assert not torch.equal(one.logits(), other.logits()) or int(tensors.y_sets[19].sum()) == 0


def test_a_class_without_a_label_is_given_to_nobody(tensors: GraphTensors) -> None:
    views = Views()
    learner = views.start_several(tensors.unlabelled, tensors.prepared_by(views), 1, 4, 8)
    learner.reset(0)
    assert torch.isfinite(learner.logits()).all() and learner.leave_one_out() is None
    labels = torch.zeros(1, 3, 4, dtype=torch.int8)
    labels[0, :2, 1], labels[0, 2, 2] = 1, 1
    learner.add(torch.tensor([[3, 5, 9]]), labels)
    given = learner.logits()[0] >= learner.thresholds()[0]
    assert not given[:, [0, 3]].any() and given[:, 1].any()
    left_out = learner.leave_one_out()
    assert left_out is not None and left_out.shape == (1, 3, 4)
    with pytest.raises(InputError, match="one class a node"):
        learner.set_suggestions(np.ones((1, 120, 4), dtype=np.float32))


def test_a_class_with_one_label_takes_the_common_threshold(tensors: GraphTensors) -> None:
    views = Views()
    learner = views.start_several(tensors.unlabelled, tensors.prepared_by(views), 1, 4, 16)
    learner.reset(0)
    labels = torch.zeros(1, 10, 4, dtype=torch.int8)
    labels[0, :5, 0], labels[0, 5:9, 1], labels[0, 9, 2] = 1, 1, 1
    learner.add(torch.arange(10)[None], labels)
    members = members_of(learner)
    odds, targets = members.left_out_odds.reshape(1, 1, -1), members.targets.reshape(1, 1, -1)
    common = _best_cut(odds, targets, torch.ones_like(odds, dtype=torch.bool))[0, 0]
    torch.testing.assert_close(learner.thresholds()[0, 2], common)
    own = _best_cut(members.left_out_odds, members.targets, torch.ones_like(members.targets, dtype=torch.bool))[0]
    torch.testing.assert_close(learner.thresholds()[0, 0], (own[0] + common) / 2)  # five labels: half and half


def test_the_best_cut_has_the_largest_f1() -> None:
    odds = torch.tensor([[[3.0, 2.0, 2.0, 0.0, -1.0]]])
    targets = torch.tensor([[[1.0, 1.0, 0.0, 1.0, 0.0]]])
    cut = float(_best_cut(odds, targets, torch.ones(1, 1, 5, dtype=torch.bool)))
    assert cut == -0.5  # three of four: F1 6/7; never between the two that are equal
    there = torch.tensor([[[True, False, False, False, False]]])
    assert float(_best_cut(odds, targets * there, there)) == 3.0


def test_log_odds_at_the_centre_are_those_of_the_share() -> None:
    share = torch.tensor([0.1, 0.5])
    torch.testing.assert_close(log_odds(torch.zeros(2), share, torch.tensor(4.0)), torch.logit(share))


def test_new_classes_are_taken_in(tensors: GraphTensors) -> None:
    learner = learner_of(tensors, torch.arange(10)[None])
    before = learner.logits()
    learner.add_classes(["later"])
    assert learner.logits().shape == (1, 120, 5) and learner.thresholds().shape == (1, 5)
    assert before.shape == (1, 120, 4) and float(learner.logits()[..., 4].max()) < -1e3
