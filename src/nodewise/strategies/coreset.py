"""Coreset as the paper words it: k-means on the hidden layer, the node closest to a cluster's centre."""

from __future__ import annotations

import torch

from nodewise.contracts import Observation, Strategy
from nodewise.environment.runs import break_ties
from nodewise.strategies.kmeans import Clusters, add_cluster, lloyd, seed_clusters, squared_distances

__all__ = ["Coreset"]

_ITERATIONS = 3


class Coreset(Strategy):
    """The pool node nearest to the centre of the cluster that the labels know least of.

    Hu et al. (2020), section 4.1, says that Coreset clusters the outputs of the last hidden layer with k-means and that
    "the node which is closest to the cluster center is selected"; it gives neither k nor which of the centres. The
    cited paper's own algorithm is `KCenter`.

    Departures: what is not given is read so: k is the number of labelled nodes plus one, so that at least one cluster
    is new to the labels, and of the centres it is the one farthest from any labelled node. The first query is the node
    nearest to the mean of all. Clusters are kept from step to step; the one that is added starts from a node drawn as
    k-means++ would.
    """

    name = "coreset"
    version = 1
    recordable = False  # the number of clusters grows
    reads_budget = False

    def begin(self, observation: Observation) -> None:
        """Forget the clusters of the episode before."""
        observation.memory.clear()

    def scores(self, observation: Observation) -> torch.Tensor:
        """Minus every node's squared distance to the chosen centre."""
        nodes, hidden = observation.queried.nodes[:, : observation.step_number], observation.embedding
        count = nodes.shape[1] + 1
        clusters = observation.memory["clusters"] = lloyd(hidden, self._start(observation, count), count, _ITERATIONS)
        middle = hidden.mean(1, keepdim=True)
        points, centres = hidden - middle, clusters.centres - middle
        labelled = points.gather(1, nodes[..., None].expand(-1, -1, points.shape[2]))
        if count > 1:  # with no label there is one centre
            novelty = (
                squared_distances(labelled, centres).amin(2).nan_to_num(-1.0)
            )  # [run, cluster]; an empty one is never chosen
            centres = centres.gather(1, novelty.argmax(1)[:, None, None].expand(-1, 1, points.shape[2]))
        return break_ties(-squared_distances(points, centres)[:, 0], observation)

    def _start(self, observation: Observation, count: int) -> torch.Tensor:
        """The clusters of the step before and one more; all new ones where there are none to go on from.

        Int64 [run, node].
        """
        kept: Clusters | None = observation.memory.get("clusters")
        shape = observation.pool.shape
        if kept is not None and kept.centres.shape[1] == count - 1:
            return add_cluster(kept, count - 1, observation.uniform("coreset", *shape))
        return seed_clusters(
            observation.embedding, count, lambda number: observation.uniform(f"coreset {number}", *shape)
        )
