"""Classifiers by name, and the contract that every one of them keeps."""

from __future__ import annotations

import pytest
import torch

from nodewise.classifiers import CLASSIFIERS, Gcn, list_classifiers, make_classifier
from nodewise.contracts import Classifier
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError, UnknownNameError
from tests.learners import learner
from tests.small_graphs import KINDS, Kind, random_graph

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


def test_a_misspelt_name_is_told_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="unknown classifier 'gnc': did you mean 'gcn'?"):
        make_classifier("gnc")


def test_settings_are_given_by_name_and_misspelt_ones_are_told_the_nearest() -> None:
    assert make_classifier("gcn", {"hidden": 16}) == Gcn(hidden=16)
    with pytest.raises(UnknownNameError, match="unknown setting of the classifier 'gcn' 'hiden': did you mean 'hidden'?"):
        make_classifier("gcn", {"hiden": 16})
    with pytest.raises(InputError, match="the classifier 'gcn' is an object already: its settings are its own, got {'hidden': 16}"):
        make_classifier(Gcn(), {"hidden": 16})


def test_what_is_no_classifier_is_refused() -> None:
    with pytest.raises(InputError, match="is no classifier: it needs a name and the methods prepare, start"):
        make_classifier(object())  # type: ignore[arg-type]


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_name_gives_a_classifier_of_that_name(name: str) -> None:
    made = make_classifier(name)
    assert isinstance(made, Classifier) and made.name == name
    assert name in list_classifiers() and make_classifier(made) is made


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_classifier_keeps_the_contract(name: str, kind: Kind, device: str) -> None:
    graph = GraphTensors(random_graph(kind), device)
    runs = learner(name, graph, 3, budget=4)
    outputs = []
    for _ in range(2):
        runs.reset(7)
        for step in range(4):
            nodes = torch.tensor([step, step + 10, step + 20], device=device)[:, None]
            runs.add(nodes, graph.y[nodes])
            runs.fit()
        outputs.append(runs.logits())
    embedding, logits = runs.embedding(), outputs[0]
    assert embedding.shape[:2] == (3, graph.num_nodes)
    assert logits.shape == (3, graph.num_nodes, graph.num_classes)
    for tensor in (embedding, logits):
        assert tensor.device.type == device and tensor.dtype == graph.dtype
        assert torch.isfinite(tensor).all()
        assert not tensor.requires_grad
    if device == "cpu":
        assert torch.equal(outputs[0], outputs[1])
    else:
        torch.testing.assert_close(outputs[0], outputs[1], rtol=1e-3, atol=1e-3)
    assert torch.equal(runs.logits(), runs.logits())
    kept = logits.clone()
    runs.fit()
    assert torch.equal(logits, kept)  # what was handed out is not overwritten
    if make_classifier(name).trained:
        assert not torch.equal(runs.logits(), kept)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_training_touches_no_global_randomness(name: str) -> None:
    before = torch.get_rng_state()
    graph = GraphTensors(random_graph())
    runs = learner(name, graph, 2)
    nodes = torch.tensor([[0], [5]])
    runs.add(nodes, graph.y[nodes])
    runs.fit()
    runs.finish()
    assert torch.equal(torch.get_rng_state(), before)
