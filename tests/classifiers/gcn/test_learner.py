"""The classifier on the CPU, against the same written plainly with autograd; which nodes the labelled nodes' loss
reaches.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import stats

from nodewise.classifiers import Gcn
from nodewise.classifiers.gcn.learner import GcnLearner, ReachedRows
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError
from tests.classifiers.by_autograd import PlainGcn, bound, dropout_factors
from tests.small_graphs import KINDS, Kind, block_graph, random_graph, relabelled

SMALL = Gcn(hidden=12, dropout=0.4)


def asked(graph: Graph, runs: int, labels: int, seed: int = 0) -> torch.Tensor:
    """Different nodes for each run, an isolated one among them: [run, label]."""
    rng = np.random.default_rng(seed)
    nodes = np.stack([rng.permutation(graph.num_nodes - 1)[:labels] for _ in range(runs)])
    nodes[0, 0] = graph.num_nodes - 1
    return torch.from_numpy(nodes)


def trained(graph: GraphTensors, nodes: torch.Tensor, epochs: int, settings: Gcn = SMALL, seed: int = 5) -> GcnLearner:
    """A classifier that got all labels at once and then some epochs."""
    classifier = GcnLearner(graph, len(nodes), settings)
    classifier.reset(seed)
    for one in nodes.T:
        classifier.add(one[:, None], graph.y[one][:, None])
    for _ in range(epochs):
        classifier.fit()
    return classifier


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("labels", [1, 4, 13])
def test_gradients_are_those_of_the_whole_graph(kind: Kind, labels: int) -> None:
    graph = random_graph(kind)
    tensors = GraphTensors(graph, dtype=torch.float64)
    nodes = asked(graph, runs=3, labels=labels)
    classifier = trained(tensors, nodes, epochs=2)  # so that the third epoch's dropout counts, and no weight is fresh
    w0_gradient, w1_gradient = classifier.gradients()
    factors = dropout_factors(graph, nodes.numpy(), seed=5, epoch=2, settings=SMALL)
    for run in range(3):
        plain = PlainGcn(graph, classifier.w0[run], classifier.w1[run], SMALL)
        expected = plain.gradients(nodes[run], tensors.y[nodes[run]], factors[run])
        torch.testing.assert_close(w0_gradient[run], expected[0], rtol=1e-9, atol=1e-12)
        torch.testing.assert_close(w1_gradient[run], expected[1], rtol=1e-9, atol=1e-12)
        assert expected[0].abs().max() > 1e-6


def test_the_training_loss_by_hand() -> None:
    graph = random_graph()
    tensors = GraphTensors(graph, dtype=torch.float64)
    nodes = asked(graph, runs=2, labels=5)
    classifier = trained(tensors, nodes, epochs=3)
    log_probabilities = torch.log_softmax(classifier.logits(), 2)
    by_hand = [
        -sum(float(log_probabilities[run, node, tensors.y[node]]) for node in nodes[run]) / 5 for run in range(2)
    ]
    assert classifier.training_loss().tolist() == pytest.approx(by_hand)


def test_until_convergence_each_run_ends_when_its_own_loss_stops_falling() -> None:
    graph = block_graph()
    tensors = GraphTensors(graph)
    nodes = asked(graph, runs=4, labels=6)
    settings = Gcn(hidden=12, closing_epochs=300, convergence=0.05)
    together = trained(tensors, nodes, epochs=6, settings=settings)
    together.finish()
    assert 10 <= together.epochs_done - 6 < 300  # it ended by itself
    looks = []  # the same epochs, with a look every ten
    plain = trained(tensors, nodes, epochs=6, settings=settings)
    losses = [plain.training_loss()]
    for epoch in range(1, together.epochs_done - 5):
        plain.fit()
        if epoch % 10 == 0:
            losses.append(plain.training_loss())
            looks.append((plain.w0.clone(), plain.w1.clone()))
    for run in range(4):
        ended = next(i for i in range(len(looks)) if not losses[i + 1][run] < 0.95 * losses[i][run])
        assert torch.equal(together.w0[run], looks[ended][0][run]) and torch.equal(
            together.w1[run], looks[ended][1][run]
        )


def test_closing_epochs_are_as_many_as_told() -> None:
    graph = block_graph()
    nodes = asked(graph, runs=2, labels=3)
    for settings, epochs in (
        (Gcn(hidden=8, closing_epochs=7), 7),
        (Gcn(hidden=8), 35),
        (Gcn(hidden=8, closing_epochs=13, convergence=1e-9), 13),
    ):
        classifier = trained(GraphTensors(graph), nodes, epochs=0, settings=settings)
        classifier.finish()
        assert classifier.epochs_done == epochs
    with pytest.raises(InputError, match="convergence from 0 to below 1, got 35 and 1.5"):
        Gcn(convergence=1.5)


@pytest.mark.parametrize("kind", KINDS)
def test_training_is_adam_with_l2_on_those_gradients(kind: Kind) -> None:
    graph = random_graph(kind, seed=1)
    tensors = GraphTensors(graph, dtype=torch.float64)
    nodes = asked(graph, runs=2, labels=5)
    classifier = GcnLearner(tensors, 2, SMALL)
    classifier.reset(9)
    plain = [PlainGcn(graph, classifier.w0[run], classifier.w1[run], SMALL) for run in range(2)]
    for step in range(5):  # a label, then an epoch, as the protocol goes
        classifier.add(nodes[:, step][:, None], tensors.y[nodes[:, step]][:, None])
        classifier.fit()
        so_far = nodes[:, : step + 1]
        factors = dropout_factors(graph, so_far.numpy(), seed=9, epoch=step, settings=SMALL)
        for run in range(2):
            plain[run].epoch(so_far[run], tensors.y[so_far[run]], factors[run])
    for run in range(2):
        torch.testing.assert_close(classifier.w0[run], plain[run].weights[0].detach(), rtol=1e-8, atol=1e-10)
        torch.testing.assert_close(classifier.w1[run], plain[run].weights[1].detach(), rtol=1e-8, atol=1e-10)
        torch.testing.assert_close(classifier.logits()[run], plain[run].output().detach(), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_single_precision_is_near_enough(kind: Kind) -> None:
    graph = random_graph(kind)
    nodes = asked(graph, runs=3, labels=6)
    single, double = (
        trained(GraphTensors(graph, dtype=dtype), nodes, epochs=0) for dtype in (torch.float32, torch.float64)
    )
    double.w0.copy_(single.w0)
    double.w1.copy_(single.w1)
    for got, expected in zip(single.gradients(), double.gradients(), strict=True):
        assert got.dtype == torch.float32
        torch.testing.assert_close(got.double(), expected, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize(("labels", "factor"), [(1, 0.25), (3, 0.75), (4, 1.0), (7, 1.0)])
def test_warm_up_scales_the_loss(labels: int, factor: float) -> None:
    graph = GraphTensors(random_graph(), dtype=torch.float64)
    nodes = asked(random_graph(), runs=2, labels=labels)
    warm, cold = (trained(graph, nodes, 0, Gcn(hidden=6, warm_up=warm_up)).gradients() for warm_up in (4, 1))
    for got, unscaled in zip(warm, cold, strict=True):
        torch.testing.assert_close(got, factor * unscaled)


def test_weights_start_uniform_and_follow_the_seed() -> None:
    graph = GraphTensors(random_graph(columns=60))
    classifier = GcnLearner(graph, 20, Gcn(hidden=16))
    classifier.reset(1)
    first = [weight.clone() for weight in (classifier.w0, classifier.w1)]
    for weight in first:
        scaled = (weight / bound(weight)).ravel()
        assert scaled.abs().max() <= 1
        assert stats.kstest(scaled.numpy(), stats.uniform(-1, 2).cdf).pvalue > 0.001
        assert weight.reshape(20, -1).unique(dim=0).shape[0] == 20
    classifier.reset(2)
    assert not torch.equal(classifier.w0, first[0])
    classifier.reset(1)
    assert torch.equal(classifier.w0, first[0]) and torch.equal(classifier.w1, first[1])


def test_a_reset_forgets_everything() -> None:
    graph = GraphTensors(random_graph())
    nodes = asked(random_graph(), runs=2, labels=3)
    used = trained(graph, nodes.flip(0), epochs=4, seed=8)
    used.reset(5)
    for one in nodes.T:
        used.add(one[:, None], graph.y[one][:, None])
    for _ in range(3):
        used.fit()
    fresh = trained(graph, nodes, epochs=3)
    assert torch.equal(used.w0, fresh.w0) and torch.equal(used.w1, fresh.w1)
    assert used.labelled_count == 3 and used.epochs_done == 3


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_does_not_see_the_labels_of_another(kind: Kind) -> None:
    graph = GraphTensors(random_graph(kind))
    nodes = asked(random_graph(kind), runs=3, labels=4)
    outcome = []
    for shift in (0, 1):
        classifier = GcnLearner(graph, 3, SMALL)
        classifier.reset(2)
        for one in nodes.T:
            labels = graph.y[one].clone()
            labels[1] = (labels[1] + shift) % graph.num_classes
            classifier.add(one[:, None], labels[:, None])
            classifier.fit()
        outcome.append((classifier.w0.clone(), classifier.w1.clone()))
    for one, other in zip(*outcome, strict=True):
        assert torch.equal(one[0], other[0]) and torch.equal(one[2], other[2])
        assert not torch.equal(one[1], other[1])


@pytest.mark.parametrize("kind", KINDS)
def test_runs_together_are_the_same_runs_one_by_one(kind: Kind) -> None:
    """Without dropout, whose draws depend on the batch, and from the same weights."""
    graph = GraphTensors(random_graph(kind), dtype=torch.float64)
    settings = Gcn(hidden=12, dropout=0)
    nodes = asked(random_graph(kind), runs=4, labels=5)
    together = trained(graph, nodes, 0, settings)
    alone = [trained(graph, nodes[run : run + 1], 0, settings) for run in range(4)]
    for run, one in enumerate(alone):
        one.w0.copy_(together.w0[run : run + 1])
        one.w1.copy_(together.w1[run : run + 1])
    for _ in range(6):
        together.fit()
        for one in alone:
            one.fit()
    torch.testing.assert_close(together.logits(), torch.cat([one.logits() for one in alone]), rtol=1e-9, atol=1e-11)
    torch.testing.assert_close(
        together.embedding(), torch.cat([one.embedding() for one in alone]), rtol=1e-9, atol=1e-11
    )


@pytest.mark.parametrize("kind", KINDS)
def test_runs_of_a_batch_vary_as_much_as_batches_do(kind: Kind) -> None:
    """Analysis of variance: were anything random shared inside a batch, its mean would vary more than those of
    independent runs.
    """
    graph = GraphTensors(random_graph(kind))
    nodes = asked(random_graph(kind), runs=1, labels=4).expand(8, -1)
    batches = []
    for seed in range(40):
        log_p = torch.log_softmax(trained(graph, nodes, epochs=8, seed=seed).logits(), -1)
        batches.append(log_p[:, :5, 0].mean(1).numpy())
    assert 0.001 < stats.f_oneway(*batches).pvalue < 0.999


@pytest.mark.parametrize("kind", KINDS)
def test_dropout_changes_no_mean(kind: Kind) -> None:
    """With W1 = 0 the error is the same whatever is dropped, and where nothing is negative the gradient of W1 is linear
    in what is kept.
    """
    graph = GraphTensors(random_graph(kind), dtype=torch.float64)
    if graph.dense_x is not None:
        graph.dense_x.abs_()
    if graph.offset is not None:
        graph.offset.neg_()
    nodes = asked(random_graph(kind), runs=1, labels=4).expand(50, -1)
    found = {}
    for rate in (0.0, 0.4):
        classifier = GcnLearner(graph, 50, Gcn(hidden=12, dropout=rate))
        drawn = []
        for seed in range(16):
            classifier.reset(seed)
            classifier.w0.fill_(0.1)
            classifier.w1.zero_()
            for one in nodes.T:
                classifier.add(one[:, None], graph.y[one][:, None])
            drawn.append(classifier.gradients()[1])
        found[rate] = torch.cat(drawn)  # [batch · run, hidden, class]
    exact, noisy = found[0.0][0], found[0.4]
    error = noisy.std(0) / len(noisy) ** 0.5
    assert ((noisy.mean(0) - exact).abs() < 4.5 * error).all()
    assert (error < 0.05 * exact.abs().max()).all()


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_the_nodes_does_not_matter(kind: Kind) -> None:
    graph = random_graph(kind)
    order = np.random.default_rng(3).permutation(graph.num_nodes)
    place = torch.from_numpy(np.argsort(order))
    settings = Gcn(hidden=12, dropout=0)
    nodes = asked(graph, runs=2, labels=4)
    one, other = (
        trained(GraphTensors(which, dtype=torch.float64), asked_there, 5, settings)
        for which, asked_there in ((graph, nodes), (relabelled(graph, order), place[nodes]))
    )
    torch.testing.assert_close(one.logits(), other.logits()[:, place], rtol=1e-9, atol=1e-11)


def test_a_snapshot_is_come_back_to_as_if_nothing_had_happened() -> None:
    graph = GraphTensors(random_graph())
    nodes = asked(random_graph(), runs=2, labels=6)
    straight, disturbed = trained(graph, nodes[:, :3], epochs=2), trained(graph, nodes[:, :3], epochs=2)
    kept = disturbed.snapshot()
    disturbed.add(nodes[:, 5][:, None], graph.y[nodes[:, 5]][:, None])
    disturbed.fit()
    disturbed.restore(kept)
    for classifier in (straight, disturbed):
        classifier.add(nodes[:, 3][:, None], graph.y[nodes[:, 3]][:, None])
        classifier.fit()
        classifier.fit()
    assert torch.equal(straight.w0, disturbed.w0) and torch.equal(straight.w1, disturbed.w1)
    assert torch.equal(straight.logits(), disturbed.logits())


@pytest.mark.parametrize("kind", KINDS)
def test_the_training_pass_is_observed_before_its_update_and_ends_as_without(kind: Kind) -> None:
    """Without dropout it is the output one epoch behind; the weights, and so the final prediction, are those of a run
    that observes the updated ones.
    """
    graph = GraphTensors(random_graph(kind), dtype=torch.float64)
    nodes = asked(random_graph(kind), runs=2, labels=4)
    plain, behind = (
        GcnLearner(graph, 2, Gcn(hidden=12, dropout=0, closing_epochs=3, observed=which))
        for which in ("updated", "training")
    )
    for learner in (plain, behind):
        learner.reset(5)
    torch.testing.assert_close(behind.logits(), plain.logits())
    for one in nodes.T:
        before = plain.logits().clone()
        for learner in (plain, behind):
            learner.add(one[:, None], graph.y[one][:, None])
            learner.fit()
        torch.testing.assert_close(behind.logits(), before)
        assert (behind.logits() - plain.logits()).abs().max() > 1e-4
    for learner in (plain, behind):
        learner.finish()
    assert torch.equal(behind.logits(), plain.logits())


@pytest.mark.parametrize("kind", KINDS)
def test_the_observed_training_pass_drops_as_training_does(kind: Kind) -> None:
    """Of the mean over many runs with the same weights: the last layer is linear in the hidden one, whose dropout
    changes no mean.
    """
    graph, runs = GraphTensors(random_graph(kind)), 400
    learner = GcnLearner(graph, runs, Gcn(hidden=12, dropout=0.4, observed="training"))
    learner.w0.copy_(learner.w0[:1].clone().expand_as(learner.w0))
    learner.w1.copy_(learner.w1[:1].clone().expand_as(learner.w1))
    first = learner.logits()
    assert torch.equal(first, learner.logits()), "looking twice must show the same"
    assert first.std(0).amax() > 0.01, "every run drops by itself"
    hidden_alone = GcnLearner(graph, runs, Gcn(hidden=12, dropout=0.4, observed="training"))
    hidden_alone.w0.copy_(learner.w0)
    hidden_alone.w1.copy_(learner.w1)
    sizes = []
    plain_keep = hidden_alone._keep

    def all_input(noise: np.random.Generator, shape: tuple[int, ...]) -> torch.Tensor:
        sizes.append(shape)
        return torch.ones(shape) if len(sizes) == 1 else plain_keep(noise, shape)

    hidden_alone._keep = all_input  # type: ignore[method-assign]
    seen = hidden_alone.logits()
    error = (seen.mean(0) - hidden_alone.output()[0]).abs() / (seen.std(0) / runs**0.5).clamp_min(1e-3)
    assert error.amax() < 5, "more than five standard errors from the output without dropout"


def test_the_observed_training_pass_is_made_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dense features of all nodes and runs at once would need many times the graph's memory."""
    graph = GraphTensors(random_graph("dense"))
    learner, sizes = GcnLearner(graph, 3, Gcn(hidden=12, dropout=0.0, observed="training")), []
    plain_keep = learner._keep

    def watched(noise: np.random.Generator, shape: tuple[int, ...]) -> torch.Tensor:
        sizes.append(shape)
        return plain_keep(noise, shape)

    monkeypatch.setattr("nodewise.classifiers.gcn.learner._DROPPED_AT_ONCE", 3 * 7 * graph.num_features)
    learner._keep = watched  # type: ignore[method-assign]
    torch.testing.assert_close(learner.logits(), learner.output())
    blocks = [shape for shape in sizes if shape[-1] == graph.num_features]
    assert {shape[1] for shape in blocks[:-1]} == {7} and sum(shape[1] for shape in blocks) == graph.num_nodes


def test_a_snapshot_holds_what_was_observed() -> None:
    graph = GraphTensors(random_graph())
    nodes = asked(random_graph(), runs=2, labels=4)
    learner = trained(graph, nodes[:, :3], 1, Gcn(hidden=12, observed="training"))
    kept, seen = learner.snapshot(), learner.logits().clone()
    learner.add(nodes[:, 3:], graph.y[nodes[:, 3:]])
    learner.fit()
    assert not torch.equal(learner.logits(), seen)
    learner.restore(kept)
    assert torch.equal(learner.logits(), seen)


def test_it_learns_communities() -> None:
    graph = GraphTensors(block_graph(signal=3.0))
    nodes = torch.stack([torch.nonzero(graph.y == label)[:4, 0] for label in range(3)]).reshape(1, -1).expand(4, -1)
    classifier = trained(graph, nodes, epochs=40, settings=Gcn())
    right = (classifier.logits().argmax(-1) == graph.y).float().mean(1)
    assert (right > 0.85).all()


@pytest.mark.parametrize(
    "wrong",
    [
        {"hidden": 0},
        {"dropout": 1.0},
        {"dropout": -0.1},
        {"learning_rate": 0.0},
        {"weight_decay": -1e-4},
        {"warm_up": 0},
        {"closing_epochs": -1},
        {"observed": "neither"},
    ],
)
def test_settings_that_cannot_work_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        Gcn(**wrong)  # type: ignore[arg-type]


PATH = Graph.build(
    [[0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6]], 8, x=np.eye(8, 3, dtype=np.float32), y=np.zeros(8, dtype=int)
)  # 7 is alone


def test_one_and_two_steps_along_a_path() -> None:
    reached = ReachedRows(GraphTensors(PATH), 2)
    reached.add(np.array([0, 7]))
    reached.build()
    assert reached.far_count.tolist() == [3, 1]
    assert reached.far_run.tolist() == [0, 0, 0, 1] and reached.far_node.tolist() == [0, 1, 2, 7]
    assert reached.first.forward.shape == (3, 4)  # near: 0 and 1 of the first run, 7 of the second
    assert reached.second.forward.shape == (2, 3)
    reached.add(np.array([4, 0]))
    reached.build()
    assert reached.far_count.tolist() == [7, 4]
    assert reached.second.forward.shape == (4, 2 + 3 + 1 + 2)


def test_the_restricted_matrices_are_parts_of_the_propagation() -> None:
    graph = GraphTensors(PATH)
    whole = graph.norm.block(1).to_dense()
    reached = ReachedRows(graph, 1)
    reached.add(np.array([3]))
    reached.build()
    near, far = [2, 3, 4], [1, 2, 3, 4, 5]
    torch.testing.assert_close(reached.first.forward.to_dense(), whole[near][:, far])
    torch.testing.assert_close(reached.second.forward.to_dense(), whole[[3]][:, near])
    for fold in (reached.first, reached.second):
        torch.testing.assert_close(fold.backward.to_dense(), fold.forward.to_dense().T)


def test_a_copy_grows_by_itself() -> None:
    reached = ReachedRows(GraphTensors(PATH), 1)
    reached.add(np.array([0]))
    twin = reached.copy()
    twin.add(np.array([6]))
    reached.build()
    twin.build()
    assert reached.far_node.tolist() == [0, 1, 2]
    assert twin.far_node.tolist() == [0, 1, 2, 4, 5, 6]


def test_the_memory_of_a_run_grows_with_the_hidden_units_that_there_are() -> None:
    graph = GraphTensors(random_graph())
    sizes = [Gcn(hidden=hidden).bytes_per_run(graph, 10) for hidden in (32, 64, 256)]
    layers = 16 * (graph.num_nodes + graph.num_features)
    assert sizes[1] - sizes[0] == 32 * layers and sizes[2] - sizes[1] == 192 * layers
