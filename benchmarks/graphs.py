"""How long reading, generating, saving and building graphs takes, and how much memory.

    python benchmarks/graphs.py --out benchmarks/results/graphs.json

Measures, each in a process of its own: reading Pubmed's npz on one core (where the data folder holds it) against
numpy's bare reading of the same arrays; a graph of a million nodes and ten million edges, generated, saved and loaded;
the 10 nearest neighbours of 60,000 generated pictures of 784 pixels, and of 20,000 of them against scikit-learn's.
About two minutes on two cores, and 1 GB of disk.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from nodewise.ground.compute import numpy_generator

LIMITS = {"pubmed_seconds": 0.5, "million_peak_gb": 4.0, "knn_peak_gb": 4.0, "knn_seconds": 120.0}


def timed(work: Any) -> tuple[Any, float]:
    began = time.perf_counter()
    result = work()
    return result, time.perf_counter() - began


def peak_gb() -> float:
    import resource

    return round(
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e9, 3
    )


def read_pubmed(folder: Path, seed: int) -> dict[str, Any]:
    from nodewise.graph import read_graph

    path = folder / "pubmed.npz"

    def bare() -> None:
        with np.load(path, allow_pickle=False) as file:
            for key in file.files:
                file[key]

    graph, first = timed(lambda: read_graph(path))
    pairs = [(timed(lambda: read_graph(path))[1], timed(bare)[1]) for _ in range(7)]
    ours, theirs = (median(times) for times in zip(*pairs, strict=True))
    size = {"nodes": graph.num_nodes, "edges": graph.num_edges, "stored_values": int(graph.x.nnz)}
    times = {
        "first_seconds": round(first, 4),
        "seconds": round(ours, 4),
        "numpy_seconds": round(theirs, 4),
        "ratio_to_numpy": round(ours / theirs, 2),
    }
    return {**size, **times, "peak_gb": peak_gb()}


def generate_million(folder: Path, seed: int) -> dict[str, Any]:
    from nodewise.datasets.synthetic import NAMED, synthetic_graph
    from nodewise.graph import write_graph

    graph, generated = timed(lambda: synthetic_graph(NAMED["sbm-1m"], seed=seed))
    after = peak_gb()
    _, saved = timed(lambda: write_graph(graph, folder / "million.npz"))
    size = {
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "features": graph.num_features,
        "homophily": graph.homophily,
    }
    generating = {"generate_seconds": round(generated, 2), "generate_peak_gb": after}
    return {
        **size,
        **generating,
        "save_seconds": round(saved, 2),
        "save_peak_gb": peak_gb(),
        "file_mb": round((folder / "million.npz").stat().st_size / 1e6, 1),
    }


def load_million(folder: Path, seed: int) -> dict[str, Any]:
    from nodewise.graph import read_graph

    graph, seconds = timed(lambda: read_graph(folder / "million.npz"))
    assert graph.num_edges == 10_000_000
    return {"load_seconds": round(seconds, 2), "load_peak_gb": peak_gb()}


def pictures(count: int, seed: int) -> np.ndarray:
    """Pictures around ten prototypes, each a mixture of a few smooth strokes, 256 shades."""
    rng = numpy_generator(seed, "pictures")
    strokes = np.maximum(rng.standard_normal((24, 784)), 0).astype(np.float32)
    prototypes = rng.gamma(0.5, 1.0, (10, 24)).astype(np.float32)
    mixture = prototypes[rng.integers(0, 10, count)] * rng.gamma(4.0, 0.25, (count, 24)).astype(np.float32)
    x = mixture @ strokes
    x += rng.standard_normal(x.shape, dtype=np.float32) * 0.3
    return np.clip(np.rint(x * (255 / x.max() * 2)), 0, 255).astype(np.float32) / np.float32(255)


def nearest_neighbours(folder: Path, seed: int) -> dict[str, Any]:
    from nodewise.graph import knn_graph

    x = pictures(60_000, seed)
    results = {}
    for metric in ("cosine", "euclidean"):
        before = time.process_time()
        graph, seconds = timed(lambda metric=metric: knn_graph(x, 10, metric))
        used = time.process_time() - before  # over all cores: what other processes took of them does not count
        results[metric] = {"seconds": round(seconds, 1), "cpu_seconds": round(used, 1), "edges": graph.num_edges}
    return {"rows": 60_000, "columns": 784, "k": 10, **results, "peak_gb": peak_gb()}


def against_sklearn(folder: Path, seed: int) -> dict[str, Any]:
    from sklearn.neighbors import NearestNeighbors

    from nodewise.graph import knn_graph

    x = pictures(20_000, seed)
    search = NearestNeighbors(n_neighbors=10, algorithm="brute", metric="euclidean", n_jobs=-1)
    graph, ours = timed(lambda: knn_graph(x, 10, "euclidean"))
    theirs, seconds = timed(lambda: search.fit(x).kneighbors(return_distance=False))
    low, high = np.sort([np.repeat(np.arange(len(x)), 10), theirs.ravel()], axis=0)
    both = np.intersect1d(graph.edge_index[0] * len(x) + graph.edge_index[1], np.unique(low * len(x) + high))
    times = {
        "seconds": round(ours, 2),
        "sklearn_seconds": round(seconds, 2),
        "ratio_to_sklearn": round(ours / seconds, 2),
    }
    return {
        "rows": 20_000,
        "columns": 784,
        "k": 10,
        **times,
        "share_of_edges_in_both": round(len(both) / graph.num_edges, 6),
    }


TASKS = {
    task.__name__: task for task in (read_pubmed, generate_million, load_million, nearest_neighbours, against_sklearn)
}


def measure(task: str, folder: Path, seed: int, **environment: str) -> dict[str, Any]:
    """Runs a task in a process of its own, so that its peak memory is its own."""
    command = [sys.executable, __file__, "--task", task, "--folder", str(folder), "--seed", str(seed)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env={**os.environ, **environment})
    result: dict[str, Any] = json.loads(done.stdout)
    print(f"{task}: {json.dumps(result)}", flush=True)
    return result


def machine() -> dict[str, Any]:
    """What the figures depend on; nothing that tells one machine from another of its kind."""
    import scipy

    processor = platform.processor()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        processor = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), processor)
    versions = {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__}
    return {
        "system": platform.system(),
        "architecture": platform.machine(),
        "processor": processor,
        "cores": os.cpu_count(),
        **versions,
    }


def commit() -> str:
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False, cwd=Path(__file__).parent
    )
    return done.stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "graphs.json")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--task", choices=TASKS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.task:
        print(json.dumps(TASKS[given.task](given.folder, given.seed)))
        return
    from nodewise.datasets import data_folder

    busy = round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None  # processes that other work kept running
    result: dict[str, Any] = {
        "schema": 1,
        "benchmark": "graphs",
        "machine": {**machine(), "load_before": busy},
        "seed": given.seed,
        "commit": commit(),
        "limits": LIMITS,
    }
    one_core = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    if (data_folder() / "pubmed.npz").is_file():
        result["pubmed"] = measure("read_pubmed", data_folder(), given.seed, **one_core)
    else:
        print("pubmed.npz is not in the data folder (set NODEWISE_DATA): left out")
    with tempfile.TemporaryDirectory() as folder:
        result["million"] = {
            task: measure(task, Path(folder), given.seed) for task in ("generate_million", "load_million")
        }
    result["knn"] = measure("nearest_neighbours", Path(), given.seed)
    result["knn_against_sklearn"] = measure("against_sklearn", Path(), given.seed)
    million = result["million"]
    reached = {
        "million_peak_gb": max(million["generate_million"]["save_peak_gb"], million["load_million"]["load_peak_gb"]),
        "knn_peak_gb": result["knn"]["peak_gb"],
        "knn_seconds": max(result["knn"][metric]["seconds"] for metric in ("cosine", "euclidean")),
        **({"pubmed_seconds": result["pubmed"]["first_seconds"]} if "pubmed" in result else {}),
    }
    result["within_limits"] = {name: value <= LIMITS[name] for name, value in reached.items()}
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"written: {given.out}; within limits: {result['within_limits']}")


if __name__ == "__main__":
    main()
