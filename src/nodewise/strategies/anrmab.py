"""ANRMAB: a bandit that learns how much to trust each heuristic (Gao et al. 2018)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import torch

from nodewise.contracts import Observation, Strategy
from nodewise.strategies.heuristics import Heuristics
from nodewise.strategies.scoring import gumbel_scores

__all__ = ["Anrmab", "arm_chances", "updated_log_weights"]

_SHARPNESS = 20.0
_DELTA = 0.1


def smallest_chance(arms: int, budget: int) -> float:
    """p_min = sqrt(ln K / (K T)), at most 1 / K: what an arm keeps however badly it does."""
    return min(math.sqrt(math.log(arms) / (arms * budget)), 1 / arms)


def arm_chances(log_weights: torch.Tensor, smallest: float) -> torch.Tensor:
    """p_k = (1 − K p_min) w_k / Σ w + p_min: [run, arm] to [run, arm]."""
    return (1 - log_weights.shape[1] * smallest) * torch.softmax(log_weights, 1) + smallest


def updated_log_weights(
    log_weights: torch.Tensor,
    chances: torch.Tensor,
    advice: torch.Tensor,
    reward: torch.Tensor,
    smallest: float,
    bonus: float,
) -> torch.Tensor:
    """EXP4.P's update: ln w_k + p_min / 2 · (r̂_k + bonus / p_k), with r̂_k = reward · q_k(v) / Σ_j p_j q_j(v).

    Args:
        log_weights, chances: ln w and p of the step before, [run, arm].
        advice: q_k(v), each arm's chance of the node v that was asked, [run, arm].
        reward: what asking it brought, [run].
    """
    mixed = (chances * advice).sum(1, keepdim=True)
    estimate = torch.where(mixed > 0, advice * reward[:, None] / mixed, 0)  # a node that no arm could advise pays none
    return log_weights + smallest / 2 * (estimate + bonus / chances)


class Anrmab(Strategy):
    """A multi-armed bandit over entropy, centrality and density.

    Gao et al., "Active discriminative network representation learning" (IJCAI 2018).

    The arms are K = 3. Each advises a distribution over the pool, q_k(v) ∝ exp(20 · percentile rank of v), a node is
    drawn from their mixture φ(v) = Σ_k p_k q_k(v), with p_k = (1 − K p_min) w_k / Σ w + p_min and p_min = sqrt(ln K /
    (K T)) for a budget of T. In the next step, after an epoch with its label, the arms are paid:

    - the reward is importance-weighted accuracy at the node just asked, r = [v is predicted right] / (n φ(v)), n the
      size of the pool then: its expectation is the accuracy over the whole pool, however unevenly nodes are drawn;
    - each arm's share is r̂_k = r q_k(v) / φ(v);
    - w_k ← w_k exp(p_min / 2 · (r̂_k + 1/p_k · sqrt(ln(N/δ) / (K T)))), EXP4.P's update, with N nodes and δ = 0.1.

    Departures: only the label that was asked for is read; validation labels are never used. Gao et al. publish no code;
    the form of q_k with its sharpness of 20 is that of the implementation released with the paper, which differs in
    paying the arms at each step for all nodes asked so far, as the sum of their r over T.
    """

    name = "anrmab"
    version = 2
    recordable = False  # reads the last answer, whose place moves with the step
    reads_budget = True

    def begin(self, observation: Observation) -> None:
        """All arms alike, nothing asked yet."""
        observation.memory.clear()
        Heuristics().begin(observation)
        graph = observation.graph
        observation.memory["bandit"] = _Bandit(
            smallest=smallest_chance(3, observation.budget),
            bonus=math.sqrt(math.log(graph.num_nodes / _DELTA) / (3 * observation.budget)),
            log_weights=torch.zeros(observation.runs, 3, device=graph.device, dtype=graph.dtype),
            step=observation.step_number,
        )

    def scores(self, observation: Observation) -> torch.Tensor:
        """Numbers whose largest is a draw from φ."""
        bandit: _Bandit = observation.memory["bandit"]
        if bandit.advice is not None and observation.step_number == bandit.step + 1:
            bandit.pay(observation, bandit.advice)
        bandit.step = observation.step_number
        ranks = Heuristics().ranks(observation)
        arms = torch.stack(
            [ranks.entropy, ranks.centrality.expand_as(ranks.entropy), ranks.density], 1
        )  # [run, arm, node]
        bandit.advice = torch.softmax((_SHARPNESS * arms).masked_fill_(~observation.pool[:, None], -torch.inf), 2)
        bandit.chances = arm_chances(bandit.log_weights, bandit.smallest)
        bandit.pool_size = observation.pool.sum(1)
        mixture = torch.bmm(bandit.chances[:, None], bandit.advice)[:, 0]
        return gumbel_scores(mixture, observation.noise)


@dataclass
class _Bandit:
    """What the arms are worth so far, and what they advised last."""

    smallest: float
    bonus: float
    log_weights: torch.Tensor
    step: int
    advice: torch.Tensor | None = None
    chances: torch.Tensor = field(default_factory=lambda: torch.empty(0))
    pool_size: torch.Tensor = field(default_factory=lambda: torch.empty(0))

    def pay(self, observation: Observation, advice: torch.Tensor) -> None:
        """Reward the arms for the node asked last."""
        last = observation.step_number - 1
        nodes, labels = observation.queried.nodes[:, last], observation.queried.labels[:, last]
        runs = torch.arange(observation.runs, device=nodes.device)
        right = observation.logits[runs, nodes].argmax(1) == labels
        asked = advice[runs, :, nodes]  # [run, arm]
        chance = (self.chances * asked).sum(1)
        reward = torch.where(chance > 0, right / (self.pool_size * chance), 0)
        self.log_weights = updated_log_weights(self.log_weights, self.chances, asked, reward, self.smallest, self.bonus)
