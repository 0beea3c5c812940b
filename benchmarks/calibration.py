"""Whether probabilities mean what they say: a reliability table of `views` with labels chosen by `gain`, five a class.

    python benchmarks/calibration.py --out benchmarks/results/calibration.json [--graphs cora,…] [--runs 10]
    [--most-nodes 4000] [--minutes 8]

For each graph, over all nodes with a known class that were not asked: the share of right predictions in ten bins of
confidence, among those above 0.9, the expected calibration error (mean distance of confidence and share over the bins,
each weighted by its nodes), and how far the leave-one-out accuracy on the chosen labels is from the accuracy on the
nodes that were not asked. Written to benchmarks/results, the last also goes to where a session's report quotes it from.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from closed_form import all_graphs, budgets_of
from machine import describe_machine

from nodewise.classifiers import make_classifier
from nodewise.datasets import load_graph
from nodewise.environment import Environment, draw_splits, rollout
from nodewise.evaluation import write_json
from nodewise.evaluation.task import default_splits
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.strategies import make_strategy

BINS = 10
PUBLISHED = Path(__file__).parent / "results" / "calibration.json"
BIAS = Path(__file__).parents[1] / "src" / "nodewise" / "session" / "learning" / "left_out_bias.json"
"""What the package quotes of the published result; written with it."""


def reliability(sure: np.ndarray, right: np.ndarray) -> dict[str, Any]:
    """Nodes, mean confidence and share of right predictions in each bin that holds any, and what follows from them."""
    index = np.minimum((sure * BINS).astype(int), BINS - 1)
    bins = [
        [number / BINS, int(held.sum()), round(float(sure[held].mean()), 4), round(float(right[held].mean()), 4)]
        for number in range(BINS)
        if (held := index == number).any()
    ]
    above = sure > 0.9
    return {
        "accuracy": round(float(right.mean()), 4),
        "confidence": round(float(sure.mean()), 4),
        "error": round(sum(count * abs(mean - share) for _, count, mean, share in bins) / len(sure), 4),
        "above_0.9": {
            "share_of_nodes": round(float(above.mean()), 4),
            "right": round(float(right[above].mean()), 4) if above.any() else None,
        },
        "bins": bins,
    }


def measure(graph: Graph, runs: int, strategy: str) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
    """One graph's row, with the confidence and correctness of every prediction."""
    tensors, (budget,) = GraphTensors(graph), budgets_of(graph, (5,))
    environment = Environment.of(tensors, make_classifier("views"), runs, budget)
    rollout(environment, make_strategy(strategy), draw_splits(tensors, runs, 0, sizes=default_splits(graph)), 0)
    probabilities = torch.softmax(environment.learner.logits(), -1)
    free = (tensors.y >= 0) & ~environment.labelled
    sure, best = probabilities.max(-1)
    truth = tensors.y.expand(runs, -1)
    right = best == truth
    left_out = environment.learner.leave_one_out()
    assert left_out is not None
    judged = (left_out.argmax(-1) == truth.gather(1, environment.queries)).float().mean(1)
    accuracy = torch.stack([right[run][free[run]].float().mean() for run in range(runs)])
    chances, hits = sure[free].numpy(), right[free].numpy()
    bias = 100 * (judged - accuracy)
    row = {
        "graph": graph.name,
        "strategy": strategy,
        "labels": budget,
        "runs": runs,
        **reliability(chances, hits),
        "leave_one_out_minus_true_points": [round(float(bias.mean()), 1), round(float(bias.std()), 1)],
    }
    return row, chances, hits


def leave_one_out_bias(record: dict[str, Any]) -> dict[str, Any]:
    """How far the leave-one-out accuracy lies from the true one, over the graphs.

    What a session's report says beside its estimate.
    """
    points = [row["leave_one_out_minus_true_points"][0] for row in record["rows"] if row["strategy"] == "gain"]
    return {"mean": round(sum(points) / len(points), 1), "low": min(points), "high": max(points), "graphs": len(points)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--graphs")
    parser.add_argument("--strategies", default="gain")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--most-nodes", type=int, default=10**9)
    parser.add_argument("--minutes", type=float, default=1e9)
    given = parser.parse_args()
    until, rows, left_out = time.monotonic() + 60 * given.minutes, [], []
    chances: dict[str, list[np.ndarray]] = {}
    hits: dict[str, list[np.ndarray]] = {}
    for name in given.graphs.split(",") if given.graphs else all_graphs():
        graph = load_graph(name)
        if graph.num_nodes > given.most_nodes or not budgets_of(graph, (5,)) or time.monotonic() > until:
            left_out.append(name)
            continue
        for strategy in given.strategies.split(","):
            row, sure, right = measure(graph, given.runs, strategy)
            rows.append({**row, "graph": name})
            size = min(len(sure), 10_000)  # every graph counts alike in the whole, up to its size
            kept = np.random.default_rng(0).permutation(len(sure))[:size]
            chances.setdefault(strategy, []).append(sure[kept])
            hits.setdefault(strategy, []).append(right[kept])
            print({key: value for key, value in rows[-1].items() if key != "bins"}, flush=True)
    whole = {
        strategy: reliability(np.concatenate(chances[strategy]), np.concatenate(hits[strategy])) for strategy in chances
    }
    record = {
        "schema": 1,
        "benchmark": "calibration",
        "machine": describe_machine(),
        "seed": 0,
        "bins_hold": ["from", "nodes", "confidence", "right"],
        "all": whole,
        "left_out": left_out,
        "rows": rows,
    }
    write_json(given.out, record, compact=True)
    if given.out.resolve() == PUBLISHED:
        write_json(BIAS, leave_one_out_bias(record), compact=True)
    print({strategy: {key: value for key, value in part.items() if key != "bins"} for strategy, part in whole.items()})


if __name__ == "__main__":
    main()
