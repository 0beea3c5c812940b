"""Every recordable strategy can be recorded with every recordable classifier: a step copies nothing from Python's
memory to the device.
"""

from __future__ import annotations

import sys
from typing import Any

import pytest
import torch

from nodewise.classifiers import make_classifier
from nodewise.environment import Environment, draw_splits, rollout
from nodewise.graph.tensors import GraphTensors
from nodewise.policy import Policy
from nodewise.strategies import Age, Centrality, Gain, Learned, Random, Uncertainty
from tests.small_graphs import random_graph

STRATEGIES = {
    "random": Random,
    "centrality": Centrality,
    "uncertainty": Uncertainty,
    "age": Age,
    "gain": Gain,
    "policy": lambda: Learned(Policy(seed=3)),
}


def begun(device: str, classifier: str, name: str) -> tuple[Environment, Any]:
    tensors, strategy = GraphTensors(random_graph("sparse"), device), STRATEGIES[name]()
    return Environment.of(tensors, make_classifier(classifier), 4, 5), strategy


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_step_makes_no_tensor_of_numbers_in_python(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    environment, strategy = begun("cpu", "views", name)
    environment.reset(0, draw_splits(environment.graph, 4, seed=0))
    environment.begin(strategy)
    environment.take_step(strategy)
    made = torch.tensor

    def watched(*arguments: Any, **options: Any) -> torch.Tensor:
        caller = sys._getframe(1).f_globals["__name__"]
        assert not caller.startswith(("nodewise.classifiers", "nodewise.strategies")), (
            f"{caller} makes a tensor in a step"
        )
        return made(*arguments, **options)

    monkeypatch.setattr(torch, "tensor", watched)
    for _ in range(3):
        environment.take_step(strategy)
    assert environment.step == 4


@pytest.mark.gpu
@pytest.mark.parametrize("classifier", ["views", "gcn"])
@pytest.mark.parametrize("name", STRATEGIES)
def test_a_recorded_episode_ends(name: str, classifier: str) -> None:
    environment, strategy = begun("cuda", classifier, name)
    for episode in range(2):
        asked = rollout(environment, strategy, draw_splits(environment.graph, 4, seed=episode), seed=episode)
        assert all(len(set(run)) == 5 for run in asked.tolist())
