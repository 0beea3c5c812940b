"""A mean and how sure one can be of it; paired comparisons of strategies on the same splits.

Their ranks over many graphs.

The tests are scipy's. Few runs are not made to say more than they can: below `FEWEST_FOR_INTERVAL` runs there is no
interval, below `FEWEST_FOR_TEST` no test, so that nothing is called significant there. Paired comparisons that are made
together are corrected for how many they are. Ranks, Friedman's test and Nemenyi's critical difference are those of
Demšar, Statistical Comparisons of Classifiers over Multiple Data Sets, JMLR 2006.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from nodewise.ground.compute import numpy_generator
from nodewise.ground.errors import InputError

__all__ = [
    "FEWEST_FOR_INTERVAL",
    "FEWEST_FOR_TEST",
    "Interval",
    "PairedComparison",
    "Ranking",
    "compare_pairs",
    "confidence_interval",
    "holm",
    "paired_comparison",
    "rank_strategies",
    "sign_flip_test",
    "win_rate",
    "win_rates",
]


Values = npt.NDArray[np.float64]

FEWEST_FOR_INTERVAL = 3
"""Runs below which no interval is given: that of two runs is thirteen times as wide as their distance."""

FEWEST_FOR_TEST = 6
"""Runs below which no test is made: with five, even a lead in every run has a chance of 1 in 16."""

_FLIPS = 9_999  # sign patterns; up to 13 runs there are fewer, and all are tried


class Interval(NamedTuple):
    """A mean with the half width of its confidence interval, which is not a number where runs are too few for one."""

    mean: float
    half_width: float

    def text(self, digits: int = 2, sign: bool = False) -> str:
        """Such as ``"71.25 ± 0.63"``, or the mean alone."""
        mean = f"{self.mean:{'+' if sign else ''}.{digits}f}"
        return mean if math.isnan(self.half_width) else f"{mean} ± {self.half_width:.{digits}f}"

    def __str__(self) -> str:
        return self.text(1)


def confidence_interval(values: npt.ArrayLike, level: float = 0.95) -> Interval:
    """Student's interval for the mean of independent values; not a number wide for fewer than three."""
    from scipy import stats

    sample = np.asarray(values, dtype=np.float64)
    if sample.size < FEWEST_FOR_INTERVAL:
        return Interval(float(sample.mean()), math.nan)
    return Interval(
        float(sample.mean()), float(stats.t.ppf((1 + level) / 2, sample.size - 1)) * float(stats.sem(sample))
    )


@dataclass(frozen=True)
class PairedComparison:
    """How much better one strategy is than another on the same runs.

    Attributes:
        first, second: the strategies' names.
        runs: pairs, one for each split.
        difference: first minus second, in points, mean and 95 % interval over runs.
        t_p: of Student's paired test that the mean difference is zero.
        permutation_p: of the same question when only the differences' signs are taken to be chance. Both are not a
            number below `FEWEST_FOR_TEST` runs.
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
        """As a result file holds it; None for what so few runs cannot tell."""
        record = {
            "first": self.first,
            "second": self.second,
            "runs": self.runs,
            "difference": self.difference.mean,
            "ci95": self.difference.half_width,
            "t_p": self.t_p,
            "permutation_p": self.permutation_p,
            "corrected_p": self.corrected_p,
            "win_rate": self.win_rate,
        }
        return {key: None if isinstance(value, float) and math.isnan(value) else value for key, value in record.items()}


def paired_comparison(
    first: npt.ArrayLike, second: npt.ArrayLike, names: tuple[str, str] = ("first", "second")
) -> PairedComparison:
    """Compares two strategies run by run; both must have been run on the same splits in the same order.

    Args:
        first, second: scores: [run] each.
        names: what to call them.

    Raises:
        InputError: the two have different numbers of runs, or none.
    """
    return _compared([(*names, first, second)])[0]


def compare_pairs(scores: Mapping[str, npt.ArrayLike], reference: str | None = None) -> list[PairedComparison]:
    """Paired comparisons of all strategies with each other, or of one with all others, Holm-corrected together.

    Args:
        scores: by strategy: [run] each, on the same splits.
        reference: the strategy to set against every other; None: every pair.
    """
    if reference is not None and reference not in scores:
        raise InputError(f"there are no scores of {reference!r}: there are those of {', '.join(scores)}")
    pairs = (
        combinations(scores, 2) if reference is None else ((reference, name) for name in scores if name != reference)
    )
    tests = _compared([(a, b, scores[a], scores[b]) for a, b in pairs])
    corrected = holm([one.t_p for one in tests])
    return [replace(one, corrected_p=p) for one, p in zip(tests, corrected, strict=True)]


def _compared(pairs: Sequence[tuple[str, str, npt.ArrayLike, npt.ArrayLike]]) -> list[PairedComparison]:
    """Every pair, before any correction; the sign flips of all pairs are drawn together."""
    checked = []
    for name, rival, first, second in pairs:
        one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
        if one.shape != other.shape or one.ndim != 1 or one.size == 0:
            raise InputError(
                f"a paired comparison needs as many runs of {name!r} as of {rival!r}, got {one.shape} and {other.shape}"
            )
        checked.append((name, rival, one, other))
    flips = sign_flip_test(np.stack([one - other for _, _, one, other in checked])) if checked else ()
    return [
        PairedComparison(
            name,
            rival,
            one.size,
            confidence_interval(one - other),
            (t := _t_test(one, other)),
            float(p),
            t,
            win_rate(one, other),
        )
        for (name, rival, one, other), p in zip(checked, flips, strict=True)
    ]


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


def sign_flip_test(difference: npt.ArrayLike) -> Values:
    """The chance that a mean difference is at least as far from zero when every run's sign is that of a coin.

    Two-sided.

    All patterns of signs are tried up to 13 runs; above, 9,999 are drawn from a fixed seed and the observed one is
    counted among them.

    Args:
        difference: [run], or [pair, run] for many at once.

    Returns:
        One value a pair; not a number below `FEWEST_FOR_TEST` runs.
    """
    from scipy import stats

    sample = np.asarray(difference, dtype=np.float64)
    if sample.shape[-1] < FEWEST_FOR_TEST or sample.size == 0:
        return np.full(sample.shape[:-1], np.nan)
    result = stats.permutation_test(
        (sample,),
        np.mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=_FLIPS,
        axis=-1,
        batch=500,
        random_state=numpy_generator(0, "sign-flip", sample.shape[-1]),
    )
    return np.asarray(result.pvalue, dtype=np.float64)


def win_rate(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """The share of runs in which the first is better, a tie counting half."""
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    return float(((one > other) + 0.5 * (one == other)).mean())


def _t_test(first: Values, second: Values) -> float:
    """Student's paired two-sided p; not a number for few runs.

    1 or 0 where all differences are the same, which scipy's warns of.
    """
    from scipy import stats

    difference = first - second
    if difference.size < FEWEST_FOR_TEST:
        return math.nan
    if float(np.ptp(difference)) <= 1e-12 * max(1.0, float(np.abs(difference).max())):
        return 1.0 if abs(float(difference.mean())) <= 1e-12 else 0.0
    return float(stats.ttest_rel(first, second).pvalue)


@dataclass(frozen=True)
class Ranking:
    """Average ranks of strategies over graphs, 1 being the best.

    Attributes:
        ranks: by strategy, best first.
        graphs: how many were ranked, each once; domains, where several graphs of one domain share a rank.
        friedman_p: of the hypothesis that no strategy differs from another; not a number for fewer than three
            strategies.
        critical_difference: average ranks closer than this cannot be told apart at the 5 % level (Nemenyi).
    """

    ranks: dict[str, float]
    graphs: int
    friedman_p: float
    critical_difference: float

    def cliques(self) -> list[tuple[str, ...]]:
        """The largest groups of neighbouring strategies that cannot be told apart, each of two or more."""
        names, values = list(self.ranks), list(self.ranks.values())
        reach = [
            max(j for j in range(len(values)) if values[j] - values[i] <= self.critical_difference)
            for i in range(len(values))
        ]
        return [tuple(names[i : j + 1]) for i, j in enumerate(reach) if j > i and (i == 0 or reach[i - 1] < j)]

    def as_dict(self) -> dict[str, Any]:
        """As a result file holds it."""
        return {
            "average_ranks": dict(self.ranks),
            "graphs": self.graphs,
            "friedman_p": None if math.isnan(self.friedman_p) else self.friedman_p,
            "critical_difference": self.critical_difference,
            "not_told_apart": [list(group) for group in self.cliques()],
        }


def rank_strategies(means: Mapping[str, npt.ArrayLike]) -> Ranking:
    """Ranks strategies on every graph by their mean score, largest first; ties share their mean rank.

    Args:
        means: by strategy: one mean score for each graph, in the same order for all. Graphs must be independent of each
            other: several budgets of one graph are not, so give their mean.

    Raises:
        InputError: fewer than two strategies, or different numbers of graphs.
    """
    from scipy import stats

    names = list(means)
    rows = [np.asarray(means[name], dtype=np.float64) for name in names]
    if len(rows) < 2 or len({row.shape for row in rows}) != 1 or rows[0].ndim != 1 or rows[0].size == 0:
        raise InputError(
            "ranks need two strategies or more with a score on every graph, got"
            f" {[(n, r.size) for n, r in zip(names, rows, strict=True)]}"
        )
    ranks = np.asarray(stats.rankdata(-np.stack(rows, axis=1), axis=1))  # [graph, strategy]
    graphs, strategies = ranks.shape
    average = ranks.mean(0)
    order = np.argsort(average, kind="stable")
    quantile = float(stats.studentized_range.ppf(0.95, strategies, np.inf)) / math.sqrt(2)
    difference = quantile * math.sqrt(strategies * (strategies + 1) / (6 * graphs))
    return Ranking({names[i]: float(average[i]) for i in order}, graphs, _friedman(ranks), difference)


def win_rates(scores: Mapping[str, Mapping[str, npt.ArrayLike]]) -> tuple[list[str], npt.NDArray[np.float64]]:
    """How often each strategy beats each other one on the same split, averaged over settings.

    Args:
        scores: by setting, then by strategy: [run] each.

    Returns:
        The strategies that occur in every setting, and a matrix [strategy, strategy] of shares, not a number on the
        diagonal.
    """
    settings = list(scores.values())
    names = [name for name in settings[0] if all(name in setting for setting in settings)] if settings else []
    rates = np.full((len(names), len(names)), np.nan)
    for i, first in enumerate(names):
        for j, second in enumerate(names):
            if i != j:
                rates[i, j] = np.mean([win_rate(setting[first], setting[second]) for setting in settings])
    return names, rates


def _friedman(ranks: npt.NDArray[np.float64]) -> float:
    """Friedman's p over ranks [graph, strategy]; not a number where it cannot be had.

    Two strategies, or every rank shared by all.
    """
    from scipy import stats

    if ranks.shape[1] < 3 or float(np.ptp(ranks)) == 0:
        return math.nan
    return float(stats.friedmanchisquare(*ranks.T).pvalue)
