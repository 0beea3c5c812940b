"""The GPU kernels of `gain`, against the same formulas on the CPU."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nodewise.classifiers import make_classifier
from nodewise.classifiers.views.views import ViewsLearner
from nodewise.environment import Environment, choose, draw_splits
from nodewise.graph.tensors import GraphTensors
from nodewise.strategies import gain as module
from nodewise.strategies import make_strategy
from tests.kernel_devices import KERNEL_DEVICES
from tests.small_graphs import block_graph, with_labels

RUNS, NODES = 2, 150


def by_kernels(
    learner: ViewsLearner, pool: torch.Tensor, noise: torch.Tensor, step: int, device: str, early: int
) -> torch.Tensor:
    from nodewise.strategies.gain_kernels import gain_scores

    fit, posterior = learner.solution(), learner.posterior
    posterior._keep()  # the covariances of all strengths
    chosen = (posterior._ridges.to(fit.ridges.dtype) == fit.ridges[..., None]).int().argmax(-1).int()
    mean = posterior.mean(fit).transpose(0, 1).contiguous()
    parts = (
        learner.views.leading,
        mean,
        fit.weights,
        fit.stretch,
        chosen,
        fit.ridges,
        posterior.covariance,
        pool,
        noise,
        torch.tensor([step]),
    )
    return gain_scores(
        *(part.contiguous().to(device) for part in parts),
        counting=(module._VIEWS, module._LEAST_WEIGHT),
        first=module._FIRST,
        early=early,
        candidates=module._CANDIDATES,
        looked_at=module._LOOKED_AT,
        gram_nodes=module.GRAM_NODES,
        temperature=module._TEMPERATURE,
    ).cpu()


@pytest.mark.parametrize("device", KERNEL_DEVICES)
@pytest.mark.parametrize(("labels", "classes"), [(0, 3), (3, 3), (10, 3), (1, 1)])
def test_scores_and_the_choice_are_the_cpu_s(
    labels: int, classes: int, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LOOKED_AT", 64)  # every second node
    graph = block_graph(NODES)
    graph = graph if classes == 3 else with_labels(graph, np.zeros(NODES, np.int64))
    tensors, strategy = GraphTensors(graph), make_strategy("gain")
    moment = Environment.of(tensors, make_classifier("views"), RUNS, 12)
    moment.reset(0, draw_splits(tensors, RUNS, 0))
    moment.begin(strategy)
    with torch.no_grad():
        for _ in range(labels):
            moment.query(choose(strategy.scores(moment.observe()), moment.pool))
        seen, learner = moment.observe(), moment.learner
        assert isinstance(learner, ViewsLearner)
        covariances, undecided = (
            learner.posterior.covariances(learner.solution().ridges),
            module._undecided(learner.mean()),
        )
        plain = module._scores(learner, covariances, undecided)
        there = by_kernels(learner, seen.pool, torch.zeros_like(seen.noise), labels, device, early=0)
        torch.testing.assert_close(there, plain, atol=2e-4, rtol=1e-3)
        scores = by_kernels(learner, seen.pool, seen.noise, labels, device, early=2 * classes)
        settled = module._settled_scores(module._sight(seen))  # before the gate, which `test_kernels` of the views has
        assert torch.equal(choose(scores, moment.pool), choose(settled, moment.pool))
