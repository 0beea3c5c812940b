"""A toy whose best policy is known: members of two communities are worth asking, loners are not."""

from __future__ import annotations

import numpy as np
import torch

from nodewise.environment import Environment, draw_splits
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.policy import Policy
from nodewise.policy.policy import state
from tests.learners import learner

MEMBERS, LONERS = 40, 40


def communities_and_loners(seed: int = 0, name: str = "toy") -> Graph:
    """Two communities of alike members, and as many nodes without neighbours whose features and labels are noise.

    The label of a member tells those of its whole community, that of a loner nothing at all.
    """
    rng = np.random.default_rng(seed)
    member = np.arange(MEMBERS) % 2
    ends = rng.integers(0, MEMBERS, (2, 8 * MEMBERS))
    edges = ends[:, member[ends[0]] == member[ends[1]]]
    x = rng.normal(size=(MEMBERS + LONERS, 6)).astype(np.float32)
    x[:MEMBERS] += 0.7 * np.where(member[:, None] == 0, 1, -1)
    y = np.concatenate([member, rng.integers(0, 2, LONERS)])
    return Graph.build(edges, MEMBERS + LONERS, x=x, y=y, name=name)


def chance_of_members(policy: Policy, graph: Graph) -> float:
    """How likely the policy, sampling, is to begin with a member rather than a loner: the mean over runs."""
    tensors = GraphTensors(graph)
    environment = Environment(tensors, learner("gcn", tensors, 20), 20, 1)
    environment.reset(0, draw_splits(tensors, 20, seed=0))
    with torch.no_grad():
        scores = policy(tensors, state(environment.observe(), policy.settings.state))
        chances = torch.softmax(scores.masked_fill(~environment.pool, -torch.inf), 1)
    return float(chances[:, :MEMBERS].sum(1).mean())
