"""Environments on which a strategy's choice can be worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from nodewise.contracts import Learner, Strategy
from nodewise.environment import Environment, Splits, choose
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.policy import Policy
from nodewise.strategies import Learned, make_strategy


class Still(Learner):
    """A learner that never learns: its hidden layer and output are given, [run, node, width] each."""

    def __init__(self, hidden: torch.Tensor, logits: torch.Tensor) -> None:
        self._hidden, self._logits, self.num_classes = hidden, logits, logits.shape[-1]

    def reset(self, seed: int) -> None:
        return

    def add(self, nodes: torch.Tensor, labels: torch.Tensor) -> None:
        return

    def fit(self) -> None:
        return

    def embedding(self) -> torch.Tensor:
        return self._hidden

    def logits(self) -> torch.Tensor:
        return self._logits


def still_environment(
    *,
    hidden: Sequence[object] | None = None,
    logits: Sequence[object] | None = None,
    edges: Sequence[tuple[int, int]] = (),
    features: Sequence[object] | None = None,
    labels: Sequence[int] | None = None,
    pool: Sequence[int] | None = None,
    budget: int = 3,
    seed: int = 0,
) -> Environment:
    """An environment whose classifier stands still, freshly reset: hidden and logits as [run][node][width], the pool by
    its nodes, features as [node][feature]; of one run where these alone are given.
    """
    if hidden is None and logits is None and features is not None:
        logits = [[[0.0, 0.0]] * len(features)]
    given = torch.tensor(hidden if hidden is not None else logits, dtype=torch.float32)
    runs, nodes, _ = given.shape
    output = torch.tensor(logits, dtype=torch.float32) if logits is not None else torch.zeros(runs, nodes, 2)
    y = np.array(labels if labels is not None else np.arange(nodes) % output.shape[2])
    edge_index = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    names = tuple(str(number) for number in range(output.shape[2]))
    x = np.eye(nodes, dtype=np.float32) if features is None else np.array(features, dtype=np.float32)
    graph = GraphTensors(Graph.build(edge_index, nodes, x=x, y=y, class_names=names))
    environment = Environment(graph, Still(given, output), runs, budget)
    mask = torch.zeros(runs, nodes, dtype=torch.bool)
    mask[:, list(pool) if pool is not None else slice(None)] = True
    held_out = torch.zeros(runs, 1, dtype=torch.int64)
    environment.reset(seed, Splits(held_out, held_out, mask))
    return environment


def next_choice(environment: Environment, strategy: Strategy) -> list[int]:
    """The node that the strategy asks next in each run; it is asked."""
    nodes = choose(strategy.scores(environment.observe()), environment.pool)
    environment.query(nodes)
    return nodes.tolist()


def strategy_named(name: str) -> Strategy:
    """A strategy by name; the learned one with an untrained policy."""
    return Learned(Policy(seed=5)) if name == "policy" else make_strategy(name)
