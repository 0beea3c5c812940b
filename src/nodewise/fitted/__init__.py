"""A fitted learner without a session: predict, explain, ask, save; rows that were not in the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodewise.fitted.fitted import Fitted, fit, load_fitted
from nodewise.fitted.predictions import Evidence, Predictions
from nodewise.fitted.streaming import predicted_rows
from nodewise.ground.lazy import lazy_names

if TYPE_CHECKING:
    from nodewise.fitted.estimator import NodewiseClassifier

__all__ = ["Evidence", "Fitted", "NodewiseClassifier", "Predictions", "fit", "load_fitted", "predicted_rows"]

__getattr__ = lazy_names(__name__, {"NodewiseClassifier": "estimator"})  # scikit-learn's base classes take a moment
