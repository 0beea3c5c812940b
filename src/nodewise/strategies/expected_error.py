"""Expected error: the node after whose answer the fewest others are expected to be wrong (GEEM, Regol et al. 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch

from nodewise.contracts import Observation, Strategy
from nodewise.environment.runs import break_ties
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError
from nodewise.strategies.propagated import propagated_features, unit_rows

__all__ = ["ExpectedError", "Ridge", "expected_errors", "ridge_posterior"]

_CANDIDATES, _LOOKED_AT, _BLOCK = 256, 1024, 2**22
"""Candidates and nodes that are looked at for each query at most; numbers that are made at once."""


class Ridge(NamedTuple):
    """Ridge regression on the labels so far, at some nodes and some candidates.

    Attributes:
        mean: predictions of the nodes, less 1/C: [run, node, class].
        own: and of the candidates: [run, candidate, class].
        shift: how far a node's prediction follows a candidate's answer, cov(x, q) / (var(q) + r): [run, node,
            candidate].
    """

    mean: torch.Tensor
    own: torch.Tensor
    shift: torch.Tensor


def ridge_posterior(
    labelled: torch.Tensor, targets: torch.Tensor, nodes: torch.Tensor, candidates: torch.Tensor, ridge: float
) -> Ridge:
    """What follows from labelled rows Z and targets Y, with Q = (Z Zᵀ + r I)⁻¹.

    The prediction of x is xᵀ Zᵀ Q Y, the covariance of x and q is xᵀ q − xᵀ Zᵀ Q Z q. One more label y at q moves the
    prediction of x by cov(x, q) / (var(q) + r) · (y − prediction of q): exactly what a new fit with it would give.

    Args:
        labelled: [run, label, width]. targets: [run, label, class]. nodes, candidates: [run, some, width].
        ridge: r.
    """
    gram = labelled @ labelled.mT
    gram.diagonal(dim1=-2, dim2=-1).add_(ridge)
    to_nodes, to_candidates = nodes @ labelled.mT, candidates @ labelled.mT
    solved = torch.linalg.solve(gram, torch.cat([targets, to_candidates.mT], -1))
    weights, along = solved.split([targets.shape[-1], candidates.shape[1]], -1)
    variance = candidates.square().sum(-1) - (to_candidates * along.mT).sum(-1)
    covariance = nodes @ candidates.mT - to_nodes @ along
    return Ridge(to_nodes @ weights, to_candidates @ weights, covariance / (variance + ridge)[:, None])


def expected_errors(fit: Ridge, counts: torch.Tensor, temperature: float) -> torch.Tensor:
    """The mean over nodes of 1 − max_c p_c after each candidate's answer, over its likely answers: [run, candidate].

    p = softmax(T · prediction). An answer a moves class a's logit alone by T · shift more than it moves the others, so
    that one exponential of a node, a candidate and a class serves all answers.

    Args:
        counts: which nodes count, bool [run, node].
    """
    classes = fit.mean.shape[-1]
    chances = torch.softmax(temperature * fit.own, -1)  # [run, candidate, class]
    weight = counts.to(fit.mean.dtype) / counts.sum(1, keepdim=True).clamp_min(1)
    size, parts = max(1, _BLOCK // fit.mean.numel()), []
    for first in range(0, fit.own.shape[1], size):
        shift = fit.shift[:, None, :, first : first + size]  # [run, 1, node, candidate]
        own = (fit.own + 1 / classes)[:, first : first + size].mT[:, :, None]  # [run, class, 1, candidate]
        logits = fit.mean.mT[..., None] - shift * own
        top = logits.max(1, keepdim=True)
        odds = logits.sub_(top.values).mul_(temperature).exp_()  # of every class against the likeliest
        risen = odds * torch.exp(temperature * shift)
        others = odds.scatter(1, top.indices, 0).amax(1, keepdim=True)
        rival = torch.ones_like(odds).scatter_(1, top.indices, others)  # the likeliest but a itself
        sure = torch.maximum(rival, risen) / (odds.sum(1, keepdim=True) - odds + risen)  # for each answer
        parts.append(((1 - sure) * weight[:, None, :, None]).sum(2).mT.mul_(chances[:, first : first + size]).sum(-1))
    return torch.cat(parts, 1)


@dataclass(frozen=True)
class ExpectedError(Strategy):
    """The node after whose answer the expected error over all unlabelled nodes is smallest.

    Regol, Pal, Zhang & Coates, "Active learning on attributed graphs via graph cognizant logistic regression and
    preemptive query generation" (ICML 2020), GEEM: with a linear classifier on propagated features Z = Â² X, arg min_q
    Σ_a p(q is a) · 1/|U| Σ_{x ∈ U} (1 − max_c p(x is c, once q is a)).

    Departures: ridge regression on centred rows of unit length with p = softmax(T · prediction) stands for logistic
    regression, so that the classifier after an answer is one rank-one update away instead of a new training; it is the
    strategy's own, whatever classifier learns beside it. Where the graph has more nodes, each query looks at 256
    candidates drawn from the pool, and at the error of 1,024 nodes drawn from all.

    Attributes:
        ridge: r, the strength of the prior.
        temperature: T.
        candidates, nodes: how many are looked at for each query at most.
    """

    name = "expected-error"
    version = 1
    recordable = False  # the number of labels, and with it the work, grows
    reads_budget = False
    stateless = True

    ridge: float = 0.3
    temperature: float = 6.0
    candidates: int = _CANDIDATES
    nodes: int = _LOOKED_AT

    def __post_init__(self) -> None:
        if not (self.ridge > 0 and self.temperature > 0 and self.candidates > 0 and self.nodes > 0):
            raise InputError(f"the expected error needs numbers above 0, got {self}")

    def bytes_per_run(self, graph: GraphTensors, budget: int) -> int:
        """The rows that are looked at, and products of nodes and candidates."""
        width = min(graph.num_features, 2**26 // max(1, graph.num_nodes) + 512)
        looked = min(graph.num_nodes, self.nodes) + min(graph.num_nodes, self.candidates)
        return 4 * (looked * (width + budget) + 4 * self.nodes * self.candidates + _BLOCK)

    def scores(self, observation: Observation) -> torch.Tensor:
        """Minus the expected error after an answer; -inf for nodes that are not looked at."""
        points = propagated_features(observation.graph)
        answered, filled, shape = observation.queried, observation.step_number, observation.pool.shape
        looked = _drawn(observation, "expected error", self.nodes, torch.ones_like(observation.pool))
        candidates = _drawn(observation, "candidates", self.candidates, observation.pool)
        one_hot = torch.nn.functional.one_hot(answered.labels[:, :filled], observation.num_classes).to(points.dtype)
        fit = ridge_posterior(
            unit_rows(points[answered.nodes[:, :filled]]),
            one_hot - 1 / observation.num_classes,
            unit_rows(points[looked]),
            unit_rows(points[candidates]),
            self.ridge,
        )
        errors = expected_errors(fit, ~observation.labelled.gather(1, looked), self.temperature)
        scores = torch.full(shape, -torch.inf, dtype=points.dtype, device=points.device)
        return break_ties(scores.scatter_(1, candidates, -errors), observation)


def _drawn(observation: Observation, purpose: str, count: int, mask: torch.Tensor) -> torch.Tensor:
    """So many nodes of a mask, drawn at random, or all nodes where there are not more: int64 [run, count]."""
    runs, nodes = mask.shape
    if nodes <= count:
        return torch.arange(nodes, device=mask.device).expand(runs, -1)
    return observation.uniform(purpose, runs, nodes).masked_fill(~mask, -1).topk(count, 1).indices
