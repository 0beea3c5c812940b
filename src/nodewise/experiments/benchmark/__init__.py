"""Our own benchmark: strategies by classifiers by labels a class on all graphs at hand, by one protocol."""

from nodewise.experiments.benchmark.page import write_page
from nodewise.experiments.benchmark.plan import STRATEGIES, BenchmarkSettings, Cost, foresee, graphs_at_hand, play
from nodewise.experiments.benchmark.results import BenchmarkResult, join, read_result

__all__ = [
    "STRATEGIES",
    "BenchmarkResult",
    "BenchmarkSettings",
    "Cost",
    "foresee",
    "graphs_at_hand",
    "join",
    "play",
    "read_result",
    "write_page",
]
