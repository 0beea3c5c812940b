"""What several strategies do with scores: draws in proportion, percentile ranks."""

from __future__ import annotations

import numpy as np
import torch

__all__ = ["gumbel_scores", "percentiles"]


def gumbel_scores(weights: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
    """Numbers whose largest belongs to a node drawn in proportion to weights: ln w plus Gumbel noise, [run, node].

    Args:
        weights: at least 0, [run, node].
        noise: uniform in [0, 1), [run, node].
    """
    return weights.log() - torch.log(-torch.log1p(-noise.clamp_min(2**-25)))


def percentiles(values: torch.Tensor) -> torch.Tensor:
    """The share of a row's values that are smaller than each of them, in [0, 1): [..., node] to [..., node].

    Equal values share a rank, so that the nodes' order does not matter. One sort: in sorted order a value's rank is the
    index at which its equals begin.
    """
    count = values.shape[-1]
    on_cpu = values.device.type == "cpu"  # where numpy's sort takes less than half of torch's time
    order = torch.from_numpy(np.argsort(values.numpy(), -1)) if on_cpu else values.argsort(-1)
    ordered = values.gather(-1, order)
    begins = torch.arange(count, device=values.device, dtype=values.dtype).repeat(*values.shape[:-1], 1)
    begins[..., 1:] *= ordered[..., 1:] != ordered[..., :-1]
    rank = begins.cummax(-1).values.div_(count)
    return torch.empty_like(rank).scatter_(-1, order, rank)
