"""What a session's classifiers learn from, and the classifiers: one that asks, others for long work beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from nodewise.session.files.contents import Contents
from nodewise.session.log.history import Label

if TYPE_CHECKING:
    from nodewise.session.learning.learner import Learner

__all__ = ["Learners", "Purpose", "TrainingLabels"]

Purpose = Literal["ask", "predict", "report"]

_SNAPSHOT_BYTES: dict[Purpose, int] = {"ask": 256 * 2**20, "predict": 64 * 2**20, "report": 64 * 2**20}
"""Memory for the snapshots of each classifier."""


class TrainingLabels(NamedTuple):
    """The labels that train.

    Attributes:
        told: those that people told, in order.
        given: those that were there before, as they stand now.
    """

    told: tuple[Label, ...]
    given: tuple[Label, ...]


class Learners:
    """The learners of a session, one for each purpose, made when first needed; they share the graph's tensors.

    Args:
        contents: graph, settings, policy and candidates.
    """

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self._made: dict[Purpose, Learner] = {}

    def __contains__(self, purpose: Purpose) -> bool:
        return purpose in self._made

    def get(self, purpose: Purpose, given: Sequence[Label]) -> Learner:
        """The learner as it was left when last used; a new one begins with the labels from before the session."""
        if purpose not in self._made:
            self._made[purpose] = self._new(given, _SNAPSHOT_BYTES[purpose])
        return self._made[purpose]

    def _new(self, given: Sequence[Label], snapshot_bytes: int) -> Learner:
        import torch

        from nodewise.session.asking.choice import make_stored_strategy
        from nodewise.session.learning.learner import Learner

        contents = self._contents
        strategy = make_stored_strategy(contents.settings.strategy, contents.policy)
        mask = contents.candidates.copy()
        mask[list(contents.audit)] = False
        other = next(iter(self._made.values()), None)
        tensors = None if other is None else other.tensors
        return Learner(contents.graph, contents.settings, strategy, given, torch.from_numpy(mask), tensors, snapshot_bytes)
