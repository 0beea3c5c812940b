"""What a strategy's choosing costs: rollouts of every baseline, in turns with random selection.

    python benchmarks/strategies.py                              10 runs on Cora, on two threads of the CPU
    python benchmarks/strategies.py --device cuda --runs 100

A rollout's time depends on its queries as well: training on well connected nodes reaches more of the graph. So each
strategy's queries are also played again without any choosing: ``times_replay`` tells what the choice adds to the
training that it leads to.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from pathlib import Path
from typing import Any

import torch
from machine import describe_machine

from nodewise.classifiers import Gcn
from nodewise.contracts import Observation, Strategy
from nodewise.datasets import default_budget, load_graph
from nodewise.environment import Environment, Splits, draw_splits, rollout
from nodewise.evaluation import write_json
from nodewise.graph.tensors import GraphTensors
from nodewise.strategies import make_strategy

NAMES = ("random", "uncertainty", "centrality", "centrality-pagerank", "coreset", "kcenter", "age", "anrmab")
LIMITS = {"age_times_random": 2.0}


class Again(Strategy):
    """Asks the nodes of an episode that was played before, int64 [run, step]."""

    name = "again"

    def __init__(self, queries: torch.Tensor) -> None:
        self._queries = queries

    def scores(self, observation: Observation) -> torch.Tensor:
        """1 for the node that was asked."""
        return torch.zeros(observation.pool.shape, device=observation.pool.device).scatter_(
            1, self._queries[:, observation.step_number, None], 1.0
        )


def play(environment: Environment, strategy: Strategy, splits: Splits, turn: int) -> tuple[float, torch.Tensor, float]:
    """Seconds of one rollout, its queries, and the mean Micro-F1 on test nodes."""
    begin = time.perf_counter()
    queries = rollout(environment, strategy, splits, turn)
    if environment.graph.device.type == "cuda":
        torch.cuda.synchronize()
    seconds = time.perf_counter() - begin
    return seconds, queries, 100 * float(environment.score(splits.test).micro.mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", default="cora")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "strategies.json")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    busy = round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None  # processes that other work kept running
    graph = load_graph(given.graph, features="paper")
    tensors, budget = GraphTensors(graph, given.device), default_budget(graph)
    strategies = {name: make_strategy(name) for name in NAMES}

    def fresh() -> Environment:
        return Environment.of(tensors, Gcn(), given.runs, budget)

    environments = {name: fresh() for name in NAMES} if given.device != "cpu" else dict.fromkeys(NAMES, fresh())
    took: dict[str, list[float]] = {name: [] for name in NAMES}
    again: dict[str, list[float]] = {name: [] for name in NAMES}
    scores: dict[str, list[float]] = {name: [] for name in NAMES}
    for turn in range(
        -1, given.turns
    ):  # the first one warms up: allocates, ranks the nodes once for the graph, records
        splits = draw_splits(tensors, given.runs, 0, max(turn, 0) * given.runs)
        for name, strategy in strategies.items():
            seconds, queries, score = play(environments[name], strategy, splits, turn)
            if turn >= 0:
                took[name].append(seconds)
                scores[name].append(score)
                if given.device == "cpu":
                    again[name].append(play(environments[name], Again(queries), splits, turn)[0])
    medians = {name: statistics.median(values) for name, values in took.items()}
    record: dict[str, dict[str, Any]] = {
        name: {
            "seconds": round(medians[name], 4),
            "all_seconds": [round(value, 4) for value in took[name]],
            "times_random": round(medians[name] / medians["random"], 3),
            "micro_f1": round(statistics.fmean(scores[name]), 2),
        }
        for name in NAMES
    }
    for name, values in again.items():
        if values:
            record[name]["times_replay"] = round(medians[name] / statistics.median(values), 3)
    reached = {"age_times_random": record["age"]["times_random"]}
    write_json(
        given.out,
        {
            "schema": 1,
            "benchmark": "strategies",
            "machine": {**describe_machine(given.device), "load_before": busy},
            "graph": given.graph,
            "runs": given.runs,
            "budget": budget,
            "seed": 0,
            "strategies": record,
            "limits": LIMITS,
            "within_limits": {name: value <= LIMITS[name] for name, value in reached.items()},
        },
        compact=True,
    )
    for name, values in record.items():
        replay = f"  {values['times_replay']:5.2f} x replay" if "times_replay" in values else ""
        line = (
            f"{name:<20} {1e3 * values['seconds']:9.1f} ms  {values['times_random']:5.2f} x random{replay}  Micro-F1"
            f" {values['micro_f1']:.1f}"
        )
        print(line, flush=True)


if __name__ == "__main__":
    main()
