"""Percentile ranks: what makes quantities of different kinds comparable."""

from __future__ import annotations

import torch

__all__ = ["percentiles"]


def percentiles(values: torch.Tensor) -> torch.Tensor:
    """The share of a row's values that are smaller than each of them, in [0, 1): [..., node] to [..., node].

    Equal values share a rank, so that the nodes' order does not matter. One sort: in sorted order a value's rank is the
    place at which its run of equal values begins.
    """
    count = values.shape[-1]
    ordered, place = values.sort(-1)
    positions = torch.arange(count, device=values.device, dtype=values.dtype).expand(values.shape)
    first = torch.zeros_like(ordered)
    first[..., 1:] = positions[..., 1:] * (ordered[..., 1:] != ordered[..., :-1])
    rank = first.cummax(-1).values.div_(count)
    return torch.empty_like(rank).scatter_(-1, place, rank)
