"""A mean and how sure one can be of it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nodewise.evaluation import confidence_interval


def test_student_s_interval_by_hand() -> None:
    # deviation √2.5, three times out of four values more: t(0.975, 4 degrees of freedom) = 2.776445
    interval = confidence_interval([1, 2, 3, 4, 5])
    assert interval.mean == 3
    assert interval.half_width == pytest.approx(2.776445 * math.sqrt(2.5) / math.sqrt(5), rel=1e-6)
    assert str(interval) == "3.0 ± 2.0"
    assert confidence_interval([1, 2, 3, 4, 5], level=0.5).half_width == pytest.approx(0.740697 * math.sqrt(0.5), rel=1e-5)


def test_a_single_value_says_nothing_about_its_spread() -> None:
    interval = confidence_interval([7.0])
    assert interval.mean == 7 and math.isnan(interval.half_width)


def test_the_interval_holds_the_mean_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    inside = [abs(interval.mean - 5) < interval.half_width for interval in (confidence_interval(rng.normal(5, 2, 8)) for _ in range(2000))]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.02)
