"""Intervals and paired comparisons, against scipy and numbers worked out by hand; ranks over graphs, against Demšar's
own example and tables.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from nodewise.evaluation import confidence_interval
from nodewise.evaluation.results.statistics import (
    Ranking,
    compare_pairs,
    holm,
    paired_comparison,
    rank_strategies,
    sign_flip_test,
    win_rate,
    win_rates,
)
from nodewise.ground.errors import InputError


def sample(seed: int, runs: int, shift: float = 0.0) -> np.ndarray:
    return np.random.default_rng(seed).normal(70 + shift, 3, runs)


# Student's own data of 1908: hours of sleep gained by ten patients with two drugs; t = -4.0621, p = 0.00283.
DEXTRO = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
LAEVO = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]


def test_students_sleep_data() -> None:
    found = paired_comparison(DEXTRO, LAEVO)
    assert found.t_p == pytest.approx(0.002832890, abs=1e-9)
    assert found.difference.mean == pytest.approx(-1.58)
    assert found.difference.mean - found.difference.half_width == pytest.approx(-2.4598858, abs=1e-6)
    assert found.win_rate == 0.05  # nine losses and one tie


@pytest.mark.parametrize("runs", [6, 30, 100])
def test_t_test_and_interval_are_scipys(runs: int) -> None:
    first, second = sample(1, runs), sample(2, runs, 0.5)
    theirs = stats.ttest_rel(first, second)
    ours = paired_comparison(first, second)
    assert ours.t_p == pytest.approx(theirs.pvalue, rel=1e-9)
    low, high = theirs.confidence_interval(0.95)
    assert ours.difference.mean == pytest.approx((low + high) / 2)
    assert ours.difference.half_width == pytest.approx((high - low) / 2)


@pytest.mark.parametrize("runs", [6, 8, 12])
def test_small_samples_try_every_sign_as_scipy_does(runs: int) -> None:
    first, second = sample(3, runs), sample(4, runs, 2)
    theirs = stats.permutation_test(
        (first, second), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=np.inf
    )
    assert sign_flip_test(first - second) == pytest.approx(theirs.pvalue)


def test_large_samples_draw_signs() -> None:
    difference = sample(5, 60) - sample(6, 60, 0.6)
    t = stats.ttest_1samp(difference, 0).pvalue
    assert sign_flip_test(difference) == pytest.approx(t, abs=0.01)
    assert sign_flip_test(difference) == sign_flip_test(difference)


def test_signs_by_hand() -> None:
    # of the 64 sums ±1±2±4±8±16±32 only the two with one sign throughout are as far from zero as 63
    assert sign_flip_test([1, 2, 4, 8, 16, 32]) == 2 / 64
    # -63 + 2 for one sign changed: the sums -63, -61, 61 and 63 are as far from zero as 61
    assert sign_flip_test([-1, 2, 4, 8, 16, 32]) == 4 / 64
    several = sign_flip_test([[1, 2, 4, 8, 16, 32], [-1, 2, 4, 8, 16, 32]])
    assert several.tolist() == [2 / 64, 4 / 64]


def test_holm_by_hand() -> None:
    # sorted 0.01 0.02 0.03 0.04 times 4 3 2 1 is 0.04 0.06 0.06 0.04; the last may not be below those before it
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []
    assert holm([0.2]) == [0.2]


def test_holm_leaves_out_tests_that_could_not_be_made() -> None:
    corrected = holm([0.01, math.nan, 0.04])
    assert corrected[0] == pytest.approx(0.02) and math.isnan(corrected[1]) and corrected[2] == pytest.approx(0.04)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_keeps_order_and_never_lowers(p_values: list[float]) -> None:
    corrected = holm(p_values)
    assert all(after >= before and after <= 1 for before, after in zip(p_values, corrected, strict=True))
    order = np.argsort(p_values, kind="stable")
    assert list(np.array(corrected)[order]) == sorted(corrected)


def test_win_rate_counts_a_tie_half() -> None:
    assert win_rate([1, 2, 3, 4], [0, 2, 5, 1]) == pytest.approx(2.5 / 4)


def test_identical_runs_and_a_constant_lead() -> None:
    scores = np.array([70.0, 71.0, 72.0, 73.0, 74.0, 75.0])
    same = paired_comparison(scores, scores)
    assert (same.t_p, same.permutation_p, same.win_rate, same.significant()) == (1.0, 1.0, 0.5, False)
    lead = paired_comparison(scores, scores - 1)
    assert (
        lead.t_p == 0.0
        and lead.permutation_p == 2 / 64
        and lead.difference.mean == pytest.approx(1.0)
        and lead.significant()
    )


@pytest.mark.parametrize("runs", [1, 2, 3, 5])
def test_few_runs_are_not_tested(runs: int) -> None:
    found = paired_comparison(np.arange(runs) + 90.0, np.arange(runs) + 10.0)
    assert math.isnan(found.t_p) and math.isnan(found.permutation_p) and not found.significant()
    assert math.isnan(found.difference.half_width) == (runs < 3)


def test_one_run_has_no_test_and_its_record_is_json() -> None:
    one = paired_comparison([70.0], [60.0], ("a", "b"))
    assert math.isnan(one.t_p) and not one.significant()
    record = one.as_dict()
    assert record["t_p"] is None and record["ci95"] is None and record["difference"] == 10.0


def test_pairs_are_corrected_together() -> None:
    scores = {"a": sample(1, 40, 3), "b": sample(1, 40) + sample(9, 40) * 0.01, "c": sample(2, 40)}
    pairs = compare_pairs(scores)
    assert [(one.first, one.second) for one in pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [one.corrected_p for one in pairs] == pytest.approx(holm([one.t_p for one in pairs]))
    against = compare_pairs(scores, reference="c")
    assert [(one.first, one.second) for one in against] == [("c", "a"), ("c", "b")]
    assert against[0].t_p == pytest.approx(pairs[1].t_p)
    assert against[0].corrected_p == pytest.approx(min(1, 2 * against[0].t_p))


def test_pairing_sees_what_an_unpaired_test_does_not() -> None:
    splits = sample(1, 50) * 3  # easy and hard splits
    better = splits + 0.5 + np.random.default_rng(2).normal(0, 0.5, 50)
    assert stats.ttest_ind(better, splits).pvalue > 0.5
    assert paired_comparison(better, splits).significant()


def test_unequal_runs_are_refused() -> None:
    with pytest.raises(InputError, match="as many runs of 'a' as of 'b', got \\(2,\\) and \\(3,\\)"):
        paired_comparison([1, 2], [1, 2, 3], ("a", "b"))
    with pytest.raises(InputError, match="no scores of 'z'"):
        compare_pairs({"a": [1.0, 2.0]}, reference="z")


def test_confidence_interval_is_scipys() -> None:
    values = sample(7, 25)
    low, high = stats.t.interval(0.95, 24, values.mean(), stats.sem(values))
    found = confidence_interval(values)
    assert (found.mean - found.half_width, found.mean + found.half_width) == pytest.approx((low, high))


def test_students_interval_by_hand() -> None:
    # deviation √2.5 of five values: t(0.975, 4 degrees of freedom) = 2.776445
    interval = confidence_interval([1, 2, 3, 4, 5])
    assert interval.mean == 3
    assert interval.half_width == pytest.approx(2.776445 * math.sqrt(2.5) / math.sqrt(5), rel=1e-6)
    assert str(interval) == "3.0 ± 2.0" and interval.text(sign=True) == "+3.00 ± 1.96"
    assert confidence_interval([1, 2, 3, 4, 5], level=0.5).half_width == pytest.approx(
        0.740697 * math.sqrt(0.5), rel=1e-5
    )


def test_one_or_two_values_say_nothing_about_their_spread() -> None:
    for values in ([7.0], [6.0, 8.0]):
        interval = confidence_interval(values)
        assert interval.mean == 7 and math.isnan(interval.half_width) and str(interval) == "7.0"


def test_the_interval_holds_the_mean_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    inside = [
        abs(interval.mean - 5) < interval.half_width
        for interval in (confidence_interval(rng.normal(5, 2, 8)) for _ in range(2000))
    ]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.02)


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
    assert rank_strategies(means).critical_difference == pytest.approx(
        q * (strategies * (strategies + 1) / 12) ** 0.5, rel=5e-4
    )


@pytest.mark.parametrize("ties", [False, True])
def test_friedman_is_scipys(ties: bool) -> None:
    table = np.random.default_rng(0).normal(size=(9, 4)) + np.array([0, 0.5, 1, 0])
    table = np.round(table) if ties else table
    theirs = stats.friedmanchisquare(*table.T)
    assert rank_strategies({str(i): column for i, column in enumerate(table.T)}).friedman_p == pytest.approx(
        theirs.pvalue
    )


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
