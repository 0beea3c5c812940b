"""FeatProp: the middles of clusters of propagated features (Wu et al. 2019)."""

from __future__ import annotations

import torch

from nodewise.contracts import Observation
from nodewise.graph.tensors import GraphTensors
from nodewise.strategies.medoids import cluster_bytes, cluster_order, cluster_shared
from nodewise.strategies.planned import Planned
from nodewise.strategies.propagated import propagated_features

__all__ = ["FeatProp"]


class FeatProp(Planned):
    """The medoids of as many clusters of propagated features as there are queries.

    Wu, Xu, Singh, Yang & Dubrawski, "Active learning for graph neural networks via node feature propagation" (2019):
    with Z = Â² X and the distance d(u, v) = ‖z_u − z_v‖, the queries are the medoids of b clusters, which makes the sum
    over all nodes of the distance to the nearest of them small. Nothing is read from the classifier.

    Departures: clusters are those of k-means with k-means++ centres, and the medoid is the member nearest to the
    centre, which is the medoid by squared distance; it must lie in the pool, while all nodes of the graph are
    clustered. The paper gives no order, here larger clusters come first. Where a cluster has no node in the pool,
    second nodes of the largest clusters come in its place.
    """

    name = "featprop"
    version = 1

    def bytes_per_run(self, graph: GraphTensors, budget: int) -> int:
        """Distances to all centres."""
        return cluster_bytes(graph.num_nodes, budget)

    def plan(self, observation: Observation) -> torch.Tensor:
        """The nodes nearest to their clusters' centres, large clusters first."""
        points, shape = propagated_features(observation.graph), observation.pool.shape
        count = min(observation.budget, len(points))
        clusters = cluster_shared(points, count, lambda number: observation.uniform(f"featprop {number}", *shape))
        sizes = observation.noise.new_zeros(shape[0], count)
        sizes.scatter_add_(1, clusters.members, torch.ones_like(observation.noise))
        return cluster_order(clusters.members, sizes, -clusters.distance, observation.pool, observation.noise)
