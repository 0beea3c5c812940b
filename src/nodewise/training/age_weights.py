"""AGE's fixed weights for transfer (section 4.1): a grid search on a labelled source graph, scored on its validation nodes.

Different weights are different runs of one batch, so that a whole grid is played at the price of a few rollouts.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from nodewise.classifiers import make_classifier
from nodewise.environment import Environment, Splits, draw_splits, rollout
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.device import resolve_device
from nodewise.ground.errors import InputError
from nodewise.ground.events import Progress, Reporter, Silent
from nodewise.ground.seeds import derive_seed
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
    budget: int | None = None,
    runs: int = 20,
    parts: int = 10,
    seed: int = 0,
    device: str = "auto",
    progress: str | Path | None = None,
    reporter: Reporter | None = None,
) -> AgeSearch:
    """Finds the weights with which AGE does best on a labelled graph. Only validation nodes are scored; test nodes are never read.

    Args:
        graph: the source graph, its features as they are to be used.
        budget: queries in each run; five a class by default.
        runs: runs of each triple, on the same splits for all triples.
        parts: the grid's steps are 1 / parts.
        seed: everything random follows from it.
        device: ``"auto"``, ``"cpu"`` or ``"cuda"``.
        progress: a file (JSON lines) that takes every finished batch; a search that finds one of its own there goes on from it.
        reporter: told after every batch.
    """
    if runs < 1:
        raise InputError(f"the number of runs must be at least 1, got {runs}")
    if graph.y is None or not (graph.y >= 0).any():
        raise InputError(f"source graph {graph.name!r} has no labels: weights are searched on graphs whose labels are known")
    budget = 5 * graph.num_classes if budget is None else budget
    grid, report = weight_grid(parts), reporter or Silent()
    tensors = GraphTensors(graph, resolve_device(device))
    size = _batch_size(tensors, len(grid))
    total = len(grid) * runs  # game number run * len(grid) + triple
    setting = {"graph": graph.name, "nodes": graph.num_nodes, "edges": graph.num_edges, "budget": budget, "runs": runs, "parts": parts}
    kept = _Kept(progress, {**setting, "seed": seed, "batch": size, "device": tensors.device.type})
    environment: Environment | None = None
    for first in range(0, total, size):
        if first not in kept.batches:
            games = np.arange(first, min(first + size, total))
            if environment is None or environment.runs != len(games):
                environment = Environment(tensors, make_classifier("gcn", tensors, len(games)), len(games), budget)
            kept.add(first, _play(environment, games, grid, seed))
        done = min(first + size, total)
        report(Progress(f"{graph.name} AGE's weights", done, total))
    scores = np.concatenate([kept.batches[first] for first in range(0, total, size)]).reshape(runs, len(grid)).mean(0)
    best = grid[int(scores.argmax())]
    return AgeSearch(best, grid, tuple(scores.round(4).tolist()), budget, runs, seed)


def _batch_size(graph: GraphTensors, triples: int) -> int:
    """As many games as there are triples, fewer on the CPU and where they would need over 4 GB; it depends on graph and device alone."""
    bytes_a_run = 4 * (graph.num_nodes * 64 * 4 + graph.num_features * 64 * 4 + 4 * graph.norm.entries)
    most = triples if graph.device.type == "cuda" else min(triples, 22)
    return max(1, min(most, int(4e9 // bytes_a_run)))


def _play(environment: Environment, games: np.ndarray, grid: Sequence[Weights], seed: int) -> list[float]:
    """The validation scores of some games, percent. A game's split follows from its run, whatever the weights."""
    run, triple = np.divmod(games, len(grid))
    drawn = draw_splits(environment.graph, int(run[-1] - run[0]) + 1, seed, first_run=int(run[0]))
    row = torch.from_numpy(run - run[0]).to(environment.graph.device)
    splits = Splits(drawn.test[row], drawn.validation[row], drawn.pool[row])
    strategy = Age([grid[number] for number in triple])
    rollout(environment, strategy, splits, derive_seed(seed, "AGE's weights", int(games[0])))
    scores: list[float] = (100 * environment.score(splits.validation).micro.double()).cpu().tolist()
    return scores


class _Kept:
    """The batches that are done, in memory and, if wanted, in a file whose first line tells the search's settings."""

    def __init__(self, path: str | Path | None, setting: dict[str, Any]) -> None:
        self._path = None if path is None else Path(path)
        self.batches: dict[int, list[float]] = {}
        if self._path is None:
            return
        whole = [line for line in self._lines() if line.endswith("\n")]  # a kill may leave the last one torn
        records = []
        for line in whole:
            try:
                records.append(json.loads(line))
            except ValueError:
                raise InputError(f"{str(self._path)!r} does not hold a search's progress: delete it, or name another file") from None
        if records and records[0] != setting:
            raise InputError(f"{str(self._path)!r} belongs to a search with other settings: use the same ones, or delete it")
        self.batches = {record["first"]: record["scores"] for record in records[1:]}
        self._path.write_text("".join(whole) if records else json.dumps(setting) + "\n", encoding="utf-8")

    def _lines(self) -> list[str]:
        assert self._path is not None
        if not self._path.absolute().parent.is_dir():
            raise InputError(f"there is no folder {str(self._path.parent)!r} to write {self._path.name!r} into: make it first")
        return self._path.read_text(encoding="utf-8").splitlines(keepends=True) if self._path.exists() else []

    def add(self, first: int, scores: list[float]) -> None:
        """Take in a finished batch."""
        self.batches[first] = scores
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"first": first, "scores": scores}) + "\n")
