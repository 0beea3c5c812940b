"""The paper's decision process over a batch of runs: split, pool, query, step, reward, rollout."""

from nodewise.environment.environment import (
    Environment,
    Scores,
    Splits,
    SplitSizes,
    TestNodes,
    draw_splits,
    f1_scores,
    rollout,
)
from nodewise.environment.protocol import EvaluationProtocol, ProtocolEnvironment, most_queries
from nodewise.environment.runs import (
    Columns,
    EnvironmentObservation,
    Runs,
    SessionEnvironment,
    break_ties,
    checked_logits,
    checked_scores,
    choose,
    finish_learner,
    fit_learner,
    reset_learner,
)
from nodewise.environment.set_scores import SetScores, set_scores

__all__ = [
    "Columns",
    "Environment",
    "EnvironmentObservation",
    "EvaluationProtocol",
    "ProtocolEnvironment",
    "Runs",
    "Scores",
    "SessionEnvironment",
    "SetScores",
    "SplitSizes",
    "Splits",
    "TestNodes",
    "break_ties",
    "checked_logits",
    "checked_scores",
    "choose",
    "draw_splits",
    "f1_scores",
    "finish_learner",
    "fit_learner",
    "most_queries",
    "reset_learner",
    "rollout",
    "set_scores",
]
