"""How the GCN's training ends: a number of epochs, as in the released code, or when the training loss stops falling, as the paper words it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from nodewise.ground.events import Progress, Reporter

if TYPE_CHECKING:
    from nodewise.classifiers.gcn.cuda import GcnCudaLearner
    from nodewise.classifiers.gcn.gcn import GcnLearner

__all__ = ["CHECK_EVERY", "labelled_loss", "train_to_the_end"]

CHECK_EVERY = 10
"""Epochs between two looks at the training loss."""


def labelled_loss(logits: torch.Tensor, nodes: torch.Tensor, labels: torch.Tensor, filled: torch.Tensor | None = None) -> torch.Tensor:
    """The mean cross-entropy of each run's labelled nodes: [run].

    Args:
        logits: [run, node, class], dropout off.
        nodes, labels: int64 [run, label].
        filled: which of these are there, bool [label]; all by default.
    """
    chosen = logits.gather(1, nodes[..., None].expand(-1, -1, logits.shape[2]))
    losses = torch.logsumexp(chosen, 2) - chosen.gather(2, labels[..., None])[..., 0]
    if filled is None:
        return losses.mean(1)
    return (losses * filled).sum(1) / filled.sum().clamp_min(1)


def train_to_the_end(learner: GcnLearner | GcnCudaLearner, reporter: Reporter | None = None) -> None:
    """The closing epochs of all runs.

    With a ``convergence`` c above 0 a run ends when its training loss, taken every ten epochs without dropout, has fallen by less than the share c
    since the look before; ``closing_epochs`` are then the most. A run that has ended keeps its weights while others go on, so that no run depends on
    those beside it. Nothing waits for the host, so that a GPU can record it; there all epochs are played, whatever has ended.
    """
    settings, weights = learner.settings, (learner.w0, learner.w1)
    if settings.convergence == 0:
        for done in range(settings.closing_epochs):
            learner.fit()
            if reporter is not None:
                reporter(Progress("predict", done + 1, settings.closing_epochs))
        return
    kept, going = [weight.clone() for weight in weights], torch.ones(learner.runs, dtype=torch.bool, device=learner.w0.device)
    before = learner.training_loss()
    for done in range(1, settings.closing_epochs + 1):
        learner.fit()
        if done % CHECK_EVERY == 0 or done == settings.closing_epochs:
            now = learner.training_loss()
            kept = [torch.where(going[:, None, None], weight, old) for weight, old in zip(weights, kept, strict=True)]
            going, before = going & (now < (1 - settings.convergence) * before), now
            if reporter is not None:
                reporter(Progress("predict", done, settings.closing_epochs))
            if going.device.type == "cpu" and not bool(going.any()):
                break
    for weight, last in zip(weights, kept, strict=True):
        weight.copy_(last)
