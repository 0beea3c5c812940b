"""How long making views takes, beside an older state of the code.

And how little the draw of the features' reduction matters.

    python benchmarks/views_made.py [--graphs cora,…] [--before DIR] [--turns 1] [--draws 5]

Each graph is read and its views made in a process of its own, with all cores; with `--before`, the root of a checkout,
in turns with its code: told are the ratios of the least and of the middle turns, of views and of a session's questions.
For graphs with more than 1,500 features the reduction is made with several seeds: told is the largest difference of
inner products of 500 rows.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from machine import commit, describe_machine

RESULTS = Path(__file__).parent / "results" / "views-made.json"
GRAPHS = "cora,citeseer,pubmed,dblpv7,coauthor-cs,coauthor-physics"

MADE = """
import sys, time
from nodewise.datasets import load_graph
from nodewise.graph.tensors import GraphTensors
from nodewise.classifiers.views.construction import make_views
graph = GraphTensors(load_graph(sys.argv[1]))
begin, busy = time.perf_counter(), time.process_time()
make_views(graph)
print(time.perf_counter() - begin, time.process_time() - busy, graph.num_nodes, graph.num_features)
"""


ASKED = """
import sys, tempfile, time
from pathlib import Path
import nodewise as nw
graph = nw.load_graph(sys.argv[1])
with tempfile.TemporaryDirectory() as folder:
    with nw.Session.create(Path(folder) / "job.nodewise", graph, budget=40) as session:
        took = []
        for _ in range(40):
            begin, busy = time.perf_counter(), time.process_time()
            node = session.ask().node
            session.tell(node, graph.class_names[graph.y[node]])
            took.append((time.perf_counter() - begin, time.process_time() - busy))
print(*(sorted(times)[20] for times in zip(*took)))
"""


def told(root: Path, program: str, graph: str) -> list[str]:
    """What a program prints with one state of the code."""
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    command = [sys.executable, "-c", program, graph]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()


def made(root: Path, graph: str) -> dict[str, Any]:
    """Seconds of wall and processor time with one state of the code."""
    wall, cpu, nodes, features = told(root, MADE, graph)
    return {"wall": round(float(wall), 2), "cpu": round(float(cpu), 2), "nodes": int(nodes), "features": int(features)}


def in_turns(here: Path, before: Path, graph: str, turns: int) -> dict[str, Any]:
    """Seconds of both states, turn by turn, and the former's over the latter's, of the least and of the middle turns.

    Of views, and the median of a session's questions.
    """
    found: dict[str, Any] = {}
    for name, program in (("views", MADE), ("question", ASKED)):
        took: dict[str, list[list[float]]] = {"now": [], "before": []}
        for turn in range(turns):
            for state in ("now", "before") if turn % 2 else ("before", "now"):
                seconds = told(here if state == "now" else before, program, graph)[:2]
                took[state].append([float(each) for each in seconds])
        found[name] = {
            clock: {state: [each[at] for each in values] for state, values in took.items()}
            for at, clock in enumerate(("wall", "cpu"))
        }
        for of_clock in found[name].values():
            for word, of in (("least", np.min), ("middle", np.median)):
                of_clock[f"ratio of the {word}"] = round(float(of(of_clock["before"]) / of(of_clock["now"])), 3)
    return found


def differences(graph: str, draws: int) -> float:
    """The largest difference of inner products between the first seed and the others."""
    from nodewise.classifiers.views import reduction
    from nodewise.datasets import load_graph
    from nodewise.graph.tensors import GraphTensors

    rows = reduction._UnitRows(GraphTensors(load_graph(graph)))
    times, turned = rows.products()
    some = np.random.default_rng(0).permutation(rows.shape[0])[:500]
    inner = []
    for seed in range(draws):
        found = reduction.block_lanczos(
            lambda v: turned(times(v)), rows.shape[1], reduction.REDUCED, reduction._TOLERANCE, seed
        )[1]
        reduced = times(found)[some].astype(np.float64)
        inner.append(reduced @ reduced.T)
    return max(float(np.abs(each - inner[0]).max()) for each in inner[1:])


def main() -> None:
    from nodewise.evaluation import write_json

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", default=GRAPHS)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    begin, here, rows = time.time(), Path(__file__).resolve().parent.parent, []
    for graph in given.graphs.split(","):
        row: dict[str, Any] = {
            "graph": graph,
            "commit": commit(),
            "load_before": round(os.getloadavg()[0], 1),
            "now": made(here, graph),
        }
        if given.before is not None:
            row["before"] = made(given.before.resolve(), graph)
            row["turns"] = in_turns(here, given.before.resolve(), graph, given.turns)
        if given.draws > 1 and row["now"]["features"] > 1500:
            row["draws"], row["largest_difference"] = given.draws, differences(graph, given.draws)
        rows.append(row)
        print(row, flush=True)
    record: dict[str, Any] = {"schema": 1, "benchmark": "views made", "machine": describe_machine(), "rows": rows}
    if given.before is not None:
        asked = ["git", "rev-parse", "--short", "HEAD"]
        record["commit_before"] = subprocess.run(
            asked, cwd=given.before, capture_output=True, text=True, check=False
        ).stdout.strip()
    write_json(given.out, record | {"seconds": round(time.time() - begin, 1), "load": os.getloadavg()[0]}, compact=True)


if __name__ == "__main__":
    main()
