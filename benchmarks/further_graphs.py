"""`gain` and random choice with `views` on graphs that had no part in any search, nor stand in `halves.json`.

    python benchmarks/further_graphs.py [--runs 20] [--out benchmarks/results/further-graphs.json]

Data sets that come with nodewise or scikit-learn, generated rows and graphs, and, where the data folder has them in a
folder `more`, two graphs of papers and authors with relations, and Cora with a sentence encoder's vectors in the place
of its words. Plain graphs are played on four copies with a fifth of the nodes left out, the others as they are; 1, 2, 5
and 10 labels a class.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from closed_form import budgets_of
from machine import describe_machine

import nodewise as nw
from nodewise.datasets.folder import data_folder
from nodewise.evaluation import compare, graph_copies
from nodewise.graph import Graph
from nodewise.graph.knn.knn import knn_graph
from nodewise.ground.files import write_json

RESULT = Path(__file__).parent / "results" / "further-graphs.json"
NAMED = ("breast-cancer", "wine", "karate-clubs", "sbm", "sbm-heterophilous", "sbm-powerlaw", "sbm-weighted", "cyclic")
PER_CLASS, COPIES = (1, 2, 5, 10), 4


def rows(x: Any, y: Any) -> Graph:
    """A graph of rows and their ten nearest."""
    return knn_graph(np.asarray(x, np.float32), k=10, y=y)


def further() -> Iterator[tuple[str, Graph]]:
    """Name and graph."""
    from sklearn.datasets import load_iris, make_classification, make_moons

    yield from ((name, nw.load_graph(name)) for name in NAMED)
    yield "iris", rows(*load_iris(return_X_y=True))
    yield "two moons", rows(*make_moons(1000, noise=0.15, random_state=0))
    four = {"n_informative": 4, "n_classes": 4, "n_clusters_per_class": 1, "weights": [0.6, 0.2, 0.1, 0.1]}
    yield "rows, four uneven classes", rows(*make_classification(2000, 20, class_sep=0.7, random_state=0, **four))
    noisy = {"n_informative": 2, "flip_y": 0.5, "weights": [0.8]}
    yield "rows, half of the labels drawn", rows(*make_classification(2000, 20, random_state=1, **noisy))
    more = data_folder() / "more"
    for name in ("hetero-acm", "hetero-dblp"):
        if (more / f"{name}.npz").exists():
            yield name, nw.load_graph(more / f"{name}.npz")
    if (more / "cora-texts.npz").exists():
        with np.load(more / "cora-texts.npz") as texts:
            vectors, y, edges = texts["embedding"].astype(np.float32), texts["y"], texts["edge_index"]
        yield "cora, vectors of its texts", Graph.build(edges, num_nodes=len(y), x=vectors, y=y, name="cora vectors")
        yield "the same without its edges", rows(vectors, y)


def played(graph: Graph, runs: int) -> dict[str, list[float]]:
    """By labels a class: the mean Micro-F1 of `gain`, and its lead over random choice."""
    some = [graph] if graph.relations else list(graph_copies(graph, copies=COPIES))
    found: dict[str, list[tuple[float, float]]] = {}
    for one in some:
        budgets = budgets_of(one, PER_CLASS)
        table = compare(one, ["gain", "random"], classifiers=["views"], budgets=budgets, runs=runs, device="cpu")
        for per, setting in zip(PER_CLASS, table.settings, strict=False):
            ours, by_chance = (float(each.micro_f1.mean()) for each in setting.outcomes.values())
            found.setdefault(str(per), []).append((ours, ours - by_chance))
    return {per: [round(float(mean), 2) for mean in np.mean(values, 0)] for per, values in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--out", type=Path, default=RESULT)
    given = parser.parse_args()
    torch.set_num_threads(1)
    graphs: dict[str, Any] = {}
    record = {"schema": 1, "benchmark": "further graphs", "seed": 0, "runs": given.runs, "copies": COPIES}
    for name, graph in further():
        runs = given.runs * (COPIES if graph.relations else 1)
        graphs[name] = {"nodes": graph.num_nodes, "classes": graph.num_classes, "at": played(graph, runs)}
        print(name, graphs[name], flush=True)
        write_json(given.out, {**record, "machine": describe_machine("cpu"), "graphs": graphs}, compact=True)


if __name__ == "__main__":
    main()
