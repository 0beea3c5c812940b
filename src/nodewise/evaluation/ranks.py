"""Strategies over many graphs: average ranks, Friedman's test and Nemenyi's critical difference.

After Demšar, Statistical Comparisons of Classifiers over Multiple Data Sets, JMLR 2006.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nodewise.evaluation.statistics import win_rate
from nodewise.ground.errors import InputError

__all__ = ["Ranking", "rank_strategies", "win_rates"]


@dataclass(frozen=True)
class Ranking:
    """Average ranks of strategies over graphs, 1 being the best.

    Attributes:
        ranks: by strategy, best first.
        graphs: how many were ranked, each once; domains, where several graphs of one domain share a rank.
        friedman_p: of the hypothesis that no strategy differs from another; not a number for fewer than three strategies.
        critical_difference: average ranks closer than this cannot be told apart at the 5 % level (Nemenyi).
    """

    ranks: dict[str, float]
    graphs: int
    friedman_p: float
    critical_difference: float

    def cliques(self) -> list[tuple[str, ...]]:
        """The largest groups of neighbouring strategies that cannot be told apart, each of two or more."""
        names, values = list(self.ranks), list(self.ranks.values())
        reach = [max(j for j in range(len(values)) if values[j] - values[i] <= self.critical_difference) for i in range(len(values))]
        return [tuple(names[i : j + 1]) for i, j in enumerate(reach) if j > i and (i == 0 or reach[i - 1] < j)]

    def as_dict(self) -> dict[str, Any]:
        """As a result file holds it."""
        return {
            "average_ranks": dict(self.ranks), "graphs": self.graphs, "friedman_p": None if math.isnan(self.friedman_p) else self.friedman_p,
            "critical_difference": self.critical_difference, "not_told_apart": [list(group) for group in self.cliques()],
        }  # fmt: skip


def rank_strategies(means: Mapping[str, npt.ArrayLike]) -> Ranking:
    """Ranks strategies on every graph by their mean score, largest first; ties share their mean rank.

    Args:
        means: by strategy: one mean score for each graph, in the same order for all. Graphs must be independent of each other: several
            budgets of one graph are not, so give their mean.

    Raises:
        InputError: fewer than two strategies, or different numbers of graphs.
    """
    from scipy import stats

    names = list(means)
    rows = [np.asarray(means[name], dtype=np.float64) for name in names]
    if len(rows) < 2 or len({row.shape for row in rows}) != 1 or rows[0].ndim != 1 or rows[0].size == 0:
        raise InputError(
            f"ranks need two strategies or more with a score on every graph, got {[(n, r.size) for n, r in zip(names, rows, strict=True)]}"
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
        The strategies that occur in every setting, and a matrix [strategy, strategy] of shares, not a number on the diagonal.
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
    """Friedman's p over ranks [graph, strategy]; not a number where it cannot be had: two strategies, or every rank shared by all."""
    from scipy import stats

    if ranks.shape[1] < 3 or float(np.ptp(ranks)) == 0:
        return math.nan
    return float(stats.friedmanchisquare(*ranks.T).pvalue)
