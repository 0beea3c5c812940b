"""The classifier's GPU kernels, against the classifier on the CPU."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from scipy import stats

from nodewise.classifiers import Gcn
from nodewise.classifiers.gcn.learner import GcnLearner
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from tests.classifiers.by_autograd import bound
from tests.kernel_devices import INTERPRETED, KERNEL_DEVICES
from tests.small_graphs import KINDS, Kind, random_graph

pytestmark = pytest.mark.parametrize("device", KERNEL_DEVICES)

RUNS, LABELS = (2, 3) if INTERPRETED else (5, 12)
PLAIN = Gcn(hidden=12, dropout=0)  # a width that is no power of two
SCALE = 1 if INTERPRETED else 20  # how much more a GPU draws where a share is measured


def nodes_of(graph: Graph, runs: int = RUNS, labels: int = LABELS) -> torch.Tensor:
    """[run, label], an isolated node among them."""
    rng = np.random.default_rng(0)
    nodes = np.stack([rng.permutation(graph.num_nodes - 1)[:labels] for _ in range(runs)])
    nodes[0, 0] = graph.num_nodes - 1
    return torch.from_numpy(nodes)


def on_device(graph: GraphTensors, runs: int, settings: Gcn, budget: int = 64):  # type: ignore[no-untyped-def]
    from nodewise.classifiers.gcn.cuda import GcnCudaLearner

    return GcnCudaLearner(graph, runs, settings, budget=budget)


def test_it_ends_as_on_the_cpu_when_the_loss_stops_falling(device: str) -> None:
    graph = random_graph(columns=20)
    nodes, host = nodes_of(graph), GraphTensors(graph)
    settings = Gcn(hidden=12, dropout=0, closing_epochs=20 if INTERPRETED else 200, convergence=0.05)
    there, expected = on_device(GraphTensors(graph, device), RUNS, settings), GcnLearner(host, RUNS, settings)
    there.w0.copy_(expected.w0)
    there.w1.copy_(expected.w1)
    for one in nodes.T:
        expected.add(one[:, None], host.y[one][:, None])
        there.add(one.to(device)[:, None], host.y[one].to(device)[:, None])
    torch.testing.assert_close(there.training_loss().cpu(), expected.training_loss(), rtol=1e-3, atol=1e-4)
    there.finish()
    expected.finish()
    # where the loss lies on the threshold, rounding may add or save an epoch
    torch.testing.assert_close(there.training_loss().cpu(), expected.training_loss(), rtol=0.06, atol=1e-3)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("classes", [1, 5])
def test_it_trains_as_on_the_cpu_when_nothing_is_dropped(kind: Kind, classes: int, device: str) -> None:
    graph = random_graph(kind, classes=classes, columns=70)
    nodes = nodes_of(graph)
    host = GraphTensors(graph)
    there, expected = on_device(GraphTensors(graph, device), RUNS, PLAIN), GcnLearner(host, RUNS, PLAIN)
    there.w0.copy_(expected.w0)
    there.w1.copy_(expected.w1)
    for one in nodes.T:
        expected.add(one[:, None], host.y[one][:, None])
        there.add(one.to(device)[:, None], host.y[one].to(device)[:, None])
        for got, right in zip(there.gradients(), expected.gradients(), strict=True):
            torch.testing.assert_close(got.cpu(), right, rtol=1e-3, atol=1e-6)
            got.zero_()
        expected.fit()
        there.fit()
        torch.testing.assert_close(there.w0.cpu(), expected.w0, rtol=1e-3, atol=1e-4)
        torch.testing.assert_close(there.w1.cpu(), expected.w1, rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(there.embedding().cpu(), expected.embedding(), rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(there.logits().cpu(), expected.logits(), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_the_training_pass_is_observed_as_on_the_cpu_when_nothing_is_dropped(kind: Kind, device: str) -> None:
    graph = random_graph(kind, columns=20)
    nodes, host = nodes_of(graph), GraphTensors(graph)
    settings = Gcn(hidden=12, dropout=0, closing_epochs=2, observed="training")
    there, expected = on_device(GraphTensors(graph, device), RUNS, settings), GcnLearner(host, RUNS, settings)
    there.w0.copy_(expected.w0)
    there.w1.copy_(expected.w1)
    for one in nodes.T:
        for learner, place in ((expected, "cpu"), (there, device)):
            learner.add(one.to(place)[:, None], host.y[one].to(place)[:, None])
            learner.fit()
        torch.testing.assert_close(there.logits().cpu(), expected.logits(), rtol=1e-3, atol=1e-3)
    there.finish()
    expected.finish()
    torch.testing.assert_close(there.logits().cpu(), expected.logits(), rtol=1e-3, atol=2e-3)


def test_the_observed_training_pass_drops_by_run_and_epoch(device: str) -> None:
    graph = random_graph(columns=20)
    host = GraphTensors(graph)
    there = on_device(
        GraphTensors(graph, device), RUNS, Gcn(hidden=12, dropout=0.4, learning_rate=1e-12, observed="training")
    )
    there.w0.copy_(there.w0[:1].clone().expand_as(there.w0))
    there.w1.copy_(there.w1[:1].clone().expand_as(there.w1))
    one = nodes_of(graph)[:, :1]
    there.add(one.to(device), host.y[one].to(device))
    there.fit()
    first = there.logits()
    there.fit()
    assert (first[0] - first[1]).abs().max() > 1e-3 and (first - there.logits()).abs().max() > 1e-3
    kept = there.snapshot()
    there.fit()
    again = there.logits()
    there.restore(kept)
    there.fit()
    assert torch.equal(again, there.logits())


@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_falls_along_the_gradients_with_dropout(kind: Kind, device: str) -> None:
    """Finite differences: they agree only if the backward pass drops what the forward pass dropped."""
    graph = random_graph(kind, columns=70)
    nodes = nodes_of(graph, labels=3)
    tensors = GraphTensors(graph, device)
    classifier = on_device(tensors, RUNS, Gcn(hidden=12, dropout=0.4, warm_up=1))
    classifier.reset(4)
    for one in nodes.T.to(device):
        classifier.add(one[:, None], tensors.y[one][:, None])

    def loss() -> float:
        """From the errors that the gradient leaves at the labelled nodes: (p − 1)/3 at the label's own class."""
        classifier._gradient.zero_()
        classifier.gradients()
        run = torch.arange(RUNS, device=device)[:, None]
        there = nodes.to(device)
        own = classifier._error[run, there].gather(2, tensors.y[there][..., None]).squeeze(2).double()
        return float(-torch.log(1 + 3 * own).sum() / 3)

    loss()
    gradients = [classifier._w0_gradient.clone(), classifier._w1_gradient.clone()]
    generator = torch.Generator().manual_seed(0)
    small = 2e-4
    for weight, gradient in zip((classifier.w0, classifier.w1), gradients, strict=True):
        direction = torch.randn(weight.shape, generator=generator).to(device)
        ends = []
        for sign in (1, -1):
            weight.add_(sign * small * direction)
            ends.append(loss())
            weight.sub_(sign * small * direction)
        slope = float((gradient * direction).sum().double())
        assert (ends[0] - ends[1]) / (2 * small) == pytest.approx(slope, rel=0.02, abs=0.005)


@pytest.mark.parametrize("kind", KINDS)
def test_a_fifth_of_the_input_is_dropped_and_the_rest_grows(kind: Kind, device: str) -> None:
    """With the identity for features and ones for weights, the product is the dropout of each entry, for each run its
    own.
    """
    nodes = 64
    ring = np.stack([np.arange(nodes), (np.arange(nodes) + 1) % nodes])
    x = np.eye(nodes, dtype=np.float32)
    offset = np.zeros(nodes, dtype=np.float32) if kind == "offset" else None
    graph = Graph.build(
        ring, nodes, x=x if kind == "dense" else sp.csr_matrix(x), y=np.arange(nodes) % 2, x_offset=offset
    )
    tensors = GraphTensors(graph, device)
    runs, rate = 2 * SCALE, 0.2
    classifier = on_device(tensors, runs, Gcn(hidden=4, dropout=rate))
    drawn = []
    for seed in range(3):
        classifier.reset(seed)
        classifier.w0.fill_(1)
        for node in range(0, nodes, 5):  # every node is within two steps of these
            one = torch.full((runs,), node, device=device)
            classifier.add(one[:, None], tensors.y[one][:, None])
        classifier._far_product(
            (classifier._seed, classifier._epoch, rate, runs), classifier._far_list, classifier._far_count
        )
        drawn.append(classifier._far_out[..., 0].cpu().clone())
    factors = torch.stack(drawn)  # [seed, run, node]
    kept = factors > 0
    torch.testing.assert_close(factors[kept], torch.full_like(factors[kept], 1 / (1 - rate)))
    share, error = float(kept.float().mean()), (rate * (1 - rate) / kept.numel()) ** 0.5
    assert abs(share - (1 - rate)) < 4.5 * error
    assert len(kept.reshape(-1, nodes).unique(dim=0)) == len(kept) * runs  # no seed and no run repeats another


def test_dropout_of_the_hidden_layer_has_its_rate_and_a_draw_for_each_epoch(device: str) -> None:
    graph = random_graph("sparse")
    tensors = GraphTensors(graph, device)
    runs, rate = 2 * SCALE, 0.2
    nodes = nodes_of(graph, runs, 4).to(device)
    classifier = on_device(tensors, runs, Gcn(hidden=16, dropout=rate))
    for one in nodes.T:
        classifier.add(one[:, None], tensors.y[one][:, None])
    classifier.w0.abs_()  # features and weights above zero: what is not kept is zero, and nothing else
    near = classifier._near.bool().cpu()
    kept = []
    for epoch in range(3):
        classifier._epoch.fill_(epoch)
        classifier.gradients()
        kept.append((classifier._hidden.cpu()[near] > 0).clone())
    fed = torch.from_numpy(graph.adjacency().toarray() + np.eye(graph.num_nodes)) @ torch.from_numpy(
        graph.dense_features()
    ).double().sum(1)
    rows = (fed > 1)[torch.nonzero(near)[:, 1]]  # nodes that much reaches, whatever the input's dropout
    drawn = torch.stack(kept)[:, rows]
    share, error = float(drawn.float().mean()), (rate * (1 - rate) / drawn.numel()) ** 0.5
    assert abs(share - (1 - rate)) < 6 * error + 0.01
    assert not torch.equal(drawn[0], drawn[1]) and not torch.equal(drawn[1], drawn[2])


def test_weights_start_uniform_and_apart_from_dropout(device: str) -> None:
    graph = GraphTensors(random_graph(columns=60), device)
    classifier = on_device(graph, 10, Gcn(hidden=16))
    classifier.reset(1)
    first = [weight.clone() for weight in (classifier.w0, classifier.w1)]
    for weight in first:
        scaled = (weight / bound(weight)).ravel().cpu()
        assert scaled.abs().max() <= 1
        assert stats.kstest(scaled.numpy(), stats.uniform(-1, 2).cdf).pvalue > 0.001
    classifier.reset(2)
    assert not torch.equal(classifier.w0, first[0])
    classifier.reset(1)
    assert torch.equal(classifier.w0, first[0])


def test_the_numbers_of_dropout_are_not_those_of_the_weights(device: str) -> None:
    """Run 0's first dropout drew from the weights' own stream once: a small weight then meant a dropped entry."""
    graph = GraphTensors(random_graph("sparse", columns=60), device)
    rate = 0.5
    classifier = on_device(graph, 1, Gcn(hidden=16, dropout=rate))
    classifier.reset(3)
    assert graph.sparse_x is not None
    entries = graph.sparse_x.entries
    numbers = (classifier.w0.ravel()[:entries] / bound(classifier.w0) + 1) / 2  # uniform in [0, 1), by entry
    graph.sparse_x.values.fill_(1)
    classifier.w0.fill_(1)
    for node in range(graph.num_nodes):
        one = torch.tensor([node], device=device)
        classifier.add(one[:, None], graph.y[one][:, None])
    classifier._far_product((classifier._seed, classifier._epoch, rate, 1), classifier._far_list, classifier._far_count)
    counts = classifier._far_out[0, :, 0].cpu() * (1 - rate)  # entries kept, by node
    rows = torch.repeat_interleave(torch.arange(graph.num_nodes), graph.sparse_x.crow.diff().cpu())
    would_be = torch.zeros(graph.num_nodes).index_add_(0, rows, (numbers.cpu() >= rate).float())
    assert not torch.allclose(counts, would_be)


def test_runs_of_a_batch_vary_as_much_as_batches_do(device: str) -> None:
    graph = random_graph("sparse")
    tensors = GraphTensors(graph, device)
    runs, seeds, epochs = (2, 5, 2) if INTERPRETED else (8, 60, 5)
    nodes = nodes_of(graph, 1, 3).expand(runs, -1).to(device)
    classifier = on_device(tensors, runs, Gcn(hidden=8, dropout=0.4))
    batches = []
    for seed in range(seeds):
        classifier.reset(seed)
        for one in nodes.T:
            classifier.add(one[:, None], tensors.y[one][:, None])
        for _ in range(epochs):
            classifier.fit()
        batches.append(torch.log_softmax(classifier.logits(), -1)[:, :5, 0].mean(1).cpu().numpy())
    assert 0.001 < stats.f_oneway(*batches).pvalue < 0.999


def test_a_snapshot_is_come_back_to(device: str) -> None:
    graph = random_graph("sparse")
    tensors = GraphTensors(graph, device)
    nodes = nodes_of(graph).to(device)
    classifier = on_device(tensors, RUNS, PLAIN)
    classifier.reset(3)

    def go_on(one: torch.Tensor) -> torch.Tensor:
        classifier.add(one[:, None], tensors.y[one][:, None])
        classifier.fit()
        return classifier.logits().clone()

    go_on(nodes[:, 0])
    kept = classifier.snapshot()
    expected = go_on(nodes[:, 1])
    classifier.restore(kept)
    go_on(nodes[:, 2])
    classifier.restore(kept)
    torch.testing.assert_close(go_on(nodes[:, 1]), expected, rtol=1e-4, atol=1e-5)


def test_there_is_room_for_as_many_labels_as_are_asked_for(device: str) -> None:
    labels = 80 if INTERPRETED else 400
    graph = random_graph("sparse", nodes=labels + 20)
    tensors = GraphTensors(graph, device)
    expected = GcnLearner(GraphTensors(graph), 1, PLAIN)
    classifier = on_device(tensors, 1, PLAIN, budget=labels)
    classifier.w0.copy_(expected.w0)
    classifier.w1.copy_(expected.w1)
    for node in range(labels):
        one = torch.tensor([node])
        expected.add(one[:, None], expected.graph.y[one][:, None])
        classifier.add(one.to(device)[:, None], tensors.y[one.to(device)][:, None])
    for got, right in zip(classifier.gradients(), expected.gradients(), strict=True):
        torch.testing.assert_close(got.cpu(), right, rtol=1e-3, atol=1e-6)
