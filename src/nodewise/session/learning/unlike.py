"""Rows that are unlike all labelled ones: where a class may hide that nobody has named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt
import torch

from nodewise.contracts import SharesPosterior, can

if TYPE_CHECKING:
    from nodewise.session.learning.learner import SessionLearner

__all__ = ["rows_unlike_labels"]

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
        int64 [node]; None where it cannot be told: of other classifiers, and with fewer than 20 labels.
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


def _unexplained(posterior: Any) -> npt.NDArray[np.float64]:
    """The share of each node's prior variance that the labels leave unexplained: [node]."""
    views, weights = posterior.views, posterior.solution().weights[0].double()
    covariances = posterior.covariances()[:, 0].double()
    shares = []
    for start in range(0, len(views.columns), _BLOCK):
        rows = views.columns[start : start + _BLOCK, :, : views.leading_columns].double().movedim(1, 0)
        left = (rows @ covariances * rows).sum(-1)
        shares.append((weights @ (left / rows.square().sum(-1).clamp_min(1e-12))) / weights.sum())
    return torch.cat(shares).cpu().numpy()
