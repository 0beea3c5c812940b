"""Time and memory against nodes, edges, features, classes, runs and labels, each with its exponent.

    python benchmarks/scale.py [--base NODES] [--sizes 5] [--only nodes,edges,…] [--threads 2] [--limit 540] [--out
    FILE]
    python benchmarks/scale.py --one '{"nodes": 1000000}'
    python benchmarks/scale.py --relational [--threads 2]

Every size is measured in a process of its own, so that its peak of memory is its own. An exponent is the slope of
log(time) against log(size), of processor time on one thread, which what else a machine does changes little, or, with
`--clock wall` on a quiet machine, of wall time. "local nodes" are graphs in which neighbours have indices near each
other: the same number of operations without the processor's caches missing. Results are written after every size and
merged with those that are there; what a time limit leaves out is measured by the next call. `--relational` measures one
graph of papers, authors and venues, 200,000 nodes and 2 million edges, and writes a result of its own.
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

QUANTITIES = ("nodes", "edges", "runs", "labels", "features", "classes", "local nodes")
RESULTS = Path(__file__).parent / "results" / "scale.json"
RELATIONAL = RESULTS.with_name("relational-scale.json")


def make_graph(nodes: int, degree: float, features: int, classes: int, local: bool) -> Any:
    from nodewise.datasets import synthetic_graph
    from nodewise.graph import Graph

    if not local:
        return synthetic_graph(
            nodes=nodes,
            classes=classes,
            mean_degree=degree,
            degrees="powerlaw",
            features=features,
            name=f"sbm-{nodes}",
            seed=1,
        )
    generator = np.random.default_rng(1)
    edges = round(nodes * degree / 2)
    one = generator.integers(0, nodes, edges)
    other = (one + generator.integers(1, 500, edges)) % nodes
    y = np.arange(nodes) * classes // nodes
    x = generator.standard_normal((nodes, features), dtype=np.float32)
    return Graph.build(
        np.stack([one, other]), nodes, x=x, y=y, class_names=[str(c) for c in range(classes)], name=f"local-{nodes}"
    )


def make_relational(nodes: int, degree: float, features: int, classes: int) -> Any:
    """Papers that cite each other, their authors and venues, with `degree` / 2 edges a node of whatever type."""
    from nodewise.datasets import RelationSettings, relational_graph

    papers, authors = round(0.6 * nodes), round(0.375 * nodes)
    cited = degree / 2 * nodes / papers - 5  # beside four authors and a venue
    return relational_graph(
        {"paper": papers, "author": authors, "venue": nodes - papers - authors},
        [
            RelationSettings("written by", "paper", "author", 4.0, 0.8),
            RelationSettings("appears in", "paper", "venue", 1.0, 0.7),
            RelationSettings("cites", "paper", "paper", cited, 0.7),
        ],
        classes,
        features={"paper": (features, 1.0), "author": (features // 2, 1.0)},
        seed=1,
        name=f"relational-{nodes}",
    )


def measure(
    nodes: int,
    degree: float,
    features: int,
    classes: int,
    runs: int,
    labels: int,
    asks: int = 12,
    local: bool = False,
    relational: bool = False,
) -> dict[str, Any]:
    """Seconds of processor and wall time of every stage, and gigabytes at their highest after it."""
    import torch

    from nodewise.classifiers import make_classifier
    from nodewise.classifiers.views.views import cached_views
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
        print(
            f"  {name}: {cpu:.2f} s of processor time, {wall:.2f} s, peak {stages[name]['peak_gb']:.2f} GB",
            file=sys.stderr,
            flush=True,
        )
        start()

    start()
    if relational:
        whole = make_relational(nodes, degree, features, classes)
        print(whole, file=sys.stderr, flush=True)
        stop("generate")
        graph = whole.to_graph()
        stop("union")
    else:
        graph = make_graph(nodes, degree, features, classes, local)
        stop("generate")
    tensors = GraphTensors(graph)
    stop("tensors")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder  # the views are made here, and read again where they are needed
        cached_views(tensors)
        stop("views")
        if local:
            return stages
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
        source = Path(folder) / "graph.npz"
        with Session.create(
            Path(folder) / "job.nodewise", graph, source=source, budget=max(labels, asks + 1)
        ) as session:
            stop("session")
            taken = []
            assert graph.y is not None
            for _ in range(asks):
                begin = time.process_time(), time.perf_counter()
                node = session.ask().node
                taken.append((time.process_time() - begin[0], time.perf_counter() - begin[1]))
                session.tell(node, str(graph.y[node]))
            later = taken[2:] if relational else taken[1:]
            stages["first ask"] = _seconds(taken[0])
            if relational:  # with one label all views count alike, later few of them
                stages["second ask"] = _seconds(taken[1])
                stages["slowest later ask"] = _seconds(np.max(later, 0))
            stages["ask"] = _seconds(np.median(later, 0))
            start()
            session.predict()
            stop("predict")
    return stages


def _seconds(taken: Any) -> dict[str, float]:
    """Processor and wall time, as stages have them."""
    cpu, wall = taken
    return {"cpu": float(cpu), "wall": float(wall)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--one", type=json.loads)
    parser.add_argument("--base", type=int, default=100_000)
    parser.add_argument("--sizes", type=int, default=5)
    parser.add_argument("--only", default=",".join(QUANTITIES))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--clock", choices=["cpu", "wall"], default="cpu")
    parser.add_argument(
        "--limit", type=float, default=float("inf"), help="seconds after which no further size is begun"
    )
    parser.add_argument("--relational", action="store_true")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    given.out = given.out or (RELATIONAL if given.relational else RESULTS)
    usual = {"nodes": given.base, "degree": 20.0, "features": 128, "classes": 10, "runs": 0, "labels": 50}
    if given.one is not None:
        print(json.dumps(measure(**{**usual, **given.one})))
        return
    if given.relational:
        settings = {**usual, "nodes": 200_000, "relational": True}
        record = {"schema": 1, "benchmark": "relational scale", "seed": 1, "machine": describe_machine(), **settings}
        record |= {"threads": given.threads, "stages": measured(settings, given.threads)}
        given.out.write_text(
            json.dumps(record | {"load_average": os.getloadavg()[0]}, indent=1) + "\n", encoding="utf-8"
        )
        return
    factors = np.geomspace(1, 10 if given.base >= 100_000 else 8, given.sizes).tolist()
    record = json.loads(given.out.read_text(encoding="utf-8")) if given.out.is_file() else {}
    if record.get("usual") != usual:
        record = {"schema": 1, "benchmark": "scale", "seed": 1, "usual": usual, "curves": {}}
    end = time.perf_counter() + given.limit
    for quantity in given.only.split(","):
        measure_curve(quantity, usual, factors, given, record, end)


def settings_of(quantity: str, usual: dict[str, Any], factor: float) -> dict[str, Any]:
    """One point's settings. Edges are ten times as many as nodes at least, so that their share shows.

    Runs and labels are played on half the nodes.
    """
    half = usual["nodes"] // 2
    return {
        **usual,
        **{
            "nodes": {"nodes": round(usual["nodes"] * factor)},
            "local nodes": {"nodes": round(usual["nodes"] * factor), "local": True},
            "edges": {"degree": 20.0 * factor},
            "features": {"features": round(32 * factor)},
            "classes": {"classes": round(4 * factor)},
            "runs": {"runs": round(2 * factor), "nodes": half, "labels": 20},
            "labels": {"runs": 2, "nodes": half, "labels": round(20 * factor)},
        }[quantity],
    }


def measured(settings: dict[str, Any], threads: int, limit: float | None = None) -> Any:
    """What `measure` finds in a process of its own, whose threads sleep while they wait for each other."""
    command = [sys.executable, __file__, "--one", json.dumps(settings)]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive"}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, timeout=limit)
    return json.loads(done.stdout)


def measure_curve(
    quantity: str,
    usual: dict[str, Any],
    factors: list[float],
    given: argparse.Namespace,
    record: dict[str, Any],
    end: float,
) -> None:
    """Measure the sizes of a curve that are missing, as far as time goes."""
    curve = record["curves"].get(quantity, {})
    if curve.get("clock") != given.clock or curve.get("threads") != given.threads:
        curve = {"clock": given.clock, "threads": given.threads, "points": []}
    points: list[dict[str, Any]] = curve["points"]
    for factor in factors:
        settings = settings_of(quantity, usual, factor)
        if any(all(point.get(key) == value for key, value in settings.items()) for point in points):
            continue
        if time.perf_counter() > end:
            print(f"{quantity}: the rest is left to the next call", file=sys.stderr, flush=True)
            break
        print(quantity, settings, file=sys.stderr, flush=True)
        try:
            left = None if end == float("inf") else max(5.0, end - time.perf_counter())
            stages = measured(settings, given.threads, left)
        except subprocess.TimeoutExpired:
            print(f"{quantity}: a size was stopped at the limit", file=sys.stderr, flush=True)
            break
        points.append({"factor": factor, **settings, "stages": stages, "load_average": os.getloadavg()[0]})
        points.sort(key=lambda point: point["factor"])
        curve["exponents"] = {
            stage: float(
                np.polyfit(*(np.log(each) for each in zip(*_sizes(points, stage, given.clock), strict=True)), 1)[0]
            )
            for stage in points[0]["stages"]
            if len(points) > 1
        }
        curve["machine"] = describe_machine()
        record["curves"][quantity] = curve
        given.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(quantity, curve.get("exponents"), file=sys.stderr, flush=True)


def _sizes(points: list[dict[str, Any]], stage: str, clock: str) -> list[tuple[float, float]]:
    return [(point["factor"], max(point["stages"][stage][clock], 1e-4)) for point in points]


if __name__ == "__main__":
    main()
