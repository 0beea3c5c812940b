"""Classifiers by name, and the contract that every one of them keeps."""

from __future__ import annotations

import pytest
import torch

from nodewise.classifiers import CLASSIFIERS, make_classifier
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import UnknownNameError
from tests.small_graphs import KINDS, Kind, random_graph

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


def test_a_misspelt_name_is_told_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="unknown classifier 'gnc': did you mean 'gcn'?"):
        make_classifier("gnc", GraphTensors(random_graph()), 1)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_classifier_keeps_the_contract(name: str, kind: Kind, device: str) -> None:
    graph = GraphTensors(random_graph(kind), device)
    classifier = make_classifier(name, graph, 3)
    classifier.reserve(4)
    outputs = []
    for _ in range(2):
        classifier.reset(7)
        for step in range(4):
            nodes = torch.tensor([step, step + 10, step + 20], device=device)
            classifier.add_labels(nodes, graph.y[nodes])
            classifier.epoch()
        outputs.append(classifier.logits())
    hidden, logits = classifier.hidden(), outputs[0]
    assert hidden.shape[:2] == (3, graph.num_nodes)
    assert logits.shape == (3, graph.num_nodes, graph.num_classes)
    for tensor in (hidden, logits):
        assert tensor.device.type == device and tensor.dtype == graph.dtype
        assert torch.isfinite(tensor).all()
        assert not tensor.requires_grad
    if device == "cpu":
        assert torch.equal(outputs[0], outputs[1])
    else:
        torch.testing.assert_close(outputs[0], outputs[1], rtol=1e-3, atol=1e-3)
    assert torch.equal(classifier.logits(), classifier.logits())
    kept = logits.clone()
    classifier.epoch()
    assert torch.equal(logits, kept)  # what was handed out is not overwritten
    assert not torch.equal(classifier.logits(), kept)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_training_touches_no_global_randomness(name: str) -> None:
    before = torch.get_rng_state()
    graph = GraphTensors(random_graph())
    classifier = make_classifier(name, graph, 2)
    nodes = torch.tensor([0, 5])
    classifier.add_labels(nodes, graph.y[nodes])
    classifier.epoch()
    assert torch.equal(torch.get_rng_state(), before)
