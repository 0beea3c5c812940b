"""Strategies on labelled graphs: the protocol, its scores and their statistics, comparisons."""

from nodewise.environment import EvaluationProtocol
from nodewise.evaluation.compare import compare
from nodewise.evaluation.contest import Contest, Method
from nodewise.evaluation.copies import graph_copies
from nodewise.evaluation.evaluate import evaluate
from nodewise.evaluation.processes import ProcessEngine
from nodewise.evaluation.results.comparison import Comparison, Setting
from nodewise.evaluation.results.evaluation import Evaluation
from nodewise.evaluation.results.statistics import (
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
from nodewise.evaluation.scores import SCORES
from nodewise.evaluation.splits import public_splits, read_splits, write_splits
from nodewise.evaluation.task import ChunkStore, GraphReference, Task, runs_at_once
from nodewise.ground.files import write_json

__all__ = [
    "SCORES",
    "ChunkStore",
    "Comparison",
    "Contest",
    "Evaluation",
    "EvaluationProtocol",
    "GraphReference",
    "Interval",
    "Method",
    "PairedComparison",
    "ProcessEngine",
    "Ranking",
    "Setting",
    "Task",
    "compare",
    "compare_pairs",
    "confidence_interval",
    "evaluate",
    "graph_copies",
    "holm",
    "paired_comparison",
    "public_splits",
    "rank_strategies",
    "read_splits",
    "runs_at_once",
    "sign_flip_test",
    "win_rate",
    "win_rates",
    "write_json",
    "write_splits",
]
