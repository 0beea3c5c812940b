"""The policy while it learns: nodes are sampled from its softmax, and what it saw is kept for the gradient."""

from __future__ import annotations

import torch

from nodewise.contracts import Observation, Strategy
from nodewise.environment import Environment
from nodewise.policy import Policy
from nodewise.policy.state import state

__all__ = ["Explorer"]


class Explorer(Strategy):
    """A strategy that samples from the policy over the pool.

    Attributes:
        states: what the policy saw: [run, step, node, feature].
        before: the validation score before each query, [run, step]; filled when ``keep_scores`` is set.
    """

    name = "explorer"
    recordable = True

    def __init__(self, policy: Policy, environment: Environment, keep_scores: bool = False) -> None:
        self.policy, self.keep_scores, self._environment = policy, keep_scores, environment
        graph, features = environment.graph, len(policy.settings.state.features)
        shape = (environment.runs, environment.budget)
        self.states = torch.zeros(*shape, graph.num_nodes, features, device=graph.device, dtype=graph.dtype)
        self.before = torch.zeros(shape, device=graph.device, dtype=graph.dtype)

    def begin(self, observation: Observation) -> None:
        """Take the episode's validation nodes; their labels are used for rewards alone."""
        if not self.keep_scores:
            return
        splits = self._environment.splits
        if not hasattr(self, "_validation"):
            self._validation = splits.validation.clone()
        self._validation.copy_(splits.validation)

    def scores(self, observation: Observation) -> torch.Tensor:
        """Scores plus Gumbel noise: the largest is a sample from their softmax over the pool."""
        seen = state(observation, self.policy.settings.state)
        observation.record(self.states, seen)
        if self.keep_scores:
            guess = observation.logits.argmax(-1).gather(1, self._validation)
            right = (guess == self._environment.graph.y[self._validation]).to(seen.dtype)
            observation.record(self.before, right.mean(1))
        drawn = observation.noise.clamp(1e-7, 1 - 6e-8)
        scores: torch.Tensor = self.policy(observation.graph, seen)
        return scores - torch.log(-torch.log(drawn))
