"""Networks of PyTorch and PyTorch Geometric as classifiers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.nn import GAT, GCN, Sequential

import nodewise as nw
from nodewise.classifiers import TorchClassifier
from nodewise.classifiers.wrapped.module import _Settings, _started
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError
from nodewise.ground.plugins import identity_of
from nodewise.testing import check_classifier

SMALL = partial(GCN, hidden_channels=8, num_layers=2, dropout=0.2)


def perceptron(features: int, classes: int) -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Linear(features, 8), torch.nn.ReLU(), torch.nn.Linear(8, classes))


@pytest.mark.slow
@pytest.mark.parametrize(
    "classifier",
    [
        TorchClassifier(SMALL, epochs=15, learning_rate=0.05),
        TorchClassifier(perceptron, epochs=15, learning_rate=0.05),
        TorchClassifier(SMALL, epochs=15, anew=False, learning_rate=0.05),
    ],
    ids=["anew", "without edges", "on"],
)
def test_networks_keep_the_contract(classifier: TorchClassifier) -> None:
    check_classifier(classifier, node_order=False)  # dropout is drawn node by node


@pytest.mark.parametrize("made", [SMALL, partial(GAT, hidden_channels=4, num_layers=2), perceptron])
def test_runs_learn_together_as_they_do_alone(made: object) -> None:
    graph = GraphTensors(nw.load_graph("wine"))
    made = partial(GCN, hidden_channels=8, num_layers=2, dropout=0.0) if made is SMALL else made
    classifier = TorchClassifier(made, epochs=5)  # type: ignore[arg-type]
    settings = _Settings(classifier, *classifier.prepare(graph), 3)
    nodes = torch.tensor([[0, 70, 170], [1, 80, 171]])
    labels = torch.tensor([[0, 1, 2], [0, 1, 2]])
    outputs = []
    for together in (None, False):
        networks, found = _started(settings, 5, 2, together)
        assert found is (together is None), "torch.func carries each of these over runs"
        for epoch in range(5):
            networks.epoch(epoch, nodes, labels)
        outputs.append(networks.output())
    torch.testing.assert_close(*outputs, rtol=1e-3, atol=1e-4)


def test_a_network_with_a_batch_norm_learns_one_run_after_another() -> None:
    graph = GraphTensors(nw.load_graph("wine"))
    classifier = TorchClassifier(partial(GCN, hidden_channels=8, num_layers=2, norm="batch_norm"), epochs=3)
    settings = _Settings(classifier, *classifier.prepare(graph), 3)
    assert _started(settings, 5, 2, None)[1] is False
    result = nw.evaluate("wine", "random", classifier=classifier, budget=6, runs=2)
    assert result.micro_f1.shape == (2,)


def test_a_network_that_is_there_is_copied_and_its_weights_are_drawn_anew() -> None:
    graph = nw.load_graph("wine")
    network = Sequential("x, edge_index", [(GCN(13, 8, 2, 3), "x, edge_index -> x")])
    before = [weight.detach().clone() for weight in network.parameters()]
    classifier = TorchClassifier(network, epochs=30, learning_rate=0.05)
    result = nw.evaluate(graph, "random", classifier=classifier, budget=15, runs=2)
    assert result.micro.mean > 50
    assert all(torch.equal(one, other) for one, other in zip(before, network.parameters(), strict=True))
    assert not classifier.capabilities, "its outputs are counted"
    with pytest.raises(InputError, match=r"gives \[178, 4\] on this graph, not scores .* of shape \[178, 3\]"):
        nw.evaluate(graph, "random", classifier=TorchClassifier(GCN(13, 8, 2, 4), epochs=1), budget=5, runs=1)


class OwnWeights(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(13, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight


def test_weights_that_cannot_be_drawn_anew_are_refused() -> None:
    with pytest.raises(InputError, match=r"OwnWeights has weights \(weight\) and no reset_parameters\(\)"):
        TorchClassifier(OwnWeights())
    with pytest.raises(InputError, match="for at least one epoch"):
        TorchClassifier(SMALL, epochs=0)
    with pytest.raises(InputError, match="is no network"):
        TorchClassifier("gcn")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"epochs must be a whole number, received 2\.5"):
        TorchClassifier(SMALL, epochs=2.5)  # type: ignore[arg-type]


def test_networks_that_do_not_fit_the_graph_are_refused_in_a_sentence() -> None:
    narrow = TorchClassifier(torch.nn.Linear(5, 3), epochs=2)
    with pytest.raises(InputError, match="the network 'Linear' cannot take this graph's 13 features"):
        nw.evaluate("wine", "random", classifier=narrow, budget=4, runs=1)
    listing: Any = lambda features, classes: [features, classes]  # noqa: E731
    made = TorchClassifier(listing, name="pair")
    with pytest.raises(InputError, match="pair made a list, which is no network"):
        nw.evaluate("wine", "random", classifier=made, budget=4, runs=1)


def test_a_network_of_pytorch_geometric_is_one_word_and_what_another_lacks_is_told_at_once() -> None:
    made = TorchClassifier(GCN, epochs=3).network(13, 3, 0, torch.zeros(1, 13))
    assert [tuple(one.shape) for one in made.parameters()] == [(64,), (64, 13), (3,), (3, 64)]
    deep = TorchClassifier(partial(GCN, num_layers=3)).network(13, 3, 0, torch.zeros(1, 13))
    assert sum(one.dim() == 2 for one in deep.parameters()) == 3, "what was given stays"
    assert (
        nw.evaluate("wine", "random", classifier=TorchClassifier(GCN, epochs=3), budget=4, runs=2).classifier == "GCN"
    )

    def wide(features: int, classes: int, width: int) -> torch.nn.Module:
        return torch.nn.Linear(features, classes * width)

    with pytest.raises(InputError, match=r"wide cannot be called .* \(missing a required argument: 'width'\): give"):
        TorchClassifier(wide)
    assert TorchClassifier(partial(wide, width=1)).name == "wide"


@pytest.mark.slow
def test_results_are_told_apart_by_the_network_and_its_training() -> None:
    ones = [TorchClassifier(SMALL), TorchClassifier(SMALL, epochs=20), TorchClassifier(partial(SMALL, dropout=0.5))]
    identities = [identity_of(one) for one in ones]
    assert len({one.settings for one in identities}) == 3 and all(one.storable for one in identities)
    assert identities[0].code.startswith("version 1, torch")
    assert "perceptron" in identity_of(TorchClassifier(perceptron)).settings


def test_networks_of_lambdas_are_told_apart_and_have_a_name_that_a_table_can_hold() -> None:
    def of(width: int) -> Callable[[int, int], torch.nn.Module]:
        return lambda features, classes: torch.nn.Sequential(
            torch.nn.Linear(features, width), torch.nn.Linear(width, classes)
        )

    shallow = TorchClassifier(lambda features, classes: torch.nn.Linear(features, classes))
    biased = TorchClassifier(lambda features, classes: torch.nn.Linear(features, classes, bias=False))
    ones = [shallow, biased, TorchClassifier(of(2)), TorchClassifier(of(3))]
    assert [one.name for one in ones] == ["network"] * 4
    assert len({identity_of(one) for one in ones}) == 4 and all(identity_of(one).storable for one in ones)
    assert identity_of(TorchClassifier(of(2))) == identity_of(ones[2])
    lock: Any = Lock()  # nothing tells it from another
    assert not identity_of(TorchClassifier(lambda features, classes: torch.nn.Linear(features, classes, lock))).storable


def test_a_network_labels_in_a_session_and_an_undo_learns_anew(tmp_path: Path) -> None:
    graph = nw.load_graph("wine")
    classifier = TorchClassifier(SMALL, epochs=5)
    with nw.Session.create(
        tmp_path / "job.nodewise", graph, budget=6, strategy="uncertainty", classifier=classifier, use_labels=False
    ) as session:
        for node in (0, 70, 170):
            session.tell(node, graph.class_names[graph.y[node]])
        before = session.predict().probabilities
        session.tell(session.ask().node, graph.class_names[0])
        session.undo()
        np.testing.assert_array_equal(session.predict().probabilities, before)
