"""A mean and how sure one can be of it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Interval", "confidence_interval"]


class Interval(NamedTuple):
    """A mean with the half width of its confidence interval."""

    mean: float
    half_width: float

    def __str__(self) -> str:
        return f"{self.mean:.1f} ± {self.half_width:.1f}"


def confidence_interval(values: npt.ArrayLike, level: float = 0.95) -> Interval:
    """Student's interval for the mean of independent values; not a number wide for a single one."""
    from scipy import stats

    sample = np.asarray(values, dtype=np.float64)
    if sample.size < 2:
        return Interval(float(sample.mean()), math.nan)
    quantile = float(stats.t.ppf((1 + level) / 2, sample.size - 1))
    return Interval(float(sample.mean()), quantile * float(sample.std(ddof=1)) / math.sqrt(sample.size))
