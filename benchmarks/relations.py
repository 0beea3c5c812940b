"""Relations as views against the same graph as plain edges, and the splits of HeCo's authors.

    python -m benchmarks.relations FOLDER [--runs 100] [--out benchmarks/results/relations.json]
    python -m benchmarks.relations --page

FOLDER holds hetero-acm.npz and hetero-dblp.npz. Each is played with five labels a class, by random choice and by
gain, with features and without any: with its relations; as the plain union, all edges as one plain graph, which is
every pair that a path joins, without weights; and as the weighted union that methods get which do not know relations.
The views are fitted once to the labels of each of the authors' splits. `--page` writes the figures into the guide and
measures nothing.

Whether a lead is more than luck of one graph: without features, relations and the weighted union are played once more
on the ten copies of each graph that lack a fifth of its nodes (`nodewise.evaluation.graph_copies`), 20 runs each on the
same splits; the lead is the mean of the copies' own, its interval Student's over the copies. `--copies` plays these
alone, and the other rows of the file stay.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from sklearn.metrics import f1_score

import nodewise as nw
from benchmarks.machine import describe_machine
from nodewise.classifiers.views.views import Views
from nodewise.evaluation import graph_copies
from nodewise.evaluation.results.statistics import confidence_interval
from nodewise.graph import Graph, RelationalGraph, read_graph
from nodewise.graph.relations import LEADING
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.files import write_json

RESULT = Path(__file__).parent / "results" / "relations.json"
PAGE = Path(__file__).parents[1] / "docs" / "guides" / "relations.md"
UNIONS = ("plain union", "weighted union")
"""The two graphs of one kind of edges that relations are compared with."""
SCALE = RESULT.with_name("relational-scale.json")
STRATEGIES = ("random", "gain")
FORMS = 6
"""Ways in which each graph is played."""
COPY_RUNS = 20
"""Runs on each copy."""
GRAPHS = {"hetero-acm": "ACM", "hetero-dblp": "DBLP"}

# Micro- and Macro-F1 that HeCo's paper prints (Wang, Liu, Han, Shi, KDD 2021) for each graph and number of labels a
# class. Taken from two places that quote it, not from the paper itself: GammaGL's examples/heco for ACM, the README of
# HKUDS/DiffGraph (WSDM 2025) for DBLP.
PRINTED = {
    ("hetero-acm", 20): ("88.13 ± 0.8", "88.56 ± 0.8"),
    ("hetero-acm", 40): ("87.45 ± 0.5", "87.61 ± 0.5"),
    ("hetero-acm", 60): ("88.71 ± 0.5", "89.04 ± 0.5"),
    ("hetero-dblp", 20): ("91.97 ± 0.2", "91.28 ± 0.2"),
    ("hetero-dblp", 40): ("90.76 ± 0.3", "90.34 ± 0.3"),
    ("hetero-dblp", 60): ("91.59 ± 0.2", "90.64 ± 0.3"),
}


def forms(graph: Graph) -> Iterator[tuple[str, Graph]]:
    """The ways in which one graph is played."""
    yield "relations", graph
    yield "weighted union", replace(graph, relations=None)
    yield "relations, no features", without_features(graph)
    yield "weighted union, no features", replace(graph, relations=None, x=None)
    yield "plain union", plain_union(graph)
    yield "plain union, no features", replace(plain_union(graph), x=None)


def without_features(graph: Graph) -> Graph:
    """The same relations, of nodes of which nothing else is known."""
    bare = RelationalGraph.of(graph)
    return replace(bare, types=tuple(replace(kind, x=None) for kind in bare.types)).to_graph()


def copies(graph: Graph) -> Iterator[dict[str, object]]:
    """By how much relations lead the weighted union on copies of a graph without features, for each strategy."""
    for strategy in STRATEGIES:
        means = []
        for copy in graph_copies(without_features(graph)):
            both = [
                nw.evaluate(played, strategy, runs=COPY_RUNS, budget=5 * graph.num_classes).micro.mean
                for played in (copy, replace(copy, relations=None))
            ]
            means.append(both)
            print(copy.name, strategy, both, flush=True)
        own, union = np.array(means).T
        lead = confidence_interval(own - union)
        yield {
            "graph": graph.name,
            "strategy": strategy,
            "copies": len(means),
            "runs": COPY_RUNS,
            "relations": round(float(own.mean()), 2),
            "weighted union": round(float(union.mean()), 2),
            "lead": round(lead.mean, 2),
            "lead_ci95": round(lead.half_width, 2),
        }


def plain_union(graph: Graph) -> Graph:
    """Every pair of nodes that a relation or a path of two joins, without weights, none left out."""
    assert graph.relations is not None
    total: sp.csr_matrix = sp.csr_matrix((graph.num_nodes, graph.num_nodes), dtype=np.float32)
    for incidence in graph.relations.incidences[:LEADING]:
        reached = (incidence.matrix > 0).astype(np.float32)
        total = total + (reached if incidence.reaches == graph.relations.labelled else reached @ reached.T)
    whole = sp.triu(total + total.T, 1).tocsr()
    whole.sort_indices()
    pairs = whole.tocoo()
    return replace(
        graph, relations=None, edge_weight=None, edge_index=np.stack([pairs.row, pairs.col]).astype(np.int64)
    )


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
        (
            f"Micro-F1 in percent with `views` and five labels a class, mean over {record['runs']} runs on"
            " the same splits, ± is the 95 % interval:"
        ),
        "",
        (
            "| graph | random, relations | random, plain union | random, weighted union | gain, relations |"
            " gain, plain union | gain, weighted union |"
        ),
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for suffix, words in (("", ""), (", no features", ", features left out")):
        for graph in GRAPHS:
            kinds = ("relations", *UNIONS)
            played = [found[graph, form + suffix, who] for who in STRATEGIES for form in kinds]
            cells = [f"{row['micro_f1']:.1f} ± {row['micro_ci95']:.1f}" for row in played]
            lines.append(f"| {GRAPHS[graph]}{words} | {' | '.join(cells)} |")
    lines += ["", *(_lead(found, graph) for graph in GRAPHS), "", _three_points(found)]
    lines += ["", _on_copies(record["copies"])]
    lines += [
        "",
        "On the splits that HeCo's authors published, fitted once, beside what their paper prints (KDD"
        " 2021, ± as printed; as "
        "[GammaGL](https://github.com/BUPT-GAMMA/GammaGL) quotes it for ACM and"
        " [DiffGraph](https://github.com/HKUDS/DiffGraph) for DBLP):",
        "",
        "| graph | labels a class | Micro-F1 | HeCo | Macro-F1 | HeCo |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in record["splits"]:
        printed = PRINTED[row["graph"], row["labels_per_class"]]
        ours = [f"{row[score]:.1f} | {other}" for score, other in zip(("micro_f1", "macro_f1"), printed, strict=True)]
        lines.append(f"| {GRAPHS[row['graph']]} | {row['labels_per_class']} | {' | '.join(ours)} |")
    lines += ["", _scale()]
    before, _, rest = PAGE.read_text(encoding="utf-8").partition("<!-- relations:begin -->\n")
    after = rest.partition("<!-- relations:end -->")[2]
    figures = "\n".join(lines)
    PAGE.write_text(f"{before}<!-- relations:begin -->\n{figures}\n<!-- relations:end -->{after}", encoding="utf-8")


def _scale() -> str:
    """What a large graph takes, in words."""
    record = json.loads(SCALE.read_text(encoding="utf-8"))
    stages = record["stages"]
    quiet = record["load_average"] < record["threads"] + 0.5
    took = {
        name: f"{seconds:.{0 if seconds > 10 else 1}f} s"
        for name, stage in stages.items()
        for seconds in [stage["wall" if quiet else "cpu"]]
    }
    kind = "on" if quiet else "processor time of"
    beside = (
        ""
        if quiet
        else (
            f" The machine was shared with other work, about {record['load_average']:.0f} processes at a"
            " time, which makes"
            " such times longer."
        )
    )
    second = f", the second {took['second ask']}" if "second ask" in took else ""
    return (
        f"A generated graph of {record['nodes']:,} nodes and"
        f" {round(record['nodes'] * record['degree'] / 2):,} edges, papers, authors and venues with"
        " features (`benchmarks/scale.py"
        f" --relational`), takes {kind} {record['threads']} threads: the union {took['union']}, the views"
        f" {took['views']} (once; {stages['views']['peak_gb']:.1f} GB), the first question"
        f" {took['first ask']}{second}, every further one {took['ask']}.{beside}"
    )


def _lead(found: dict[tuple[str, str, str], dict[str, float]], graph: str) -> str:
    """By how much relations lead both unions, with features and without, in words."""
    words = []
    for suffix in ("", ", no features"):
        parts = []
        for who in STRATEGIES:
            own, *others = (found[graph, form + suffix, who]["micro_f1"] for form in ("relations", *UNIONS))
            ahead = [own - other for other in others]
            parts.append(f"{' and '.join(f'{lead:+.1f}' for lead in ahead)} with {who}")
        words.append("; ".join(parts))
    return (
        f"- {GRAPHS[graph]}, relations against the plain union and against the weighted one: {words[0]}."
        f" Features left out: {words[1]}."
    )


def _three_points(found: dict[tuple[str, str, str], dict[str, float]]) -> str:
    """How far relations lead both unions with random choice on both graphs, in words, plainly where by three points."""
    leads = {
        form: [
            found[graph, "relations", "random"]["micro_f1"] - found[graph, form, "random"]["micro_f1"]
            for graph in GRAPHS
        ]
        for form in UNIONS
    }
    told = {form: " and ".join(f"{lead:+.1f}" for lead in of_graphs) for form, of_graphs in leads.items()}
    enough = "at least three points" if min(leads["plain union"]) >= 3 else "less than three points on one graph"
    return (
        f"So the relations are worth {enough} with random choice against the same graph as one plain union"
        f" ({told['plain union']}), and against our own weighted union, the stronger comparison,"
        f" {told['weighted union']}."
    )


def _on_copies(rows: list[dict[str, Any]]) -> str:
    """What copies of the graphs without features say, in words."""
    leads = [
        f"{GRAPHS[row['graph']]} {row['lead']:+.1f} ± {row['lead_ci95']:.1f} with {row['strategy']}"
        f" ({row['relations']:.1f} and {row['weighted union']:.1f})"
        for row in rows
    ]
    return (
        f"Features left out, on {rows[0]['copies']} copies of each graph that lack a fifth of its nodes,"
        f" {rows[0]['runs']} runs each, relations against the weighted union, ± over the copies, which share most of"
        f" their nodes: {'; '.join(leads)}."
    )


def main() -> None:
    """Play, fit and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--page", action="store_true", help="write the figures into the guide; nothing is measured")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--forms", nargs="*", default=[], help="play these alone; the other rows of --out stay")
    parser.add_argument("--copies", action="store_true", help="play the copies alone; the other rows of --out stay")
    parser.add_argument("--out", type=Path, default=RESULT)
    given = parser.parse_args()
    if given.page:
        page()
        return
    if given.folder is None:
        parser.error("give the folder that holds the graphs, or --page")
    kept = json.loads(given.out.read_text(encoding="utf-8")) if given.forms or given.copies else {"rows": []}
    graphs = {name: read_graph(given.folder / f"{name}.npz") for name in GRAPHS}
    if given.copies:
        found = [row for graph in graphs.values() for row in copies(graph)]
        write_json(given.out, kept | {"copies": found, "copies_machine": describe_machine()}, compact=True)
        return
    rows: list[dict[str, object]] = [row for row in kept["rows"] if row["form"] not in given.forms]
    fitted = [row for graph in graphs.values() for row in splits(graph)]
    ways = {name: forms(graph) for name, graph in graphs.items()}
    for _ in range(FORMS):
        for name, graph in graphs.items():
            form, played = next(ways[name])
            if given.forms and form not in given.forms:
                continue
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
                report |= {"machine": describe_machine(), "rows": rows, "splits": fitted}
                write_json(given.out, kept | report, compact=True)


if __name__ == "__main__":
    main()
