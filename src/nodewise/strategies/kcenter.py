"""k-center: the node that the labels cover least first."""

from __future__ import annotations

import torch

from nodewise.contracts import Observation, Strategy
from nodewise.environment.runs import break_ties
from nodewise.strategies.kmeans import squared_distances

__all__ = ["KCenter", "cover_distance"]


def cover_distance(points: torch.Tensor, nodes: torch.Tensor) -> torch.Tensor:
    """The squared distance of every node to the nearest of some nodes.

    [run, node, width] and int64 [run, some] to [run, node].
    """
    points = points - points.mean(1, keepdim=True)
    chosen = points.gather(1, nodes[..., None].expand(-1, -1, points.shape[2]))
    return squared_distances(points, chosen).amin(1)


class KCenter(Strategy):
    """The greedy k-center of Sener & Savarese (2018, algorithm 1) over the classifier's hidden layer.

    The pool node with the largest distance to its nearest labelled node first.

    Departures: the first query is drawn, since no label is there to begin with; distances are taken anew in every step,
    since the hidden layer changes with every epoch, where the paper chooses a batch with one network. (The code
    released with Hu et al. 2020 measures them between predicted probabilities.)
    """

    name = "kcenter"
    version = 1
    recordable = False  # the number of labelled nodes, and with it the work, grows
    reads_budget = False
    stateless = True

    def scores(self, observation: Observation) -> torch.Tensor:
        """Every node's squared distance to the nearest labelled node."""
        nodes = observation.queried.nodes[:, : observation.step_number]
        if nodes.shape[1] == 0:
            return observation.noise
        return break_ties(cover_distance(observation.embedding, nodes), observation)
