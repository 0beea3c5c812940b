"""Gain against brute force over all pairs of nodes, its batches, and that the classifier beside it does not matter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from nodewise.classifiers import make_classifier
from nodewise.classifiers.views import graph_views
from nodewise.classifiers.views.construction import GraphViews, make_views
from nodewise.classifiers.views.graph_views import first_gains, paired_gain, variance_gain
from nodewise.classifiers.views.posterior import FIRST_RIDGE, RIDGES, Posterior
from nodewise.classifiers.views.views import ViewsLearner
from nodewise.environment import Environment, choose, draw_splits, rollout
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.strategies import gain as module
from nodewise.strategies import make_strategy
from tests.small_graphs import block_graph, relabelled


def by_pairs(view: torch.Tensor, covariance: torch.Tensor, wanted: torch.Tensor, ridge: torch.Tensor) -> torch.Tensor:
    """Σ_v w_v cov(u, v)² / (var(u) + r), one pair of nodes after another: [run, node]."""
    rows = []
    for run in range(len(covariance)):
        pairs = view @ covariance[run] @ view.T
        rows.append(
            [
                sum(wanted[run, v] * pairs[u, v] ** 2 for v in range(len(view))) / (pairs[u, u] + ridge[run])
                for u in range(len(view))
            ]
        )
    return torch.tensor(rows)


def parts(views: int = 1, runs: int = 2, nodes: int = 13, columns: int = 5) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(0)
    view = torch.randn(views, nodes, columns, generator=generator)
    ridge = torch.rand(views, runs, generator=generator) + 0.2
    rows = torch.randn(views, runs, 3, columns, generator=generator)
    covariance = torch.linalg.inv(torch.eye(columns) + rows.transpose(-1, -2) @ rows / ridge[..., None, None])
    return view, covariance, torch.rand(runs, nodes, generator=generator), ridge


@pytest.mark.parametrize("block", [2**23, 40], ids=["one block", "many blocks"])
def test_the_sum_over_all_pairs_of_nodes(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_views, "BLOCK", block)
    view, covariance, wanted, ridge = parts()
    result = variance_gain(view[0].mT, covariance[0], wanted, ridge[0])
    torch.testing.assert_close(result, by_pairs(view[0], covariance[0], wanted, ridge[0]), atol=1e-4, rtol=1e-4)


def test_the_same_from_products_of_columns() -> None:
    view, covariance, wanted, ridge = parts()
    pairs = GraphViews(("a",), view.transpose(0, 1)).pairs
    assert pairs is not None and pairs.shape == (1, 15, 13)
    result = paired_gain(pairs[0], covariance[0], wanted, ridge[0])
    torch.testing.assert_close(result, by_pairs(view[0], covariance[0], wanted, ridge[0]), atol=1e-4, rtol=1e-4)


def test_several_views_at_once() -> None:
    view, covariance, wanted, ridge = parts(views=3)
    together = variance_gain(view.mT, covariance, wanted, ridge)
    for number in range(3):
        expected = by_pairs(view[number], covariance[number], wanted, ridge[number])
        torch.testing.assert_close(together[number], expected, atol=1e-4, rtol=1e-4)


def test_the_gain_is_what_the_label_takes_off_the_variances() -> None:
    view, covariance, wanted, ridge = parts()
    result = variance_gain(view[0].mT, covariance[0], wanted, ridge[0])
    before = torch.einsum("nd,kde,ne->kn", view[0], covariance[0], view[0])
    for node in range(view.shape[1]):
        z = view[0, node]
        precision = torch.linalg.inv(covariance[0]) + torch.outer(z, z) / ridge[0][:, None, None]
        after = torch.einsum("nd,kde,ne->kn", view[0], torch.linalg.inv(precision), view[0])
        torch.testing.assert_close(result[:, node], (wanted * (before - after)).sum(1), atol=1e-3, rtol=1e-3)


def environment(labels: int, runs: int = 2, classifier: str = "views") -> Environment:
    """Some way into an episode of gain."""
    tensors = GraphTensors(block_graph(150))
    made = Environment.of(tensors, make_classifier(classifier), runs, max(1, labels) + 10)
    strategy = make_strategy("gain")
    made.reset(0, draw_splits(tensors, runs, 0))
    made.begin(strategy)
    with torch.no_grad():
        for _ in range(labels):
            made.query(choose(strategy.scores(made.observe()), made.pool))
            made.learner.fit()
    return made


@pytest.mark.parametrize("labels", [0, 2, 12])
def test_a_batch_is_a_choice_one_by_one_whose_answers_are_not_looked_at(labels: int) -> None:
    moment = environment(labels)
    strategy = make_strategy("gain")
    nodes = strategy.batch(moment.observe(), 5)
    assert nodes is not None and nodes.shape == (2, 5)
    assert torch.equal(nodes[:, 0], choose(strategy.scores(moment.observe()), moment.pool))
    learner = moment.learner
    ridges, undecided = learner.solution().ridges, module._undecided(learner.mean())  # type: ignore[arg-type]
    leading = learner.views.leading  # type: ignore[attr-defined]
    for run in range(2):
        pool = moment.pool[run].clone()
        for number in range(1, 5):
            seen = torch.cat([moment.queries[run], nodes[run, :number]])
            pool[nodes[run, :number]] = False
            total = torch.zeros(150)
            weights = learner.solution().weights[run]  # type: ignore[attr-defined]
            for view in torch.nonzero(weights >= 0.999 * weights.topk(4).values[-1])[
                :, 0
            ].tolist():  # before the first label all are alike
                z = leading[view, seen]
                covariance = torch.linalg.inv(torch.eye(z.shape[1]) + z.T @ z / ridges[run, view])
                gain = variance_gain(leading[view].mT, covariance[None], undecided[run, None], ridges[run, view, None])[
                    0
                ]
                total += weights[view] * gain / gain.max() * (weights[view] >= 0.01)
            assert nodes[run, number] == total.masked_fill(~pool, -torch.inf).argmax()


def test_a_batch_is_diverse_and_from_the_pool() -> None:
    moment = environment(6)
    nodes = make_strategy("gain").batch(moment.observe(), 10)
    assert nodes is not None and all(len(set(row)) == 10 for row in nodes.tolist())
    assert moment.pool.gather(1, nodes).all()
    best = make_strategy("gain").scores(moment.observe()).masked_fill(~moment.pool, -torch.inf).topk(10, 1).indices
    z = moment.learner.views.leading[2]  # type: ignore[attr-defined]

    def likeness(chosen: torch.Tensor) -> float:
        return float((z[chosen] @ z[chosen].T).abs().mean())

    assert sum(map(likeness, nodes)) < sum(map(likeness, best))


@pytest.mark.parametrize("classifier", ["gcn"])
def test_the_classifier_beside_it_does_not_matter(classifier: str) -> None:
    tensors = GraphTensors(block_graph(150))
    splits = draw_splits(tensors, 3, 0)
    played = [
        rollout(Environment.of(tensors, make_classifier(name), 3, 12), make_strategy("gain"), splits, 0)
        for name in ("views", classifier)
    ]
    assert torch.equal(*played)


def test_node_order_does_not_matter() -> None:
    """From a few labels on: before the first, equal scores are settled at random."""
    graph = block_graph(150)
    order = np.random.default_rng(3).permutation(150)
    tables = []
    for one, nodes in ((graph, np.arange(8)), (relabelled(graph, order), np.argsort(order)[np.arange(8)])):
        tensors = GraphTensors(one)
        made = Environment.of(tensors, make_classifier("views"), 1, 10)
        made.reset(0, draw_splits(tensors, 1, 0))
        for node in nodes.tolist():
            made.query(torch.tensor([node]))
        learner = made.learner
        covariances = learner.posterior.covariances(learner.solution().ridges)  # type: ignore[attr-defined, arg-type]
        tables.append(module._scores(learner, covariances, module._undecided(learner.mean()))[0])  # type: ignore[arg-type, attr-defined]
    torch.testing.assert_close(tables[0][order], tables[1], atol=1e-3, rtol=0)


def test_on_a_huge_graph_the_sum_over_nodes_comes_from_some_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    views, covariances, wanted, ridges = parts(nodes=4000, columns=8)
    view, covariance, ridge = views[0], covariances[0], ridges[0]
    exact = variance_gain(view.mT, covariance, wanted, ridge)
    monkeypatch.setattr(graph_views, "GRAM_NODES", 3000)  # less than twice as many nodes: all of them count
    torch.testing.assert_close(variance_gain(view.mT, covariance, wanted, ridge), exact)
    monkeypatch.setattr(graph_views, "GRAM_NODES", 1000)
    some = variance_gain(view.mT, covariance, wanted, ridge)
    torch.testing.assert_close(some, exact, rtol=0.25, atol=0.0)
    assert not torch.equal(some, exact)
    assert (exact.gather(1, some.argmax(1, keepdim=True)) > 0.95 * exact.amax(1, keepdim=True)).all()


@pytest.mark.parametrize(("labels", "looked_at"), [(0, 2048), (4, 2048), (4, 50)])
def test_the_least_error_is_that_of_trying_every_answer(
    labels: int, looked_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LOOKED_AT", looked_at)  # of 150 nodes all, or every third
    learner = environment(labels, runs=3).learner
    assert isinstance(learner, ViewsLearner)
    covariances, fit, mean = learner.covariances(), learner.solution(), learner.mean()
    scores = torch.rand(mean.shape[:2], generator=torch.Generator().manual_seed(labels))
    chosen = module._least_error(learner, covariances, scores)
    monkeypatch.setattr(module, "_ERROR_BLOCK", 1)  # one candidate after the other
    assert torch.equal(module._least_error(learner, covariances, scores), chosen)
    for run in range(3):
        errors = {}
        for candidate in scores[run].topk(8).indices.tolist():
            shift = torch.zeros(150)
            for view, z in enumerate(learner.views.leading):
                toward = z @ covariances[view, run] @ z[candidate]
                shift += fit.stretch[run, view] * toward / (toward[candidate] + fit.ridges[run, view])
            own = mean[run, candidate]
            errors[candidate] = 0.0
            for answer, chance in enumerate(torch.softmax(6 * own, 0).tolist()):
                target = torch.nn.functional.one_hot(torch.tensor(answer), len(own)) - 1 / len(own)
                after = torch.softmax(6 * (mean[run] + shift[:, None] * (target - own)), 1)
                errors[candidate] += chance * float((1 - after.amax(1))[:: max(1, 150 // looked_at)].mean())
        assert errors[int(chosen[run])] <= min(errors.values()) + 1e-5
        assert max(errors.values()) > min(errors.values()) + 1e-3 or not labels


@pytest.mark.parametrize("classes", [3, 40], ids=["few classes", "more than the expected error is looked at with"])
def test_the_first_question_is_drawn_among_the_best(classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FIRST", 5)
    graph = block_graph(150)
    if classes > 3:
        graph = Graph.build(graph.edge_index, 150, x=graph.x, y=np.arange(150) % classes)
    tensors, strategy = GraphTensors(graph), make_strategy("gain")
    made = Environment.of(tensors, make_classifier("views"), 40, 4)
    made.reset(0, draw_splits(tensors, 1, 0).rows([0] * 40))  # runs differ in their draws alone
    made.begin(strategy)
    learner = made.learner
    plain = module._scores(learner, learner.covariances(), module._undecided(learner.mean()))  # type: ignore[arg-type, attr-defined]
    best = set(plain[0].masked_fill(~made.pool[0], -torch.inf).topk(5).indices.tolist())
    asked = choose(strategy.scores(made.observe()), made.pool)
    assert set(asked.tolist()) == best  # 40 draws leave one of five out once in 1,500 times
    assert torch.equal(strategy.batch(made.observe(), 2)[:, 0], asked)  # type: ignore[index]
    few = made.pool.clone()
    few[:] = False
    few[:, :2] = True
    small = module._drawn(plain.masked_fill(~few, -torch.inf), torch.rand(40, 150))
    assert set(small[:, 0].tolist()) == {0, 1}  # a pool may have fewer


def _played(graph: Graph, runs: int, budget: int) -> Environment:
    tensors = GraphTensors(graph)
    environment = Environment.of(tensors, make_classifier("views"), runs, budget)
    rollout(environment, make_strategy("gain"), draw_splits(tensors, runs, 0), 0)
    return environment


def _of_nothing(seed: int) -> Graph:
    """A graph whose classes hang on nothing that it holds."""
    draws = np.random.default_rng(seed)
    return Graph.build(
        draws.integers(0, 400, (2, 1200)), 400, x=draws.normal(size=(400, 8)), y=draws.choice(3, 400, p=[0.6, 0.3, 0.1])
    )


def test_the_lead_over_the_shares_is_the_mean_difference_over_its_standard_error() -> None:
    """Of the labels that are not alone of their class, among the classes that the other labels have."""
    environment, alone = _played(block_graph(), 4, 7), 0
    members = environment.learner.solution().members()  # type: ignore[attr-defined]
    left_out, labels = members.left_out, environment.learner.posterior.labels()[1]  # type: ignore[attr-defined]
    for run in range(4):
        differences = []
        for label, own in enumerate(labels[run].tolist()):
            others = labels[run][torch.arange(7) != label]
            if own not in others.tolist():
                alone += 1
                continue
            odds = (left_out.temperature[run] * left_out.predictions[run, label]).exp()
            chance = odds[own] / sum(odds[known] for known in set(others.tolist()))
            differences.append(float(chance.log()) - np.log(float((others == own).sum()) / 6))
        number = len(differences)
        spread = np.sqrt((np.square(np.array(differences) - np.mean(differences)).sum() + 1) / number)
        expected = np.mean(differences) / (spread / np.sqrt(number))
        assert float(members.lead_over_shares()[run]) == pytest.approx(expected, rel=1e-3)
    assert alone, "no label was alone of its class"


def test_labels_of_which_each_is_alone_of_its_class_show_nothing() -> None:
    graph = block_graph(signal=4.0)
    assert graph.y is not None
    posterior, leads = Posterior(make_views(GraphTensors(graph)), 1, 3, 4), []
    for own, which in ((0, 0), (1, 0), (2, 0), (1, 1)):
        node = np.flatnonzero(graph.y == own)[which]
        posterior.add(torch.tensor([node]), torch.tensor([own]))
        leads.append(float(posterior.fit().lead_over_shares[0]))
    assert leads[:3] == [0, 0, 0] and leads[3] > 0


@pytest.mark.slow
def test_where_nothing_can_be_learned_questions_become_random(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the gate runs that differ in their draws alone ask nearly the same nodes after the same first one; with
    it they do not.
    """
    monkeypatch.setattr(module, "_FIRST", 1)

    def shared(graph: Graph) -> float:
        tensors = GraphTensors(graph)
        environment = Environment.of(tensors, make_classifier("views"), 6, 24)
        splits = draw_splits(tensors, 1, 0).rows([0] * 6)
        rollout(environment, make_strategy("gain"), splits, 0)
        late = [set(row[3:].tolist()) for row in environment.queries]
        return float(np.mean([len(late[0] & other) / len(late[0]) for other in late[1:]]))

    with_gate = shared(_of_nothing(0))
    learnable = shared(block_graph())
    monkeypatch.setattr(module, "GATE", -np.inf)
    assert with_gate < 0.5 * shared(_of_nothing(0))
    assert learnable == pytest.approx(shared(block_graph()), abs=0.35)


def test_a_batch_is_random_where_nothing_can_be_learned_and_holds_no_node_twice() -> None:
    environment = _played(_of_nothing(1), 3, 12)
    assert (environment.learner.solution().lead_over_shares < module.GATE).any()  # type: ignore[attr-defined]
    batch = make_strategy("gain").batch(environment.observe(), 5)
    assert batch is not None and all(len(set(row.tolist())) == 5 for row in batch)


def test_it_says_why_a_question_is_random_where_it_is_and_nothing_elsewhere() -> None:
    for graph in (_of_nothing(1), block_graph(signal=4.0)):
        for labels in (1, 12):
            environment = _played(graph, 1, labels)
            lead = float(environment.learner.solution().lead_over_shares[0])  # type: ignore[attr-defined]
            seen = environment.observe()
            why = make_strategy("gain").why_random(seen)  # type: ignore[attr-defined]
            assert (why is not None) == (labels >= seen.num_classes and lead < module.GATE)
            is_noise = torch.equal(make_strategy("gain").scores(seen), seen.noise)
            assert is_noise == (why is not None)


@pytest.mark.parametrize("labels", [0, 3, 9])
def test_a_question_of_a_recorded_step_is_computed_once(labels: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing may be kept from one step to the next, as on a GPU, scores and gate share one fit."""
    moment, strategy = _played(block_graph(), 2, 9), make_strategy("gain")
    learner = moment.learner
    assert isinstance(learner, ViewsLearner)
    nodes, answers = learner.posterior.labels()
    learner.posterior.reset()
    learner.forget()
    learner.add(nodes[:, :labels], answers[:, :labels])
    moment.clock.step.fill_(labels)
    expected = strategy.scores(moment.observe())
    learner.forget()
    learner._keeps = False
    fits: list[int] = []
    fit = type(learner.posterior).fit
    monkeypatch.setattr(type(learner.posterior), "fit", lambda posterior: (fits.append(1), fit(posterior))[1])
    assert torch.equal(strategy.scores(moment.observe()), expected)
    assert len(fits) == 1


def test_gains_kept_with_the_views_are_those_of_the_first_question(monkeypatch: pytest.MonkeyPatch) -> None:
    moment, strategy = environment(0, runs=1), make_strategy("gain")
    learner = moment.learner
    assert isinstance(learner, ViewsLearner)
    computed, batch = strategy.scores(moment.observe()), strategy.batch(moment.observe(), 3)
    learner.views = replace(learner.views, first_gains=first_gains(learner.views, RIDGES[FIRST_RIDGE]))
    with monkeypatch.context() as patch:
        patch.setattr(module, "variance_gain", None)
        assert torch.equal(strategy.scores(moment.observe()), computed)
    again = strategy.batch(moment.observe(), 3)
    assert batch is not None and again is not None and torch.equal(again, batch)
    with torch.no_grad():
        moment.query(choose(computed, moment.pool))
        learned = strategy.scores(moment.observe())
        learner.views = replace(learner.views, first_gains=None)
        assert torch.equal(strategy.scores(moment.observe()), learned)  # they say nothing of later questions
