"""Relations as views against the same graph as plain edges, and the splits of HeCo's authors.

    python -m benchmarks.relations FOLDER [--runs 100] [--out benchmarks/results/relations.json]
    python -m benchmarks.relations --page

FOLDER holds hetero-acm.npz and hetero-dblp.npz. Each is played with five labels a class, by random choice and by
gain: with its relations, and as the plain graph that other methods get; both once more without any features. Then the
views are fitted once to the labels of each of the authors' splits. `--page` writes the figures into the guide and
measures nothing.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from sklearn.metrics import f1_score

import nodewise as nw
from benchmarks.machine import describe_machine
from nodewise.classifiers.views.views import Views
from nodewise.graph import Graph, RelationalGraph, read_graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.files import write_json

RESULT = Path(__file__).parent / "results" / "relations.json"
PAGE = Path(__file__).parents[1] / "docs" / "guides" / "relations.md"
STRATEGIES = ("random", "gain")
GRAPHS = {"hetero-acm": "ACM", "hetero-dblp": "DBLP"}


def forms(graph: Graph) -> Iterator[tuple[str, Graph]]:
    """The ways in which one graph is played."""
    yield "relations", graph
    yield "plain union", replace(graph, relations=None)
    bare = RelationalGraph.of(graph)
    types = tuple(replace(kind, x=None) for kind in bare.types)
    yield "relations, no features", replace(bare, types=types).to_graph()
    yield "plain union, no features", replace(graph, relations=None, x=None)


def splits(graph: Graph) -> Iterator[dict[str, object]]:
    """Micro- and Macro-F1 with the labels and the test nodes of the authors' splits."""
    tensors, y = GraphTensors(graph), graph.y
    assert y is not None
    classifier = Views()
    prepared = classifier.prepare(tensors.unlabelled)
    for labels in (20, 40, 60):
        train, test = (graph.extra[f"{part}_{labels}"].astype(np.int64) for part in ("train", "test"))
        learner = classifier.start(tensors.unlabelled, prepared, 1, graph.num_classes, len(train))
        learner.add(torch.from_numpy(train)[None], torch.from_numpy(y[train])[None])
        found = learner.logits()[0].argmax(1).numpy()[test]
        micro, macro = (100 * f1_score(y[test], found, average=kind) for kind in ("micro", "macro"))
        yield {
            "graph": graph.name,
            "labels_per_class": labels,
            "micro_f1": round(micro, 2),
            "macro_f1": round(macro, 2),
        }


def page() -> None:
    """Writes the figures into the guide."""
    record = json.loads(RESULT.read_text(encoding="utf-8"))
    found = {(row["graph"], row["form"], row["strategy"]): row for row in record["rows"]}
    lines = [
        f"Micro-F1 in percent with `views` and five labels a class, mean over {record['runs']} runs on the same splits, ± is the 95 % interval:",
        "",
        "| graph | random, relations | random, union | gain, relations | gain, union |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for suffix, words in (("", ""), (", no features", ", features left out")):
        for graph in GRAPHS:
            played = [found[graph, form + suffix, who] for who in STRATEGIES for form in ("relations", "plain union")]
            cells = [f"{row['micro_f1']:.1f} ± {row['micro_ci95']:.1f}" for row in played]
            lines.append(f"| {GRAPHS[graph]}{words} | {' | '.join(cells)} |")
    lines += [
        "",
        "On the splits that HeCo's authors published, fitted once:",
        "",
        "| graph | labels a class | Micro-F1 | Macro-F1 |",
        "| --- | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {GRAPHS[row['graph']]} | {row['labels_per_class']} | {row['micro_f1']:.1f} | {row['macro_f1']:.1f} |"
        for row in record["splits"]
    ]
    before, _, rest = PAGE.read_text(encoding="utf-8").partition("<!-- relations:begin -->\n")
    after = rest.partition("<!-- relations:end -->")[2]
    figures = "\n".join(lines)
    PAGE.write_text(f"{before}<!-- relations:begin -->\n{figures}\n<!-- relations:end -->{after}", encoding="utf-8")


def main() -> None:
    """Play, fit and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--page", action="store_true", help="write the figures into the guide; nothing is measured")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--out", type=Path, default=RESULT)
    given = parser.parse_args()
    if given.page:
        page()
        return
    if given.folder is None:
        parser.error("give the folder that holds the graphs, or --page")
    rows, fitted = [], []
    for name in GRAPHS:
        graph = read_graph(given.folder / f"{name}.npz")
        fitted += list(splits(graph))
        for form, played in forms(graph):
            for strategy in STRATEGIES:
                begun = time.perf_counter()
                result = nw.evaluate(played, strategy, runs=given.runs, budget=5 * graph.num_classes)
                rows.append(
                    {
                        "graph": name,
                        "form": form,
                        "strategy": strategy,
                        "budget": 5 * graph.num_classes,
                        "micro_f1": round(result.micro.mean, 2),
                        "micro_ci95": round(result.micro.half_width, 2),
                        "macro_f1": round(result.macro.mean, 2),
                        "macro_ci95": round(result.macro.half_width, 2),
                        "seconds": round(time.perf_counter() - begun, 1),
                    }
                )
                print(rows[-1], flush=True)
        report = {"schema": 1, "nodewise_version": nw.__version__, "runs": given.runs, "seed": 0}
        write_json(given.out, report | {"machine": describe_machine(), "rows": rows, "splits": fitted})


if __name__ == "__main__":
    main()
