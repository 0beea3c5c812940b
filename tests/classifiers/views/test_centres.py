"""What models say as centres of each node's own: how answers are diffused, and what the learner makes of them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from nodewise.classifiers import Views
from nodewise.classifiers.views.centres import (
    MODEL_DOUBT,
    MODEL_LABELS,
    MODEL_LEAD,
    MODEL_PROOF,
    believed,
    own_centres,
    placed_centres,
    said_temperature,
)
from nodewise.classifiers.views.views import ViewsLearner
from nodewise.environment import Environment, draw_splits, rollout
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.strategies import Gain
from nodewise.testing.promises import small_graph


def answers_of(graph: Graph, seed: int, right: float = 0.8) -> np.ndarray:
    """One model's answers, so many of them right: [1, node, class]."""
    assert graph.y is not None
    rng = np.random.default_rng(seed)
    said = np.where(rng.random(graph.num_nodes) < right, graph.y, rng.integers(0, graph.num_classes, graph.num_nodes))
    return np.eye(graph.num_classes, dtype=np.float32)[said][None]


def learner_of(graph: Graph, runs: int = 1, classes: int | None = None) -> ViewsLearner:
    tensors = GraphTensors(graph)
    known = graph.num_classes if classes is None else classes
    learner = Views().start(tensors.unlabelled, tensors.prepared_by(Views()), runs, known, 20)
    learner.reset(0)
    return learner


def test_answers_less_their_shares_are_diffused_as_the_view_far_is() -> None:
    graph = small_graph()
    answers = answers_of(graph, 1)
    loops = graph.adjacency().toarray() + np.eye(graph.num_nodes)
    scale = loops.sum(1) ** -0.5
    matrix, power = scale[:, None] * loops * scale, answers[0] - answers[0].mean(0)
    wanted = 0.05 * power
    for step in range(1, 21):
        power = matrix @ power
        wanted = wanted + 0.95**step * (0.05 if step < 20 else 1) * power
    centres = own_centres(GraphTensors(graph), answers)
    np.testing.assert_allclose(centres[0], 0.9 * wanted, atol=1e-5)
    np.testing.assert_allclose(centres.sum(-1), 0, atol=1e-5)


def test_several_models_have_a_centre_each_and_one_together() -> None:
    graph = small_graph()
    both = np.concatenate([answers_of(graph, 1), answers_of(graph, 2)])
    tensors = GraphTensors(graph)
    together, first, second = own_centres(tensors, both)
    torch.testing.assert_close(together, (first + second) / 2)
    torch.testing.assert_close(first, own_centres(tensors, both[:1])[0])


def test_a_node_of_which_a_model_says_nothing_hears_from_its_neighbours_alone() -> None:
    graph = small_graph()
    answers = answers_of(graph, 1)
    answers[:] = 0
    answers[0, 3] = [1, 0, 0]
    answers[0, 4] = [0, 0.5, 0]
    centres = own_centres(GraphTensors(graph), answers)[0]
    assert centres[3].argmax() == 0 and centres[4].argmax() == 1
    silent = own_centres(GraphTensors(graph), np.zeros_like(answers))
    assert not silent.any()


def test_before_the_first_label_the_models_answers_are_predicted() -> None:
    graph = small_graph(nodes=90)
    learner = learner_of(graph)
    assert learner.logits().std() == 0
    learner.set_suggestions(answers_of(graph, 1))
    right = (learner.logits()[0].argmax(-1).numpy() == graph.y).mean()
    assert right > 0.8
    learner.set_suggestions(None)
    assert learner.logits().std() == 0


def test_before_the_first_label_a_model_that_is_right_is_said_to_be_quite_sure() -> None:
    """Six parts without an edge between them and a model that names each part: 0.5 was the most that could be said."""
    parts = np.repeat(np.arange(6), 12)
    inside = np.argwhere((parts[:, None] == parts) & np.triu(np.ones((72, 72), bool), 1))
    graph = Graph.build(inside.T, 72, y=parts)
    learner = learner_of(graph)
    assert float(learner.solution().left_out.said) == 2  # nobody has said anything
    learner.set_suggestions(answers_of(graph, 1, 1.0))
    chances = torch.softmax(learner.logits()[0], -1)
    assert torch.equal(chances.argmax(-1), torch.from_numpy(parts)) and 0.7 < float(chances.amax(-1).min()) < 0.9
    learner.set_suggestions(None)
    assert float(learner.solution().left_out.said) == 2


def test_what_is_said_follows_the_usual_temperature_as_far_as_no_model_is_believed() -> None:
    weights = torch.tensor([[0.5, 0.25, 0.0], [0.5, 0.25, 0.0], [0.0, 0.5, 1.0]])[:, None, None]
    torch.testing.assert_close(said_temperature(2.0, weights, 8.0), torch.tensor([2.0, 4.0, 8.0]))


def test_a_class_that_a_model_speaks_for_is_predicted_without_a_label() -> None:
    graph = small_graph(nodes=90)
    assert graph.y is not None
    learner, node = learner_of(graph), int(np.flatnonzero(graph.y == 0)[0])
    learner.add(torch.tensor([[node]]), torch.tensor([[0]]))
    assert set(learner.logits()[0].argmax(-1).tolist()) == {0}
    learner.set_suggestions(answers_of(graph, 1))
    assert set(learner.logits()[0].argmax(-1).tolist()) == {0, 1, 2}


@pytest.mark.parametrize("labels", [0, 6])
def test_a_part_shows_what_the_whole_does(labels: int) -> None:
    graph = small_graph()
    assert graph.y is not None
    learner, some = learner_of(graph), torch.tensor([4, 1, 30])
    learner.set_suggestions(answers_of(graph, 1))
    for node in range(labels):
        learner.add(torch.tensor([[node]]), torch.tensor([[int(graph.y[node])]]))
    torch.testing.assert_close(learner.part(some).logits(), learner.logits()[:, some])


def test_classes_that_come_later_are_none_that_models_spoke_for() -> None:
    graph = small_graph()
    learner = learner_of(graph, classes=2)
    answers = answers_of(graph, 1)[..., :2]
    learner.set_suggestions(answers)
    learner.add_classes(["late"])
    assert learner.logits().shape[-1] == 3
    assert 2 not in learner.logits()[0].argmax(-1)
    learner.add(torch.tensor([[5]]), torch.tensor([[2]]))
    assert learner.logits()[0, 5].argmax() == 2
    learner.reset(0)
    torch.testing.assert_close(learner.logits(), _with(learner_of(graph, classes=2), answers).logits())


def _with(learner: ViewsLearner, answers: np.ndarray) -> ViewsLearner:
    learner.set_suggestions(answers)
    return learner


def test_runs_of_a_batch_do_what_single_runs_do_and_a_right_model_helps() -> None:
    graph = small_graph(nodes=120)
    tensors = GraphTensors(graph)
    splits = draw_splits(tensors, 3, 0)
    scores = {}
    for told in (False, True):
        environment = Environment.of(tensors, Views(), 3, 4)
        if told:
            environment.learner.set_suggestions(answers_of(graph, 1))  # type: ignore[attr-defined]
        queries = rollout(environment, Gain(), splits, 0)
        scores[told] = environment.score(splits.test).micro.mean()
        if told:
            alone = Environment.of(tensors, Views(), 1, 4)
            alone.learner.set_suggestions(answers_of(graph, 1))  # type: ignore[attr-defined]
            first = splits.rows([0])
            assert torch.equal(rollout(alone, Gain(), first, 0)[0], queries[0])
    assert scores[True] >= scores[False]


def test_gain_asks_by_people_s_labels_alone_and_predicts_with_the_models() -> None:
    graph = small_graph()
    tensors = GraphTensors(graph)
    splits = draw_splits(tensors, 3, 0)
    asked, predicted = [], []
    for answers in (None, answers_of(graph, 1), answers_of(graph, 2, right=0.0)):
        environment = Environment.of(tensors, Views(), 3, 6)
        environment.learner.set_suggestions(answers)  # type: ignore[attr-defined]
        with torch.no_grad():
            asked.append(rollout(environment, Gain(), splits, 0))
            predicted.append(environment.learner.logits())
    assert torch.equal(asked[0], asked[1]) and torch.equal(asked[0], asked[2])
    assert not torch.allclose(predicted[0], predicted[1])


def test_rows_that_were_not_there_have_the_centre_of_their_nodes() -> None:
    """Joined to one node of degree d alone, the row's centre is (1 - α) c / √(2 (d + 2)) / (1 - (1 - α) / 2)."""
    own = torch.tensor([[[0.3, -0.1, -0.2], [0.0, 0.0, 0.0]]])
    joined = sp.csr_matrix(np.array([[1, 0], [0, 1], [0, 0]], np.float32))
    placed = placed_centres(own, joined, np.array([2.0, 5.0]))
    share = 0.95 / np.sqrt(2 * 4) / (1 - 0.95 / 2)
    torch.testing.assert_close(placed[0, 0], (share * own[0, 0]).float())
    assert placed.shape == (1, 3, 3) and not placed[0, 1:].any()


def test_where_labels_are_even_a_model_that_says_nothing_is_not_believed() -> None:
    """Two labels of each of four classes: without itself each label's class has the share 2 / 11 and the others 3 / 11,
    so that 1/4 predicts every label better than the shares; but no better than 1/4.
    """
    targets = torch.eye(4).repeat(1, 2)[None]
    shares = (targets.sum(-1, keepdim=True) - targets + 1) / (8 - 1 + 4)
    assert float((shares * targets).sum(1).max()) < 1 / 4
    first = MODEL_LEAD / (1 + (8 / MODEL_LABELS) ** 2)
    says_nothing, right = torch.full((1, 1, 4, 8), 0.25), targets[None]
    believes = believed(torch.cat([says_nothing, right]), shares, targets, 4.0).flatten().tolist()
    assert believes[:2] == [0, 0], "1/C and the shares"
    assert believes[2] == pytest.approx(first - MODEL_DOUBT * MODEL_PROOF)
    assert believes[3] == pytest.approx(first), "a model that is right of each label is held back by nothing"
