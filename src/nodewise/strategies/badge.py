"""BADGE: nodes whose labels would pull the classifier strongly and in different directions (Ash et al. 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch

from nodewise.contracts import Capability, Observation, Strategy
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError
from nodewise.strategies.planned import in_order
from nodewise.strategies.scoring import gumbel_scores

__all__ = ["Badge", "Gradients", "gradients"]

_SMALLEST = 1e-30


class Gradients(NamedTuple):
    """Gradient embeddings g = error ⊗ hidden, of which the product itself is never made.

    Attributes:
        error: p − e_ŷ, ŷ the likeliest class: [run, node, class].
        hidden: the classifier's embedding, [run, node, width].
        squares: ‖g‖² = ‖error‖² ‖hidden‖², [run, node].
    """

    error: torch.Tensor
    hidden: torch.Tensor
    squares: torch.Tensor

    def squared_distance(self, nodes: torch.Tensor) -> torch.Tensor:
        """‖g_v − g_u‖² of every node v and one u of each run, int64 [run]: [run, node].

        g_v · g_u = (error_v · error_u) (hidden_v · hidden_u).
        """
        runs = torch.arange(len(nodes), device=nodes.device)
        products = [(part @ part[runs, nodes][..., None])[..., 0] for part in (self.error, self.hidden)]
        squared = self.squares + self.squares[runs, nodes, None] - 2 * products[0] * products[1]
        return squared.clamp_min_(0).scatter_(1, nodes[:, None], 0)


def gradients(probabilities: torch.Tensor, hidden: torch.Tensor) -> Gradients:
    """The gradient of the loss by the last layer's weights if the likeliest class were the label.

    [run, node, class] and [run, node, width].
    """
    likeliest = probabilities.argmax(-1, keepdim=True)
    error = probabilities.scatter_add(-1, likeliest, -torch.ones_like(probabilities[..., :1]))
    return Gradients(error, hidden, error.square().sum(-1) * hidden.square().sum(-1))


@dataclass(frozen=True)
class Badge(Strategy):
    """In rounds: nodes with large and different gradient embeddings, drawn as k-means++ draws its centres.

    Ash, Zhang, Krishnamurthy, Langford & Agarwal, "Deep batch active learning by diverse, uncertain gradient lower
    bounds" (ICLR 2020): a node's gradient embedding is that of the loss at its likeliest class ŷ by the last layer's
    weights, g = (p − e_ŷ) ⊗ h, h the layer below. A batch is drawn one by one, each node in proportion to its squared
    distance to the nearest of those before; the first is the one of largest norm, as in the released program.

    Departures: one label comes at a time here, so a batch of ``round_size`` nodes is drawn at once and asked in this
    order before the next is drawn with what the classifier has learned; the paper's batches are of 100 and more. h is
    the classifier's embedding: a GCN's hidden layer; of `views`, which has no last layer, its nearest view.

    Attributes:
        round_size: queries in a round; None: as many as there are classes.
    """

    name = "badge"
    version = 2
    recordable = False  # a round is drawn in some steps and not in others
    reads_budget = False
    capabilities = frozenset[Capability]({"several-queries"})

    round_size: int | None = None

    def __post_init__(self) -> None:
        if self.round_size is not None and self.round_size < 1:
            raise InputError(f"a round of BADGE has at least one query, got {self.round_size}")

    def bytes_per_run(self, graph: GraphTensors, budget: int) -> int:
        """Errors and some rows of all nodes."""
        return 4 * graph.num_nodes * (2 * max(1, graph.num_classes) + 8)

    def begin(self, observation: Observation) -> None:
        """Forget the round of the episode before."""
        observation.memory.clear()

    def scores(self, observation: Observation) -> torch.Tensor:
        """The places in the round; a new one is drawn where the last one has ended."""
        now, memory = observation.step_number, observation.memory
        if "nodes" not in memory or not memory["first"] <= now < memory["first"] + memory["nodes"].shape[1]:
            size = self.round_size or observation.num_classes
            memory["nodes"], memory["first"] = self.batch(observation, size), now
        return in_order(memory["nodes"], observation.noise)

    def batch(self, observation: Observation, count: int) -> torch.Tensor:
        """Nodes drawn one after another from the pool: int64 [run, count]."""
        pool, shape = observation.pool, observation.pool.shape
        embedded = gradients(observation.probabilities, observation.embedding)
        distance, chosen = torch.empty(0), pool.new_zeros(shape[0], 0, dtype=torch.int64)
        for number in range(min(count, int(pool.sum(1).min()))):
            noise = observation.uniform(f"badge {number}", *shape)
            if number == 0:
                largest = embedded.squares.masked_fill(~pool, -torch.inf).amax(1, keepdim=True)
                wanted = torch.where(embedded.squares == largest, noise, -torch.inf)
            else:
                wanted = gumbel_scores(distance.clamp_min(_SMALLEST), noise)
            left = pool.scatter(1, chosen, False)
            node = wanted.masked_fill(~left, -torch.inf).argmax(1)
            fresh = embedded.squared_distance(node)
            distance = fresh if number == 0 else torch.minimum(distance, fresh)
            chosen = torch.cat([chosen, node[:, None]], 1)
        return chosen
