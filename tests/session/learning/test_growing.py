"""The session's classifier against the batch's."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from nodewise.classifiers import Gcn, GcnSettings
from nodewise.graph.tensors import GraphTensors
from nodewise.session.learning.growing import GrowingGcn
from tests.small_graphs import KINDS, random_graph


@pytest.mark.parametrize("kind", KINDS)
def test_without_dropout_its_gradients_are_the_batchs(kind: Any) -> None:
    graph = random_graph(kind)
    whole = GraphTensors(graph, dtype=torch.float64)
    batch, own = Gcn(whole, 1, GcnSettings(dropout=0.0)), GrowingGcn(GraphTensors(graph, dtype=torch.float64))
    own.settings = batch.settings
    own.begin(7, ["0", "1", "2"])
    batch.reset(7)
    batch.w0.copy_(own.w0)
    batch.w1.copy_(own.w1)
    for node in (3, 11, 30, 4):
        for classifier in (batch, own):
            classifier.add_labels(torch.tensor([node]), torch.tensor([node % 3]))
        for one, other in zip(batch.gradients(), own.gradients(), strict=True):
            assert torch.allclose(one, other, atol=1e-12) and one.abs().max() > 0
        for classifier in (batch, own):
            classifier.epoch()
    assert torch.allclose(batch.logits(), own.logits(), atol=1e-10)


@pytest.mark.parametrize("kind", ["offset", "dense"])
def test_dropout_keeps_the_expected_input(kind: Any) -> None:
    own = GrowingGcn(GraphTensors(random_graph(kind)))
    own.begin(1, ["0", "1", "2"])
    own.add_labels(torch.tensor([5]), torch.tensor([0]))
    means = []
    for epoch in range(400):
        own.epochs_done = epoch
        own.gradients()
        assert own._rows is not None
        from nodewise.ground.seeds import numpy_generator

        means.append(own._rows.mixed(own._field.first.forward, numpy_generator(epoch, "again")))
    own.settings = GcnSettings(dropout=0.0)
    own._rows._rate = 0.0
    exact = own._rows.mixed(own._field.first.forward, numpy_generator(0, "none"))
    assert torch.allclose(torch.stack(means).mean(0), exact, atol=0.15 * float(exact.abs().max()))
    assert float(torch.stack(means).std(0).max()) > 0


def test_a_class_has_the_same_weights_whenever_it_comes() -> None:
    early, late = (GrowingGcn(GraphTensors(random_graph())) for _ in range(2))
    early.begin(5, ["a", "b", "c"])
    late.begin(5, ["a", "b"])
    late.add_class("c")
    assert torch.equal(early.w1[..., 2], late.w1[..., 2]) and late.graph.num_classes == 3
    late.add_labels(torch.tensor([1]), torch.tensor([2]))
    late.epoch()
    kept = late.snapshot()
    late.add_class("d")
    late.add_labels(torch.tensor([2]), torch.tensor([3]))
    late.epoch()
    assert late.w1.shape[-1] == 4
    late.restore(kept)
    assert late.w1.shape[-1] == 3 and late.graph.num_classes == 3 and torch.equal(late.w1, kept.w1)
