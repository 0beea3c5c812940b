"""The learned policy as a strategy: zero-shot transfer, the largest probability first (algorithm 2)."""

from __future__ import annotations

import torch

from nodewise.environment import Environment, Observation
from nodewise.policy import Policy
from nodewise.policy.state import PAPER_FEATURES, state

__all__ = ["Learned"]


class Learned:
    """Asks the node to which a trained policy gives the largest probability; nothing is sampled or tuned."""

    name = "policy"
    capturable = True

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    @property
    def reads_budget(self) -> bool:
        """Whether its choices depend on how many queries there will be: the paper's five state features do not."""
        return not set(self.policy.settings.state.features) <= set(PAPER_FEATURES)

    def begin(self, environment: Environment) -> None:
        """Bring the policy to the graph's device and precision."""
        self.policy.to(environment.graph.device, environment.graph.dtype)

    def scores(self, observation: Observation) -> torch.Tensor:
        """The policy's scores; their softmax, which keeps the order, is not needed."""
        return self.policy(observation.graph, state(observation, self.policy.settings.state))  # type: ignore[no-any-return]
