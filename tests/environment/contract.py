"""What every environment keeps, whatever its graph, classifier and device: run `check_environment` on yours."""

from __future__ import annotations

import torch

from nodewise.contracts import Observation
from nodewise.environment import Environment, Splits, SplitSizes, choose, draw_splits


def check_environment(environment: Environment, sizes: SplitSizes | None = None) -> None:
    """Plays two episodes and asserts everything that a strategy, the training or an evaluation relies on.

    Args:
        environment: at any point of an episode; it is reset.
        sizes: of test and validation sets, if not the protocol's.
    """
    splits = draw_splits(environment.graph, environment.runs, seed=11, sizes=sizes)
    first = _episode(environment, splits, seed=3)
    again = _episode(environment, splits, seed=3)
    other = _episode(environment, splits, seed=4)
    assert torch.equal(first[0], again[0]), "the same seed asks the same nodes"
    _assert_same(environment, first[1], again[1], "the same seed gives the same predictions")
    assert not torch.equal(first[0], other[0]), "another seed asks other nodes"


def _episode(environment: Environment, splits: Splits, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    with torch.no_grad():
        environment.reset(seed, splits)
        _check_start(environment, splits)
        drawn = []
        for step in range(environment.budget):
            observation = environment.observe()
            _check_observation(environment, observation, step)
            drawn.append(observation.noise)
            _check_query(environment, choose(observation.noise, environment.pool))
            environment.learner.fit()
        assert len(torch.stack(drawn).unique(dim=0)) == environment.budget, "every step draws anew"
        before = environment.learner.logits().clone()
        environment.learner.finish()
        assert not torch.equal(environment.learner.logits(), before), "training changes the classifiers"
        _check_score(environment, splits)
        return environment.queries.clone(), environment.learner.logits().clone()


def _check_start(environment: Environment, splits: Splits) -> None:
    runs, nodes = environment.runs, environment.graph.num_nodes
    assert environment.step == 0
    assert environment.pool.shape == environment.labelled.shape == (runs, nodes)
    assert environment.pool.dtype == environment.labelled.dtype == torch.bool
    assert torch.equal(environment.pool, splits.pool)
    assert not environment.labelled.any()
    assert environment.queries.shape == (runs, 0)
    assert all(part.shape == (runs, environment.budget) for part in environment.queried)
    assert not environment.queried.mask.any()
    assert (environment.graph.y[splits.test] >= 0).all() and (environment.graph.y[splits.validation] >= 0).all()


def _check_observation(environment: Environment, observation: Observation, step: int) -> None:
    runs, nodes, classes = environment.runs, environment.graph.num_nodes, environment.graph.num_classes
    assert (observation.step_number, observation.budget, observation.runs, observation.num_classes) == (
        step,
        environment.budget,
        runs,
        classes,
    )
    assert observation.step.tolist() == [step] and observation.step.dtype == torch.int64
    assert not hasattr(observation.graph, "y"), "labels that were not told are out of reach"
    shapes = {
        "logits": (runs, nodes, classes),
        "log_probabilities": (runs, nodes, classes),
        "probabilities": (runs, nodes, classes),
        "negative_entropy": (runs, nodes),
        "noise": (runs, nodes),
    }
    parts = {name: getattr(observation, name) for name in shapes}
    parts |= {
        "divergence to": observation.divergences[0],
        "divergence from": observation.divergences[1],
        "embedding": observation.embedding,
    }
    for name, tensor in parts.items():
        assert tensor.shape == shapes.get(name, tensor.shape), name
        assert tensor.shape[:2] == (runs, nodes), name
        assert tensor.dtype == environment.graph.dtype and tensor.device == environment.graph.device, name
        assert torch.isfinite(tensor).all(), name
    torch.testing.assert_close(
        observation.probabilities.sum(-1), torch.ones_like(observation.noise), rtol=1e-4, atol=1e-4
    )
    assert (observation.log_probabilities <= 1e-6).all()
    assert (parts["divergence to"] > -1e-4).all() and (parts["divergence from"] > -1e-4).all()
    noise = observation.noise
    assert (noise >= 0).all() and (noise < 1).all()
    assert torch.equal(environment.observe().noise, noise), "looking again at the same moment shows the same"
    assert not torch.equal(observation.uniform("another purpose", runs, nodes), noise)
    assert observation.uniform("shape", runs, 3).shape == (runs, 3)


def _check_query(environment: Environment, nodes: torch.Tensor) -> None:
    assert nodes.shape == (environment.runs,) and nodes.dtype == torch.int64
    assert environment.pool.gather(1, nodes[:, None]).all(), "only nodes of the pool are chosen"
    pool, labelled, step = environment.pool.clone(), environment.labelled.clone(), environment.step
    kept = environment.queries.clone()
    environment.query(nodes)
    asked = torch.zeros_like(pool).scatter_(1, nodes[:, None], True)
    assert torch.equal(environment.pool, pool & ~asked), "the pool shrinks by exactly the query"
    assert torch.equal(environment.labelled, labelled | asked), "what was asked is labelled, nothing else"
    assert environment.step == step + 1
    assert torch.equal(environment.queries, torch.cat([kept, nodes[:, None]], 1))
    asked_so_far = environment.queried
    assert asked_so_far.mask.sum(1).tolist() == [step + 1] * environment.runs and asked_so_far.mask[:, : step + 1].all()
    assert torch.equal(asked_so_far.nodes[:, : step + 1], environment.queries)
    assert torch.equal(asked_so_far.labels[:, : step + 1], environment.graph.y[environment.queries]), (
        "answers are the oracle's"
    )


def _check_score(environment: Environment, splits: Splits) -> None:
    before = environment.learner.logits().clone()
    scores = environment.score(splits.test)
    assert torch.equal(environment.learner.logits(), before), "scoring changes nothing"
    for part in scores:
        assert part.shape == (environment.runs,)
        assert (part >= 0).all() and (part <= 1).all()
    right = before.argmax(-1).gather(1, splits.test) == environment.graph.y[splits.test]
    torch.testing.assert_close(scores.micro, right.to(scores.micro.dtype).mean(1))


def _assert_same(environment: Environment, one: torch.Tensor, other: torch.Tensor, what: str) -> None:
    if environment.graph.device.type == "cpu":
        assert torch.equal(one, other), what
    else:  # sums on a GPU have no fixed order
        torch.testing.assert_close(one, other, rtol=0.02, atol=0.02, msg=lambda text: f"{what}: {text}")
