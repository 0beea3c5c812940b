"""How long making views takes, beside an older state of the code.

And how little the draw of the features' reduction matters.

    python benchmarks/views_made.py [--graphs cora,…] [--before DIR] [--draws 5]

Each graph is read and its views made in a process of its own, with all cores; with `--before`, the root of a checkout,
in turns with its code. For graphs with more than 1,500 features the reduction is made with several seeds: told is the
largest difference of inner products of 500 rows.
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
from machine import describe_machine

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


def made(root: Path, graph: str) -> dict[str, Any]:
    """Seconds of wall and processor time with one state of the code."""
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    done = subprocess.run(
        [sys.executable, "-c", MADE, graph], env=environment, capture_output=True, text=True, check=True
    )
    wall, cpu, nodes, features = done.stdout.split()
    return {"wall": round(float(wall), 2), "cpu": round(float(cpu), 2), "nodes": int(nodes), "features": int(features)}


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
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    begin, here, rows = time.time(), Path(__file__).resolve().parent.parent, []
    for graph in given.graphs.split(","):
        row: dict[str, Any] = {"graph": graph, "load_before": round(os.getloadavg()[0], 1), "now": made(here, graph)}
        if given.before is not None:
            row["before"] = made(given.before.resolve(), graph)
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
    write_json(given.out, record | {"seconds": round(time.time() - begin, 1), "load": os.getloadavg()[0]})


if __name__ == "__main__":
    main()
