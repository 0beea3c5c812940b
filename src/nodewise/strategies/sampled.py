"""`gain` on a large graph: chosen from a sample of the nodes, which also stands for all of them where their certainty
is summed up.

So a query takes the same time and memory, however large the graph is. What it may cost is bounded by how much better
the best of all nodes is than the best of 65,536: benchmarks/sampling.py measures it on graphs small enough for both.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch

from nodewise.classifiers.views.views import ViewsLearner
from nodewise.contracts import Observation, Strategy

__all__ = ["sampled_batch", "sampled_scores"]

_FEWEST = 4096
"""Nodes of the sample that each run's pool should have; else more of the pools are looked at."""


def sampled_scores(strategy: Strategy, observation: Observation, learner: ViewsLearner) -> torch.Tensor:
    """A strategy's scores of the sampled nodes, -inf for all others: [run, node]."""
    nodes, part = _sample(observation.pool, learner, torch.empty(0, dtype=torch.int64))
    scores = strategy.scores(_Sampled(observation, nodes, part))  # type: ignore[arg-type]
    return scores.new_full(observation.pool.shape, -torch.inf).index_copy_(1, nodes, scores)


def sampled_batch(
    strategy: Strategy, observation: Observation, learner: ViewsLearner, count: int
) -> torch.Tensor | None:
    """A strategy's batch from the sampled nodes: int64 [run, count]."""
    known = learner.posterior.nodes[:, : int(learner.posterior.count)]
    waiting = torch.nonzero(observation.labelled.scatter(1, known, False).any(0))[:, 0]
    nodes, part = _sample(observation.pool, learner, torch.cat([known.flatten(), waiting]))
    part.posterior.nodes = torch.searchsorted(nodes, part.posterior.nodes).clamp_max(
        len(nodes) - 1
    )  # what is not filled is not looked at
    chosen = strategy.batch(_Sampled(observation, nodes, part), count)  # type: ignore[arg-type]
    return None if chosen is None else nodes[chosen]


def _sample(pool: torch.Tensor, learner: ViewsLearner, wanted: torch.Tensor) -> tuple[torch.Tensor, ViewsLearner]:
    """The nodes to look at, in order, those wanted among them, and the learner with these alone."""
    nodes, views = learner.views.sample
    fewest = min(_FEWEST, int(pool.sum(1).min()))
    if len(wanted) or int(pool[:, nodes].sum(1).min()) < fewest:
        more = [wanted]
        for row in pool if int(pool[:, nodes].sum(1).min()) < fewest else ():
            there = torch.nonzero(row)[:, 0]
            more.append(there[:: max(1, len(there) // (2 * _FEWEST))])
        nodes = torch.unique(torch.cat([nodes, *more]))
        return nodes, learner.part(nodes)
    return nodes, learner.part(nodes, views)


class _Sampled:
    """An observation of some nodes alone."""

    def __init__(self, whole: Observation, nodes: torch.Tensor, learner: ViewsLearner) -> None:
        self._whole, self._nodes, self.learner = whole, nodes, learner
        self.pool, self.labelled = whole.pool[:, nodes], whole.labelled[:, nodes]
        self.noise = whole.noise[:, nodes]
        self.graph = SimpleNamespace(
            device=whole.graph.device, dtype=whole.graph.dtype, num_nodes=0
        )  # small, however many they are

    def __getattr__(self, name: str) -> Any:
        return getattr(self._whole, name)
