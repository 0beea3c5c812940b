"""Where our GraphPart and one written from libraries part ways: one step of it exchanged for ours at a time.

    python benchmarks/graphpart_steps.py [--seeds 10] [--out benchmarks/results/graphpart-steps.json]

The setting is that of `printed_figures.py`: Cora, 40 labels, a GCN of PyTorch Geometric, scored on all nodes. The steps
are the communities (both join one pair at a time; of pairs that gain the same, networkx takes the lower numbers, ours
those that are more alike), how they are joined to seven parts (the same rule, written twice) and k-means. "Other
numbers" is the libraries' program on the same graph with its nodes in another order, by the seed: what the choice among
equal gains is worth. But for that line a partition is one draw, whatever the seeds: the intervals are over k-means and
trainings alone.
Each line is written when it is done, and the same command goes on.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import torch
from machine import describe_machine
from printed_figures import Setting, scored
from sklearn.cluster import KMeans
from sklearn.metrics import f1_score

from nodewise.evaluation import write_json
from nodewise.graph.tensors import GraphTensors
from nodewise.strategies.medoids import cluster_shared
from nodewise.strategies.partition import Partition, joins

RESULT = Path(__file__).parent / "results" / "graphpart-steps.json"
PARTS, LABELS = 7, 40
Centres = Callable[[np.ndarray, int, int], np.ndarray]


def joined(parts: list[np.ndarray], features: np.ndarray) -> list[np.ndarray]:
    """Communities joined to seven parts, always the two with the smallest n m / (n + m) · ‖c − d‖."""
    parts = [part.copy() for part in parts]
    while len(parts) > PARTS:
        sizes = np.array([len(part) for part in parts], dtype=float)
        means = np.stack([features[part].mean(0) for part in parts]).astype(float)
        lengths = (means**2).sum(1)
        squares = np.maximum(lengths[:, None] + lengths - 2 * means @ means.T, 0)
        cost = np.sqrt(squares) * (sizes[:, None] * sizes) / (sizes[:, None] + sizes)
        np.fill_diagonal(cost, np.inf)
        first, second = sorted(divmod(int(cost.argmin()), len(parts)))
        parts[first] = np.concatenate([parts[first], parts.pop(second)])
    return sorted((np.sort(part) for part in parts), key=len, reverse=True)


def of_networkx(setting: Setting, order: np.ndarray) -> list[np.ndarray]:
    """Communities of networkx on the graph with its nodes in another order."""
    graph = nx.from_scipy_sparse_array(setting.adjacency[order][:, order])
    return [np.sort(order[list(part)]) for part in nx.community.greedy_modularity_communities(graph)]


def of_scikit_learn(points: np.ndarray, count: int, seed: int) -> np.ndarray:
    """Centres of scikit-learn's k-means."""
    found = KMeans(count, init="k-means++", n_init=1, random_state=seed).fit(points)
    return np.asarray(found.cluster_centers_)


def of_ours(points: np.ndarray, count: int, seed: int) -> np.ndarray:
    """Centres of our k-means."""
    draws, rows = torch.Generator().manual_seed(seed), torch.from_numpy(points).float()
    middle = rows.mean(0)
    found = cluster_shared(rows - middle, count, lambda number: torch.rand(1, len(rows), generator=draws))
    return np.asarray(found.centres[0] + middle)


def asked(points: np.ndarray, parts: list[np.ndarray], centres: Centres, seed: int) -> np.ndarray:
    """The nodes nearest to the centres of each part's clusters."""
    nodes: list[int] = []
    for turn, part in enumerate(parts):
        inside, chosen = points[part], list[int]()
        for centre in centres(inside, LABELS // PARTS + (turn < LABELS % PARTS), seed):
            distance = np.linalg.norm(inside - centre, axis=1)
            distance[chosen] = np.inf
            chosen.append(int(distance.argmin()))
        nodes += part[chosen].tolist()
    return np.array(nodes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=RESULT)
    parser.add_argument("--seeds", type=int, default=10)
    given = parser.parse_args()
    torch.set_num_threads(1)
    setting = Setting("cora", rows_sum_to_one=False)
    raw, spread, nodes = setting.x.numpy(), setting.propagated, np.arange(len(setting.y))
    in_order, division = of_networkx(setting, nodes), Partition.of(GraphTensors(setting.graph))
    own = [np.flatnonzero(division.members == number) for number in range(division.members.max() + 1)]
    sizes, means = np.array([float(len(part)) for part in in_order]), np.stack([raw[part].mean(0) for part in in_order])
    numbers = np.empty(len(nodes), dtype=np.int64)
    for number, part in enumerate(in_order):
        numbers[part] = number
    theirs = joined(in_order, raw)
    steps: dict[str, tuple[Callable[[int], list[np.ndarray]], Centres]] = {
        "libraries": (lambda seed: theirs, of_scikit_learn),
        "other numbers": (
            lambda seed: joined(of_networkx(setting, np.random.default_rng(seed).permutation(nodes)), raw),
            of_scikit_learn,
        ),
        "our communities": (lambda seed: joined(own, raw), of_scikit_learn),
        "our joining": (lambda seed: Partition(numbers, joins(sizes, means)).parts(PARTS), of_scikit_learn),
        "our k-means": (lambda seed: theirs, of_ours),
        "all ours": (lambda seed: division.parts(PARTS), of_ours),
    }
    rows: list[dict[str, Any]] = json.loads(given.out.read_text())["rows"] if given.out.exists() else []
    for name, (parts_of, centres) in steps.items():
        if any(row["step"] == name for row in rows):
            continue
        begin, values, divisions = time.process_time(), [], []
        for seed in range(given.seeds):
            divisions.append(parts_of(seed))
            network = setting.train(asked(spread, divisions[-1], centres, seed), 16, 0.0, 0.01, 300, seed)
            truth, guess = setting.y, setting.predicted(network)
            values.append(tuple(f1_score(truth, guess, average=average) for average in ("micro", "macro")))
        sizes_of = [[len(part) for part in parts] for parts in divisions]
        sizes_of = sizes_of[:1] if all(one == sizes_of[0] for one in sizes_of) else sizes_of
        rows.append({"step": name, "runs": given.seeds, "parts": sizes_of, **scored(values)})
        rows[-1]["processor_seconds"] = round(time.process_time() - begin, 1)
        print(name, sizes_of[0], rows[-1]["micro_f1"], flush=True)
        record = {"schema": 1, "benchmark": "graphpart steps", "machine": describe_machine(), "rows": rows}
        write_json(given.out, record, compact=True)


if __name__ == "__main__":
    main()
