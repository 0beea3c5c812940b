"""The paper's decision process over a batch of runs: split, pool, query, step, reward, rollout."""

from nodewise.environment.environment import (
    Environment,
    EnvironmentObservation,
    Scores,
    Splits,
    SplitSizes,
    TestNodes,
    break_ties,
    checked_logits,
    checked_scores,
    choose,
    draw_splits,
    f1_scores,
    rollout,
)

__all__ = [
    "Environment",
    "EnvironmentObservation",
    "Scores",
    "SplitSizes",
    "Splits",
    "TestNodes",
    "break_ties",
    "checked_logits",
    "checked_scores",
    "choose",
    "draw_splits",
    "f1_scores",
    "rollout",
]
