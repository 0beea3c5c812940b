"""The map's layout against scikit-learn's and openTSNE's t-SNE.

Seconds, and how well the map shows the classes, on the same affinities.

    python benchmarks/studio_layout.py cora layout.json

One thread each. The quality is the accuracy of ten nearest neighbours on the map, five-fold. openTSNE is left out where
it is not installed.
"""

from __future__ import annotations

import json
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components
from sklearn.manifold import TSNE
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from nodewise.datasets import load_graph
from nodewise.studio.layout.affinity import reached_by_walks, spectral_start
from nodewise.studio.layout.unfolding import unfold


def measure(name: str) -> dict[str, Any]:
    """Seconds and quality of each way, on the graph's largest connected piece."""
    graph = load_graph(name)
    adjacency = graph.adjacency()
    _, piece = connected_components(adjacency, directed=False)
    chosen = np.flatnonzero(piece == np.argmax(np.bincount(piece)))
    assert graph.y is not None
    labels = graph.y[chosen]
    part = adjacency[chosen][:, chosen].tocsr()
    affinity, start = reached_by_walks(part, 0), spectral_start(part, 0)
    seed = np.ascontiguousarray((start / np.abs(start).max() * 1e-4).T)

    def ours() -> Any:
        return unfold(affinity, start).T

    def sklearn() -> Any:
        cells = affinity.tocoo()
        distance = np.full((len(chosen), len(chosen)), 20.0, np.float32)
        distance[cells.row, cells.col] = -np.log(np.maximum(cells.data / cells.data.max(), 1e-6))
        np.fill_diagonal(distance, 0)
        return TSNE(2, metric="precomputed", init=seed.astype(np.float32), n_jobs=1).fit_transform(
            np.minimum(distance, distance.T)
        )

    def opentsne() -> Any:
        from openTSNE import TSNEEmbedding
        from openTSNE.affinity import Affinities

        pairs = Affinities()
        pairs.P = affinity.tocsr().astype(np.float64) / affinity.sum()
        embedding = TSNEEmbedding(seed.astype(np.float64), pairs, n_jobs=1, negative_gradient_method="fft")
        return np.asarray(embedding.optimize(60, exaggeration=12, momentum=0.5).optimize(160, momentum=0.8))

    ways: dict[str, Callable[[], Any]] = {"ours": ours, "scikit-learn": sklearn, "openTSNE": opentsne}
    results: dict[str, Any] = {}
    for way, run in ways.items():
        began = time.process_time()
        try:
            positions = run()
        except ImportError:
            continue
        seconds = time.process_time() - began
        quality = float(cross_val_score(KNeighborsClassifier(10), positions, labels, cv=5).mean())
        results[way] = {"cpu_seconds": round(seconds, 2), "knn_accuracy": round(quality, 3)}
    for result in results.values():
        result["ratio"] = round(result["cpu_seconds"] / results["ours"]["cpu_seconds"], 1)
    return {
        "schema": 1,
        "graph": name,
        "nodes": len(chosen),
        "seed": 0,
        "machine": platform.processor() or platform.machine(),
        "ways": results,
    }


if __name__ == "__main__":
    figures = measure(sys.argv[1] if len(sys.argv) > 1 else "cora")
    text = json.dumps(figures, indent=1)
    if len(sys.argv) > 2:
        Path(sys.argv[2]).write_text(text + "\n")
    sys.stdout.write(text + "\n")
