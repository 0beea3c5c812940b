"""RIM: the node that reliably influences most nodes which none has so far (Zhang et al. 2021)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import torch

from nodewise.contracts import Observation, Strategy
from nodewise.environment.runs import break_ties
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError
from nodewise.ground.events import Reporter
from nodewise.strategies.influence import influence_blocks
from nodewise.strategies.propagated import propagated_features, unit_rows

__all__ = ["Rim", "reliability"]

_SWEEPS = 2


def reliability(similarity: torch.Tensor, same: torch.Tensor, accuracy: float, classes: int) -> torch.Tensor:
    """How far each label may be trusted, by the labels that say the same: [run, label].

    Two labels that agree, at nodes of similarity s, are right with α s / (α s + (1 − α) (1 − s) / (C − 1)); a label's
    reliability is the mean of this over all others that agree, weighted by theirs, in two sweeps from equal weights. A
    label with which none agrees has α.

    Args:
        similarity: between 0 and 1, [run, label, label].
        same: whether two different labels agree, bool [run, label, label].
        accuracy: α. classes: C.
    """
    likely = accuracy * similarity.clamp(1e-6, 1)
    right = likely / (likely + (1 - accuracy) * (1 - similarity.clamp(1e-6, 1)) / max(1, classes - 1))
    trust = torch.full_like(similarity[..., 0], accuracy)
    for _ in range(_SWEEPS):
        weights = trust[:, None] * same
        total = weights.sum(-1)
        trust = torch.where(total > 0, (weights * right).sum(-1) / total.clamp_min(1e-12), accuracy)
    return trust


@dataclass(frozen=True)
class Rim(Strategy):
    """Greedily the node whose label would activate most nodes that no label activates yet.

    Zhang, Wang, You et al., "RIM: reliable influence-based active learning on graphs" (NeurIPS 2021): the influence of
    u on v is I(v, u) = (P²)_vu, P = D̃⁻¹ (A + I); label u activates v where r_u I(v, u) > θ = 0.05, r_u its reliability.
    A node to be asked counts with the oracle's accuracy α; labels that came count with what similar nodes of the same
    label say of them (see `reliability`).

    Departures: reliabilities are computed anew after every label, the program released with the paper does so after
    every fifth; the similarity is the cosine of propagated features less their mean, 0 where negative, and a label does
    not speak for itself. The paper also weighs labels by their reliability in training, which is the classifier's
    matter here. α is 1 by default, for an oracle that is always right: then every label has reliability one. Once
    everything is activated, nodes are drawn at random. There is no limit of size: a node is activated by 20 others at
    most.

    Attributes:
        accuracy: α, how often the oracle is right.
        threshold: θ.
    """

    name = "rim"
    version = 1
    recordable = False  # the number of labels, and with it the work, grows
    reads_budget = False
    stateless = True

    accuracy: float = 1.0
    threshold: float = 0.05

    def __post_init__(self) -> None:
        if not (0 < self.accuracy <= 1 and 0 < self.threshold < 1):
            raise InputError(
                "RIM's accuracy lies above 0 and not above 1, its threshold between 0 and 1, got"
                f" {self.accuracy} and {self.threshold}"
            )

    def bytes_per_run(self, graph: GraphTensors, budget: int) -> int:
        """A number for every entry of the influence."""
        entries = min(graph.adjacency.entries + graph.num_nodes, graph.num_nodes) / self.threshold
        return 12 * int(entries) + 12 * budget * budget

    def scores(self, observation: Observation) -> torch.Tensor:
        """How many nodes each node would activate that are not yet."""
        reach: _Reach = observation.graph.prepared_by(_Preparation(self.threshold))
        answered, filled, shape = observation.queried, observation.step_number, observation.pool.shape
        zeros = torch.zeros(shape, dtype=observation.graph.dtype, device=observation.graph.device)
        active = zeros
        if filled:
            nodes, labels = answered.nodes[:, :filled], answered.labels[:, :filled]
            rows = unit_rows(propagated_features(observation.graph)[nodes])
            same = labels[:, :, None] == labels[:, None]
            same &= ~torch.eye(filled, dtype=torch.bool, device=labels.device)
            trust = reliability(rows @ rows.mT, same, self.accuracy, observation.num_classes)
            strong = zeros.scatter(1, nodes, trust)[:, reach.source] * reach.influence > self.threshold
            active = zeros.index_add(1, reach.node, strong.to(zeros.dtype))
        open_ = (active == 0).to(zeros.dtype)[:, reach.node] * (self.accuracy * reach.influence > self.threshold)
        return break_ties(zeros.index_add(1, reach.source, open_), observation)


class _Reach(NamedTuple):
    """Who influences whom by more than the threshold.

    Attributes:
        source, node: int64 [entry]. influence: (P²) of the node and the source, [entry].
    """

    source: torch.Tensor
    node: torch.Tensor
    influence: torch.Tensor


@dataclass(frozen=True)
class _Preparation:
    """What is made once for a graph."""

    threshold: float

    def identity(self) -> Mapping[str, Any]:
        return asdict(self)

    def prepare(self, graph: GraphTensors, reporter: Reporter | None = None) -> _Reach:
        parts = []
        for first, rows in influence_blocks(graph, self.threshold):
            entries = rows.tocoo()
            parts.append((entries.col, entries.row + first, entries.data))
        source, node, influence = (np.concatenate(column) for column in zip(*parts, strict=True))
        device = graph.device
        return _Reach(
            torch.from_numpy(source.astype(np.int64)).to(device),
            torch.from_numpy(node.astype(np.int64)).to(device),
            torch.from_numpy(influence).to(device, graph.dtype),
        )
