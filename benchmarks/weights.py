"""What the weights of edges are worth where they alone tell the classes: the data set `sbm-weighted`, with and without.

    python benchmarks/weights.py [--runs 20] [--out benchmarks/results/weights.json]

Fifteen labels are chosen at random. `graphs_page.py` writes the figures into docs/graphs.md.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from machine import describe_machine

import nodewise as nw
from nodewise.ground.files import write_json

RESULTS = Path(__file__).parent / "results" / "weights.json"
BUDGET = 15


def main() -> None:
    """Play and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    graph = nw.load_graph("sbm-weighted")
    rows = []
    for classifier in ("views", "gcn"):
        row: dict[str, object] = {"classifier": classifier}
        for form, played in (("with", graph), ("without", replace(graph, edge_weight=None))):
            result = nw.evaluate(played, "random", classifier=classifier, runs=given.runs, budget=BUDGET)
            row[form] = {"micro_f1": round(result.micro.mean, 2), "ci95": round(result.micro.half_width, 2)}
        rows.append(row)
        print(row, flush=True)
    head = {"schema": 1, "benchmark": "weights", "machine": describe_machine(), "seed": 0}
    write_json(
        given.out, {**head, "graph": graph.name, "runs": given.runs, "budget": BUDGET, "rows": rows}, compact=True
    )


if __name__ == "__main__":
    main()
