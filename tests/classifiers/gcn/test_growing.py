"""Classes that come while the GCN learns."""

from __future__ import annotations

import pytest
import torch

from nodewise.classifiers import Gcn
from nodewise.classifiers.gcn.learner import GcnLearner
from nodewise.graph.tensors import GraphTensors
from tests.small_graphs import KINDS, Kind, random_graph


def started(
    kind: Kind = "sparse", *classes: str, seed: int = 5, settings: Gcn | None = None, dtype: torch.dtype = torch.float32
) -> GcnLearner:
    """One run that knows these classes by name."""
    learner = GcnLearner(GraphTensors(random_graph(kind), dtype=dtype).unlabelled, 1, settings, 0)
    learner.reset(seed)
    learner.add_classes(classes)
    return learner


def learn(learner: GcnLearner, node: int, label: int) -> None:
    learner.add(torch.tensor([[node]]), torch.tensor([[label]]))
    learner.fit()


@pytest.mark.parametrize("kind", KINDS)
def test_classes_by_name_learn_as_classes_by_number(kind: Kind) -> None:
    settings = Gcn(dropout=0.2)
    named = started(kind, "0", "1", "2", seed=7, settings=settings, dtype=torch.float64)
    numbered = GcnLearner(GraphTensors(random_graph(kind), dtype=torch.float64), 1, settings)
    numbered.reset(7)
    assert torch.equal(named.w0, numbered.w0) or named.w0.shape == numbered.w0.shape
    numbered.w0.copy_(named.w0)
    numbered.w1.copy_(named.w1)
    for node in (3, 11, 30, 4):
        for learner in (named, numbered):
            learner.add(torch.tensor([[node]]), torch.tensor([[node % 3]]))
        for one, other in zip(named.gradients(), numbered.gradients(), strict=True):
            assert torch.allclose(one, other, atol=1e-12) and one.abs().max() > 0
        for learner in (named, numbered):
            learner.fit()
    assert torch.allclose(named.logits(), numbered.logits(), atol=1e-10)


def test_with_no_class_there_is_one_nameless_column() -> None:
    learner = started()
    assert learner.num_classes == 1 and learner.logits().shape[-1] == 1
    learner.add_classes(["a", "b"])
    assert learner.num_classes == 2 and learner.logits().shape[-1] == 2
    assert torch.equal(learner.w1, started("sparse", "a", "b").w1), "the first classes take the nameless column's place"


def test_a_class_has_the_same_weights_whenever_it_comes() -> None:
    early, late = started("sparse", "a", "b", "c"), started("sparse", "a", "b")
    late.add_classes(["c"])
    assert torch.equal(early.w1[..., 2], late.w1[..., 2]) and late.num_classes == 3
    learn(late, 1, 2)
    kept = late.snapshot()
    late.add_classes(["d"])
    learn(late, 2, 3)
    assert late.w1.shape[-1] == 4
    late.restore(kept)
    assert late.w1.shape[-1] == 3 and late.num_classes == 3 and torch.equal(late.w1, kept.w1)


def test_a_new_class_leaves_what_was_learned_of_the_others() -> None:
    learner = started("sparse", "a", "b")
    for node, label in ((1, 0), (2, 1), (3, 0)):
        learn(learner, node, label)
    before, remembered = learner.w1.clone(), learner._adam.state[learner.w1]["exp_avg"].clone()
    learner.add_classes(["c"])
    assert torch.equal(learner.w1[..., :2], before)
    state = learner._adam.state[learner.w1]["exp_avg"]
    assert torch.equal(state[..., :2], remembered) and not state[..., 2].any()


def test_a_reset_forgets_the_classes_that_came() -> None:
    learner = started("sparse", "a", "b")
    learn(learner, 1, 1)
    learner.reset(5)
    assert learner.num_classes == 1
    learner.add_classes(["a", "b"])
    assert torch.equal(learner.w1, started("sparse", "a", "b").w1) and torch.equal(
        learner.w0, started("sparse", "a", "b").w0
    )


def test_a_class_that_comes_while_the_training_pass_is_observed_is_seen_at_once_and_forgotten_by_a_snapshot() -> None:
    learner = started("sparse", "0", "1", settings=Gcn(hidden=12, observed="training"))
    learn(learner, 3, 0)
    kept, seen = learner.snapshot(), learner.logits().clone()
    learner.add_classes(["late"])
    assert learner.logits().shape[-1] == 3
    learn(learner, 11, 2)
    assert learner.logits().shape[-1] == 3
    learner.restore(kept)
    assert torch.equal(learner.logits(), seen)
