"""Contract suites for classifiers and strategies of one's own, as scikit-learn's `check_estimator` is for
estimators.
"""

from nodewise.testing.classifiers import check_classifier
from nodewise.testing.promises import ContractError
from nodewise.testing.strategies import check_strategy

__all__ = ["ContractError", "check_classifier", "check_strategy"]
