"""F1 scores of a batch of runs, computed where the predictions are."""

from __future__ import annotations

from typing import NamedTuple

import torch

__all__ = ["Scores", "f1_scores"]


class Scores(NamedTuple):
    """Micro and Macro-F1 of each run, between 0 and 1: [run]."""

    micro: torch.Tensor
    macro: torch.Tensor


def f1_scores(guess: torch.Tensor, truth: torch.Tensor, classes: int) -> Scores:
    """Scores of single-label predictions, int64 [run, node] each.

    Micro-F1 of single-label predictions is the accuracy. Macro-F1 is the mean over the classes that occur in the truth or the
    guess, as scikit-learn's; a class that neither holds does not count.
    """
    runs = guess.shape[0]
    code = (torch.arange(runs, device=guess.device)[:, None] * classes + truth) * classes + guess
    table = torch.zeros(runs * classes * classes, device=guess.device)
    table = table.scatter_add_(0, code.reshape(-1), torch.ones_like(code, dtype=table.dtype).reshape(-1)).view(runs, classes, classes)
    hits = table.diagonal(dim1=1, dim2=2)  # [run, class]
    sizes = table.sum(1) + table.sum(2)
    macro = (2 * hits / sizes.clamp_min(1)).sum(1) / (sizes > 0).sum(1)
    return Scores(hits.sum(1) / guess.shape[1], macro)
