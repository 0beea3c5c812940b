"""Ranks over graphs: Demšar's own example and tables, scipy's Friedman test, and small cases by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from nodewise.evaluation.ranks import Ranking, rank_strategies, win_rates
from nodewise.ground.errors import InputError

# Table 6 of Demšar 2006: AUC of four variants of C4.5 on 14 data sets.
DEMSAR = {
    "C4.5": [0.763, 0.599, 0.954, 0.628, 0.882, 0.936, 0.661, 0.583, 0.775, 1.000, 0.940, 0.619, 0.972, 0.957],
    "C4.5+m": [0.768, 0.591, 0.971, 0.661, 0.888, 0.931, 0.668, 0.583, 0.838, 1.000, 0.962, 0.666, 0.981, 0.978],
    "C4.5+cf": [0.771, 0.590, 0.968, 0.654, 0.886, 0.916, 0.609, 0.563, 0.866, 1.000, 0.965, 0.614, 0.9751, 0.946],
    "C4.5+m+cf": [0.798, 0.569, 0.967, 0.657, 0.898, 0.931, 0.685, 0.625, 0.875, 1.000, 0.962, 0.669, 0.975, 0.970],
}


def test_demsars_example() -> None:
    ranking = rank_strategies(DEMSAR)
    assert ranking.ranks["C4.5"] == pytest.approx(3.143, abs=5e-4)
    assert ranking.ranks["C4.5+m"] == pytest.approx(2.000, abs=5e-4)
    assert ranking.ranks["C4.5+cf"] == pytest.approx(2.893, abs=5e-4)
    assert ranking.ranks["C4.5+m+cf"] == pytest.approx(1.964, abs=5e-4)
    assert ranking.critical_difference == pytest.approx(1.25, abs=5e-3)
    assert next(iter(ranking.ranks)) == "C4.5+m+cf"


@pytest.mark.parametrize(("strategies", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (7, 2.949), (10, 3.164)])
def test_critical_values_are_those_of_the_published_table(strategies: int, q: float) -> None:
    means = {str(i): [float(i), float(-i)] for i in range(strategies)}
    assert rank_strategies(means).critical_difference == pytest.approx(q * (strategies * (strategies + 1) / 12) ** 0.5, rel=5e-4)


@pytest.mark.parametrize("ties", [False, True])
def test_friedman_is_scipys(ties: bool) -> None:
    table = np.random.default_rng(0).normal(size=(9, 4)) + np.array([0, 0.5, 1, 0])
    table = np.round(table) if ties else table
    theirs = stats.friedmanchisquare(*table.T)
    assert rank_strategies({str(i): column for i, column in enumerate(table.T)}).friedman_p == pytest.approx(theirs.pvalue)


def test_ranks_by_hand() -> None:
    ranking = rank_strategies({"a": [1, 5, 3], "b": [2, 5, 1], "c": [0, 4, 2]})
    # settings: b a c = 1 2 3; a b share 1.5, c 3; a c b = 1 2 3
    assert ranking.ranks == pytest.approx({"a": (2 + 1.5 + 1) / 3, "b": (1 + 1.5 + 3) / 3, "c": (3 + 3 + 2) / 3})
    assert list(ranking.ranks) == ["a", "b", "c"]


def test_cliques_are_the_largest_groups_within_the_difference() -> None:
    ranking = Ranking({"a": 1.0, "b": 1.8, "c": 2.6, "d": 4.0}, 10, 0.01, 1.0)
    assert ranking.cliques() == [("a", "b"), ("b", "c")]
    assert Ranking({"a": 1.0, "b": 1.2, "c": 1.4}, 10, 0.5, 1.0).cliques() == [("a", "b", "c")]


def test_two_strategies_have_ranks_but_no_friedman_value() -> None:
    ranking = rank_strategies({"a": [3, 2, 1], "b": [1, 1, 2]})
    assert ranking.as_dict()["friedman_p"] is None and ranking.ranks == pytest.approx({"a": 4 / 3, "b": 5 / 3})


def test_all_tied_has_no_friedman_value() -> None:
    ranking = rank_strategies({"a": [1, 1], "b": [1, 1], "c": [1, 1]})
    assert ranking.as_dict()["friedman_p"] is None
    assert ranking.ranks == {"a": 2, "b": 2, "c": 2}


def test_win_rates_average_over_settings() -> None:
    names, rates = win_rates({"g": {"a": [1, 2], "b": [0, 3]}, "h": {"a": [5, 5], "b": [1, 5], "only": [0, 0]}})
    assert names == ["a", "b"]
    assert rates[0, 1] == pytest.approx((0.5 + 0.75) / 2) and rates[1, 0] == pytest.approx(1 - rates[0, 1])
    assert np.isnan(rates[0, 0])


def test_ranks_refuse_what_cannot_be_ranked() -> None:
    with pytest.raises(InputError, match="two strategies or more"):
        rank_strategies({"a": [1.0]})
    with pytest.raises(InputError, match="a score on every graph"):
        rank_strategies({"a": [1.0], "b": [1.0, 2.0]})
