"""How a learner is led, in an episode as in a session: its seed, gradients while it learns, its output looked over."""

from __future__ import annotations

import torch

from nodewise.contracts import Learner, can
from nodewise.environment.backend import backend_of
from nodewise.ground.compute import derive_seed
from nodewise.ground.errors import InputError
from nodewise.ground.events import Reporter

__all__ = ["checked_logits", "finish_learner", "fit_learner", "reset_learner"]


def reset_learner(learner: Learner, seed: int, *path: int | str) -> None:
    """Let a learner forget all labels, with the seed of the draw that ``path`` names.

    Many libraries take seeds of 32 bits only, so that is what a learner is given that does not say it takes longer
    ones.
    """
    drawn = derive_seed(seed, *path)
    learner.reset(drawn if can(learner, "long-seeds") else drawn >> 31)


def fit_learner(learner: Learner) -> None:
    """Let a learner learn from its labels, with gradients on, wherever this is called."""
    with torch.enable_grad():
        learner.fit()


def finish_learner(learner: Learner, reporter: Reporter | None = None) -> None:
    """Let a learner train to the end, with gradients on, wherever this is called."""
    with torch.enable_grad():
        learner.finish(reporter)


def checked_logits(learner: Learner, shape: tuple[int, int, int]) -> torch.Tensor:
    """A learner's logits, if they are some: [run, node, class].

    Raises:
        InputError: they have another shape, or are not numbers.
    """
    logits = learner.logits()
    name = type(learner).__name__
    if not isinstance(logits, torch.Tensor) or logits.shape != shape:
        got = f"of shape {list(logits.shape)}" if isinstance(logits, torch.Tensor) else f"as {type(logits).__name__}"
        raise InputError(f"{name} gave logits {got}: they must be a tensor [run, node, class], here {list(shape)}")
    if backend_of(logits.device).has_nan(logits):
        raise InputError(
            f"{name} gave logits that are not numbers: every node needs a prediction, before the first label as well"
        )
    return logits
