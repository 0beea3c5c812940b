"""Several labels a node: `views` with gain, random choice and uncertainty, beside logistic regressions.

    python benchmarks/several_labels.py GRAPH.npz … [--runs 10] [--out benchmarks/results/several-labels.json]
    python benchmarks/several_labels.py --page            docs/several-labels.md's table from that result

Budgets are 1, 2, 5 and 10 % of the nodes, the protocol's splits. Logistic regression learns from the very labels that
random choice and gain have asked for, on the graph's features, standardised, or on the view of the edges where there
are none; it gives a class from one half on. Thresholds of `views` come from leave-one-out. The second pair of columns
gives each node as many classes as it is known to have. The data set `overlapping`, which comes along, is played with 25
labels.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from machine import describe_machine
from marks import fill
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import nodewise as nw
from nodewise.classifiers.views.views import Views
from nodewise.environment import draw_splits, set_scores
from nodewise.evaluation.results.statistics import confidence_interval
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.files import write_json

RESULTS = Path(__file__).parent / "results" / "several-labels.json"
PAGE = Path(__file__).parents[1] / "docs" / "several-labels.md"
GENERATED = 25
"""Labels of the graph that comes along."""
SHARES = (0.01, 0.02, 0.05, 0.1)
METRICS = ("micro_f1", "macro_f1", "micro_f1_known", "macro_f1_known", "average_precision")
HEADINGS = ("Micro-F1", "Macro-F1", "Micro-F1, number known", "Macro-F1, number known", "average precision")


def features_of(graph: nw.Graph, tensors: GraphTensors) -> np.ndarray:
    """What logistic regression sees."""
    if graph.has_features:
        return StandardScaler().fit_transform(graph.dense_features())
    views = Views()
    learner = views.start_several(tensors.unlabelled, tensors.prepared_by(views), 1, graph.num_classes, 1)
    return StandardScaler().fit_transform(learner.views.columns[:, learner.views.names.index("spectrum")].numpy())


def regression(x: np.ndarray, sets: np.ndarray, told: np.ndarray) -> np.ndarray:
    """The chance of each class for every node, of logistic regression on some labels; a class with one kind of label
    is as likely as its share says.
    """
    chances = np.tile(sets[told].mean(0, dtype=np.float64), (len(x), 1))
    for number in np.flatnonzero((chances[0] > 0) & (chances[0] < 1)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = LogisticRegression(max_iter=300).fit(x[told], sets[told, number])
        chances[:, number] = model.predict_proba(x)[:, 1]
    return chances


def measure(path: Path, runs: int) -> list[dict[str, Any]]:
    """All methods on one graph."""
    graph = nw.load_graph(path)
    assert graph.y_sets is not None
    tensors = GraphTensors(graph)
    budgets = [round(share * graph.num_nodes) for share in SHARES]
    table = nw.compare(graph, ["random", "uncertainty", "gain"], budgets=budgets, runs=runs, classifiers=["views"])
    splits = draw_splits(tensors, runs, 0)
    x, answers = features_of(graph, tensors), torch.from_numpy(graph.y_sets.copy())
    rows = []
    for share, setting in zip(SHARES, table.settings, strict=True):
        for name, outcome in setting.outcomes.items():
            scores = {metric: outcome.values(metric) for metric in METRICS}
            rows.append(row(graph, share, setting.budget, name, "views", scores))
        for name in ("random", "gain"):
            found = []
            for run, told in enumerate(setting.outcomes[name].queries):
                chances = torch.from_numpy(regression(x, graph.y_sets, told))[splits.test[run]][None]
                half = torch.full((1, graph.num_classes), 0.5, dtype=chances.dtype)
                found.append([float(one) for one in set_scores(chances, half, answers[splits.test[[run]]])])
            ordered = dict(zip(METRICS, 100 * np.array(found).T, strict=True))
            rows.append(row(graph, share, setting.budget, name, "logistic regression", ordered))
        print(json.dumps(rows[-5:]), flush=True)
    return rows


def measure_generated(runs: int) -> list[dict[str, Any]]:
    """Random choice and gain on the graph that comes along."""
    graph, rows = nw.load_graph("overlapping"), []
    for strategy in ("random", "gain"):
        outcome = nw.evaluate(graph, strategy, runs=runs, budget=GENERATED)
        scores = {metric: outcome.values(metric) for metric in METRICS}
        rows.append(row(graph, GENERATED / graph.num_nodes, GENERATED, strategy, "views", scores))
    return rows


def row(
    graph: nw.Graph, share: float, budget: int, strategy: str, classifier: str, scores: dict[str, np.ndarray]
) -> dict[str, Any]:
    """What one method reached at one budget."""
    found: dict[str, Any] = {"graph": graph.name, "share": share, "budget": budget, "strategy": strategy}
    found |= {"classifier": classifier, "runs": len(scores["micro_f1"])}
    for metric, values in scores.items():
        mean, width = confidence_interval(values)
        found[metric] = {"mean": round(mean, 3), "ci95": round(width, 3)}
    return found


def words(record: dict[str, Any]) -> str:
    """Who is ahead of whom, and how often by more than chance, in words."""
    found = {(each["graph"], each["share"], each["classifier"], each["strategy"]): each for each in record["rows"]}
    graphs = dict.fromkeys(each["graph"] for each in record["rows"])

    def ahead(pairs: list[tuple[dict[str, Any], dict[str, Any]]], metrics: tuple[str, ...]) -> str:
        leads = [
            (one[metric]["mean"] - other[metric]["mean"], one[metric]["ci95"] + other[metric]["ci95"])
            for one, other in pairs
            for metric in metrics
        ]
        clear = sum(lead > room for lead, room in leads), sum(-lead > room for lead, room in leads)
        behind = f", clearly behind in {clear[1]}" if clear[1] else ""
        return f"{sum(lead > 0 for lead, _ in leads)} of {len(leads)} (clearly {clear[0]}{behind})"

    lines = ["Ahead in how many comparisons, and clearly, that is by more than both 95 % intervals together:", ""]
    for graph in graphs:
        pairs = [
            (found[graph, share, "views", who], found[graph, share, "logistic regression", who])
            for share in SHARES
            for who in ("random", "gain")
        ]
        columns = [f"{heading} {ahead(pairs, (metric,))}" for heading, metric in zip(HEADINGS, METRICS, strict=True)]
        lines.append(
            f"- `views` against logistic regression from the same labels, {graph}, every budget: {'; '.join(columns)}."
        )
    for one, other in (("gain", "random"), ("uncertainty", "random")):
        shares = [
            f"with {100 * share:g} % "
            + ahead([tuple(found[graph, share, "views", who] for who in (one, other)) for graph in graphs], METRICS)  # type: ignore[misc]
            for share in SHARES
        ]
        lines.append(f"- {one} against {other} with `views`, all columns of both graphs: {'; '.join(shares)}.")
    scores = [
        f"{each['strategy']} {each['micro_f1']['mean']:.1f} ± {each['micro_f1']['ci95']:.1f}"
        for each in record["generated"]
    ]
    lines.append(
        f"- On `overlapping`, a graph that was generated so that classes follow the edges, Micro-F1 with"
        f" {GENERATED} labels, {record['generated'][0]['runs']} runs: {', '.join(scores)}."
    )
    return "\n".join(lines)


def tables(record: dict[str, Any]) -> str:
    """The result as tables, one a graph."""
    parts = []
    for graph in dict.fromkeys(each["graph"] for each in record["rows"]):
        rows = [each for each in record["rows"] if each["graph"] == graph]
        parts += [f"**{graph}**, {rows[0]['runs']} runs, percent with 95 % intervals:", ""]
        parts.append(f"| labels | method | {' | '.join(HEADINGS)} |\n| ---: | --- | {'---: | ' * len(HEADINGS)}")
        for each in rows:
            scores = " | ".join(f"{each[metric]['mean']:.1f} ± {each[metric]['ci95']:.1f}" for metric in METRICS)
            label = f"{each['budget']} ({100 * each['share']:g} %)"
            parts.append(f"| {label} | {each['classifier']}, {each['strategy']} | {scores} |")
        parts.append("")
    return "\n".join(part.rstrip() for part in parts).rstrip()


def main() -> None:
    """Measures, or writes the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="*", type=Path)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    if options.graphs:
        begin, rows = time.time(), []
        for path in options.graphs:
            rows += measure(path, options.runs)
        seconds = round(time.time() - begin, 1)
        head = {"schema": 1, "benchmark": "several labels", "machine": describe_machine(), "seed": 0}
        generated = measure_generated(options.runs)
        write_json(options.out, {**head, "seconds": seconds, "rows": rows, "generated": generated}, compact=True)
    if options.page:
        record = json.loads(options.out.read_text(encoding="utf-8"))
        fill(PAGE, {"several": f"{words(record)}\n\n{tables(record)}"})


if __name__ == "__main__":
    main()
