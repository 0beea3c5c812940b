"""The closed form on many graphs.

Strategies with `views` at several budgets, one JSON line for each graph and strategy.

    python benchmarks/closed_form.py --out lines.jsonl --runs 100 --device cuda [--graphs cora,…] [--strategies
    gain,random] [--minutes 8]

A call that was stopped goes on where it was: what the file holds is not done again. `closed_form_page.py` makes the
tables.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from machine import describe_machine

from nodewise.datasets import load_graph
from nodewise.environment import SplitSizes
from nodewise.evaluation import compare
from nodewise.evaluation.task import default_splits
from nodewise.graph import Graph

HALVES = Path(__file__).with_name("halves.json")
PER_CLASS = (1, 2, 3, 4, 5, 7, 10, 15, 20)


def all_graphs() -> list[str]:
    halves = json.loads(HALVES.read_text())
    return [name for half in ("developed_on", "reported_on") for names in halves[half].values() for name in names]


def budgets_of(graph: Graph, per_class: tuple[int, ...]) -> list[int]:
    """The labels at each multiple of the number of classes (ten for the Reddit graphs, whose budget of the paper is
    50), none over half the pool.
    """
    info = (
        10
        if graph.name.startswith("reddit") and graph.num_nodes > 1000
        else 3
        if graph.num_nodes == 85
        else graph.num_classes
    )
    known = int((graph.y >= 0).sum()) if graph.y is not None else 0
    sizes = default_splits(graph) or SplitSizes.default(known)
    pool = known - sizes.test - sizes.validation
    return [count * info for count in per_class if count * info <= pool // 2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--graphs")
    parser.add_argument("--strategies", default="gain,random")
    parser.add_argument("--classifier", default="views")
    parser.add_argument("--per-class", default=",".join(map(str, PER_CLASS)))
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--data-dir")
    given = parser.parse_args()
    until = time.monotonic() + 60 * given.minutes
    done = (
        {
            (line["graph"], line["strategy"], line["classifier"], line["seed"])
            for line in map(json.loads, given.out.read_text().splitlines())
        }
        if given.out.exists()
        else set()
    )
    machine = describe_machine(given.device)
    for name in given.graphs.split(",") if given.graphs else all_graphs():
        graph = None
        for strategy in given.strategies.split(","):
            if (name, strategy, given.classifier, given.seed) in done or time.monotonic() > until:
                continue
            graph = graph or load_graph(name, data_dir=given.data_dir)
            budgets = budgets_of(graph, tuple(int(count) for count in given.per_class.split(",")))
            if not budgets:
                continue
            begin = time.perf_counter()
            found = compare(
                graph,
                [strategy],
                classifiers=[given.classifier],
                budgets=budgets,
                runs=given.runs,
                seed=given.seed,
                device=given.device,
            )
            line = {
                "graph": name,
                "strategy": strategy,
                "classifier": given.classifier,
                "runs": given.runs,
                "seed": given.seed,
                "nodes": graph.num_nodes,
                "classes": graph.num_classes,
                "seconds": round(time.perf_counter() - begin, 2),
                "machine": machine,
                "budgets": {
                    str(setting.budget): {
                        metric: [round(float(v), 3) for v in getattr(next(iter(setting.outcomes.values())), metric)]
                        for metric in ("micro_f1", "macro_f1")
                    }
                    for setting in found.settings
                },
            }
            with given.out.open("a") as file:
                file.write(json.dumps(line) + "\n")
            means = {budget: round(sum(part["micro_f1"]) / given.runs, 1) for budget, part in line["budgets"].items()}
            print(name, strategy, given.classifier, means, f"{line['seconds']} s", flush=True)


if __name__ == "__main__":
    main()
