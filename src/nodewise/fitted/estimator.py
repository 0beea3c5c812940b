"""The learner as an estimator of scikit-learn: rows, some with a label, and new rows later."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from nodewise.fitted.fitted import fit
from nodewise.graph import knn_graph

__all__ = ["NodewiseClassifier"]


class NodewiseClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learns from rows of which only some have a label, and predicts new ones.

    The rows are joined to their nearest, and `nodewise.fit` learns the labels on that graph; the rows without a label
    tell where the classes lie.

    Args:
        k: nearest rows that each is joined to; fewer where there are fewer rows.
        metric: ``"cosine"`` or ``"euclidean"``.
        scale: whether each column of dense X is brought to mean 0 and deviation 1 first.

    Attributes:
        classes_: the classes that have a label, sorted.
        fitted_: the `nodewise.Fitted` behind it.

    Example:
        >>> from sklearn.datasets import load_iris
        >>> from nodewise.fitted import NodewiseClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> known = y.copy()
        >>> known[[i for i in range(150) if i % 10]] = -1
        >>> bool((NodewiseClassifier().fit(X, known).predict(X) == y).mean() > 0.85)
        True
    """

    def __init__(self, k: int = 10, metric: str = "cosine", scale: bool = True) -> None:
        self.k, self.metric, self.scale = k, metric, scale

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from X, numbers [row, column], and y: a class a row, −1 (of texts: "") where none is known."""
        x, given = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
        check_classification_targets(given)
        known = given != ("" if given.dtype.kind in "OUS" else -1)
        self.classes_, numbers = np.unique(given[known], return_inverse=True)
        if not len(self.classes_):
            raise ValueError("y holds no label: give at least one row a class")
        self._mean = np.zeros(x.shape[1])
        self._deviation = np.ones(x.shape[1])
        if self.scale and not sp.issparse(x):
            self._mean, self._deviation = x.mean(0), x.std(0)
            self._deviation[self._deviation == 0] = 1
        labels = np.full(x.shape[0], -1)
        labels[known] = numbers
        metric: Any = self.metric
        graph = knn_graph(self._scaled(x), min(self.k, x.shape[0] - 1), metric)
        self.fitted_ = fit(graph, labels, classes=[str(i) for i in range(len(self.classes_))])
        return self

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The probabilities of new rows, to five digits: [row, class].

        They are computed in single precision, whose last digit hangs on where a row lies in memory.
        """
        check_is_fitted(self)
        x = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        chances = self.fitted_.predict(self._scaled(x)).probabilities.astype(np.float64).round(5)
        shares: npt.NDArray[np.float64] = chances / chances.sum(1, keepdims=True)
        return shares

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The classes of new rows: [row]."""
        check_is_fitted(self)
        chosen: npt.NDArray[Any] = self.classes_[self.predict_proba(X).argmax(1)]
        return chosen

    def _scaled(self, x: Any) -> Any:
        if sp.issparse(x):
            return x
        with np.errstate(over="ignore"):
            return (x - self._mean) / self._deviation
