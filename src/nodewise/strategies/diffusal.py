"""DiffusAL: important, undecided nodes from clusters with few labels, all by diffusion (Gilhuber et al. 2023)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import torch

from nodewise.contracts import Observation, Strategy
from nodewise.environment.runs import break_ties
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError
from nodewise.ground.events import Reporter
from nodewise.strategies.medoids import cluster_bytes, cluster_order, cluster_shared
from nodewise.strategies.propagated import input_features

__all__ = ["DiffusAl", "Diffused", "Diffusion"]

_STEPS = 40
"""Steps after which the diffusion is cut off: at α = 0.15 a part in 670 is left out."""


@dataclass(frozen=True)
class DiffusAl(Strategy):
    """The largest product of importance, uncertainty and diversity first, after the middles of 2 C clusters.

    Gilhuber, Busch, Rotthues, Frey & Seidl, "DiffusAL: coupling active learning with graph diffusion for
    label-efficient node classification" (ECML PKDD 2023). With personalised PageRank Π = α (I − (1 − α) Â)⁻¹, its rows
    divided by their sums, a node's score is the product of

    - importance, its column's sum Σ_v Π_vu, divided by the largest;
    - uncertainty, the entropy of its prediction, divided by the largest;
    - diversity, 1 − |labelled nodes of its cluster| / |labelled nodes|, clusters those of k-means on Π X in the pool.

    The first queries, two a class, are the nodes nearest to the centres of as many clusters.

    Departures: the classifier is any that learns here, where the paper has a small network on Π X; Π is applied by 40
    steps and never made, so that small entries are not cut off; α = 0.15 alone, where the paper averages over several.

    Attributes:
        alpha: α, the chance to return.
    """

    name = "diffusal"
    version = 2
    recordable = True
    reads_budget = False

    alpha: float = 0.15

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise InputError(f"DiffusAL's alpha lies between 0 and 1, got {self.alpha}")

    def bytes_per_run(self, graph: GraphTensors, budget: int) -> int:
        """Distances to all centres."""
        return cluster_bytes(graph.num_nodes, 2 * max(1, graph.num_classes))

    def begin(self, observation: Observation) -> None:
        """Cluster the pool, and put the clusters' middles in order."""
        diffused: Diffused = observation.graph.prepared_by(Diffusion(self.alpha))
        shape, pool, noise = observation.pool.shape, observation.pool, observation.noise
        count = min(2 * observation.num_classes, shape[1])
        clusters = cluster_shared(
            diffused.features, count, lambda number: observation.uniform(f"diffusal {number}", *shape), pool
        )
        sizes = noise.new_zeros(shape[0], count).scatter_add_(1, clusters.members, pool.to(noise.dtype))
        order = cluster_order(clusters.members, sizes, -clusters.distance, pool, noise)
        kept = observation.memory
        if "order" not in kept or kept["labelled"].shape != sizes.shape:  # a recorded step reads them where they are
            kept["order"], kept["members"] = torch.empty_like(order), torch.empty_like(clusters.members)
            kept["labelled"], kept["importance"] = torch.empty_like(sizes), diffused.importance
        kept["order"].copy_(order)
        kept["members"].copy_(clusters.members)

    def scores(self, observation: Observation) -> torch.Tensor:
        """The order of the clusters' middles at first, then the product."""
        kept, labelled = observation.memory, observation.labelled.to(observation.noise.dtype)
        entropy = -observation.negative_entropy
        uncertainty = entropy / entropy.amax(1, keepdim=True).clamp_min(1e-12)
        known = torch.zeros_like(kept["labelled"]).scatter_add_(1, kept["members"], labelled)
        diversity = 1 - known.gather(1, kept["members"]) / labelled.sum(1, keepdim=True).clamp_min(1)
        scores = break_ties(kept["importance"] * uncertainty * diversity, observation)
        return torch.where(observation.step < kept["labelled"].shape[1], kept["order"], scores)


class Diffused(NamedTuple):
    """What personalised PageRank makes of a graph.

    Attributes:
        importance: the columns' sums, divided by the largest: [node].
        features: Π X less their mean, [node, width].
    """

    importance: torch.Tensor
    features: torch.Tensor


@dataclass(frozen=True)
class Diffusion:
    """How a graph is diffused: what is made once of it."""

    alpha: float

    def identity(self) -> Mapping[str, Any]:
        """The chance to return."""
        return asdict(self)

    def prepare(self, graph: GraphTensors, reporter: Reporter | None = None) -> Diffused:
        """Importance and diffused features.

        Â is symmetric, so Π before its rows are divided is, too: the columns' sums after it are Π times one over the
        rows' sums.
        """
        ones = torch.ones(1, graph.num_nodes, 1, dtype=graph.dtype, device=graph.device)
        rows = self._applied(graph, ones)
        importance = self._applied(graph, 1 / rows)[0, :, 0]
        features = (self._applied(graph, input_features(graph)[None]) / rows)[0]
        return Diffused(importance / importance.max(), features - features.mean(0))

    def _applied(self, graph: GraphTensors, start: torch.Tensor) -> torch.Tensor:
        """α Σ_k (1 − α)ᵏ Âᵏ of a matrix, [1, node, width]."""
        diffused = self.alpha * start
        for _ in range(_STEPS):
            diffused = (1 - self.alpha) * graph.norm.mm(diffused) + self.alpha * start
        return diffused
