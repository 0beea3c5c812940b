"""What the rules for large graphs cost in accuracy, measured on the graphs that were developed on by letting them count
as large.

    python benchmarks/sampling.py [--runs 20] [--minutes 8] [--graphs acmv9,…]

Each graph is played with `views` and `gain` at five labels a class: as it is; with queries chosen from a sixteenth of
the nodes, which is the share of 65,536 in a million; with views made as those of large graphs; and, for scale, with
random queries. Goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from machine import describe_machine

from nodewise.classifiers import make_classifier
from nodewise.classifiers.views import construction, graph_views
from nodewise.classifiers.views.construction import GraphViews, make_views
from nodewise.datasets import load_graph
from nodewise.datasets.load import default_budget
from nodewise.environment import Environment, draw_splits, rollout
from nodewise.evaluation import write_json
from nodewise.graph.tensors import GraphTensors
from nodewise.strategies import gain, make_strategy, sampled

RESULTS = Path(__file__).parent / "results" / "sampling.json"
MODES = ("as it is", "a sixteenth of the nodes", "views as of a large graph", "random")
SHARE = 16


def play(tensors: GraphTensors, views: GraphViews, mode: str, runs: int, budget: int) -> list[float]:
    """Micro-F1 on the test nodes, in percent, of every run."""
    kept = graph_views.SAMPLED, gain.LARGE_POOL, sampled._FEWEST
    if mode == "a sixteenth of the nodes":
        graph_views.SAMPLED, gain.LARGE_POOL, sampled._FEWEST = (
            tensors.num_nodes // SHARE,
            1,
            tensors.num_nodes // (4 * SHARE),
        )
    try:
        learner = make_classifier("views").start(tensors.unlabelled, views, runs, tensors.num_classes, budget)
        environment = Environment(tensors, learner, runs, budget)
        splits = draw_splits(tensors, runs, 0)
        rollout(environment, make_strategy("random" if mode == "random" else "gain"), splits, 0)
        return [100 * float(value) for value in environment.score(splits.test).micro]
    finally:
        graph_views.SAMPLED, gain.LARGE_POOL, sampled._FEWEST = kept


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--graphs")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    torch.set_grad_enabled(False)
    halves = json.loads(Path(__file__).with_name("halves.json").read_text())
    names = (
        given.graphs.split(",")
        if given.graphs
        else [name for names in halves["developed_on"].values() for name in names]
    )
    graphs: dict[str, Any] = json.loads(given.out.read_text())["graphs"] if given.out.is_file() else {}
    until = time.monotonic() + 60 * given.minutes
    for name in names:
        if name in graphs or time.monotonic() > until:
            continue
        graph = load_graph(name)
        tensors, budget = GraphTensors(graph), min(default_budget(graph), 50)
        usual = make_views(tensors)
        before, construction.LARGE = construction.LARGE, 1
        as_large = make_views(tensors)
        construction.LARGE = before
        found = {}
        for mode in MODES:
            views = as_large if mode == "views as of a large graph" else usual
            found[mode] = play(tensors, GraphViews(views.names, views.columns), mode, given.runs, budget)
        graphs[name] = {"nodes": graph.num_nodes, "budget": budget, "micro_f1": found}
        told = {mode: round(float(np.mean(values)), 2) for mode, values in found.items()}
        print(name, graph.num_nodes, budget, told, flush=True)
        means = {mode: float(np.mean([np.mean(each["micro_f1"][mode]) for each in graphs.values()])) for mode in MODES}
        differences = {}
        for mode in MODES[1:]:
            leads = [
                np.mean(each["micro_f1"][mode]) - np.mean(each["micro_f1"]["as it is"]) for each in graphs.values()
            ]
            differences[mode] = {
                "mean": float(np.mean(leads)),
                "error": float(np.std(leads) / max(1, len(leads) - 1) ** 0.5),
                "worst": float(min(leads)),
            }
        record = {
            "schema": 1,
            "benchmark": "sampling",
            "machine": describe_machine(),
            "seed": 0,
            "runs": given.runs,
            "load_average": os.getloadavg()[0],
        }
        write_json(
            given.out, {**record, "means": means, "against_as_it_is": differences, "graphs": graphs}, compact=True
        )
    print(json.dumps(differences if names else {}, indent=1))


if __name__ == "__main__":
    main()
