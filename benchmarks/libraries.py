"""What a library would do in place of our own GraphML reader and nearest-neighbour search.

Time of the processor, memory, safety.

    python benchmarks/libraries.py --out benchmarks/results/libraries.json

Each reading and search runs in a process of its own, ours and the library's in turns. The GraphML is Cora's, as
`nodewise convert cora` writes it (where the data folder holds it, else a generated graph), and a file whose 2,000 nodes
have one of 2,000 keys each; the rows are 10,000 pictures as in `benchmarks/graphs.py`, and 6,000 rows of which each
occurs about ten times. About two minutes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from graphs import machine, peak_gb, pictures

from nodewise.graph import Graph, knn_graph, read_graph, write_graph

BOMB = """<?xml version="1.0"?><!DOCTYPE g [<!ENTITY a0 "aaaaaaaaaa">{}]>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="d" for="node" attr.name="t" attr.type="string"/>
<graph edgedefault="undirected"><node id="n"><data key="d">&a5;</data></node></graph></graphml>"""


def read_ours(path: Path) -> Any:
    return read_graph(path)


def read_networkx(path: Path) -> Any:
    import networkx as nx

    return Graph.from_networkx(nx.read_graphml(path))


def search_ours(path: Path) -> Any:
    return knn_graph(np.load(path), 10, "euclidean").edge_index


def search_sklearn(path: Path) -> Any:
    from sklearn.neighbors import NearestNeighbors

    x = np.load(path)
    near = NearestNeighbors(n_neighbors=10, algorithm="brute").fit(x).kneighbors(return_distance=False)
    low, high = np.sort([np.repeat(np.arange(len(x)), 10), near.ravel()], axis=0)
    return np.stack(np.divmod(np.unique(low * len(x) + high), len(x)))


def once(work: str, path: Path) -> dict[str, Any]:
    """One task in this process: seconds of the processor and the peak, imports and an empty process left out."""
    import networkx  # noqa: F401
    import sklearn.neighbors  # noqa: F401

    before, began = peak_gb(), time.process_time()
    try:
        result = globals()[work](path)
        refused = ""
    except Exception as error:
        result, refused = None, type(error).__name__
    told = {"cpu_seconds": time.process_time() - began, "peak_gb": round(peak_gb() - before, 3), "refused": refused}
    return {**told, "edges": int(result.shape[1])} if isinstance(result, np.ndarray) else told


def compared(path: Path, ours: str, theirs: str, rounds: int = 3) -> dict[str, Any]:
    """Both in turns, the median of each."""
    results: dict[str, list[dict[str, Any]]] = {ours: [], theirs: []}
    for _ in range(rounds):
        for work, told in results.items():
            command = [sys.executable, __file__, "--work", work, "--path", str(path)]
            told.append(json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout))
    seconds = {work: round(median(one["cpu_seconds"] for one in told), 2) for work, told in results.items()}
    summary = {
        work: {**told[0], "cpu_seconds": seconds[work], "peak_gb": max(one["peak_gb"] for one in told)}
        for work, told in results.items()
    }
    return {**summary, "ratio_of_time": round(seconds[ours] / max(seconds[theirs], 0.01), 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "libraries.json")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--path", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        print(json.dumps(once(given.work, given.path)))
        return
    from nodewise.datasets import data_folder, load_graph

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        graph = load_graph("cora" if (data_folder() / "cora.npz").is_file() else "sbm")
        write_graph(graph, folder / "graph.graphml")
        keys = "".join(f'<key id="k{i}" for="node" attr.name="k{i}" attr.type="double"/>' for i in range(2000))
        nodes = "".join(f'<node id="n{i}"><data key="k{i}">7</data></node>' for i in range(2000))
        head = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
        (folder / "wide.graphml").write_text(f'{head}{keys}<graph edgedefault="undirected">{nodes}</graph></graphml>')
        entities = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 6))
        (folder / "bomb.graphml").write_text(BOMB.format(entities))
        x = pictures(10_000, 0)
        np.save(folder / "pictures.npy", x)
        np.save(folder / "repeated.npy", x[np.random.default_rng(0).integers(0, 600, 6000)])
        result: dict[str, Any] = {"schema": 1, "benchmark": "libraries", "machine": machine(), "seed": 0}
        for file in ("graph", "wide", "bomb"):
            path = folder / f"{file}.graphml"
            result[f"graphml_{file}"] = {"bytes": path.stat().st_size, **compared(path, "read_ours", "read_networkx")}
            print(file, result[f"graphml_{file}"], flush=True)
        for file in ("pictures", "repeated"):
            result[f"knn_{file}"] = compared(folder / f"{file}.npy", "search_ours", "search_sklearn", 2)
            print(file, result[f"knn_{file}"], flush=True)
    given.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
