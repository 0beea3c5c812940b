"""Training of policies on labelled source graphs."""

from nodewise.training.age_weights import AgeSearch, search_age_budgets, search_age_weights
from nodewise.training.reinforce import RunningScale, TrainingSettings, policy_loss, stepwise_returns, train_policy
from nodewise.training.tensorboard import tensorboard_log

__all__ = [
    "AgeSearch",
    "RunningScale",
    "TrainingSettings",
    "policy_loss",
    "search_age_budgets",
    "search_age_weights",
    "stepwise_returns",
    "tensorboard_log",
    "train_policy",
]
