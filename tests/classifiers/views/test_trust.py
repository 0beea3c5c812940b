"""Labels that may be wrong: noise of each label's own, and which labels are doubted."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nodewise.classifiers import Views
from nodewise.classifiers.views.posterior import RIDGES, Posterior
from nodewise.classifiers.views.trust import TrustedPosterior, doubt
from nodewise.classifiers.views.views import ViewsLearner
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError
from nodewise.testing.promises import small_graph
from tests.classifiers.views.plainly import random_views


def taught(graph: Graph, labels: np.ndarray, nodes: np.ndarray) -> ViewsLearner:
    tensors = GraphTensors(graph)
    learner = Views().start(tensors.unlabelled, tensors.prepared_by(Views()), 1, graph.num_classes, len(nodes))
    learner.reset(0)
    learner.add(torch.from_numpy(nodes)[None], torch.from_numpy(labels)[None])
    return learner


@pytest.mark.parametrize("count", [5, 20])
def test_a_label_has_noise_of_its_own_and_is_left_out_as_a_fit_without_it_would(count: int) -> None:
    views = random_views()
    rng = np.random.default_rng(1)
    nodes, labels, trust = rng.permutation(60)[:count], rng.integers(0, 3, count), rng.uniform(0.1, 1, count)
    posterior = Posterior(views, 1, 3, count)
    posterior.add_many(torch.from_numpy(nodes)[None], torch.from_numpy(labels)[None])
    posterior.trust = torch.from_numpy(trust.astype(np.float32))[None]
    members = posterior.members()
    z, y = views.columns.double().numpy(), np.eye(3)[labels]
    for view in range(3):
        rows = z[nodes, view]
        for number, ridge in enumerate(RIDGES):
            inverse = np.linalg.inv(rows @ rows.T + ridge * np.diag(1 / trust.astype(np.float32)))
            np.testing.assert_allclose(members.of_targets[view, number, 0], (inverse @ y).T, atol=1e-4)
            keep = np.arange(count) != 2
            weights = np.linalg.inv((rows @ rows.T + ridge * np.diag(1 / trust))[np.ix_(keep, keep)]) @ (
                y[keep] - 1 / 3
            )
            alone = rows[2] @ rows[keep].T @ weights
            out = members.predicted[0, view, number, 0, :, 2] / members.scale[0, view, number, 0]
            np.testing.assert_allclose(out, alone, atol=1e-4)


def test_a_label_is_doubted_by_its_chance_beside_the_likeliest_and_by_its_fellows() -> None:
    labels = torch.eye(2)[[0, 0, 0, 1]][None]
    chances = torch.tensor([[[0.6, 0.4], [0.3, 0.7], [0.1, 0.9], [0.99, 0.01]]])
    trust = doubt(chances, labels)[0]
    assert trust[0] == 1 and trust[1] == 1  # above a third of the likeliest one's
    assert trust[2] == pytest.approx((3 * 0.1 / 0.9) ** (2 / 7))
    assert trust[3] == 1  # the only one of its class


def test_where_no_label_is_doubted_everything_is_as_without_to_the_bit() -> None:
    graph = small_graph()
    assert graph.y is not None
    nodes = np.arange(6)
    learner = taught(graph, graph.y[nodes].astype(np.int64), nodes)
    plain, asked = learner.logits().clone(), learner.covariances().clone()
    learner.set_trust(np.ones(graph.num_nodes, np.float32), np.ones(graph.num_nodes, bool))
    assert type(learner.posterior) is TrustedPosterior
    assert torch.equal(learner.logits(), plain) and torch.equal(learner.covariances(), asked)
    assert torch.equal(learner.label_trust(), torch.ones(1, 6))


def test_a_wrong_label_among_many_bends_the_rest_less() -> None:
    graph = small_graph(nodes=120)
    assert graph.y is not None
    nodes = np.random.default_rng(0).permutation(120)[:60]
    labels = graph.y[nodes].astype(np.int64)
    labels[:9] = (labels[:9] + 1) % graph.num_classes
    learner = taught(graph, labels, nodes)
    before = (learner.logits()[0].argmax(-1).numpy() == graph.y).mean()
    foreseen = learner.label_trust()
    learner.set_trust(np.ones(120, np.float32))
    trust = learner.label_trust()[0]
    torch.testing.assert_close(trust, foreseen[0])
    assert trust[:9].mean() < trust[9:].mean() - 0.2
    assert (learner.logits()[0].argmax(-1).numpy() == graph.y).mean() >= before
    one_by_one = taught(graph, labels[:1], nodes[:1])
    one_by_one.set_trust(np.ones(120, np.float32))
    for node, label in zip(nodes[1:], labels[1:], strict=True):
        one_by_one.add(torch.tensor([[node]]), torch.tensor([[label]]))
    torch.testing.assert_close(one_by_one.logits(), learner.logits())


def test_a_confirmed_label_counts_whole_and_one_of_a_distrusted_annotator_less() -> None:
    graph = small_graph(nodes=120)
    assert graph.y is not None
    nodes = np.random.default_rng(0).permutation(120)[:60]
    labels = graph.y[nodes].astype(np.int64)
    labels[0] = (labels[0] + 1) % graph.num_classes
    learner = taught(graph, labels, nodes)
    confirmed, given = np.zeros(120, bool), np.ones(120, np.float32)
    confirmed[nodes[0]], given[nodes[1]] = True, 0.25
    learner.set_trust(given, confirmed)
    trust = learner.label_trust()[0]
    assert trust[0] == 1 and trust[1] <= 0.25
    learner.reset(0)
    learner.add(torch.from_numpy(nodes)[None], torch.from_numpy(labels)[None])
    torch.testing.assert_close(learner.label_trust()[0], trust)


def test_sets_of_labels_are_not_doubted() -> None:
    graph = small_graph()
    tensors = GraphTensors(graph)
    learner = Views().start_several(tensors.unlabelled, tensors.prepared_by(Views()), 1, 3, 5)
    with pytest.raises(InputError, match="sets of labels, and labels on a GPU, are not doubted"):
        learner.set_trust(np.ones(graph.num_nodes, np.float32))
