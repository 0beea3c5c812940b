"""What predictions are worth where a node may have several classes: F1 over classes, and average precision.

Classes are given by the learner's thresholds, or, as DeepWalk's authors do, by the number of classes that each node is
known to have: so many of its likeliest.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

__all__ = ["SetScores", "average_precision", "set_f1", "set_scores"]


class SetScores(NamedTuple):
    """Scores of each run, between 0 and 1: [run].

    Attributes:
        micro, macro: F1 with the learner's thresholds.
        micro_known, macro_known: F1 with the known number of classes of each node.
        precision: average precision, the mean over classes that occur.
    """

    micro: torch.Tensor
    macro: torch.Tensor
    micro_known: torch.Tensor
    macro_known: torch.Tensor
    precision: torch.Tensor


def set_scores(odds: torch.Tensor, thresholds: torch.Tensor, truth: torch.Tensor) -> SetScores:
    """All scores of predictions.

    Args:
        odds: how much speaks for each class: [run, node, class].
        thresholds: from which on a class is given: [run, class].
        truth: 0 or 1: [run, node, class].
    """
    right = truth.bool()
    ranks = odds.argsort(dim=-1, descending=True, stable=True).argsort(-1)
    known = ranks < right.sum(-1, keepdim=True)
    by_threshold, by_number = set_f1(odds >= thresholds[:, None], right), set_f1(known, right)
    return SetScores(*by_threshold, *by_number, average_precision(odds, right))


def set_f1(guess: torch.Tensor, truth: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Micro-F1 and Macro-F1, bool [run, node, class] to [run] each.

    Macro-F1 is the mean over the classes that occur in the truth or the guess; both are 1 where neither holds any.
    """
    hits = (guess & truth).sum(1).float()  # [run, class]
    sizes = (guess.sum(1) + truth.sum(1)).float()
    occurring = (sizes > 0).sum(1)
    macro = (2 * hits / sizes.clamp_min(1)).sum(1) / occurring.clamp_min(1)
    micro = 2 * hits.sum(1) / sizes.sum(1).clamp_min(1)
    return torch.where(occurring > 0, micro, 1.0), torch.where(occurring > 0, macro, 1.0)


def average_precision(odds: torch.Tensor, truth: torch.Tensor) -> torch.Tensor:
    """The mean over the classes that occur of each class's average precision: [run, node, class] to [run].

    As scikit-learn's, nodes with the same odds are found together; 0 where no class occurs.
    """
    ordered = odds.transpose(1, 2).sort(-1, descending=True)
    found = truth.transpose(1, 2).gather(-1, ordered.indices).float()  # [run, class, node]
    number = odds.shape[1]
    last = torch.nn.functional.pad(ordered.values[..., 1:] != ordered.values[..., :-1], (0, 1), value=True)
    position = torch.arange(number, device=odds.device)
    ends = torch.where(last, position, number - 1).flip(-1).cummin(-1).values.flip(-1)  # of those with the same odds
    precision = found.cumsum(-1).gather(-1, ends) / (ends + 1)
    held = found.sum(-1)  # [run, class]
    by_class = (found * precision).sum(-1) / held.clamp_min(1)
    occurring = held > 0
    return (by_class * occurring).sum(-1) / occurring.sum(-1).clamp_min(1)
