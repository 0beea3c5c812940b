"""Chunks per second with one and with two Ray workers, and what Ray costs a chunk.

    python benchmarks/cluster.py

One worker, two workers, one worker again, in one run, all warmed up: what else the machine does meanwhile then falls on both. The overhead is the wall
time with one worker less what its chunks say they took, a chunk.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

import torch
from machine import describe_machine
from ray.cluster_utils import Cluster

from nodewise.cluster import RayEngine
from nodewise.datasets import synthetic_graph
from nodewise.evaluation import compare, write_json


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=12)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "cluster.json")
    given = parser.parse_args()
    torch.set_num_threads(1)
    graph = synthetic_graph(nodes=1000, features=64, seed=1, name="bench")
    small = {"object_store_memory": 80 * 2**20}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False, **small})
    cluster.add_node(num_cpus=1, **small)
    try:
        with RayEngine(cluster.address) as engine:

            def play(chunks: int) -> dict[str, Any]:
                begin = time.perf_counter()
                found = compare(graph, ["random"], classifiers=["gcn"], budgets=20, runs=10 * chunks, device="cpu", engine=engine)
                wall, inside = time.perf_counter() - begin, found.settings[0].outcomes["random"].seconds
                return {"chunks": chunks, "seconds": wall, "seconds_in_chunks": inside, "chunks_per_second": chunks / wall}

            play(2)
            before, load = play(given.chunks), os.getloadavg()[0]
            second = cluster.add_node(num_cpus=1, **small)
            play(4)
            both = play(given.chunks)
            cluster.remove_node(second)
            after = play(given.chunks)
    finally:
        cluster.shutdown()
    alone = 2 * given.chunks / (before["seconds"] + after["seconds"])
    overhead = sum(one["seconds"] - one["seconds_in_chunks"] for one in (before, after)) / (2 * given.chunks)
    record = {
        "one_worker": [before, after], "two_workers": both, "ratio": both["chunks_per_second"] / alone, "overhead_seconds_a_chunk": overhead,
        "load_average": load,
    }  # fmt: skip
    print(
        f"two workers against one: {record['ratio']:.2f} times the chunks per second; overhead {1000 * overhead:.0f} ms a chunk; load {load:.1f}"
    )
    write_json(given.out, {"schema": 1, "benchmark": "cluster", "machine": describe_machine(), "seed": 1, **record}, compact=True)


if __name__ == "__main__":
    main()
