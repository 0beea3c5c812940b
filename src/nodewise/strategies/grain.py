"""GRAIN: nodes that influence many others, and different ones (Zhang et al. 2021), with balls or nearest distances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
import torch

from nodewise.contracts import Observation
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError
from nodewise.ground.events import Reporter
from nodewise.strategies.influence import influence_blocks
from nodewise.strategies.planned import Planned, in_order
from nodewise.strategies.propagated import propagated_features

__all__ = ["Grain", "GrainTables"]

_TABLE, _LOOKED_AT, _BLOCK, _RENEWED = 2**26, 2**15, 2**22, 32
"""Numbers in a table at most, which says how many candidates there are; nodes that are looked at at most; numbers that
are made at once; gains that are computed anew at once.
"""


class Grain(Planned):
    """Greedily the nodes that add most to how many nodes are influenced and how much of the features they cover.

    Zhang, Yang, Wang et al., "Grain: improving data efficiency of graph neural networks via diversified influence
    maximization" (VLDB 2021): F(S) = |σ(S)| / n + γ D(S) / n. σ(S) are the nodes that S influences, those within two
    steps. D(S) says how much of the propagated features Z = Â² X is covered, with distances divided by the largest:

    - ball: how many nodes lie within the radius r = 0.05 of one that is influenced;
    - nn: Σ_v (1 − min_{u ∈ S} d(v, u)), the largest distance being 1.

    F is submodular, so the greedy choice reaches 1 − 1/e of the best at least.

    Departures: the influence must be above zero, as in the released program, which in its ball form counts balls alone;
    nn measures from S, as that program does, where the paper has σ(S). Where there are more than 8,192 nodes,
    candidates are the nodes that influence most others, so many that a table of candidates and nodes has 2²⁶ numbers
    (3,356 of 20,000); of more than 32,768 nodes, so many that lie evenly spaced are looked at. Equal nodes are settled
    at random.

    Args:
        diversity: ``"ball"`` or ``"nn"``.
        gamma: γ, the weight of D.
        radius: r, as a share of the largest distance.
    """

    name = "grain-ball"
    version = 1

    def __init__(self, diversity: Literal["ball", "nn"] = "ball", gamma: float = 1.0, radius: float = 0.05) -> None:
        if diversity not in ("ball", "nn"):
            raise InputError(f"unknown diversity {diversity!r} of GRAIN: use ball or nn")
        if gamma < 0 or not 0 <= radius <= 1:
            raise InputError(f"GRAIN's gamma is at least 0 and its radius between 0 and 1, got {gamma} and {radius}")
        self.diversity, self.gamma, self.radius = diversity, gamma, radius
        self.name = f"grain-{diversity}"

    def bytes_per_run(self, graph: GraphTensors, budget: int) -> int:
        """What is covered, and the gains."""
        return 24 * graph.num_nodes

    def plan(self, observation: Observation) -> torch.Tensor:
        """The greedy choice from the pool, one node after another."""
        tables: GrainTables = observation.graph.prepared_by(_Preparation(self.diversity, self.radius))
        pool, noise = observation.pool[:, tables.candidates], observation.noise[:, tables.candidates]
        state = _State(tables, self.diversity, self.gamma, noise.new_ones(2, len(pool), tables.reach.shape[1]))
        everything = torch.arange(len(tables.candidates), device=pool.device)[None]
        gains = state.first().gains(everything).repeat(len(pool), 1).masked_fill_(~pool, -1)
        chosen: list[torch.Tensor] = []
        for number in range(min(observation.budget, len(tables.candidates))):
            if number:
                state.refresh(gains)
            best = torch.where(gains == gains.amax(1, keepdim=True), noise, -1).argmax(1)
            state.take(best)
            gains.scatter_(1, best[:, None], -1)
            chosen.append(tables.candidates[best])
        return in_order(torch.stack(chosen, 1), observation.noise)


@dataclass(frozen=True)
class GrainTables:
    """What the greedy choice looks at, made once for a graph.

    Attributes:
        candidates: nodes that may be chosen, in order, int64 [candidate].
        reach: whether a candidate influences a node, [candidate, node].
        cover: whether its balls hold the node, or the distance to it, [candidate, node].
    """

    candidates: torch.Tensor
    reach: torch.Tensor
    cover: torch.Tensor


@dataclass
class _State:
    """What each run has covered so far.

    Attributes:
        left: which nodes no choice influences; which none covers, or how far the nearest is: [2, run, node].
    """

    tables: GrainTables
    diversity: str
    gamma: float
    left: torch.Tensor

    def first(self) -> _State:
        """The first run alone: before the first choice all are alike."""
        return _State(self.tables, self.diversity, self.gamma, self.left[:, :1])

    def gains(self, some: torch.Tensor) -> torch.Tensor:
        """What some candidates would add, int64 [run, some]: [run, some]."""
        free, open_ = self.left[:, :, None]
        size, parts = max(1, _BLOCK // self.left[0].numel()), []
        for first in range(0, some.shape[1], size):
            rows = some[:, first : first + size]
            reach, cover = self.tables.reach[rows], self.tables.cover[rows]
            covered = open_ * cover if self.diversity == "ball" else (open_ - cover).clamp_min_(0)
            parts.append((free * reach).sum(-1).add_(covered.sum(-1), alpha=self.gamma))
        return torch.cat(parts, 1)

    def refresh(self, gains: torch.Tensor) -> None:
        """Compute anew, in place, the gains that may be the largest, [run, candidate].

        A gain never grows, so that one which is smaller than the largest of the new ones need not be looked at.
        """
        stale = gains >= 0  # those outside the pool are below
        if self.diversity == "ball":  # of whole numbers many are equal, and all at once are one product
            free, open_ = self.left
            anew = (free @ self.tables.reach.T).add_(open_ @ self.tables.cover.T, alpha=self.gamma)
            gains.copy_(torch.where(stale, anew, gains))
            return
        while True:
            some = gains.masked_fill(~stale, -1).topk(min(_RENEWED, gains.shape[1]), 1).indices
            gains.scatter_(1, some, torch.where(stale.gather(1, some), self.gains(some), gains.gather(1, some)))
            stale.scatter_(1, some, False)
            if not bool((stale & (gains >= gains.masked_fill(stale, -1).amax(1, keepdim=True))).any()):
                return

    def take(self, best: torch.Tensor) -> None:
        """Choose one candidate of each run, int64 [run]."""
        free, open_ = self.left
        cover = self.tables.cover[best]
        nearer = open_ * (1 - cover) if self.diversity == "ball" else open_.minimum(cover)
        self.left = torch.stack([free * (1 - self.tables.reach[best]), nearer])


@dataclass(frozen=True)
class _Preparation:
    """How the tables are made."""

    diversity: str
    radius: float

    def identity(self) -> Mapping[str, Any]:
        return asdict(self)

    def prepare(self, graph: GraphTensors, reporter: Reporter | None = None) -> GrainTables:
        points = propagated_features(graph)
        looked = np.arange(0, graph.num_nodes, -(-graph.num_nodes // _LOOKED_AT))
        pieces = [(first, rows[:, looked]) for first, rows in influence_blocks(graph)]
        counts = np.concatenate([np.diff(rows.indptr) for _, rows in pieces])
        most = np.argsort(-counts, kind="stable")[: max(1, _TABLE // len(looked))]
        candidates = np.sort(most)
        reach = sp.vstack([rows for _, rows in pieces]).tocsr()[candidates]
        reach.data[:] = 1
        others = points[torch.from_numpy(looked).to(graph.device)]
        small = len(points) * len(others) <= _TABLE  # else distances are made twice: to know the largest comes first
        kept = list(_distances(others, points)) if small else None
        largest = max(float(block.max()) for _, block in kept or _distances(others, points))
        cover = points.new_empty(len(candidates), len(looked))
        if self.diversity == "nn":
            own = points[torch.from_numpy(candidates).to(graph.device)]
            for first, block in _distances(others, own):
                cover[:, first : first + block.shape[1]] = block / max(largest, 1e-30)
        else:
            whole = _whole_reach(graph, candidates)
            for first, block in kept or _distances(others, points):
                balls = sp.csr_matrix((block <= self.radius * largest).cpu().numpy().astype(np.float32))
                cover[:, first : first + block.shape[1]] = torch.from_numpy((whole @ balls).toarray() > 0)
        dense = torch.from_numpy(reach.toarray()).to(graph.device, graph.dtype)
        return GrainTables(torch.from_numpy(candidates).to(graph.device), dense, cover)


def _whole_reach(graph: GraphTensors, candidates: np.ndarray[Any, np.dtype[np.int64]]) -> sp.csr_matrix:
    """Which nodes each candidate influences, of all nodes: [candidate, node]."""
    pieces = []
    for first, rows in influence_blocks(graph):
        inside = candidates[(candidates >= first) & (candidates < first + rows.shape[0])] - first
        pieces.append(rows[inside])
    whole = sp.vstack(pieces).tocsr().astype(np.float32)
    whole.data[:] = 1
    return whole


def _distances(others: torch.Tensor, points: torch.Tensor) -> Iterator[tuple[int, torch.Tensor]]:
    """Distances of all points to some others at a time: the first of these and [point, some]."""
    size, lengths = max(1, _BLOCK // len(points)), points.square().sum(1, keepdim=True)
    for first in range(0, len(others), size):
        rows = others[first : first + size]
        squared = torch.addmm(lengths, points, rows.T, alpha=-2).add_(rows.square().sum(1))
        yield first, squared.clamp_min_(0).sqrt_()
