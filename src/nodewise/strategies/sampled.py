"""A large graph looked at by a sample of its nodes, which also stands for all of them where their certainty is summed.

So `gain` takes the same time and memory for a query, however large the graph is. What it may cost is bounded by how
much better the best of all nodes is than the best of 65,536: benchmarks/sampling.py measures it on graphs small enough
for both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch

from nodewise.classifiers.views.views import ViewsLearner

__all__ = ["Sight", "labelled_sample", "sample"]

_FEWEST = 4096
"""Nodes of the sample that each run's pool should have; else more of the pools are looked at."""


@dataclass(frozen=True)
class Sight:
    """What `gain` looks at when it chooses: all nodes of a graph, or a sample.

    Attributes:
        learner: the posterior over these nodes.
        pool, labelled: bool [run, node]. noise: uniform numbers, [run, node].
        step: queries made, int64 [1]. num_classes: how many classes there are.
    """

    learner: ViewsLearner
    pool: torch.Tensor
    labelled: torch.Tensor
    noise: torch.Tensor
    step: torch.Tensor
    num_classes: int

    def part(self, nodes: torch.Tensor, learner: ViewsLearner) -> Sight:
        """The same of some nodes alone, int64 [node], with the learner that has these."""
        pool, labelled, noise = (whole[:, nodes] for whole in (self.pool, self.labelled, self.noise))
        return replace(self, learner=learner, pool=pool, labelled=labelled, noise=noise)


def sample(whole: Sight) -> tuple[torch.Tensor, Sight]:
    """Which nodes stand for all, int64 [node], and the sight of them."""
    return _sample(whole, torch.empty(0, dtype=torch.int64))


def labelled_sample(whole: Sight) -> tuple[torch.Tensor, Sight]:
    """The same with all labelled nodes among them, where the posterior's own nodes count within the sample."""
    posterior = whole.learner.posterior
    known = posterior.nodes[:, : int(posterior.count)]
    waiting = torch.nonzero(whole.labelled.scatter(1, known, False).any(0))[:, 0]
    nodes, part = _sample(whole, torch.cat([known.flatten(), waiting]))
    part.learner.posterior.nodes = torch.searchsorted(nodes, part.learner.posterior.nodes).clamp_max(
        len(nodes) - 1
    )  # what is not filled is not looked at
    return nodes, part


def _sample(whole: Sight, wanted: torch.Tensor) -> tuple[torch.Tensor, Sight]:
    learner, pool = whole.learner, whole.pool
    nodes, views = learner.views.sample
    fewest = min(_FEWEST, int(pool.sum(1).min()))
    if len(wanted) or int(pool[:, nodes].sum(1).min()) < fewest:
        more = [wanted]
        for row in pool if int(pool[:, nodes].sum(1).min()) < fewest else ():
            there = torch.nonzero(row)[:, 0]
            more.append(there[:: max(1, len(there) // (2 * _FEWEST))])
        nodes = torch.unique(torch.cat([nodes, *more]))
        return nodes, whole.part(nodes, learner.part(nodes))
    return nodes, whole.part(nodes, learner.part(nodes, views))
