"""AGE's fixed weights for transfer (section 4.1): a grid search on a labelled source graph, scored on its validation nodes.

Different weights are different runs of one batch, so that a whole grid is played at the price of a few rollouts.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nodewise.classifiers import make_classifier
from nodewise.contracts import Classifier
from nodewise.evaluation.evaluate import check_counts
from nodewise.evaluation.store import ChunkStore
from nodewise.evaluation.task import GraphReference, Player, Task, default_splits
from nodewise.graph import Graph
from nodewise.graph.features import prepared
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.device import resolve_device
from nodewise.ground.errors import InputError
from nodewise.ground.events import Progress, Reporter, Silent
from nodewise.strategies import Age

__all__ = ["AgeSearch", "Weights", "search_age_weights", "weight_grid"]

Weights = tuple[float, float, float]
"""Of entropy, centrality and density."""


@dataclass(frozen=True)
class AgeSearch:
    """What a search found on one source graph.

    Attributes:
        weights: the best triple.
        grid: every triple that was tried.
        scores: mean validation Micro-F1 of each, percent.
        runs: runs of each triple.
    """

    weights: Weights
    grid: tuple[Weights, ...]
    scores: tuple[float, ...]
    budget: int
    runs: int
    seed: int

    def as_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return asdict(self)


def weight_grid(parts: int = 10) -> tuple[Weights, ...]:
    """Every triple of multiples of 1 / parts that sums to 1: 66 for tenths."""
    if parts < 1:
        raise InputError(f"the grid needs at least 1 part, got {parts}: 10 gives steps of 0.1")
    return tuple((a / parts, b / parts, (parts - a - b) / parts) for a in range(parts + 1) for b in range(parts + 1 - a))


def search_age_weights(
    graph: Graph,
    *,
    classifier: str | Classifier = "gcn",
    budget: int | None = None,
    runs: int = 20,
    parts: int = 10,
    seed: int = 0,
    device: str = "auto",
    features: str | None = None,
    store: ChunkStore | str | Path | None = None,
    reporter: Reporter | None = None,
) -> AgeSearch:
    """Finds the weights with which AGE does best on a labelled graph. Only validation nodes are scored; test nodes are never read.

    Args:
        graph: the source graph.
        classifier: what learns from the labels, by name or as an object.
        budget: queries in each run; five a class by default.
        runs: runs of each triple, on the same splits for all triples.
        parts: the grid's steps are 1 / parts.
        seed: everything random follows from it.
        device: ``"auto"``, ``"cpu"`` or ``"cuda"``.
        features: preprocessing by name; by default the classifier's own.
        store: finished batches, or a folder for them: a search that was stopped goes on from there.
        reporter: told after every batch.
    """
    check_counts(runs, budget, seed)
    if graph.y is None or not (graph.y >= 0).any():
        raise InputError(f"source graph {graph.name!r} has no labels: weights are searched on graphs whose labels are known")
    learns = make_classifier(classifier)
    graph = prepared(graph, features, learns.default_features(graph))
    budget = 5 * graph.num_classes if budget is None else budget
    grid, report, where = weight_grid(parts), reporter or Silent(), str(resolve_device(device))
    player, reference = Player(), GraphReference.of(graph)
    player.hold(graph, reference)
    kept = store if isinstance(store, ChunkStore) else ChunkStore(store)
    size = _batch_size(player.tensors(reference, where), learns, budget, len(grid))
    total = len(grid) * runs  # game number run * len(grid) + triple
    found = []
    for first in range(0, total, size):
        games = range(first, min(first + size, total))
        strategy = Age([grid[game % len(grid)] for game in games])
        task = Task(
            reference, learns, strategy, (budget,), seed, first, len(games), default_splits(graph),
            splits_of=tuple(game // len(grid) for game in games), score_on="validation", device=where,
        )  # fmt: skip
        chunk = kept.load(task.key(budget))
        if chunk is None:
            chunk = player.play(task)[budget]
            kept.save(task.key(budget), chunk)
        found.append(chunk.micro_f1)
        report(Progress(f"{graph.name} AGE's weights", games[-1] + 1, total))
    scores = np.concatenate(found).reshape(runs, len(grid)).mean(0)
    best = grid[int(scores.argmax())]
    return AgeSearch(best, grid, tuple(scores.round(4).tolist()), budget, runs, seed)


def _batch_size(graph: GraphTensors, classifier: Classifier, budget: int, triples: int) -> int:
    """As many games as there are triples, fewer on the CPU and where they would need over 4 GB; it depends on graph and device alone."""
    most = triples if graph.device.type == "cuda" else min(triples, 22)
    return max(1, min(most, int(4e9 // classifier.bytes_per_run(graph, budget))))
