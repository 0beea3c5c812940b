"""The policy while it learns: how it samples, and what it keeps."""

from __future__ import annotations

import torch

from nodewise.classifiers import Gcn
from nodewise.contracts import Observation
from nodewise.environment import Environment, draw_splits, f1_scores, rollout
from nodewise.graph.tensors import GraphTensors
from nodewise.policy import Policy, PolicySettings
from nodewise.policy.state import StateSettings, state
from nodewise.training.explorer import Explorer
from tests.environment.fixed import environment_of
from tests.learners import learner
from tests.small_graphs import random_graph


def sharp_policy() -> Policy:
    """One whose probabilities differ much: score = 3 entropy + 20 degree (which is at most 3/20 here)."""
    settings = PolicySettings("mlp", hidden=1, layers=1, state=StateSettings(("entropy", "degree", "labelled")))
    policy = Policy(settings)
    with torch.no_grad():
        policy.weights[0].copy_(torch.tensor([[3.0], [20.0], [0.0]]))
        policy.output.fill_(1)
    return policy.double()


def test_nodes_are_sampled_from_the_softmax_over_the_pool() -> None:
    runs = 4000
    predicted = [[0.5, 0.5], [0.25, 0.75], [0.75, 0.25], [0.9, 0.1], [0.5, 0.5]]
    environment = environment_of([(0, 1), (1, 2), (1, 3), (0, 3)], [predicted] * runs, budget=2)
    environment.splits.pool[:, 4] = False
    policy = sharp_policy()
    explorer = Explorer(policy, environment)
    asked = rollout(environment, explorer, environment.splits, seed=1)
    scores = policy(environment.graph, explorer.states[:1, 0])[0].detach()
    p = torch.softmax(scores[:4], 0)
    assert p.max() < 0.9 and p.min() > 0.01 and p.max() > 2 * p.min()
    counts = torch.bincount(asked[:, 0], minlength=5)
    assert counts[4] == 0
    error = (runs * p * (1 - p)).sqrt()
    assert ((counts[:4] - runs * p).abs() < 4.5 * error).all()
    second = asked[asked[:, 0] == 1, 1]  # after node 1: over what is left, with the state of that moment
    scores = policy(environment.graph, explorer.states[asked[:, 0] == 1][:1, 1])[0].detach()
    p = torch.softmax(scores[torch.tensor([0, 2, 3])], 0)
    shares = torch.bincount(second, minlength=5)[torch.tensor([0, 2, 3])] / len(second)
    assert ((shares - p).abs() < 4.5 * (p * (1 - p) / len(second)).sqrt()).all()


def test_states_and_scores_of_every_step_are_kept() -> None:
    graph = GraphTensors(random_graph())
    environment = Environment(graph, learner("gcn", graph, 3, Gcn(closing_epochs=1)), 3, 4)
    splits = draw_splits(graph, 3, 0)
    seen: list[torch.Tensor] = []
    before: list[torch.Tensor] = []

    class Watching(Explorer):
        def scores(self, observation: Observation) -> torch.Tensor:
            seen.append(state(observation, StateSettings()).clone())
            guess = observation.logits.argmax(-1).gather(1, splits.validation)
            before.append(f1_scores(guess, graph.y[splits.validation], graph.num_classes).micro)
            return super().scores(observation)

    explorer = Watching(Policy(seed=1), environment, keep_scores=True)
    for episode in range(2):  # the second overwrites the first
        seen.clear()
        before.clear()
        splits = draw_splits(graph, 3, episode)
        rollout(environment, explorer, splits, seed=episode)
        assert torch.equal(explorer.states, torch.stack(seen, 1))
        torch.testing.assert_close(explorer.before, torch.stack(before, 1))
