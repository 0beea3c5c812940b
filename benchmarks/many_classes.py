"""Many classes: `views` with gain and with random choice beside the GCN and the nearest labelled row.

The rows are generated.

    python benchmarks/many_classes.py [--classes 2,10,24,50,100,200] [--runs 5]
        [--out benchmarks/results/many-classes.json]
    python benchmarks/many_classes.py --without-gain    the other columns alone: gain takes minutes with 200 classes
    python benchmarks/many_classes.py --join LINES …    lines that several calls have printed, into that result,
                                                        each in place of the row that stood there

Rows: class centres from a normal distribution in so many columns, rows around them with so much noise, 20 a class (at
least 2,000), joined to their 10 nearest. Texts: each class has 30 words of its own, a row is 20 words, a share of them
its class's and the others common to all. Three labels a class. Accuracy on the nodes that were not asked.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from machine import describe_machine

from nodewise.classifiers import make_classifier
from nodewise.environment import Environment, Splits, rollout
from nodewise.graph import Graph
from nodewise.graph.knn.knn import knn_graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.files import write_json
from nodewise.strategies import make_strategy

RESULTS = Path(__file__).parent / "results" / "many-classes.json"
KINDS = ("16:0.3", "64:0.5", "16:0.6", "texts:0.5", "texts:0.3")
"""Columns and noise, or texts and the share of words that are their class's own."""


def rows(classes: int, columns: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    draws = np.random.default_rng(seed)
    count = max(2000, 20 * classes)
    y = np.arange(count) % classes
    centres = draws.normal(size=(classes, columns)) / np.sqrt(columns)
    return (centres[y] + noise * draws.normal(size=(count, columns)) / np.sqrt(columns)).astype(np.float32), y


def texts(classes: int, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    draws = np.random.default_rng(seed)
    count = max(2000, 20 * classes)
    y = np.arange(count) % classes
    common, own = 2000, 30
    x = np.zeros((count, common + own * classes), np.float32)
    for _ in range(20):
        theirs = draws.random(count) < share
        word = np.where(theirs, common + own * y + draws.integers(0, own, count), draws.integers(0, common, count))
        x[np.arange(count), word] += 1
    return x, y


def accuracy(graph: Graph, strategy: str, classifier: str, runs: int, budget: int) -> tuple[float, float, float, float]:
    tensors = GraphTensors(graph)
    environment = Environment.of(tensors, make_classifier(classifier), runs, budget)
    everything = torch.ones(runs, graph.num_nodes, dtype=torch.bool)
    some = torch.arange(2).expand(runs, -1)
    splits = Splits(some, some, everything)
    begin = time.perf_counter()
    rollout(environment, make_strategy(strategy), splits, 0)
    seconds = time.perf_counter() - begin
    right = environment.learner.logits().argmax(-1) == tensors.y
    free = ~environment.labelled
    each = torch.stack([right[run][free[run]].float().mean() for run in range(runs)]) * 100
    nearest = []
    z = torch.nn.functional.normalize(
        torch.as_tensor(np.asarray(graph.x.todense() if hasattr(graph.x, "todense") else graph.x)), dim=1
    )
    for run in range(runs):
        asked = torch.nonzero(environment.labelled[run])[:, 0]
        told = tensors.y[asked][(z @ z[asked].T).argmax(1)]
        nearest.append(float((told == tensors.y)[free[run]].float().mean()) * 100)
    return (
        float(each.mean()),
        float(1.96 * each.std() / runs**0.5) if runs > 1 else 0.0,
        float(np.mean(nearest)),
        seconds,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--classes", default="2,10,24,50,100,200")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--per-class", type=int, default=3)
    parser.add_argument("--without-gain", action="store_true")
    parser.add_argument("--join", type=Path, nargs="*")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    if given.join:
        lines = [line for file in given.join for line in file.read_text().splitlines() if line.startswith("{")]
        before = json.loads(given.out.read_text())["rows"] if given.out.exists() else []
        rows_by_kind = {(row["classes"], row["kind"]): row for row in [*before, *map(json.loads, lines)]}
        table = sorted(rows_by_kind.values(), key=lambda row: (row["classes"], KINDS.index(row["kind"])))
    else:
        table = [
            played(classes, kind, given.runs, given.per_class, given.without_gain)
            for classes in map(int, given.classes.split(","))
            for kind in given.kinds.split(",")
        ]
    write_json(
        given.out,
        {"schema": 1, "benchmark": "many classes", "labels_a_class": given.per_class, "rows": table},
        compact=True,
    )


def played(classes: int, kind: str, runs: int, per_class: int, without_gain: bool) -> dict[str, Any]:
    """One row of the table."""
    first, second = kind.split(":")
    x, y = texts(classes, float(second), 1) if first == "texts" else rows(classes, int(first), float(second), 1)
    graph = knn_graph(x, k=10, y=y)
    line: dict[str, Any] = {"classes": classes, "kind": kind, "nodes": graph.num_nodes, "runs": runs}
    line["machine"] = describe_machine("cpu")
    for strategy, classifier in (("gain", "views"), ("random", "views"), ("random", "gcn"))[without_gain:]:
        mean, interval, nearest, seconds = accuracy(graph, strategy, classifier, runs, per_class * classes)
        line[f"{strategy}, {classifier}"] = [round(mean, 1), round(interval, 1)]
        line[f"seconds of {strategy}, {classifier}"] = round(seconds, 2)
        line[f"{strategy}, nearest row"] = round(nearest, 1)
    print(json.dumps(line), flush=True)
    return line


if __name__ == "__main__":
    main()
