"""Rows that are unlike all labelled ones: where a class may hide that nobody has named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from nodewise.contracts import SharesPosterior, can
from nodewise.session.answers import numbers_of
from nodewise.session.meaning.history import History

if TYPE_CHECKING:
    from nodewise.graph.tensors import GraphTensors
    from nodewise.session.learning.learner import SessionLearner
    from nodewise.session.meaning.rules import Moment

__all__ = ["LookedFor", "looked_for", "most_among_unlike", "rows_unlike_labels", "unlike_to_look_at"]

_ENOUGH = 20
"""Labels, before rows can be called unlike them: with fewer almost everything is."""
_BLOCK = 8_192
"""Nodes looked at together."""


def rows_unlike_labels(learner: SessionLearner) -> npt.NDArray[np.int64] | None:
    """The nodes without a label that stand out as unlike all labelled ones, the most unlike first.

    The learner's views v, with weights w that add up to 1, leave the share u = Σ_v w_v zᵀ M_v z / zᵀ z of a node's
    prior variance unexplained, z its row and M = (I + Zᵀ Z / r)⁻¹ of the labelled rows Z. A node stands out where u is
    larger than the upper quartile of all unlabelled nodes by more than the distance of the quartiles. No class enters:
    this finds what nothing labelled is like, and neither a new class that resembles an old one nor what a row is.

    Args:
        learner: it has learned the labels.

    Returns:
        int64 [node]; None where nothing says it: of other classifiers, and with fewer than 20 labels.
    """
    if learner.count < _ENOUGH or not can(learner.learner, "posterior"):
        return None
    posterior = cast(SharesPosterior, learner.learner).ridge_posterior()
    unexplained = _unexplained(posterior)
    labelled = posterior.posterior.nodes[0, : int(posterior.posterior.count)].cpu().numpy()
    others: npt.NDArray[np.int64] = np.setdiff1d(np.arange(len(unexplained)), labelled)
    if len(others) == 0:
        return others
    lower, upper = np.quantile(unexplained[others], [0.25, 0.75])
    found: npt.NDArray[np.int64] = others[unexplained[others] > upper + (upper - lower)]
    return found[np.lexsort((found, -unexplained[found]))]


def unlike_to_look_at(moment: Moment, learner: SessionLearner) -> list[int]:
    """The same without nodes that were taken out and those of the audit, which are to be judged one by one."""
    found = rows_unlike_labels(learner)
    judged = {*moment.history.gone, *moment.rules.audit}
    return [] if found is None else [node for node in found.tolist() if node not in judged]


def most_among_unlike(listed: Sequence[int], tensors: GraphTensors) -> int:
    """Of listed rows the one with the most listed neighbours, the first among equals: a class has several rows, an odd
    one is alone.
    """
    inside = np.zeros(tensors.num_nodes, bool)
    inside[list(listed)] = True
    return listed[int(np.argmax([inside[tensors.neighbours(node)].sum() for node in listed]))]


@dataclass(frozen=True)
class LookedFor:
    """What came of the questions about rows unlike all labelled ones.

    Attributes:
        questions: how many rows were asked so.
        answered: how many of them have a label.
        skipped: how many of the others somebody could not label.
        found: the classes that nobody had named before, and that have their first label on such a row.
    """

    questions: int
    answered: int
    skipped: int
    found: tuple[str, ...]

    @property
    def words(self) -> str:
        """The same as a sentence."""
        rows = "1 question went to a row" if self.questions == 1 else f"{self.questions:,} questions went to rows"
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        new = f"{', '.join(self.found)}, which nobody had named before" if self.found else "no class that was new"
        return f"{rows} unlike everything labelled so far: {self.answered} answered{skipped}; they found {new}"


def looked_for(history: History, first_classes: Sequence[str]) -> LookedFor | None:
    """What came of the questions that looked for a class; None where there was none.

    Args:
        history: what the log means.
        first_classes: the classes that were there at the start.
    """
    asked = {query.node for query in history.asked if "unlike" in query.body} - history.gone
    if not asked:
        return None
    first: dict[int, int] = {}
    for node, answer in history.numbers.items():
        for number in numbers_of(answer):
            first.setdefault(number, node)
    new = [number for number, node in first.items() if node in asked and number > len(first_classes)]
    answered = {node for node in asked if node in history.numbers}
    skipped = set().union(*history.skipped.values()) & (asked - answered)
    return LookedFor(len(asked), len(answered), len(skipped), tuple(map(history.classes.name, new)))


def _unexplained(posterior: Any) -> npt.NDArray[np.float64]:
    """The share of each node's prior variance that the labels leave unexplained: [node]."""
    import torch

    views, weights = posterior.views, posterior.solution().weights[0].double()
    covariances = posterior.covariances()[:, 0].double()
    shares = []
    for start in range(0, len(views.columns), _BLOCK):
        rows = views.columns[start : start + _BLOCK, :, : views.leading_columns].double().movedim(1, 0)
        left = (rows @ covariances * rows).sum(-1)
        shares.append((weights @ (left / rows.square().sum(-1).clamp_min(1e-12))) / weights.sum())
    return torch.cat(shares).cpu().numpy()
