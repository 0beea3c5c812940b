"""The paper's decision process over a batch of runs: split, pool, state, query, step, reward, rollout."""

from nodewise.environment.environment import Classifier, Environment
from nodewise.environment.metrics import Scores, f1_scores
from nodewise.environment.observation import Observation, Queried
from nodewise.environment.rollout import CLOSING_EPOCHS, Strategy, choose, rollout
from nodewise.environment.splits import Splits, SplitSizes, draw_splits
from nodewise.environment.state import PAPER_FEATURES, STATE_FEATURES, StateSettings, register_state_feature, state

__all__ = [
    "CLOSING_EPOCHS",
    "PAPER_FEATURES",
    "STATE_FEATURES",
    "Classifier",
    "Environment",
    "Observation",
    "Queried",
    "Scores",
    "SplitSizes",
    "Splits",
    "StateSettings",
    "Strategy",
    "choose",
    "draw_splits",
    "f1_scores",
    "register_state_feature",
    "rollout",
    "state",
]
