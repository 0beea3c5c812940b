"""Chunks per second with one and with two Ray workers, and what Ray costs a chunk.

    python benchmarks/cluster.py

One worker and two take turns, all warmed up, and the median of the neighbours' ratios counts: what else the machine
does falls on both. The overhead is the time between a worker's chunks that none of them says it took. The memory is the
most that one worker took, times their number.
"""

from __future__ import annotations

import argparse
import os
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import torch
from machine import describe_machine
from ray.cluster_utils import Cluster

from nodewise.cluster import RayEngine
from nodewise.datasets import synthetic_graph
from nodewise.evaluation import compare, write_json


def worker_memory() -> float:
    """Gigabytes that one of this process's Ray workers has taken at most."""
    parents, highest = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, KeyError):  # it ended meanwhile
            told = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
            parents[int(folder.name)] = int(told["PPid"])
            if (folder / "cmdline").read_text().startswith(("ray::play_packed", "ray::IDLE")):
                highest[int(folder.name)] = int(told["VmHWM"].split()[0]) / 1e6

    def ours(process: int) -> bool:
        return process == os.getpid() or (process in parents and ours(parents[process]))

    return max(memory for process, memory in highest.items() if ours(process))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--chunks", type=int, default=7)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "cluster.json")
    given = parser.parse_args()
    torch.set_num_threads(1)
    graph = synthetic_graph(nodes=1000, features=64, seed=1, name="bench")
    small = {"object_store_memory": 80 * 2**20}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False, **small})
    for _ in range(2):
        cluster.add_node(num_cpus=1, **small)
    turns = []
    try:
        with RayEngine(cluster.address) as engine:

            def play(workers: int, chunks: int) -> dict[str, float]:
                # so many chunks are under way at a time
                engine._room = lambda ray: workers  # type: ignore[method-assign]
                came: list[float] = []
                found = compare(
                    graph,
                    ["random"],
                    classifiers=["gcn"],
                    budgets=20,
                    runs=10 * chunks,
                    device="cpu",
                    engine=engine,
                    reporter=lambda event: came.append(time.perf_counter()),
                )
                between = (came[-1] - came[0]) / (chunks - 1)
                return {
                    "seconds_a_chunk": between,
                    "seconds_inside": found.settings[0].outcomes["random"].seconds / chunks,
                    "memory_gb": workers * worker_memory(),
                }

            play(2, 6)
            for _ in range(given.turns):
                turns.append({"one": play(1, given.chunks), "two": play(2, given.chunks)})
    finally:
        cluster.shutdown()
    ratios = [turn["one"]["seconds_a_chunk"] / turn["two"]["seconds_a_chunk"] for turn in turns]
    overhead = float(np.median([turn["one"]["seconds_a_chunk"] - turn["one"]["seconds_inside"] for turn in turns]))
    ratio, load = float(np.median(ratios)), os.getloadavg()[0]
    print(
        f"two workers against one: {ratio:.2f} times the chunks per second {np.round(ratios, 2)}; overhead"
        f" {1000 * overhead:.0f} ms a chunk; load {load:.1f}"
    )
    record = {
        "turns": turns,
        "ratios": ratios,
        "ratio": ratio,
        "overhead_seconds_a_chunk": overhead,
        "load_average": load,
    }
    write_json(
        given.out,
        {"schema": 1, "benchmark": "cluster", "machine": describe_machine(), "seed": 1, **record},
        compact=True,
    )


if __name__ == "__main__":
    main()
