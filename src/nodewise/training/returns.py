"""REINFORCE's arithmetic as pure functions: returns, their running scale, and the loss."""

from __future__ import annotations

from dataclasses import dataclass

import torch

__all__ = ["RunningScale", "policy_loss", "stepwise_returns"]


@dataclass
class RunningScale:
    """A source graph's running mean and mean square of returns: [step] each, or [1] where all steps share one return.

    Both start from the first batch, and take in the present batch before they are used.
    """

    rate: float = 0.05
    mean: torch.Tensor | None = None
    square: torch.Tensor | None = None

    def __call__(self, returns: torch.Tensor) -> torch.Tensor:
        """Returns minus their running mean, divided by the running root mean square of what is left: [step, run]."""
        batch_mean = returns.mean(1)
        self.mean = batch_mean if self.mean is None else torch.lerp(self.mean, batch_mean, self.rate)
        left = returns - self.mean[:, None]
        batch_square = left.square().mean(1)
        self.square = batch_square if self.square is None else torch.lerp(self.square, batch_square, self.rate)
        return left / self.square.sqrt().clamp_min(1e-8)[:, None]


def stepwise_returns(before: torch.Tensor, final: torch.Tensor) -> torch.Tensor:
    """What each query and those after it gained, when every query is rewarded by its own gain in validation score.

    Gains after step t add up to the final score minus the score before step t.

    Args:
        before: the score before each query: [run, step].
        final: the score after the closing epochs: [run].

    Returns:
        [step, run].
    """
    return (final[:, None] - before).T


def policy_loss(scores: torch.Tensor, pool: torch.Tensor, nodes: torch.Tensor, advantages: torch.Tensor) -> torch.Tensor:
    """−Σ over steps, mean over runs, of log p(chosen node) × advantage (section 3.4).

    Args:
        scores: the policy's scores at every step: [run, step, node].
        pool: the first pool of each run: bool [run, node].
        nodes: what was asked: int64 [run, step].
        advantages: [step, run], or [1, run] for one that all steps share.
    """
    steps = nodes.shape[1]
    when = torch.full(pool.shape, steps, device=nodes.device)
    when.scatter_(1, nodes, torch.arange(steps, device=nodes.device).expand_as(nodes))
    open_then = pool[:, None] & (when[:, None] >= torch.arange(steps, device=nodes.device)[None, :, None])  # [run, step, node]
    masked = scores.masked_fill(~open_then, -torch.inf)
    chosen = masked.gather(2, nodes[..., None]).squeeze(2) - masked.logsumexp(2)  # [run, step]
    return -(chosen * advantages.T).sum(1).mean()
