"""The learned policy as a strategy: zero-shot transfer, the largest probability first (algorithm 2)."""

from __future__ import annotations

from typing import Any

import torch

from nodewise.contracts import Observation, Strategy
from nodewise.policy import Policy
from nodewise.policy.state import PAPER_FEATURES, state

__all__ = ["Learned"]


class Learned(Strategy):
    """Asks the node to which a trained policy gives the largest probability; nothing is sampled or tuned."""

    name = "policy"
    recordable = True
    stateless = True

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        # whether its choices depend on how many queries there will be: the paper's five state features do not
        self.reads_budget = not set(policy.settings.state.features) <= set(PAPER_FEATURES)

    def identity(self) -> dict[str, Any]:
        """A digest of the policy's weights and settings."""
        return {"policy": self.policy.digest()}

    def begin(self, observation: Observation) -> None:
        """Bring the policy to the graph's device and precision."""
        self.policy.to(observation.graph.device, observation.graph.dtype)

    def scores(self, observation: Observation) -> torch.Tensor:
        """The policy's scores; their softmax, which keeps the order, is not needed."""
        return self.policy(observation.graph, state(observation, self.policy.settings.state))  # type: ignore[no-any-return]
