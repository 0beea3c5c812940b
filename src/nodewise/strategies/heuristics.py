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


class Heuristics:
    """Entropy, centrality and density of every node (Cai et al. 2017, section 3.2).

    Density is the nearness to the nearest of C k-means centres, C the number of classes. The clusters are of the predicted
    probabilities, as in the released code of both papers; the papers speak of embeddings. They are seeded once an episode and
    carried from step to step, two iterations each.
    """

    def __init__(self) -> None:
        # A recorded step of an environment writes where its own clusters were when it was recorded, so they stay there.
        self._kept: WeakKeyDictionary[Environment, torch.Tensor] = WeakKeyDictionary()

    def begin(self, environment: Environment) -> None:
        """Seed the clusters; rank the nodes by centrality, once for the graph."""
        graph, runs = environment.graph, environment.runs
        self._centrality = percentiles(graph.pagerank)
        points = environment.observe().probabilities
        classes = graph.num_classes
        members = lloyd(points, seed_clusters(points, classes, environment.uniform("k-means", (runs, classes))), classes, _SEED_ITERATIONS).members
        if environment not in self._kept:
            self._kept[environment] = torch.empty_like(members)
        self._members = self._kept[environment]
        self._members.copy_(members)

    def ranks(self, observation: Observation) -> Ranks:
        """The ranks now; the clusters move on by a step."""
        clusters = lloyd(observation.probabilities, self._members, observation.graph.num_classes, _ITERATIONS)
        self._members.copy_(clusters.members)
        entropy, density = percentiles(torch.stack([observation.negative_entropy, clusters.distance]).neg_())
        return Ranks(entropy, self._centrality, density)
