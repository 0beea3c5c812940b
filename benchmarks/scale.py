"""Time and memory against nodes, edges, features, classes, runs and labels, each with its exponent.

    python benchmarks/scale.py [--base NODES] [--sizes 5] [--only nodes,edges,…]
    python benchmarks/scale.py --one '{"nodes": 1000000}'

Every size is measured in a process of its own, so that its peak of memory is its own, on one thread and in processor time, which what else the machine
does changes little; wall time is told beside it. An exponent is the slope of log(time) against log(size).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from machine import describe_machine

QUANTITIES = ("nodes", "edges", "features", "classes", "runs", "labels")
RESULTS = Path(__file__).parent / "results" / "scale.json"


def measure(nodes: int, degree: float, features: int, classes: int, runs: int, labels: int, asks: int = 12) -> dict[str, Any]:
    """Seconds of processor and wall time of every stage, and gigabytes at their highest after it."""
    import torch

    from nodewise.classifiers import make_classifier
    from nodewise.classifiers.views.cache import cached_views
    from nodewise.datasets import synthetic_graph
    from nodewise.environment import Environment, draw_splits, rollout
    from nodewise.graph import write_graph
    from nodewise.graph.tensors import GraphTensors
    from nodewise.session import Session
    from nodewise.strategies import make_strategy

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", 1)))
    stages: dict[str, Any] = {}
    clock = [0.0, 0.0]

    def start() -> None:
        clock[:] = time.process_time(), time.perf_counter()

    def stop(name: str) -> None:
        cpu, wall = time.process_time() - clock[0], time.perf_counter() - clock[1]
        stages[name] = {"cpu": cpu, "wall": wall, "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6}
        print(f"  {name}: {cpu:.2f} s of processor time, {wall:.2f} s, peak {stages[name]['peak_gb']:.2f} GB", file=sys.stderr, flush=True)
        start()

    start()
    graph = synthetic_graph(
        nodes=nodes, classes=classes, mean_degree=degree, degrees="powerlaw", features=features, name=f"sbm-{nodes}", seed=1
    )
    stop("generate")
    tensors = GraphTensors(graph)
    stop("tensors")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder  # the views are made here, and read again where they are needed
        cached_views(tensors)
        stop("views")
        write_graph(graph, Path(folder) / "graph.npz")
        stop("write")
        if runs:
            views = make_classifier("views")
            environment = Environment.of(tensors, views, runs, labels)
            stop("environment")
            rollout(environment, make_strategy("gain"), draw_splits(tensors, runs, 0), 0)
            stop("rollout")
            return stages
        del tensors
        with Session.create(Path(folder) / "job.nodewise", Path(folder) / "graph.npz", budget=max(labels, asks + 1)) as session:
            stop("session")
            taken = []
            assert graph.y is not None
            for _ in range(asks):
                begin = time.process_time(), time.perf_counter()
                node = session.ask().node
                taken.append((time.process_time() - begin[0], time.perf_counter() - begin[1]))
                session.tell(node, str(graph.y[node]))
            stages["first ask"] = {"cpu": taken[0][0], "wall": taken[0][1]}
            stages["ask"] = {
                "cpu": float(np.median([cpu for cpu, _ in taken[1:]])),
                "wall": float(np.median([wall for _, wall in taken[1:]])),
            }
            start()
            session.predict()
            stop("predict")
    return stages


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--one", type=json.loads)
    parser.add_argument("--base", type=int, default=100_000)
    parser.add_argument("--sizes", type=int, default=5)
    parser.add_argument("--only", default=",".join(QUANTITIES))
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    usual = {"nodes": given.base, "degree": 20.0, "features": 128, "classes": 10, "runs": 0, "labels": 50}
    if given.one is not None:
        print(json.dumps(measure(**{**usual, **given.one})))
        return
    factors = np.geomspace(1, 10 if given.base >= 100_000 else 8, given.sizes)
    curves = {}
    for quantity in given.only.split(","):
        curves[quantity] = curve(quantity, usual, factors)
        write_json(given.out, usual, curves)


def curve(quantity: str, usual: dict[str, Any], factors: Any) -> dict[str, Any]:
    changed = {
        "nodes": lambda f: {"nodes": round(usual["nodes"] * f)},
        "edges": lambda f: {"degree": 10.0 * f},
        "features": lambda f: {"features": round(32 * f)},
        "classes": lambda f: {"classes": round(4 * f)},
        "runs": lambda f: {"runs": round(2 * f), "nodes": usual["nodes"] // 2, "labels": 20},
        "labels": lambda f: {"runs": 2, "nodes": usual["nodes"] // 2, "labels": round(20 * f)},
    }[quantity]
    points = []
    for factor in factors:
        settings = {**usual, **changed(factor)}
        print(quantity, settings, file=sys.stderr, flush=True)
        done = subprocess.run(
            [sys.executable, __file__, "--one", json.dumps(settings)],
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            check=True,
        )
        points.append({"factor": float(factor), **settings, "stages": json.loads(done.stdout)})
    exponents = {
        stage: float(np.polyfit(np.log(factors), np.log([max(point["stages"][stage]["cpu"], 1e-4) for point in points]), 1)[0])
        for stage in points[0]["stages"]
        if len(points) > 1
    }
    print(quantity, exponents, file=sys.stderr, flush=True)
    return {"points": points, "exponents": exponents}


def write_json(path: Path, usual: dict[str, Any], curves: dict[str, Any]) -> None:
    from nodewise.evaluation import write_json as write

    record = {
        "schema": 1,
        "benchmark": "scale",
        "machine": describe_machine(),
        "seed": 1,
        "load_average": os.getloadavg()[0],
        "usual": usual,
    }
    write(path, {**record, "curves": curves}, compact=True)


if __name__ == "__main__":
    main()
