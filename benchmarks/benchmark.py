"""Plays the benchmark on many processes, on a machine that has torch and no command line, too.

What brings most comes first: fourteen strategies that are cheap, on all graphs, then five more, then the expected
error. In each of these stages small graphs come before large ones, so that whatever time there is leaves a table
without holes. It prints what each graph is expected to take (by the times in benchmarks/results/benchmark.json, which
are a CPU's, until this result has times of its own), then a line for each part that is done, and what failed. At the
end of ``--seconds`` the result file holds every cell that is whole, and the same command goes on.

``--pack``, for a machine whose disk does not stay, is a file that is read at the start, where it is there, and written
once a minute and at the end: it holds the result and all finished chunks, and is all that must be taken along to the
next machine.

    python benchmarks/benchmark.py --device cuda --processes 14 --seconds 520 --pack build/gpu/benchmark.tar.gz

Then, where the repository is:

    tar -xzf build/gpu/benchmark.tar.gz -C benchmarks/results benchmark.json && python benchmarks/benchmark_page.py

``--other-budgets`` plays 1, 2, 10 and 20 labels a class by a rule that was written before any of their scores was seen:
of the tracked result's graphs those of at most `MOST_NODES` nodes, small ones first, ten runs, with both classifiers;
random choice, `gain`, and the four strategies that come next to `gain` by average rank at five labels a class, with
either classifier. Where time ends it, the part that counts is that of the largest number of nodes up to which every
cell is there, and a last call with ``--most-nodes`` of that number plays what is missing of it. That part is written to
benchmarks/results/benchmark-budgets.json and is a part of its own of the page.

    python benchmarks/benchmark.py --other-budgets --device cpu --processes 1 --seconds 3600 --out build/budgets
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from machine import commit
from packing import pack, unpack

from nodewise.datasets import load_graph
from nodewise.evaluation.processes import ProcessEngine
from nodewise.experiments.benchmark import STRATEGIES, BenchmarkSettings, graphs_at_hand, play, read_result
from nodewise.experiments.benchmark.plan import budgets_of
from nodewise.experiments.benchmark.results import BenchmarkResult, PlayedGraph
from nodewise.ground.compute import cores
from nodewise.ground.events import Event, Progress, Warned

KNOWN = Path(__file__).parent / "results" / "benchmark.json"
BUDGETS = KNOWN.with_name("benchmark-budgets.json")
LATER = ("badge", "rim", "anrmab", "igp", "bald")
LAST = ("expected-error",)
MOST_NODES, OTHER_LABELS, OTHER_RUNS, NEXT = 1500, "1,2,10,20", 10, 4
PACKED, PACK_EVERY = ("benchmark.json", "chunks/*/*.json"), 60.0


class Teller:
    """Prints how far each graph is, at most every two seconds, and every warning; packs once a minute."""

    def __init__(self, out: Path, pack: Path | None) -> None:
        self._begin, self._last, self._packed = time.monotonic(), 0.0, 0.0
        self._out, self._pack = out, pack

    def __call__(self, event: Event, /) -> None:
        now = time.monotonic() - self._begin
        if isinstance(event, Warned):
            print(f"{now:6.0f} s  {event.message[:600]}", flush=True)
        elif isinstance(event, Progress) and (now - self._last > 2 or event.done == event.total):
            self._last = now
            print(f"{now:6.0f} s  {event.task} {event.done}/{event.total}", flush=True)
        if self._pack is not None and now - self._packed > PACK_EVERY:
            self._packed = now
            pack(self._out, self._pack, *PACKED)


def stages(strategies: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Who is played, each time with all those before."""
    first = tuple(name for name in strategies if name not in (*LATER, *LAST))
    second = tuple(name for name in strategies if name not in LAST)
    return [one for one in dict.fromkeys((first, second, strategies)) if one]


def next_to_gain(result: BenchmarkResult, count: int) -> tuple[str, ...]:
    """Random choice, `gain`, and the strategies that come next to it by average rank with any of the classifiers."""
    names = ["random", "gain"]
    for classifier in result.classifiers:
        ranking = result.ranking(classifier, 5)
        ranks = {} if ranking is None else ranking.ranks
        names += [name for name in ranks if name not in ("random", "gain")][:count]
    return tuple(dict.fromkeys(names))


def expected_seconds(settings: BenchmarkSettings, known: BenchmarkResult, nodes: dict[str, int]) -> dict[str, float]:
    """What each graph is expected to take in one process: each query's seconds on the known graph that is nearest in
    size, by the number of nodes where this one is larger. Known graphs need not be at hand.
    """
    sizes = {name: one.nodes for name, one in known.graphs.items()}
    found = dict.fromkeys(settings.graphs, 0.0)
    for graph in settings.graphs:
        queries = sum(budgets_of(load_graph(graph), settings.labels).values())
        for name in settings.strategies:
            for classifier in settings.classifiers:
                own = [row for row in known.rows if (row.strategy, row.classifier) == (name, classifier)]
                if own:
                    near = min(own, key=lambda row: abs(sizes[row.graph] - nodes[graph]))
                    grown = max(1.0, nodes[graph] / sizes[near.graph])
                    found[graph] += near.seconds * grown * queries * settings.runs
    return found


def whole_part(result: BenchmarkResult, strategies: Sequence[str], classifiers: Sequence[str]) -> BenchmarkResult:
    """The graphs up to the first, by nodes, that lacks a strategy with a classifier at a budget that it has."""
    graphs: dict[str, PlayedGraph] = {}
    for name in sorted(result.graphs, key=lambda one: result.graphs[one].nodes):
        own = [row for row in result.rows if row.graph == name]
        cells = {(row.copy, row.per_class) for row in own}
        there = {(row.copy, row.per_class, row.strategy, row.classifier) for row in own}
        wanted = {(*cell, who, what) for cell in cells for who in strategies for what in classifiers}
        if not cells or not wanted <= there:
            break
        graphs[name] = result.graphs[name]
    return replace(result, graphs=graphs, rows=tuple(row for row in result.rows if row.graph in graphs))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("build/benchmark"))
    parser.add_argument("--pack", type=Path, help="one file with all finished chunks: read first, written as it goes")
    parser.add_argument("--graphs", help="by name, with commas; all at hand without it")
    parser.add_argument("--leave-out", default="karate", help="graphs that are not played")
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
    parser.add_argument("--seconds", type=float, default=520)
    parser.add_argument(
        "--other-budgets", action="store_true", help="1, 2, 10 and 20 labels a class, by the rule above"
    )
    given = parser.parse_args()
    if given.other_budgets:
        tracked = read_result(KNOWN)
        given.graphs, given.most_nodes = ",".join(tracked.graphs), min(given.most_nodes, MOST_NODES)
        given.strategies = ",".join(next_to_gain(tracked, NEXT))
        given.labels, given.runs = OTHER_LABELS, OTHER_RUNS
    os.environ["NODEWISE_COMMIT"] = commit() or ""  # the result names it
    if given.pack is not None:
        print(f"{unpack(given.pack, given.out)} files were packed", flush=True)
    engine = ProcessEngine(given.processes, given.seconds, leave_out=True)
    names = given.graphs.split(",") if given.graphs else graphs_at_hand()
    nodes = {name: load_graph(name).num_nodes for name in names if name not in set(given.leave_out.split(","))}
    played = {name: count for name, count in nodes.items() if given.least_nodes <= count <= given.most_nodes}
    tell = Teller(given.out, given.pack)
    for strategies in stages(tuple(given.strategies.split(","))):
        settings = BenchmarkSettings(
            tuple(played),
            strategies,
            tuple(given.classifiers.split(",")),
            tuple(int(one) for one in given.labels.split(",")),
            given.runs,
            0,
            given.seed,
            tuple(given.on_cpu.split(",")),
        )
        file = given.out / "benchmark.json"
        known = read_result(file if file.exists() else KNOWN)
        expected = expected_seconds(settings, known, played)
        told = ", ".join(f"{name} {seconds:.0f}" for name, seconds in sorted(expected.items(), key=lambda one: one[1]))
        print(f"{len(strategies)} strategies, {sum(expected.values()):.0f} s of one process ({known.machine}): {told}")
        result = play(settings, given.out, engine, tell, given.device, partial=True)
        cells = len(settings.graphs) * len(settings.strategies) * len(settings.classifiers) * len(settings.labels)
        print(f"{len(result.rows)} of {cells} cells, {result.machine}", flush=True)
        if given.pack is not None:
            pack(given.out, given.pack, *PACKED)
        if engine.over:
            print("the time is over: the same command goes on", flush=True)
            break
    if given.other_budgets:
        part = whole_part(result, settings.strategies, settings.classifiers)
        if part.rows:
            load = max(os.getloadavg())
            busy = f", with a load of {load:.0f}, so that times are too long" if load > 1.5 * cores() else ""
            replace(part, machine=part.machine + busy).save(BUDGETS)
        most = max((graph.nodes for graph in part.graphs.values()), default=0)
        print(f"{len(part.graphs)} graphs are whole, up to {most} nodes", flush=True)
    for name in settings.strategies:
        own = [row for row in result.rows if row.strategy == name]
        seconds = sum(row.seconds * row.runs * row.budget for row in own)
        print(f"{name:18s} {len(own):4d} cells, {seconds:8.1f} s of one process", flush=True)


if __name__ == "__main__":
    main()
