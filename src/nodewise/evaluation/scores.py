"""Further scores of a classifier beside Micro and Macro-F1, of one run each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from nodewise.ground.errors import InputError, UnknownNameError

__all__ = ["LESS_IS_BETTER", "SCORES", "check_scores", "further_scores"]

Probabilities = npt.NDArray[np.float64]
Classes = npt.NDArray[np.int64]
Score = Callable[[Probabilities, Classes], float]

BINS = 15
"""Bins of the expected calibration error, equally wide, as Guo et al. (ICML 2017) have them."""


def balanced_accuracy(probabilities: Probabilities, truth: Classes) -> float:
    """The mean over the classes that occur of the share that is predicted right, in percent."""
    right = probabilities.argmax(1) == truth
    return 100 * float(np.mean([right[truth == one].mean() for one in np.unique(truth)]))


def average_precision(probabilities: Probabilities, truth: Classes) -> float:
    """The area under precision over recall, each class against the rest, its mean over the classes, in percent."""
    from sklearn.metrics import average_precision_score

    return 100 * _over_classes(average_precision_score, probabilities, truth)


def area_under_curve(probabilities: Probabilities, truth: Classes) -> float:
    """The area under the ROC curve, each class against the rest, its mean over the classes, in percent."""
    from sklearn.metrics import roc_auc_score

    return 100 * _over_classes(roc_auc_score, probabilities, truth)


def log_loss(probabilities: Probabilities, truth: Classes) -> float:
    """The mean of −log p of the true class, in nats; p counts as 1e-10 at least."""
    return float(-np.log(np.maximum(probabilities[np.arange(len(truth)), truth], 1e-10)).mean())


def calibration_error(probabilities: Probabilities, truth: Classes) -> float:
    """The expected calibration error: how far the largest p lies from the share that is right, bin by bin, in
    percent.
    """
    sure, right = probabilities.max(1), probabilities.argmax(1) == truth
    bins = np.minimum((sure * BINS).astype(np.int64), BINS - 1)
    gaps = [abs(sure[bins == one].sum() - right[bins == one].sum()) for one in np.unique(bins)]
    return 100 * float(np.sum(gaps)) / len(truth)


SCORES: Mapping[str, Score] = {
    "balanced_accuracy": balanced_accuracy,
    "average_precision": average_precision,
    "area_under_curve": area_under_curve,
    "log_loss": log_loss,
    "calibration_error": calibration_error,
}
"""Scores by name."""

NUMBER_KNOWN = {"micro_f1_known": "Micro-F1, number known", "macro_f1_known": "Macro-F1, number known"}
"""Where a node may have several classes, the scores of as many classes a node as it has: in words."""

IN_PERCENT = frozenset({*SCORES, *NUMBER_KNOWN}) - {"log_loss"}
"""Those in percent; what one's own are in nobody knows."""

LESS_IS_BETTER = frozenset({"log_loss", "calibration_error"})
"""Scores of which less is better; of all others, one's own included, more is."""


def check_scores(scores: Sequence[str | Score]) -> None:
    """Refuse a score that there is none of.

    Raises:
        UnknownNameError: says which there are.
    """
    for score in scores:
        if isinstance(score, str) and score not in SCORES:
            raise UnknownNameError("score", score, SCORES, "One of your own is a function of probabilities and truth.")


def further_scores(
    scores: Sequence[str | Score], probabilities: npt.NDArray[np.float64], truth: npt.NDArray[np.int64]
) -> dict[str, npt.NDArray[np.float64]]:
    """Each score's values, by its name: [run].

    Args:
        probabilities: of each run's test nodes, [run, node, class]. truth: [run, node].
    """
    values = {}
    for score in scores:
        name, function = (score, SCORES[score]) if isinstance(score, str) else (score.__name__, score)
        found = np.array([function(*one) for one in zip(probabilities, truth, strict=True)], dtype=np.float64)
        if not np.isfinite(found).all():
            raise InputError(f"the score {name!r} gave {found.tolist()}: it must give a finite number for each run")
        values[name] = found
    return values


def _over_classes(score: Callable[..., float], probabilities: Probabilities, truth: Classes) -> float:
    """The mean over the classes that are neither absent nor the only one; 1 where there is none."""
    present = [one for one in np.unique(truth) if (truth != one).any()]
    return float(np.mean([score(truth == one, probabilities[:, one]) for one in present])) if present else 1.0
