"""Paired comparisons of strategies on the same splits, corrected for how many are made."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt

from nodewise.evaluation.interval import Interval, confidence_interval
from nodewise.ground.errors import InputError
from nodewise.ground.seeds import numpy_generator

__all__ = ["PairedComparison", "compare_pairs", "holm", "paired_comparison", "sign_flip_test", "win_rate"]

Values = npt.NDArray[np.float64]

_EXACT_RUNS = 12  # up to so many runs every one of the 2^runs signs is tried
_FLIPS = 20_000


@dataclass(frozen=True)
class PairedComparison:
    """How much better one strategy is than another on the same runs.

    Attributes:
        first, second: the strategies' names.
        runs: pairs, one for each split.
        difference: first minus second, in points, mean and 95 % interval over runs.
        t_p: of Student's paired test that the mean difference is zero.
        permutation_p: of the same question when only the differences' signs are taken to be chance.
        corrected_p: ``t_p`` after Holm's correction over the comparisons made together; ``t_p`` itself for one alone.
        win_rate: share of runs in which the first is better, a tie counting half.
    """

    first: str
    second: str
    runs: int
    difference: Interval
    t_p: float
    permutation_p: float
    corrected_p: float
    win_rate: float

    def significant(self, level: float = 0.05) -> bool:
        """Whether the difference is too large to be chance, after the correction."""
        return self.corrected_p < level

    def as_dict(self) -> dict[str, Any]:
        """As a result file holds it; None for what a single run cannot tell."""
        record = {
            "first": self.first, "second": self.second, "runs": self.runs, "difference": self.difference.mean, "ci95": self.difference.half_width,
            "t_p": self.t_p, "permutation_p": self.permutation_p, "corrected_p": self.corrected_p, "win_rate": self.win_rate,
        }  # fmt: skip
        return {key: None if isinstance(value, float) and math.isnan(value) else value for key, value in record.items()}


def paired_comparison(first: npt.ArrayLike, second: npt.ArrayLike, names: tuple[str, str] = ("first", "second")) -> PairedComparison:
    """Compares two strategies run by run; both must have been run on the same splits in the same order.

    Args:
        first, second: scores: [run] each.
        names: what to call them.

    Raises:
        InputError: the two have different numbers of runs, or none.
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.shape != other.shape or one.ndim != 1 or one.size == 0:
        raise InputError(f"a paired comparison needs as many runs of {names[0]!r} as of {names[1]!r}, got {one.shape} and {other.shape}")
    difference = one - other
    p = _t_test(difference)
    return PairedComparison(
        *names, one.size, confidence_interval(difference), p, sign_flip_test(difference), p, win_rate(one, other)
    )  # fmt: skip


def compare_pairs(scores: Mapping[str, npt.ArrayLike], reference: str | None = None) -> list[PairedComparison]:
    """Paired comparisons of all strategies with each other, or of one with all others, Holm-corrected together.

    Args:
        scores: by strategy: [run] each, on the same splits.
        reference: the strategy to set against every other; None: every pair.
    """
    if reference is not None and reference not in scores:
        raise InputError(f"there are no scores of {reference!r}: there are those of {', '.join(scores)}")
    pairs = combinations(scores, 2) if reference is None else ((reference, name) for name in scores if name != reference)
    found = [paired_comparison(scores[a], scores[b], (a, b)) for a, b in pairs]
    corrected = holm([one.t_p for one in found])
    return [replace(one, corrected_p=p) for one, p in zip(found, corrected, strict=True)]


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction: the chance of even one false finding among all stays below the level.

    The i-th smallest of m values is multiplied by m − i + 1, made no smaller than those before it and no larger than 1.
    A value that is not a number (a test that could not be made) stays so and is not counted.
    """
    given = np.asarray(p_values, dtype=np.float64)
    made = np.flatnonzero(~np.isnan(given))
    order = made[np.argsort(given[made], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    corrected = given.copy()
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(given[order] * factors))
    return [float(p) for p in corrected]


def sign_flip_test(difference: npt.ArrayLike) -> float:
    """The share of sign patterns under which the mean difference would be at least as far from zero.

    All patterns are tried up to 12 runs; above, 20,000 are drawn from a fixed seed and the observed one is counted among them. Two-sided.
    """
    sample = np.asarray(difference, dtype=np.float64)
    signs, added = _signs(sample.size)
    seen = np.abs(signs @ sample)
    extreme = int((seen >= abs(sample.sum()) - 1e-9 * max(1.0, np.abs(sample).sum())).sum())
    return (extreme + added) / (len(signs) + added)


@lru_cache(maxsize=4)
def _signs(runs: int) -> tuple[Values, int]:
    """Sign patterns, [pattern, run], and how many observed ones must be counted beside them."""
    if runs <= _EXACT_RUNS:
        return np.array(list(product((1.0, -1.0), repeat=runs))), 0
    return 1.0 - 2.0 * numpy_generator(0, "sign-flip", runs).integers(0, 2, size=(_FLIPS, runs)).astype(np.float64), 1


def win_rate(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """The share of runs in which the first is better, a tie counting half."""
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    return float(((one > other) + 0.5 * (one == other)).mean())


def _t_test(difference: Values) -> float:
    """Student's two-sided p that the mean is zero; not a number for one run; 1 or 0 where all differences are the same."""
    from scipy import stats

    if difference.size < 2:
        return math.nan
    spread = float(difference.std(ddof=1))
    if spread <= 1e-12 * max(1.0, float(np.abs(difference).max())):
        return 1.0 if abs(float(difference.mean())) <= 1e-12 else 0.0
    t = float(difference.mean()) / (spread / math.sqrt(difference.size))
    return float(2 * stats.t.sf(abs(t), difference.size - 1))
