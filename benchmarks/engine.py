"""How fast a rollout is: nodewise against a plain PyTorch Geometric loop and, where its path is given, another
implementation.

    python benchmarks/engine.py --device cpu                 a batch of 10 runs on Cora, alternately with the plain loop
    python benchmarks/engine.py --device cuda --batch 10,100 --train
    python benchmarks/engine.py --sketch path/to/sketch.py

A rollout is 35 × (all five state features, GCN policy, argmax, query, epoch) + 35 epochs + test Micro and Macro-F1. The
ratio in the result compares medians measured in the same process, in turns.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from machine import describe_machine
from plain_loop import PlainLoop

from nodewise.classifiers import Gcn
from nodewise.datasets import load_graph
from nodewise.environment import Environment, draw_splits, rollout
from nodewise.evaluation import write_json
from nodewise.graph.tensors import GraphTensors
from nodewise.policy import find_policy
from nodewise.strategies import Learned

BUDGET = 35


def timed(work: Callable[[int], float], turn: int) -> tuple[float, float]:
    """Seconds of one call, and the mean Micro-F1 that it gives."""
    begin = time.perf_counter()
    score = work(turn)
    return time.perf_counter() - begin, score


def nodewise_rollout(graph: GraphTensors, runs: int, policy: str) -> Callable[[int], float]:
    environment = Environment.of(graph, Gcn(), runs, BUDGET)
    strategy = Learned(find_policy(policy))

    def work(turn: int) -> float:
        splits = draw_splits(graph, runs, 0, turn * runs)
        rollout(environment, strategy, splits, turn)
        scores = environment.score(splits.test)
        return 100 * float(torch.stack(scores).mean(1)[0])  # waits for the device

    return work


def sketch_rollout(path: Path, runs: int, device: str) -> Callable[[int], float]:
    spec = importlib.util.spec_from_file_location("sketch", path)
    assert spec is not None and spec.loader is not None
    sketch = importlib.util.module_from_spec(spec)
    sys.modules["sketch"] = sketch
    spec.loader.exec_module(sketch)
    graph = sketch.Graph("cora", "", device)
    state = sketch.Runs(graph, runs)
    policy = sketch.Released(path.parent / "policies" / "pretrain_cora+citeseer.pkl", device)

    def work(turn: int) -> float:
        torch.manual_seed(turn)
        sketch.rollout(state, policy, BUDGET)
        return float(torch.stack(state.scores(state.test)).mean(1)[0])

    return work


def training_seconds(device: str, episodes: int) -> float:
    from nodewise.training import TrainingSettings, train_policy

    graphs = [load_graph(name, features="paper") for name in ("cora", "citeseer")]
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        train_policy(
            graphs,
            TrainingSettings(budgets=(35, 30), episodes=episodes),
            out=Path(folder) / "p.safetensors",
            device=device,
        )
        return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--batch", default="10")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--policy", default="cora+citeseer")
    parser.add_argument("--sketch", type=Path)
    parser.add_argument(
        "--plain-runs",
        type=int,
        default=2,
        help="runs of the plain loop a turn; its time is scaled to the batch; 0: leave it out",
    )
    parser.add_argument(
        "--train",
        type=int,
        nargs="?",
        const=2000,
        default=0,
        metavar="EPISODES",
        help="also train on Cora and Citeseer with batch 5",
    )
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "engine.json")
    given = parser.parse_args()
    torch.set_num_threads(2)
    graph = load_graph("cora", features="paper")
    tensors = GraphTensors(graph, given.device)
    result: dict[str, object] = {
        "schema": 1,
        "benchmark": "engine",
        "machine": describe_machine(given.device),
        "seed": 0,
        "budget": BUDGET,
        "rollouts": {},
    }
    for runs in map(int, given.batch.split(",")):
        works: dict[str, Callable[[int], float]] = {"nodewise": nodewise_rollout(tensors, runs, given.policy)}
        if given.sketch:
            works["sketch"] = sketch_rollout(given.sketch.resolve(), runs, given.device)
        if given.plain_runs and given.device == "cpu":
            works["plain loop"] = PlainLoop(graph, find_policy(given.policy), given.plain_runs, BUDGET)
        seconds: dict[str, list[float]] = {name: [] for name in works}
        scores: dict[str, list[float]] = {name: [] for name in works}
        for name, work in works.items():  # warm-up: compiles, allocates, records
            if name != "plain loop":
                work(0)
        for turn in range(given.turns):
            for name, work in works.items():
                took, score = timed(work, turn)
                seconds[name].append(took * (runs / given.plain_runs if name == "plain loop" else 1))
                scores[name].append(score)
        medians = {name: statistics.median(values) for name, values in seconds.items()}
        record = {
            name: {
                "seconds": medians[name],
                "all_seconds": seconds[name],
                "micro_f1": statistics.fmean(scores[name]),
                "times_nodewise": medians[name] / medians["nodewise"],
            }
            for name in works
        }
        assert isinstance(result["rollouts"], dict)
        result["rollouts"][str(runs)] = record
        for name, values in record.items():
            print(
                f"batch {runs:>3}  {name:<10}  {1e3 * values['seconds']:9.2f} ms  {values['times_nodewise']:6.1f} x "
                f" Micro-F1 {values['micro_f1']:.1f}",
                flush=True,
            )
    if given.train:
        result["training"] = {
            "graphs": ["cora", "citeseer"],
            "batch": 5,
            "episodes": given.train,
            "seconds": training_seconds(given.device, given.train),
        }
        print(f"training, {given.train} episodes of cora and citeseer, batch 5: {result['training']['seconds']:.1f} s")
    given.out.parent.mkdir(exist_ok=True)
    write_json(given.out, result, compact=True)


if __name__ == "__main__":
    main()
