"""The closed form on many graphs.

Strategies with `views` at several budgets, one JSON line for each graph and strategy.

    python benchmarks/closed_form.py --out lines.jsonl --runs 100 --device cuda [--graphs cora,…] [--strategies
    gain,random] [--minutes 8] [--copies] [--part 0/8]

With ``--copies`` each graph is played on its ten copies with a fifth of the nodes left out instead, and a line holds
the mean over the runs of each copy.

A call that was stopped goes on where it was: what the file holds is not done again. `closed_form_page.py` makes the
tables.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from machine import describe_machine

from nodewise.datasets import load_graph
from nodewise.environment import SplitSizes
from nodewise.evaluation import compare, graph_copies
from nodewise.evaluation.task import default_splits
from nodewise.graph import Graph
from nodewise.strategies import make_strategy

HALVES = Path(__file__).with_name("halves.json")
PER_CLASS = (1, 2, 3, 4, 5, 7, 10, 15, 20)


def all_graphs() -> list[str]:
    halves = json.loads(HALVES.read_text())
    return [name for half in ("developed_on", "reported_on") for names in halves[half].values() for name in names]


def budgets_of(graph: Graph, per_class: tuple[int, ...]) -> list[int]:
    """The labels at each multiple of the number of classes (ten for the Reddit graphs, three for the case study, whose
    budgets of the paper are 50 and 15), none over half the pool.
    """
    case_study = "case-study" in graph.name
    classes = graph.num_classes if not graph.name.startswith("reddit") else 3 if case_study else 10
    known = int((graph.y >= 0).sum()) if graph.y is not None else 0
    sizes = default_splits(graph) or SplitSizes.default(known)
    pool = known - sizes.test - sizes.validation
    return [count * classes for count in per_class if count * classes <= pool // 2]


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
    parser.add_argument("--copies", action="store_true")
    parser.add_argument("--part", default="0/1", help="which graphs, as in 0/8: every eighth")
    given = parser.parse_args()
    until = time.monotonic() + 60 * given.minutes
    lines = given.out.read_text().splitlines() if given.out.exists() else []
    keys = ("graph", "strategy", "classifier", "seed")
    done = {tuple(line[key] for key in keys) for line in map(json.loads, lines)}
    machine = {**describe_machine(given.device), "gain": make_strategy("gain").version}
    number, parts = map(int, given.part.split("/"))
    for name in (given.graphs.split(",") if given.graphs else all_graphs())[number::parts]:
        wanted = [
            each for each in given.strategies.split(",") if (name, each, given.classifier, given.seed) not in done
        ]
        if not wanted or time.monotonic() > until:
            continue
        graph = load_graph(name, data_dir=given.data_dir)
        played = list(graph_copies(graph)) if given.copies else [graph]
        budgets = budgets_of(played[0], tuple(int(count) for count in given.per_class.split(",")))
        if not budgets:
            continue
        scores: dict[str, dict[str, Any]] = {each: {str(b): {} for b in budgets} for each in wanted}
        begin = time.perf_counter()
        for one in played:
            found = compare(
                one,
                wanted,
                classifiers=[given.classifier],
                budgets=budgets,
                runs=given.runs,
                seed=given.seed,
                device=given.device,
            )
            for setting in found.settings:
                for strategy, outcome in zip(wanted, setting.outcomes.values(), strict=True):
                    for metric in ("micro_f1", "macro_f1"):
                        values = [round(float(v), 3) for v in getattr(outcome, metric)]
                        if given.copies:
                            values = [round(sum(values) / len(values), 3)]
                        scores[strategy][str(setting.budget)].setdefault(metric, []).extend(values)
        for strategy in wanted:
            line = {
                "graph": name,
                "strategy": strategy,
                "classifier": given.classifier,
                "runs": given.runs,
                "seed": given.seed,
                **({"copies": len(played)} if given.copies else {}),
                "nodes": graph.num_nodes,
                "classes": graph.num_classes,
                "seconds": round((time.perf_counter() - begin) / len(wanted), 2),
                "machine": machine,
                "budgets": scores[strategy],
            }
            with given.out.open("a") as file:
                file.write(json.dumps(line) + "\n")
            means = {
                budget: round(sum(part["micro_f1"]) / len(part["micro_f1"]), 1)
                for budget, part in scores[strategy].items()
            }
            print(name, strategy, given.classifier, means, f"{line['seconds']} s", flush=True)


if __name__ == "__main__":
    main()
