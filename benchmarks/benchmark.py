"""Plays the benchmark on many processes, on a machine that has torch and no command line, too.

    python benchmarks/benchmark.py --device cuda --processes 14 --runs 100 --labels 5 --seconds 540 --out benchmark

What is cheap comes first; at the end of the time the result file holds every cell that is whole, and the same command
goes on. Prints a line for each part that is done, and what failed. `benchmark_page.py` makes the page.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from nodewise.datasets import load_graph
from nodewise.evaluation.processes import ProcessEngine
from nodewise.experiments.benchmark import STRATEGIES, BenchmarkSettings, graphs_at_hand, play
from nodewise.ground.events import Event, Progress, Warned


class Teller:
    """Prints how far each graph is, at most every two seconds, and every warning."""

    def __init__(self) -> None:
        self._begin, self._last = time.monotonic(), 0.0

    def __call__(self, event: Event, /) -> None:
        now = time.monotonic() - self._begin
        if isinstance(event, Warned):
            print(f"{now:6.0f} s  {event.message[:600]}", flush=True)
        elif isinstance(event, Progress) and (now - self._last > 2 or event.done == event.total):
            self._last = now
            print(f"{now:6.0f} s  {event.task} {event.done}/{event.total}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("benchmark"))
    parser.add_argument("--graphs", help="by name, with commas; all at hand without it")
    parser.add_argument("--leave-out", default="", help="graphs that are not played")
    parser.add_argument("--most-nodes", type=int, default=10**9, help="graphs with more are not played")
    parser.add_argument("--least-nodes", type=int, default=0, help="graphs with fewer are not played")
    parser.add_argument("--strategies", default=",".join(STRATEGIES))
    parser.add_argument("--classifiers", default="views,gcn")
    parser.add_argument("--labels", default="5", help="a class, with commas")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--on-cpu", default="", help="strategies that are played on the CPU whatever the device")
    parser.add_argument("--processes", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=540)
    given = parser.parse_args()
    engine = ProcessEngine(given.processes, given.seconds, leave_out=True)
    names = given.graphs.split(",") if given.graphs else graphs_at_hand()
    left_out = set(given.leave_out.split(","))
    nodes = {name: load_graph(name).num_nodes for name in names if name not in left_out}
    settings = BenchmarkSettings(
        tuple(name for name, count in nodes.items() if given.least_nodes <= count <= given.most_nodes),
        tuple(given.strategies.split(",")),
        tuple(given.classifiers.split(",")),
        tuple(int(one) for one in given.labels.split(",")),
        given.runs,
        0,
        given.seed,
        tuple(given.on_cpu.split(",")),
    )
    result = play(settings, given.out, engine, Teller(), given.device, partial=True)
    cells = len(settings.graphs) * len(settings.strategies) * len(settings.classifiers) * len(settings.labels)
    print(f"{len(result.rows)} of {cells} cells, {result.machine}", flush=True)
    for name in settings.strategies:
        own = [row for row in result.rows if row.strategy == name]
        seconds = sum(row.seconds * row.runs * row.budget for row in own)
        print(f"{name:18s} {len(own):4d} cells, {seconds:8.1f} s of one process", flush=True)


if __name__ == "__main__":
    main()
