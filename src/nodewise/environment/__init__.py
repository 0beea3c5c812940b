"""The paper's decision process over a batch of runs: split, pool, state, query, step, reward, rollout."""

from nodewise.environment.environment import Classifier, Environment
from nodewise.environment.metrics import Scores, f1_scores
from nodewise.environment.observation import Observation, Queried
from nodewise.environment.rollout import CLOSING_EPOCHS, Strategy, choose, rollout
from nodewise.environment.splits import Splits, SplitSizes, draw_splits

__all__ = [
    "CLOSING_EPOCHS",
    "Classifier",
    "Environment",
    "Observation",
    "Queried",
    "Scores",
    "SplitSizes",
    "Splits",
    "Strategy",
    "choose",
    "draw_splits",
    "f1_scores",
    "rollout",
]
