"""Views of a graph of a million nodes, stage by stage; and a query of gain and predictions of all nodes, on random views of the same size.

    python benchmarks/million.py views|ask [--nodes 1000000]

Prints processor time, wall time and the highest memory so far after each stage; the figures of docs/scale.md are in results/million.json.
"""

from __future__ import annotations

import argparse
import resource
import time
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import torch

from nodewise.classifiers import make_classifier
from nodewise.classifiers.views.construction import GraphViews, make_views
from nodewise.datasets import synthetic_graph
from nodewise.datasets.synthetic import NAMED
from nodewise.graph.tensors import GraphTensors
from nodewise.strategies import make_strategy


class Laps:
    """Tells what has gone by since the last lap."""

    def __init__(self) -> None:
        self.cpu, self.wall = time.process_time(), time.perf_counter()

    def __call__(self, name: str) -> None:
        cpu, wall = time.process_time(), time.perf_counter()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(f"{name}: wall {wall - self.wall:.1f} cpu {cpu - self.cpu:.1f} peak {peak:.2f}", flush=True)
        self.cpu, self.wall = cpu, wall


def views(nodes: int) -> None:
    lap = Laps()
    graph = synthetic_graph(replace(NAMED["sbm-1m"], nodes=nodes))
    lap("graph")
    tensors = GraphTensors(graph)
    lap("tensors")
    make_views(tensors, lambda event: lap(f"view {event.done}"))  # type: ignore[attr-defined]
    lap("assembled")


def ask(nodes: int) -> None:
    generator = torch.Generator().manual_seed(0)
    columns = torch.empty(nodes, 10, 64)
    for first in range(0, nodes, 50_000):
        columns[first : first + 50_000] = torch.randn(min(50_000, nodes - first), 10, 64, generator=generator) / 8
    made = GraphViews(tuple("abcdefghij"), columns)
    learner: Any = make_classifier("views").start(None, made, 1, 10, 50)  # type: ignore[arg-type]
    learner.reset(0)
    learner.add(torch.arange(0, nodes, nodes // 21)[None, :21], (torch.arange(21) % 10)[None])
    device, pool = SimpleNamespace(device=torch.device("cpu")), torch.ones(1, nodes, dtype=torch.bool)
    noise = torch.rand(1, nodes, generator=generator)
    observation: Any = SimpleNamespace(learner=learner, num_classes=10, graph=device, pool=pool, noise=noise, runs=1)
    strategy, lap = make_strategy("gain"), Laps()
    for step in range(21, 25):
        observation.step = torch.tensor([step])
        node = strategy.scores(observation).masked_fill(~pool, -torch.inf).argmax(1)
        lap("ask")
        pool[0, node] = False
        learner.add(node[:, None], torch.tensor([[step % 10]]))
        torch.softmax(learner.logits(), -1)
        lap("predict")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["views", "ask"])
    parser.add_argument("--nodes", type=int, default=1_000_000)
    given = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    {"views": views, "ask": ask}[given.what](given.nodes)
