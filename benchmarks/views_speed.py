"""How fast a rollout of views and gain is, in turns with the GCN and a policy and, where its path is given, a sketch of
the closed form.

    python benchmarks/views_speed.py --device cpu --threads 1 --batch 10 [--sketch path/to/views.py] --out
    benchmarks/results/views-speed-cpu.json
    python benchmarks/views_speed.py --device cuda --batch 10,100 --out benchmarks/results/views-speed-gpu.json
    python benchmarks/views_speed.py --device cuda --batch 10,100 --profile       where the time goes, kernel by kernel

A rollout is 35 queries on Cora, views and splits given, and the test scores at the end. What is compared is measured in
the same process, in turns; the ratios are those of the medians. ``operations_a_step`` counts what PyTorch is asked to
compute in a middle step, views of memory left out.
"""

from __future__ import annotations

import argparse
import collections
import importlib.util
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from machine import describe_machine
from torch.utils._python_dispatch import TorchDispatchMode

from nodewise.classifiers import make_classifier
from nodewise.contracts import Strategy
from nodewise.datasets import load_graph
from nodewise.environment import Environment, draw_splits, rollout
from nodewise.evaluation import write_json
from nodewise.graph.tensors import GraphTensors
from nodewise.policy import find_policy
from nodewise.strategies import Learned, make_strategy

BUDGET = 35
OURS = "views + gain"


class Operations(TorchDispatchMode):
    """Counts the operations that compute or copy, by name."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: collections.Counter[str] = collections.Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not any(alias.alias_info is not None and not alias.alias_info.is_write for alias in func._schema.returns):
            self.counts[str(func)] += 1
        return func(*args, **(kwargs or {}))


def player(
    graph: GraphTensors, classifier: str, strategy: Strategy, runs: int, turns: int
) -> tuple[Environment, Callable[[int], float]]:
    """An environment, and what plays an episode in it and gives the mean Micro-F1."""
    environment = Environment.of(graph, make_classifier(classifier), runs, BUDGET)
    drawn = [draw_splits(graph, runs, 0, turn * runs) for turn in range(turns)]

    def work(turn: int) -> float:
        splits = drawn[turn]
        rollout(environment, strategy, splits, turn)
        return 100 * float(torch.stack(environment.score(splits.test)).mean(1)[0])  # waits for the device

    return environment, work


def sketch(path: Path, runs: int, device: str) -> Callable[[int], float]:
    spec = importlib.util.spec_from_file_location("views_sketch", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["views_sketch"] = module
    spec.loader.exec_module(module)
    adjacency, x, y = module.read(path.parent.parent / "data" / "cora.npz", device)
    views, nodes = module.make_views(adjacency, x, device), len(y)

    def work(turn: int) -> float:
        order = torch.stack(
            [torch.randperm(nodes, generator=torch.Generator().manual_seed(turn * runs + run)) for run in range(runs)]
        ).to(device)
        pool = torch.ones(runs, nodes, dtype=torch.bool, device=device).scatter_(1, order[:, :1500], False)
        mean = module.play(views, y, int(y.max()) + 1, pool, BUDGET, "gain")
        return 100 * float((mean.argmax(-1).gather(1, order[:, :1000]) == y[order[:, :1000]]).float().mean())

    return work


def operations(environment: Environment, strategy: Strategy) -> collections.Counter[str]:
    """What a step in the middle of an episode asks for, by name."""
    with torch.no_grad():
        environment.reset(0, draw_splits(environment.graph, environment.runs, 0))
        environment.begin(strategy)
        for _ in range(BUDGET // 2):
            environment.take_step(strategy)
        with Operations() as counted:
            environment.take_step(strategy)
    return counted.counts


def profile(work: Callable[[int], float], device: str, rows: int) -> dict[str, Any]:
    """Print where an episode's time goes, the most first, and give the number of kernels (operations, on the CPU) and
    their time.
    """
    kinds = [torch.profiler.ProfilerActivity.CPU] + ([torch.profiler.ProfilerActivity.CUDA] if device == "cuda" else [])
    with torch.profiler.profile(activities=kinds) as recorded:
        work(0)
    found: dict[str, tuple[int, float]] = {}
    for entry in recorded.key_averages():
        if device != "cuda":
            found[entry.key] = (entry.count, entry.self_cpu_time_total)
        elif str(entry.device_type).endswith("CUDA") and entry.self_device_time_total > 0:
            found[entry.key] = (entry.count, entry.self_device_time_total)
    total = sum(spent for _, spent in found.values())
    for name, (count, spent) in sorted(found.items(), key=lambda pair: -pair[1][1])[:rows]:
        print(
            f"{spent / 1e3:9.3f} ms {spent / max(total, 1e-9):6.1%} {count:7d} x {spent / count:8.2f} us  {name[:150]}"
        )
    many = sum(count for count, _ in found.values())
    print(f"{total / 1e3:9.3f} ms in all, {many} kernels, {many / BUDGET:.1f} a step", flush=True)
    return {"kernels_a_step": many / BUDGET, "busy_ms": total / 1e3}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--batch", default="10")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--policy", default="cora+citeseer")
    parser.add_argument("--sketch", type=Path, help="a sketch of the closed form, played in turns as well")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--profile", type=int, nargs="?", const=45, default=0, metavar="ROWS", help="print where the time goes"
    )
    parser.add_argument("--operations", action="store_true", help="print the operations of a step by name")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    plain, papers = (GraphTensors(load_graph("cora", features=features), given.device) for features in ("raw", "paper"))
    result: dict[str, Any] = {
        "schema": 1,
        "benchmark": "views speed",
        "machine": describe_machine(given.device),
        "seed": 0,
        "graph": "cora",
        "budget": BUDGET,
        "rollouts": {},
    }
    for runs in map(int, given.batch.split(",")):
        environment, ours = player(plain, "views", make_strategy("gain"), runs, given.turns)
        works = {
            OURS: ours,
            "gcn + policy": player(papers, "gcn", Learned(find_policy(given.policy)), runs, given.turns)[1],
        }
        if given.sketch:
            works["sketch"] = sketch(given.sketch.resolve(), runs, given.device)
        for work in works.values():  # compiles, allocates, records
            work(0)
        seconds: dict[str, list[float]] = {name: [] for name in works}
        busy: dict[str, list[float]] = {name: [] for name in works}
        scores: dict[str, list[float]] = {name: [] for name in works}
        for turn in range(given.turns):
            for name, work in works.items():
                begin, used = time.perf_counter(), time.process_time()
                scores[name].append(work(turn))
                seconds[name].append(time.perf_counter() - begin)
                busy[name].append(time.process_time() - used)
        medians = {name: statistics.median(values) for name, values in seconds.items()}
        counted = operations(environment, make_strategy("gain")) if given.device == "cpu" else collections.Counter()
        record: dict[str, Any] = {
            name: {
                "ms": 1e3 * medians[name],
                "all_ms": [1e3 * value for value in seconds[name]],
                "processor_ms": (
                    1e3 * statistics.median(busy[name])
                ),  # says more than the time where others use the machine
                "micro_f1": statistics.fmean(scores[name]),
                "times_ours": medians[name] / medians[OURS],
            }
            for name in works
        }
        if counted:
            record["operations_a_step"] = counted.total()
        for name in works:
            print(
                f"batch {runs:>3}  {name:<13}{1e3 * medians[name]:9.2f} ms  {medians[name] / medians[OURS]:5.2f} x "
                f" Micro-F1 {record[name]['micro_f1']:.1f}",
                flush=True,
            )
        if counted:
            print(f"batch {runs:>3}  {counted.total()} operations a step", flush=True)
        if given.operations:
            for name, count in counted.most_common():
                print(f"{count:5d}  {name}")
        if given.profile:
            record["profile"] = profile(ours, given.device, given.profile)
        result["rollouts"][str(runs)] = record
    result["load"] = os.getloadavg()
    if given.out:
        given.out.parent.mkdir(exist_ok=True)
        write_json(given.out, result, compact=True)


if __name__ == "__main__":
    main()
