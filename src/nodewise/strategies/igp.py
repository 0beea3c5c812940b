"""IGP: the node whose answer takes most entropy off its surroundings (Zhang et al. 2022)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import torch

from nodewise.contracts import Observation, Strategy
from nodewise.environment.runs import break_ties
from nodewise.graph.tensors import GraphTensors, Sparse
from nodewise.ground.errors import InputError
from nodewise.ground.events import Reporter
from nodewise.strategies.influence import influence_blocks

__all__ = ["Igp", "expected_gain"]

_LEAST, _BLOCK = 0.01, 2**22
"""The influence below which one counts as none, so that a node is influenced by 100 others at most; numbers that are
made at once.
"""


def expected_gain(spread: torch.Tensor, influence: torch.Tensor, chances: torch.Tensor) -> torch.Tensor:
    """What a candidate's answer takes off a node's entropy, in bits, over its likely answers: [entry].

    The node's distribution s holds w / C of the candidate, of which nothing is known, w its influence; answer a makes
    that w e_a. Only class a's term depends on the answer, so that all answers take two logarithms a class.

    Args:
        spread: s, the labels that reach the node, [entry, class].
        influence: w, [entry].
        chances: how likely each answer is, [entry, class].
    """
    weight = influence[:, None]
    rest = (spread - weight / spread.shape[1]).clamp_min(0)
    after = _bits(rest)
    fixed = _bits(spread).sum(1) - after.sum(1)
    return fixed + (chances * (after - _bits(rest + weight))).sum(1)


@dataclass(frozen=True)
class Igp(Strategy):
    """The node whose answer is expected to take most entropy off the nodes that it influences.

    Zhang, Wang, You et al., "Information gain propagation: a new way to graph active learning with soft labels" (ICLR
    2022): the labels Y so far, 1/C where there is none, spread to S = P² Y, P = D̃⁻¹ (A + I); asked is arg max_u Σ_a
    p(u is a) Σ_v H(s_v) − H(s_v, once u is a), v the nodes within two steps and p the classifier's prediction. As in
    the program released with the paper, the first two queries a class are drawn at random, and candidates are the 100
    nodes of the pool with most neighbours.

    Departures: the paper asks whether the likeliest class is right, and trains with soft labels where it is not; here
    the oracle names the class. Nodes are chosen one by one, in the paper five at a time. Influence below a hundredth
    counts as none, which bounds the memory whatever the graph.

    Attributes:
        candidates: how many nodes are looked at for each query.
        drawn: how many queries are drawn at random at first; None: two a class.
    """

    name = "igp"
    version = 2
    recordable = False  # how much is looked at depends on the candidates
    reads_budget = False
    stateless = True

    candidates: int = 100
    drawn: int | None = None

    def __post_init__(self) -> None:
        if self.candidates < 1 or (self.drawn is not None and self.drawn < 0):
            raise InputError(
                "IGP looks at one candidate at least and draws no fewer than 0 nodes at first, got"
                f" {self.candidates} and {self.drawn}"
            )

    def bytes_per_run(self, graph: GraphTensors, budget: int) -> int:
        """What spreads, and the surroundings of all candidates."""
        classes = max(1, graph.num_classes)
        return 12 * graph.num_nodes * classes + 48 * min(graph.num_nodes, self.candidates) * graph.num_nodes

    def scores(self, observation: Observation) -> torch.Tensor:
        """The expected gain of the candidates, -inf for all others."""
        pool, answered, classes = observation.pool, observation.queried, observation.num_classes
        filled, (runs, nodes) = observation.step_number, pool.shape
        if filled < (2 * classes if self.drawn is None else self.drawn):
            return observation.noise
        reach: _Reach = observation.graph.prepared_by(_Preparation())
        wanted = (observation.graph.degree + 0.5 * observation.noise).masked_fill(~pool, -1)
        candidates = wanted.topk(min(self.candidates, nodes), 1).indices
        labels = wanted.new_full((nodes, runs, classes), 1 / classes)
        one_hot = torch.nn.functional.one_hot(answered.labels[:, :filled], classes).to(labels.dtype)
        labels[answered.nodes[:, :filled], torch.arange(runs, device=pool.device)[:, None]] = one_hot
        spread = reach.walk.mm(labels.view(1, nodes, -1))[0].view(nodes, runs, classes)
        chances = observation.probabilities.gather(1, candidates[..., None].expand(-1, -1, classes)).flatten(0, 1)
        gain = _gains(reach, spread, candidates, chances).view_as(candidates)
        scores = torch.full_like(wanted, -torch.inf).scatter_(1, candidates, gain)
        return break_ties(scores, observation)


def _bits(shares: torch.Tensor) -> torch.Tensor:
    """−x log₂ x, 0 where x is."""
    return -torch.xlogy(shares, shares) / math.log(2)


def _gains(reach: _Reach, spread: torch.Tensor, candidates: torch.Tensor, chances: torch.Tensor) -> torch.Tensor:
    """The sum over all that a candidate influences: [run × candidate]."""
    flat = candidates.flatten()
    begin, counts = reach.begin[flat], reach.begin[flat + 1] - reach.begin[flat]
    before = counts.cumsum(0) - counts
    number = torch.repeat_interleave(counts)  # which candidate an entry belongs to
    gain = spread.new_zeros(len(flat))
    size = max(1, _BLOCK // spread.shape[2])
    for first in range(0, len(number), size):
        which = number[first : first + size]
        entry = begin[which] + torch.arange(first, first + len(which), device=flat.device) - before[which]
        around = spread[reach.node[entry], torch.div(which, candidates.shape[1], rounding_mode="floor")]
        gain.index_add_(0, which, expected_gain(around, reach.influence[entry], chances[which]))
    return gain


class _Reach(NamedTuple):
    """Who influences whom.

    Attributes:
        walk: P², by node and source.
        begin: where the entries of a source begin, int64 [node + 1]. node: whom it influences, int64 [entry].
        influence: by how much, [entry].
    """

    walk: Sparse
    begin: torch.Tensor
    node: torch.Tensor
    influence: torch.Tensor


@dataclass(frozen=True)
class _Preparation:
    """What is made once for a graph."""

    def identity(self) -> Mapping[str, Any]:
        return {"least": _LEAST}

    def prepare(self, graph: GraphTensors, reporter: Reporter | None = None) -> _Reach:
        walk = sp.vstack([rows for _, rows in influence_blocks(graph, _LEAST)]).tocsr()
        by_source = walk.T.tocsr()
        device = graph.device
        return _Reach(
            Sparse(walk, device, graph.dtype),
            torch.from_numpy(by_source.indptr.astype(np.int64)).to(device),
            torch.from_numpy(by_source.indices.astype(np.int64)).to(device),
            torch.from_numpy(by_source.data).to(device, graph.dtype),
        )
