"""A graph of a million nodes and ten million edges, stage by stage: views, a session, the studio's parts.

On a GPU a run of 50 queries.

    python benchmarks/million.py cpu [--nodes 1000000] [--threads 2] [--limit 540] [--folder DIR] [--out FILE]
    python benchmarks/million.py gpu [--device cuda] [--nodes 1000000,10000000] [--queries 50] [--out FILE]

Every part is a process of its own, whose peak of memory is its own; results are written after every stage, so that a
time limit costs what was not reached, and the next call with the same folder goes on with the graph and the views that
are there.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

PARTS = ("graph", "views", "create", "open", "studio", "http")
RESULTS = Path(__file__).parent / "results"


class Laps:
    """Tells what has gone by since the last lap, a line of JSON a stage."""

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        self.cpu, self.wall = time.process_time(), time.perf_counter()

    def __call__(self, what: str, **more: Any) -> None:
        cpu, wall = time.process_time() - self.cpu, time.perf_counter() - self.wall
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(
            json.dumps({"what": what, "wall": round(wall, 3), "cpu": round(cpu, 3), "peak_gb": round(peak, 3), **more}),
            flush=True,
        )
        self.start()


def make_graph(folder: Path, nodes: int) -> None:
    from nodewise.datasets import synthetic_graph
    from nodewise.datasets.synthetic import NAMED
    from nodewise.graph import write_graph

    lap = Laps()
    graph = synthetic_graph(replace(NAMED["sbm-1m"], nodes=nodes))
    lap("generate the graph")
    write_graph(graph, folder / "graph.npz")
    lap("write it")


def make_all_views(folder: Path, nodes: int) -> None:
    from nodewise.classifiers.views.views import cached_views
    from nodewise.graph import read_graph
    from nodewise.graph.tensors import GraphTensors
    from nodewise.ground.events import Event, Progress

    lap = Laps()
    graph = read_graph(folder / "graph.npz")
    lap("read it")
    tensors = GraphTensors(graph)
    lap("its tensors")
    begin = time.perf_counter()

    def told(event: Event) -> None:
        lap(
            f"view {event.done} of {event.total}"
            if isinstance(event, Progress)
            else f"told: {getattr(event, 'message', event)}"
        )

    cached_views(tensors, told)
    lap("keep the views in a file")
    lap("all views", seconds=round(time.perf_counter() - begin, 2))


def create(folder: Path, nodes: int) -> None:
    import numpy as np

    from nodewise.graph import read_graph
    from nodewise.session import Session

    lap = Laps()
    graph = read_graph(folder / "graph.npz")
    lap("read it")
    with Session.create(folder / "job.nodewise", graph, source=folder / "graph.npz", budget=50) as session:
        lap("create a session")
        taken: list[float] = []
        for _ in range(22):
            begin = time.perf_counter()
            node = session.ask().node
            taken.append(time.perf_counter() - begin)
            assert graph.y is not None
            session.tell(node, str(graph.y[node]))
        lap(
            "22 questions",
            first=round(taken[0], 3),
            p50=round(float(np.median(taken[1:])), 3),
            worst=round(max(taken[1:]), 3),
        )
        session.predict()
        right = float((session.predict().best == graph.y).mean())
        lap("predictions of all nodes", accuracy=round(right, 4))


def open_again(folder: Path, nodes: int) -> None:
    from nodewise.session import Session

    lap = Laps()
    with Session.open(folder / "job.nodewise") as session:
        lap("open the session")
        query = session.ask()
        lap("the first question after opening, views from their file", why=list(query.why))
        session.predict()
        lap("predictions of all nodes")
        for label in range(3):
            session.tell(session.ask().node, str(label))
            lap.start()
            session.ask()
            lap("a question")
            session.predict()
            lap("predictions of all nodes")


def studio(folder: Path, nodes: int) -> None:
    from nodewise.graph import read_graph
    from nodewise.studio.layout.neighbourhood import Neighbours
    from nodewise.studio.layout.overview import draw_map
    from nodewise.studio.work.search import NameIndex

    lap = Laps()
    graph = read_graph(folder / "graph.npz")
    lap("read it")
    around = Neighbours(graph)
    lap("rows of neighbours, once")
    seen = around.around(int(graph.degree.argmax()), hops=2)
    lap("the neighbourhood of the largest hub", shown=len(seen.nodes), hidden=seen.hidden)
    names = NameIndex(None, graph.num_nodes)
    lap("an index of nodes, once")
    names.find("4711", 20)
    lap("search")
    drawn = draw_map(graph)
    lap("the map, once, in the background", shown=len(drawn.nodes), of=drawn.total, says_so=drawn.sampled)


def over_http(folder: Path, nodes: int) -> None:
    from studio_large import use  # needs the studio's extra

    use(folder / "job.nodewise", lambda line: print(json.dumps({"cpu": None, **line}), flush=True))


def on_gpu(nodes: int, device: str, queries: int, folder: Path | None) -> dict[str, Any]:
    """An episode of one run, timed twice: the first records the step, the second replays it."""
    import torch

    from nodewise.classifiers import make_classifier
    from nodewise.environment import Environment, draw_splits, rollout
    from nodewise.strategies import make_strategy

    torch.set_grad_enabled(False)
    begin = time.perf_counter()
    tensors, views, about = _stored(folder, nodes, device) or _drawn(nodes, device)
    _wait(device)
    made = time.perf_counter() - begin
    classifier = make_classifier("views")
    learner = classifier.start(tensors.unlabelled, views, 1, tensors.num_classes, queries)
    environment = Environment(tensors, learner, 1, queries)
    splits, strategy, seconds = draw_splits(tensors, 1, 0), make_strategy("gain"), []
    for episode in range(4):
        _wait(device)
        begin = time.perf_counter()
        asked = rollout(environment, strategy, splits, episode)
        _wait(device)
        seconds.append(time.perf_counter() - begin)
    begin = time.perf_counter()
    predicted = learner.logits()[0].argmax(-1)
    right = float((predicted == tensors.y).float().mean())
    predicting = time.perf_counter() - begin
    peak = (
        torch.cuda.max_memory_allocated() / 1e9
        if device.startswith("cuda")
        else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    )
    return {
        "nodes": nodes,
        "edges": tensors.adjacency.entries // 2,
        "queries": queries,
        "about": about,
        "made_in": round(made, 2),
        "first_episode": round(seconds[0], 3),
        "seconds": round(min(seconds[1:]), 4),
        "episodes": [round(each, 4) for each in seconds],
        "predictions_of_all_nodes": round(predicting, 4),
        "accuracy": round(right, 4),
        "peak_gb": round(peak, 2),
        "distinct": len(set(asked[0].tolist())),
    }


def _wait(device: str) -> None:
    if device.startswith("cuda"):
        import torch

        torch.cuda.synchronize()


def _stored(folder: Path | None, nodes: int, device: str) -> tuple[Any, Any, str] | None:
    """The graph and the views that the processor's part has left in the folder."""
    if folder is None or not (folder / "graph.npz").is_file():
        return None
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    from nodewise.classifiers import make_classifier
    from nodewise.graph import read_graph
    from nodewise.graph.tensors import GraphTensors

    graph = read_graph(folder / "graph.npz")
    if graph.num_nodes != nodes:
        return None
    tensors = GraphTensors(graph, device)
    return (
        tensors,
        tensors.prepared_by(make_classifier("views")),
        "the graph and its views as the processor's part made them",
    )


def _drawn(nodes: int, device: str) -> tuple[Any, Any, str]:
    """Ten classes, ten times as many edges as nodes, four fifths of them within a class, drawn on the device.

    Columns of views with their class's mean.
    """
    import torch

    from nodewise.classifiers.views.construction import GraphViews
    from nodewise.graph.tensors import GraphTensors, Sparse

    generator = torch.Generator(device).manual_seed(0)

    def uniform(count: int) -> torch.Tensor:
        return torch.rand(count, generator=generator, device=device)

    y = torch.randint(10, (nodes,), generator=generator, device=device)
    by_class = y.argsort()
    sizes = y.bincount(minlength=10)
    starts = sizes.cumsum(0) - sizes
    keys = torch.empty(0, dtype=torch.int64, device=device)
    while len(keys) < 10 * nodes:  # low ranks within a class are drawn more often: degrees follow a power law
        draws = 10 * nodes - len(keys) + nodes // 8
        kind = torch.randint(10, (draws,), generator=generator, device=device)
        other = torch.where(uniform(draws) < 0.8, kind, torch.randint(10, (draws,), generator=generator, device=device))
        ends = [by_class[starts[k] + (uniform(draws).double() ** 1.6 * sizes[k]).long()] for k in (kind, other)]
        low, high = torch.minimum(*ends), torch.maximum(*ends)
        keys = torch.unique(torch.cat([keys, (low * nodes + high)[low != high]]))
        del kind, other, ends, low, high
    keys = keys[torch.randperm(len(keys), generator=generator, device=device)[: 10 * nodes]]
    low, high = keys // nodes, keys % nodes
    both = torch.cat([keys, high * nodes + low]).sort().values
    del keys, low, high
    adjacency = Sparse.__new__(Sparse)
    adjacency.shape, adjacency.device, adjacency._blocks = (nodes, nodes), torch.device(device), {}
    adjacency.col = (both % nodes).int()
    degree = (both // nodes).bincount(minlength=nodes)
    del both
    adjacency.crow = torch.cat([degree.new_zeros(1), degree.cumsum(0)]).int()
    adjacency.values = torch.ones(len(adjacency.col), device=device)
    tensors = GraphTensors.__new__(GraphTensors)
    tensors.device, tensors.dtype, tensors.name = torch.empty(0, device=device).device, torch.float32, f"drawn-{nodes}"
    tensors.num_nodes, tensors.num_classes, tensors.num_features, tensors.has_features = nodes, 10, 128, True
    tensors.adjacency, tensors.degree, tensors.y, tensors._prepared, tensors._norm = (
        adjacency,
        degree.float(),
        y,
        {},
        [],
    )
    tensors.max_degree = int(degree.max())
    tensors.sparse_x = tensors.dense_x = tensors.offset = None
    means = torch.randn(10, 10, 64, generator=generator, device=device)
    columns = torch.empty(nodes, 10, 64, device=device)
    for first in range(0, nodes, 250_000):
        block = means[y[first : first + 250_000]]
        block += 3 * torch.randn(block.shape, generator=generator, device=device)
        columns[first : first + 250_000] = block / block.norm(dim=-1, keepdim=True)
    views = GraphViews(
        ("spectrum", "role", "near", "far", "farther", "farthest", "walk", "two hops", "own", "layers"), columns
    )
    return (
        tensors,
        views,
        "a graph drawn on the device; views of the true size, [node, 10, 64], drawn too, around a mean for each class",
    )


def part(name: str, folder: Path, nodes: int) -> None:
    import torch

    torch.set_grad_enabled(False)
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    {
        "graph": make_graph,
        "views": make_all_views,
        "create": create,
        "open": open_again,
        "studio": studio,
        "http": over_http,
    }[name](folder, nodes)


def on_cpu(given: argparse.Namespace) -> None:
    from machine import describe_machine

    from nodewise.evaluation import write_json

    given.folder.mkdir(parents=True, exist_ok=True)
    nodes, begin = int(given.nodes), time.perf_counter()
    os.environ["OMP_NUM_THREADS"] = str(given.threads)
    record = {
        "schema": 1,
        "benchmark": "million",
        "machine": {**describe_machine(), "threads": given.threads},
        "seed": 0,
        "nodes": nodes,
        "load_average_before": os.getloadavg()[0],
        "parts": {},
    }
    for name in given.parts.split(","):
        if name == "graph" and (folder_file := given.folder / "graph.npz").is_file() and folder_file.stat().st_size:
            continue
        if name == "create":
            (given.folder / "job.nodewise").unlink(missing_ok=True)
        stages: list[dict[str, Any]] = []
        record["parts"][name] = {"complete": False, "stages": stages}  # type: ignore[index]
        left = given.limit - (time.perf_counter() - begin)
        command = [
            sys.executable,
            __file__,
            "part",
            "--folder",
            str(given.folder),
            "--nodes",
            str(nodes),
            "--parts",
            name,
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            stopper = threading.Timer(max(1.0, left), child.kill)
            stopper.start()
            for line in child.stdout:
                stages.append(json.loads(line))
                print(name, line, end="", flush=True)
                write_json(given.out, record, compact=True)
            stopper.cancel()
        record["parts"][name]["complete"] = child.returncode == 0  # type: ignore[index]
        record["load_average"] = os.getloadavg()[0]
        write_json(given.out, record, compact=True)
        if child.returncode:
            break


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["cpu", "gpu", "part"])
    parser.add_argument("--nodes", default="1000000")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=float, default=540)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--queries", type=int, default=50)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.what == "part":
        part(given.parts, given.folder, int(given.nodes))
    elif given.what == "cpu":
        given.folder = given.folder or Path(tempfile.gettempdir()) / "nodewise-million"
        given.out = given.out or RESULTS / "million.json"
        on_cpu(given)
    else:
        from machine import describe_machine

        from nodewise.evaluation import write_json

        runs: list[dict[str, Any]] = []
        record = {
            "schema": 1,
            "benchmark": "million-gpu",
            "machine": describe_machine(given.device),
            "seed": 0,
            "runs": runs,
        }
        for nodes in map(int, given.nodes.split(",")):
            runs.append(on_gpu(nodes, given.device, given.queries, given.folder))
            print(json.dumps(runs[-1]), flush=True)
            write_json(given.out or RESULTS / "million-gpu.json", record, compact=True)


if __name__ == "__main__":
    main()
