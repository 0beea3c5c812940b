"""How fast a session answers, whether the audit's interval holds, and how biased the accuracy on labels left out is.

    python benchmarks/session.py latency --out benchmarks/results/session-latency.json
    python benchmarks/session.py audit --out benchmarks/results/session-audit.json
    python benchmarks/session.py table --out docs/session.md

``latency``: from the call of ``tell`` to the return of the next ``ask`` with the file on a disk, syncs included, on
Cora and Pubmed; the same when 100 to 1,000 labels have been told, and how long of it the fit takes, also with 300
labels of 100 classes on 10,000 rows; a change of the 30th of 35 labels with the next ``ask``; reopening 500 labels.
``audit``: simulated sessions on ten graphs; how often the audit's 95 % interval holds the accuracy over all nodes that
train nothing, and how far the accuracy on labels left out is from it. ``table`` writes the tables of both into the
document; that of the latency is of the classifier `views`, session-latency-views.json.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from machine import describe_machine

from nodewise.datasets import default_features, load_graph
from nodewise.evaluation import write_json
from nodewise.graph import Graph
from nodewise.graph.knn.knn import knn_graph
from nodewise.ground.compute import one_thread
from nodewise.ground.events import percent
from nodewise.session import Session
from nodewise.session.learning.estimates import audit_accuracy, cross_validated, left_out_accuracy

GRAPHS = (
    "cora",
    "twitch-ptbr",
    "webkb-cornell",
    "webkb-wisconsin",
    "airports-usa",
    "airports-europe",
    "fb100-reed98",
    "polblogs",
    "chameleon-filtered",
    "reddit1401-graph1",
)

MANY_LABELS = (100, 300, 600, 1000)


def name_of(graph: Graph, node: int) -> str:
    assert graph.y is not None
    return graph.class_names[graph.y[node]]


def milliseconds(values: list[float]) -> dict[str, float]:
    return {
        "median_ms": round(1e3 * float(np.median(values)), 2),
        "p95_ms": round(1e3 * float(np.quantile(values, 0.95)), 2),
        "times": len(values),
    }


def latency(given: argparse.Namespace) -> list[dict[str, Any]]:
    rows = []
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        for name, labels in (("cora", 100), ("pubmed", 100)):
            graph = load_graph(name, features=default_features(name))
            session = Session.create(Path(folder) / name, graph, budget=labels)
            query = session.ask()
            times, tells, work = [], [], []
            for _ in range(labels - 1):
                begin, busy = time.perf_counter(), time.process_time()
                session.tell(query.node, name_of(graph, query.node))
                tells.append(time.perf_counter() - begin)
                query = session.ask()
                times.append(time.perf_counter() - begin)
                work.append(time.process_time() - busy)
            rows.append(
                {
                    "what": "tell to ask",
                    "graph": name,
                    **milliseconds(times[5:]),
                    "tell_alone": milliseconds(tells[5:]),
                    "cpu": milliseconds(work[5:]),
                }
            )
        for name in ("cora", "pubmed"):
            graph = load_graph(name, features=default_features(name))
            rows += many_labels(Path(folder) / f"{name}-many", name, graph, MANY_LABELS)
        rows += many_labels(Path(folder) / "classes", "100 classes, 10,000 rows", many_classes(), (300,))
        graph = load_graph("cora", features=default_features("cora"))
        changes, undos = [], []
        for repeat in range(10):
            session = Session.create(Path(folder) / f"change{repeat}", graph, budget=50, seed=repeat)
            for _ in range(35):
                node = session.ask().node
                event = session.tell(node, name_of(graph, node))
                if len(session.history) == 30:
                    thirtieth, number = node, event
            session.skip(session.ask().node)
            begin = time.perf_counter()
            session.tell(thirtieth, name_of(graph, int(np.flatnonzero(graph.y != graph.y[thirtieth])[0])))
            session.ask()
            changes.append(time.perf_counter() - begin)
            session.undo()
            session.skip(session.ask().node)
            begin = time.perf_counter()
            session.undo(number)
            session.ask(2)  # the first is the one whose answer was taken back, the second has to be chosen
            undos.append(time.perf_counter() - begin)
        rows += [
            {"what": "change the 30th of 35, then ask", "graph": "cora", **milliseconds(changes)},
            {"what": "undo the 30th of 35, then ask", "graph": "cora", **milliseconds(undos)},
        ]
        graph = load_graph("pubmed", features=default_features("pubmed"))
        nodes = np.random.default_rng(0).permutation(graph.num_nodes)[:500].tolist()
        with Session.create(Path(folder) / "long", graph, budget=600) as session:
            session.tell(nodes, [name_of(graph, node) for node in nodes])
        begin, busy = time.perf_counter(), time.process_time()
        with Session.open(Path(folder) / "long") as session:
            session.ask()
            spent = {
                "seconds": round(time.perf_counter() - begin, 2),
                "cpu_seconds": round(time.process_time() - busy, 2),
            }
            rows.append({"what": "reopen 500 labels, then ask", "graph": "pubmed", **spent})
        rows.append(
            {
                "what": "one sync of 4 kB on this disk, for comparison",
                "graph": None,
                **milliseconds(syncs(Path(folder) / "sync")),
            }
        )
    return rows


def many_classes() -> Graph:
    """Rows of 100 classes in 64 columns, joined to their 10 nearest."""
    draws, y = np.random.default_rng(0), np.arange(10_000) % 100
    x = draws.normal(size=(100, 64))[y] + 0.8 * draws.normal(size=(len(y), 64))
    return knn_graph(x.astype(np.float32), k=10, y=y)


def many_labels(path: Path, name: str, graph: Graph, counts: tuple[int, ...]) -> list[dict[str, Any]]:
    """From `tell` to the next `ask` when so many labels have been told, and the share of the fit in it."""
    order, rows = np.random.default_rng(0).permutation(graph.num_nodes).tolist(), []
    with Session.create(path, graph, budget=counts[-1] + 100) as session:
        for before, labels in zip((0, *counts), counts, strict=False):
            session.tell(order[before:labels], [name_of(graph, node) for node in order[before:labels]])
            query, times, fits, work = session.ask(), [], [], []
            for _ in range(16):
                begin, busy = time.perf_counter(), time.process_time()
                session.tell(query.node, name_of(graph, query.node))
                query = session.ask()
                times.append(time.perf_counter() - begin)
                work.append(time.process_time() - busy)
                learner = session.follow(session.refresh()).learner
                begin = time.perf_counter()
                with one_thread():
                    learner.posterior.fit()  # type: ignore[attr-defined]
                fits.append(time.perf_counter() - begin)
            rows.append(
                {
                    "what": "tell to ask",
                    "graph": name,
                    "labels": labels,
                    **milliseconds(times),
                    "fit": milliseconds(fits),
                    "cpu": milliseconds(work),
                }
            )
    return rows


def syncs(path: Path) -> list[float]:
    times = []
    with path.open("wb", buffering=0) as file:
        for _ in range(50):
            file.write(bytes(4096))
            begin = time.perf_counter()
            os.fsync(file.fileno())
            times.append(time.perf_counter() - begin)
    return times


def table(given: argparse.Namespace) -> None:
    record = json.loads((Path(__file__).parent / "results" / "session-audit.json").read_text())
    lines = [
        "| graph | strategy | labels | audit | accuracy | audit's interval holds it | cross-validated minus true |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in record["rows"]:
        lines.append(
            f"| {row['graph']} | {row['strategy']} | {row['budget']} | {row['audit']} | {row['accuracy']:.1f} % |"
            f" {percent(row['coverage'])} of {row['sessions']} | {row['bias_points']:+.1f} ± {row['bias_sd']:.1f} |"
        )
    mean = sum(row["coverage"] for row in record["rows"]) / len(record["rows"])
    said = (
        f"Simulated sessions, `benchmarks/session.py audit`; the interval holds the truth in {percent(mean)} of all."
        " The last column is in points, mean and deviation over sessions."
    )
    write_between(given.out, "audit table", [said, "", *lines])
    write_between(given.out, "latency table", latency_table())


def latency_table() -> list[str]:
    """How long the next question takes with `views` and `gain`, in words and as a table."""
    record = json.loads((Path(__file__).parent / "results" / "session-latency-views.json").read_text())
    machine = record["machine"]
    lines = [
        "| graph | labels | median | 95 % within | of it the fit, median | the processor's time, 95 % within |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in record["rows"]:
        if row["what"] == "tell to ask":
            labels, fit = row.get("labels"), row.get("fit")
            told = f"{labels:,} and more" if labels else f"6 to {row['times'] + 5}"
            part = f"{fit['median_ms']:.1f} ms" if fit else ""
            busy = f"{row['cpu']['p95_ms']:.1f} ms" if "cpu" in row else ""
            times = f"{row['median_ms']:.1f} ms | {row['p95_ms']:.1f} ms"
            lines.append(f"| {row['graph']} | {told} | {times} | {part} | {busy} |")
    said = (
        f"`benchmarks/session.py latency` on all {machine['cores']} cores of a machine ({machine['cpu']}),"
        f" Python {machine['python']}, torch {machine['torch']}, at commit {machine['commit']}."
    )
    return [said, "", *lines]


def write_between(path: Path, name: str, lines: list[str]) -> None:
    """Put lines between the marks of that name in a document."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    before, _, rest = path.read_text().partition(begin)
    after = rest.partition(end)[2] if end in rest else rest
    path.write_text(before + begin + "\n".join(lines) + "\n" + end + after)


def audit(given: argparse.Namespace) -> list[dict[str, Any]]:
    rows = []
    for name in given.graphs:
        graph = load_graph(name, features=default_features(name))
        assert graph.y is not None
        known = np.flatnonzero(graph.y >= 0)
        budget = min(5 * graph.num_classes, len(known) // 4)
        size = min(given.size, len(known) // 4)
        inside, bias, truths = [], [], []
        strategy = ""
        for seed in range(given.sessions):
            with (
                tempfile.TemporaryDirectory(dir=given.memory) as folder,
                Session.create(
                    Path(folder) / "job",
                    graph,
                    budget=budget,
                    seed=seed,
                    audit=size,
                    use_labels=False,
                    candidates=known.tolist(),
                ) as session,
            ):
                strategy = session.settings.strategy
                while not session.done:
                    node = session.ask().node
                    session.tell(node, name_of(graph, node))
                prediction = session.predict()
                history = session.refresh()
                found = audit_accuracy(
                    np.array(session.class_list.numbers)[prediction.best], session.rules().audited(history)
                )
                learner = session.follow(history)
                labels, _ = session.training(history)
                crossed = left_out_accuracy(learner, {label.node for label in labels}, history.classes)
                if learner.classifier.trained:
                    crossed = cross_validated(learner.tensors, labels, learner.classes, learner.classifier, seed)
                free = np.setdiff1d(known, [label.node for label in labels])
                truth = float(np.mean([prediction.names[node] == name_of(graph, node) for node in free]))
            assert found is not None
            inside.append(found.low <= truth <= found.high)
            truths.append(truth)
            if crossed is not None:
                bias.append(crossed.mean - truth)
        row = {
            "graph": name,
            "strategy": strategy,
            "budget": budget,
            "audit": size,
            "sessions": len(inside),
            "accuracy": round(100 * float(np.mean(truths)), 1),
            "coverage": round(float(np.mean(inside)), 3),
            "bias_points": round(100 * float(np.mean(bias)), 1) if bias else None,
            "bias_sd": round(100 * float(np.std(bias)), 1) if bias else None,
        }
        rows.append(row)
        print(row, flush=True)
    print("coverage over all", np.mean([row["coverage"] for row in rows]))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["latency", "audit", "table"])
    parser.add_argument("--folder", type=Path, help="where sessions lie for the latency; should be on a real disk")
    parser.add_argument("--memory", type=Path, help="where sessions lie for the audit; a folder in memory saves syncs")
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--size", type=int, default=40, help="nodes of the audit")
    parser.add_argument("--graphs", nargs="+", default=list(GRAPHS))
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    if given.what == "table":
        table(given)
        return
    begin = time.time()
    rows = latency(given) if given.what == "latency" else audit(given)
    load = os.getloadavg()
    for row in rows:
        print(row)
    write_json(
        given.out,
        {
            "schema": 1,
            "benchmark": f"session {given.what}",
            "machine": describe_machine(),
            "seed": 0,
            "seconds": round(time.time() - begin, 1),
            "load": [round(value, 1) for value in load],
            "rows": rows,
        },
        compact=True,
    )


if __name__ == "__main__":
    main()
