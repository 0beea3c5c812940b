"""How much memory training needs on the largest of the paper's graphs with all its features, on the CPU.

    python benchmarks/memory.py

Coauthor-Physics, 8415 features, a batch of 10 runs, two episodes with an update of the policy after the second.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from pathlib import Path

from machine import describe_machine

from nodewise.datasets import load_graph
from nodewise.evaluation import write_json
from nodewise.training import TrainingSettings, train_policy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "memory.json")
    given = parser.parse_args()
    graph = load_graph("coauthor-physics", features="binary")
    begin = time.perf_counter()
    train_policy([graph], TrainingSettings(budgets=(25,), episodes=2, batch=10, first_update=1), device="cpu")
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e9
    print(f"{graph.num_features} features, batch 10, 2 episodes: {seconds:.1f} s, peak {peak:.2f} GB")
    record = {
        "graph": graph.name,
        "features": graph.num_features,
        "batch": 10,
        "episodes": 2,
        "seconds": seconds,
        "peak_gb": peak,
    }
    write_json(
        given.out,
        {"schema": 1, "benchmark": "memory", "machine": describe_machine(), "seed": 0, **record},
        compact=True,
    )


if __name__ == "__main__":
    main()
