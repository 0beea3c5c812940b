"""Training of policies on labelled source graphs."""

from nodewise.training.reinforce import TrainingSettings, train_policy
from nodewise.training.returns import RunningScale, policy_loss, stepwise_returns

__all__ = ["RunningScale", "TrainingSettings", "policy_loss", "stepwise_returns", "train_policy"]
