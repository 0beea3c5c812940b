"""The protocol, its scores and their statistics; comparisons of strategies; the paper's tables and figures."""

from nodewise.evaluation.compare import Contest, Method, compare
from nodewise.evaluation.comparison import Comparison, Outcome, Setting
from nodewise.evaluation.evaluate import Evaluation, evaluate
from nodewise.evaluation.statistics import (
    Interval,
    PairedComparison,
    Ranking,
    compare_pairs,
    confidence_interval,
    holm,
    paired_comparison,
    rank_strategies,
    sign_flip_test,
    win_rate,
    win_rates,
)
from nodewise.evaluation.task import ChunkStore, GraphReference, Player, Task, play, runs_at_once
from nodewise.ground.files import write_json

__all__ = [
    "ChunkStore",
    "Comparison",
    "Contest",
    "Evaluation",
    "GraphReference",
    "Interval",
    "Method",
    "Outcome",
    "PairedComparison",
    "Player",
    "Ranking",
    "Setting",
    "Task",
    "compare",
    "compare_pairs",
    "confidence_interval",
    "evaluate",
    "holm",
    "paired_comparison",
    "play",
    "rank_strategies",
    "runs_at_once",
    "sign_flip_test",
    "win_rate",
    "win_rates",
    "write_json",
]
