"""What a session's classifiers learn from, and the classifiers: one that asks, others for long work beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from nodewise.session.files.contents import Contents
from nodewise.session.log.history import Label

if TYPE_CHECKING:
    from nodewise.contracts import Classifier, Strategy
    from nodewise.session.learning.learner import SessionLearner

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
        classifier, strategy: the caller's own, where the settings name one that nobody has registered.
    """

    def __init__(self, contents: Contents, classifier: str | Classifier | None = None, strategy: str | Strategy | None = None) -> None:
        self._contents, self._classifier, self._strategy = contents, classifier, strategy
        self._made: dict[Purpose, SessionLearner] = {}

    def __contains__(self, purpose: Purpose) -> bool:
        return purpose in self._made

    def get(self, purpose: Purpose, given: Sequence[Label]) -> SessionLearner:
        """The learner as it was left when last used; a new one begins with the labels from before the session."""
        if purpose not in self._made:
            self._made[purpose] = self._new(given, _SNAPSHOT_BYTES[purpose])
        return self._made[purpose]

    def _new(self, given: Sequence[Label], snapshot_bytes: int) -> SessionLearner:
        import torch

        from nodewise.graph.tensors import GraphTensors
        from nodewise.session.asking.choice import stored_classifier, stored_strategy
        from nodewise.session.learning.learner import SessionLearner

        contents = self._contents
        classifier = stored_classifier(contents.settings, self._classifier)
        strategy = stored_strategy(contents.settings, contents.policy, self._strategy)
        mask = contents.candidates.copy()
        mask[list(contents.audit)] = False
        other = next(iter(self._made.values()), None)
        tensors = GraphTensors(contents.graph, "cpu") if other is None else other.tensors
        return SessionLearner(tensors, contents.settings, classifier, strategy, given, torch.from_numpy(mask), snapshot_bytes)
