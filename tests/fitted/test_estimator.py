"""The estimator of scikit-learn."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import estimator_checks_generator

from nodewise.fitted import NodewiseClassifier

NOT_APPLYING = {
    "check_classifiers_classes": "a label −1 means that none is known, and the check has a class −1",
}
"""Checks that do not apply, and why."""


def checks():
    for estimator, check in estimator_checks_generator(NodewiseClassifier(k=3)):
        name = check.func.__name__
        if name not in NOT_APPLYING:
            yield pytest.param(estimator, check, id=f"{name}")


@pytest.mark.slow
@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_it_passes_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_it_learns_from_some_labels_and_predicts_new_rows(form):
    x, y = load_iris(return_X_y=True)
    known = np.where(np.arange(150) % 10 == 0, y, -1)
    estimator = NodewiseClassifier().fit(form(x[::2]), known[::2])
    assert estimator.classes_.tolist() == [0, 1, 2]
    found = estimator.predict(form(x[1::2]))
    assert (found == y[1::2]).mean() > 0.75
    np.testing.assert_allclose(estimator.predict_proba(form(x[1::2])).sum(1), 1)
    named = np.array(["a", "b", "c", ""])[known[::2]]
    assert set(NodewiseClassifier().fit(x[::2], named).predict(x[1::2])) <= {"a", "b", "c"}


def test_without_a_label_it_refuses():
    with pytest.raises(ValueError, match="no label"):
        NodewiseClassifier().fit(np.eye(4), [-1] * 4)


@pytest.mark.parametrize("kind", ["own rows", "rows that are there twice"])
def test_a_row_is_predicted_as_it_is_alone(kind):
    draws = np.random.default_rng(3)
    if kind == "own rows":
        x = draws.normal(size=(300, 40))
        new = x[:60]
    else:
        x, new = draws.integers(0, 2, (150, 6)), draws.integers(0, 2, (60, 6))
    estimator = NodewiseClassifier().fit(x, np.where(np.arange(len(x)) < 60, np.arange(len(x)) % 5, -1))
    alone = np.concatenate([estimator.predict_proba(row[None]) for row in new])
    np.testing.assert_allclose(estimator.predict_proba(new), alone, atol=1.1e-5)
