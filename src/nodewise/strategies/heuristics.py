"""The three heuristics that AGE and ANRMAB combine, as percentile ranks."""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import torch

from nodewise.environment import Environment, Observation
from nodewise.strategies.kmeans import lloyd, seed_clusters
from nodewise.strategies.percentiles import percentiles

__all__ = ["Heuristics", "Ranks"]

_SEED_ITERATIONS = 10
_ITERATIONS = 2


class Ranks(NamedTuple):
    """Percentile ranks among all nodes of the graph, in [0, 1), larger is more wanted.

    Attributes:
        entropy: of the predicted label distribution, [run, node].
        centrality: PageRank, [node].
        density: nearness to the nearest cluster's centre, [run, node].
    """

    entropy: torch.Tensor
    centrality: torch.Tensor
    density: torch.Tensor


class _Kept(NamedTuple):
    members: torch.Tensor
    centrality: torch.Tensor


class Heuristics:
    """Entropy, centrality and density of every node (Cai et al. 2017, section 3.2).

    Density is the nearness to the nearest of C k-means centres, C the number of classes. The clusters are of the predicted
    probabilities, as in the code released with the paper; Cai et al. and the paper speak of embeddings. They are seeded once an
    episode and carried from step to step, two iterations each, where the released code starts ten times anew for every query.
    """

    def __init__(self) -> None:
        # what a recorded step of an environment reads and writes must stay where it was when it was recorded
        self._kept: WeakKeyDictionary[Environment, _Kept] = WeakKeyDictionary()

    def begin(self, environment: Environment) -> None:
        """Seed the clusters; rank the nodes by centrality, once for the graph."""
        classes, points = environment.graph.num_classes, environment.observe().probabilities
        shape = (environment.runs, environment.graph.num_nodes)
        seeds = seed_clusters(points, classes, lambda number: environment.uniform(f"k-means {number}", shape))
        members = lloyd(points, seeds, classes, _SEED_ITERATIONS).members
        if environment not in self._kept:
            self._kept[environment] = _Kept(torch.empty_like(members), percentiles(environment.graph.pagerank))
        self._now = self._kept[environment]
        self._now.members.copy_(members)

    def ranks(self, observation: Observation) -> Ranks:
        """The ranks now; the clusters move on by a step."""
        clusters = lloyd(observation.probabilities, self._now.members, observation.graph.num_classes, _ITERATIONS)
        self._now.members.copy_(clusters.members)
        entropy, density = percentiles(torch.stack([observation.negative_entropy, clusters.distance]).neg_())
        return Ranks(entropy, self._now.centrality, density)
