"""What `views` and `gain` reach now, beside their version 1 on the same copies.

Version 1 was before kin views, the gate and the drawn first question.

    git clone . OLD && git -C OLD checkout 84587818
    python benchmarks/version_one.py --before OLD --lines build/version-one.jsonl [--runs 20] [--part 0/2]
    python benchmarks/version_one.py --before OLD --lines build/version-one.jsonl --tell

The ten copies of each graph (`graph_copies`) are written as files, and the older code plays them: one JSON line a
copy. What the lines hold is not played again. `--tell` takes the means to results/version-one.json, with those of
whole graphs that the older code's own result has; the page compares them with today's (`closed_form_page.py`).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from closed_form import all_graphs, budgets_of
from machine import describe_machine

from nodewise.datasets import load_graph
from nodewise.evaluation import graph_copies
from nodewise.graph.io.npz import write_npz
from nodewise.ground.files import write_json

RESULT = Path(__file__).parent / "results" / "version-one.json"
PER_CLASS, STRATEGIES = (1, 2, 5, 10), ("gain", "random")

PLAYED = """
import json, sys
import torch
from nodewise.evaluation import compare
from nodewise.graph.io.npz import read_npz
torch.set_num_threads(1)
graph, budgets, runs, strategies = read_npz(sys.argv[1]), json.loads(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
found = compare(graph, strategies, classifiers=["views"], budgets=budgets, runs=runs, seed=0, device="cpu")
scores = {strategy: {} for strategy in strategies}
for setting in found.settings:
    for strategy, outcome in zip(strategies, setting.outcomes.values(), strict=True):
        scores[strategy][str(setting.budget)] = [round(float(value), 3) for value in outcome.micro_f1]
print(json.dumps(scores))
"""


def play(before: Path, lines: Path, runs: int, part: str, graphs: list[str]) -> None:
    """Each copy of each graph with the older code, one line a copy."""
    done = {json.loads(line)["graph"] for line in lines.read_text().splitlines()} if lines.exists() else set()
    environment = {**os.environ, "PYTHONPATH": str(before / "src"), "OMP_NUM_THREADS": "1"}
    number, parts = map(int, part.split("/"))
    for name in graphs[number::parts]:
        for copy, graph in enumerate(graph_copies(load_graph(name))):
            budgets = budgets_of(graph, PER_CLASS)
            if f"{name}.{copy}" in done or not budgets:
                continue
            with tempfile.TemporaryDirectory() as folder:
                write_npz(graph, path := Path(folder) / f"{name}.{copy}.npz")
                arguments = [str(path), json.dumps(budgets), str(runs), *STRATEGIES]
                command = [sys.executable, "-c", PLAYED, *arguments]
                printed = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
            line = {"graph": f"{name}.{copy}", "budgets": budgets, "scores": json.loads(printed.splitlines()[-1])}
            with lines.open("a") as file:
                file.write(json.dumps(line) + "\n")
            print(line["graph"], flush=True)


def means(lines: Path) -> dict[str, dict[str, list[float]]]:
    """The mean over a graph's copies, by labels a class: `gain`, random choice."""
    found: dict[str, dict[str, list[list[float]]]] = {}
    for line in map(json.loads, lines.read_text().splitlines()):
        of_graph = found.setdefault(line["graph"].rpartition(".")[0], {})
        for per, budget in zip(PER_CLASS, line["budgets"], strict=False):
            of_copy = [float(np.mean(line["scores"][strategy][str(budget)])) for strategy in STRATEGIES]
            of_graph.setdefault(str(per), []).append(of_copy)
    return {
        graph: {per: [round(float(mean), 2) for mean in np.mean(copies, 0)] for per, copies in by_labels.items()}
        for graph, by_labels in found.items()
    }


def whole(before: Path) -> dict[str, dict[str, list[float]]]:
    """What the older code's own result has of whole graphs, by labels a class."""
    record = json.loads((before / "benchmarks" / "results" / "closed-form.json").read_text())
    return {
        graph: {
            per: [at["micro_f1"][strategy][0] for strategy in STRATEGIES]
            for per, at in found["at"].items()
            if int(per) in PER_CLASS
        }
        for graph, found in record["graphs"].items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, required=True)
    parser.add_argument("--lines", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--part", default="0/1", help="which graphs, as in 0/2: every second")
    parser.add_argument("--graphs")
    parser.add_argument("--tell", action="store_true")
    given = parser.parse_args()
    if not given.tell:
        play(given.before, given.lines, given.runs, given.part, (given.graphs or ",".join(all_graphs())).split(","))
        return
    older = subprocess.run(
        ["git", "-C", str(given.before), "rev-parse", "--short=8", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()
    record: dict[str, Any] = {"schema": 1, "benchmark": "version one", "seed": 0, "runs": given.runs, "commit": older}
    told = {"machine": describe_machine("cpu"), "copies": means(given.lines), "whole": whole(given.before)}
    write_json(RESULT, {**record, **told}, compact=True)


if __name__ == "__main__":
    main()
