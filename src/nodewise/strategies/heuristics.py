"""The three heuristics that AGE and ANRMAB combine, as percentile ranks."""

from __future__ import annotations

from typing import NamedTuple

import torch

from nodewise.contracts import Observation
from nodewise.strategies.kmeans import lloyd, seed_clusters
from nodewise.strategies.scoring import percentiles

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

    What is carried lies in the observation's memory.

    Density is the nearness to the nearest of C k-means centres, C the number of classes. The clusters are of the
    predicted probabilities, as in the code released with the paper; Cai et al. and the paper speak of embeddings. They
    are seeded once an episode and carried from step to step, two iterations each, where the released code starts ten
    times anew for every query.
    """

    def begin(self, observation: Observation) -> None:
        """Seed the clusters; rank the nodes by centrality, once for the graph."""
        classes, points, memory = observation.num_classes, observation.probabilities, observation.memory
        shape = (observation.runs, observation.graph.num_nodes)
        seeds = seed_clusters(points, classes, lambda number: observation.uniform(f"k-means {number}", *shape))
        members = lloyd(points, seeds, classes, _SEED_ITERATIONS).members
        if "members" not in memory:  # what a recorded step reads and writes must stay where it was when it was recorded
            memory["members"], memory["centrality"] = torch.empty_like(members), percentiles(observation.graph.pagerank)
        memory["members"].copy_(members)

    def ranks(self, observation: Observation) -> Ranks:
        """The ranks now; the clusters move on by a step."""
        kept = observation.memory["members"]
        clusters = lloyd(observation.probabilities, kept, observation.num_classes, _ITERATIONS)
        kept.copy_(clusters.members)
        entropy, density = percentiles(torch.stack([observation.negative_entropy, clusters.distance]).neg_())
        return Ranks(entropy, observation.memory["centrality"], density)
