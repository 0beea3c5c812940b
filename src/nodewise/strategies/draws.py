"""Random draws of nodes that are not uniform, from one number a node, so that the nodes' order does not matter."""

from __future__ import annotations

import torch

__all__ = ["race"]


def race(weights: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
    """Numbers whose largest belongs to a node drawn in proportion to weights: ln w plus Gumbel noise, [run, node].

    Args:
        weights: at least 0, [run, node].
        noise: uniform in [0, 1), [run, node].
    """
    return weights.log() - torch.log(-torch.log1p(-noise.clamp_min(2**-25)))
