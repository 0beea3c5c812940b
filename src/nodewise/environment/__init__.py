"""The paper's decision process over a batch of runs: split, pool, query, step, reward, rollout."""

from nodewise.environment.environment import Environment
from nodewise.environment.metrics import Scores, f1_scores
from nodewise.environment.observation import EnvironmentObservation
from nodewise.environment.rollout import choose, rollout
from nodewise.environment.splits import Splits, SplitSizes, TestNodes, draw_splits

__all__ = [
    "Environment",
    "EnvironmentObservation",
    "Scores",
    "SplitSizes",
    "Splits",
    "TestNodes",
    "choose",
    "draw_splits",
    "f1_scores",
    "rollout",
]
