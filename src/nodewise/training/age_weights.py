"""AGE's parameters for transfer (section 4.1).

A grid search on a labelled source graph, scored on its validation nodes.

Two forms are searched: fixed weights, as the paper words it, and ``basef``, the parameter of the released program's
changing weights. Different parameters are different runs of one batch, so that a whole grid is played at the price of a
few rollouts, and one rollout serves all budgets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nodewise.classifiers import make_classifier
from nodewise.contracts import Classifier
from nodewise.datasets import as_graph
from nodewise.evaluation.contest import check_counts, simulated_budget
from nodewise.evaluation.engine import LocalEngine
from nodewise.evaluation.task import RUNS_MEMORY, ChunkStore, GraphReference, Task, default_splits
from nodewise.graph import Graph
from nodewise.graph.features import prepared
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import resolve_device
from nodewise.ground.errors import InputError
from nodewise.ground.events import Progress, Reporter, Silent
from nodewise.strategies import Age

__all__ = ["BASEFS", "AgeSearch", "Weights", "search_age_budgets", "search_age_weights", "weight_grid"]

Weights = tuple[float, float, float]
"""Of entropy, centrality and density."""

BASEFS = (0.8, 0.9, 0.95, 0.98, 0.995)
"""What is tried for ``basef``; 0.95 is its authors'."""


@dataclass(frozen=True)
class AgeSearch:
    """What a search found on one source graph at one budget.

    Attributes:
        weights: the best triple.
        grid: every triple that was tried.
        scores: mean validation Micro-F1 of each, percent.
        basef: the best one of the changing weights.
        basefs: every one that was tried.
        basef_scores: mean validation Micro-F1 of each, percent. runs, basef_runs: runs of each triple, and of each
        ``basef``.
    """

    weights: Weights
    grid: tuple[Weights, ...]
    scores: tuple[float, ...]
    basef: float
    basefs: tuple[float, ...]
    basef_scores: tuple[float, ...]
    budget: int
    runs: int
    basef_runs: int
    seed: int

    def as_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return asdict(self)


def weight_grid(parts: int = 10) -> tuple[Weights, ...]:
    """Every triple of multiples of 1 / parts that sums to 1: 66 for tenths."""
    if parts < 1:
        raise InputError(f"the grid needs at least 1 part, got {parts}: 10 gives steps of 0.1")
    return tuple(
        (a / parts, b / parts, (parts - a - b) / parts) for a in range(parts + 1) for b in range(parts + 1 - a)
    )


def search_age_weights(graph: Graph | str | Path, *, budget: int | None = None, **options: Any) -> AgeSearch:
    """Finds the parameters with which AGE does best on a labelled graph at one budget; see `search_age_budgets`.

    Args:
        graph: the source graph, or its name or file.
        budget: queries in each run; by default as `evaluate` has it.
        options: as `search_age_budgets` takes them.
    """
    return next(iter(search_age_budgets(graph, None if budget is None else (budget,), **options).values()))


def search_age_budgets(
    graph: Graph | str | Path,
    budgets: Sequence[int] | None = None,
    *,
    classifier: str | Classifier = "gcn",
    runs: int = 20,
    parts: int = 10,
    basefs: Sequence[float] = BASEFS,
    basef_runs: int | None = None,
    seed: int = 0,
    device: str = "auto",
    features: str | None = None,
    store: ChunkStore | str | Path | None = None,
    reporter: Reporter | None = None,
) -> dict[int, AgeSearch]:
    """Finds the parameters with which AGE does best on a labelled graph. Only validation nodes are scored.

    Test nodes are never read.

    Args:
        graph: the source graph, or its name or file.
        budgets: queries in each run; by default one, as `evaluate` has it. All are played in one go.
        classifier: what learns from the labels, by name or as an object.
        runs: runs of each triple, on the same splits for all triples.
        parts: the grid's steps are 1 / parts.
        basefs: what is tried for the changing weights.
        basef_runs: runs of each ``basef``; five times ``runs`` by default, since they are few and lie close together.
        seed: everything random follows from it.
        device: ``"auto"``, ``"cpu"`` or ``"cuda"``.
        features: preprocessing by name; by default the classifier's own.
        store: finished batches, or a folder for them: a search that was stopped goes on from there.
        reporter: called after every batch.

    Returns:
        What was found, by budget.
    """
    graph = as_graph(graph)
    if graph.y is None or not (graph.y >= 0).any():
        raise InputError(
            f"source graph {graph.name!r} has no labels: weights are searched on graphs whose labels are known"
        )
    chosen = (simulated_budget(graph),) if budgets is None else tuple(sorted(set(budgets)))
    more = 5 * runs if basef_runs is None else basef_runs
    for budget in chosen:
        check_counts(runs, budget, seed)
    if not chosen or not basefs or more < 1:
        raise InputError(f"a search needs a budget, a basef and a run, got {list(chosen)}, {list(basefs)} and {more}")
    learns = make_classifier(classifier)
    games = _Games(
        prepared(graph, features, learns.default_features(graph)),
        learns,
        chosen,
        seed,
        str(resolve_device(device)),
        store,
        reporter,
    )
    grid = weight_grid(parts)
    fixed = games.scores(len(grid), runs, lambda some: Age([grid[one] for one in some]), "AGE's weights")
    changing = games.scores(
        len(basefs), more, lambda some: Age(basef=[basefs[one] for one in some]), "AGE's basef", at_once=50
    )
    return {
        budget: AgeSearch(
            grid[int(fixed[budget].argmax())],
            grid,
            tuple(fixed[budget].round(4).tolist()),
            float(basefs[int(changing[budget].argmax())]),
            tuple(map(float, basefs)),
            tuple(changing[budget].round(4).tolist()),
            budget,
            runs,
            more,
            seed,
        )
        for budget in chosen
    }


class _Games:
    """Many parameters on the same splits of one graph."""

    def __init__(
        self,
        graph: Graph,
        classifier: Classifier,
        budgets: tuple[int, ...],
        seed: int,
        device: str,
        store: ChunkStore | str | Path | None,
        reporter: Reporter | None,
    ) -> None:
        self._graph, self._classifier, self._budgets, self._seed, self._device = (
            graph,
            classifier,
            budgets,
            seed,
            device,
        )
        self._engine, self._store = LocalEngine(), ChunkStore.of(store)
        self._reference, self._tensors = self._engine.prepare(graph, GraphReference.of(graph), device)
        self._report = reporter or Silent()

    def scores(
        self, count: int, runs: int, together: Callable[[Sequence[int]], Age], what: str, at_once: int = 0
    ) -> dict[int, npt.NDArray[np.float64]]:
        """The mean validation score of each of so many settings, by budget.

        Games are numbered run × settings + setting; a game's split follows from its run, whatever the setting.

        Args:
            together: makes AGE with one setting a run from the settings' numbers.
            at_once: games in a batch; as many as there are settings by default.
        """
        total = count * runs
        size = _batch_size(self._tensors, self._classifier, max(self._budgets), at_once or count)
        scores: dict[int, list[npt.NDArray[np.float64]]] = {budget: [] for budget in self._budgets}
        for first in range(0, total, size):
            games = range(first, min(first + size, total))
            task = Task(
                self._reference,
                self._classifier,
                together([game % count for game in games]),
                self._budgets,
                self._seed,
                first,
                len(games),
                default_splits(self._graph),
                splits_of=tuple(game // count for game in games),
                score_on="validation",
                device=self._device,
            )
            chunks = {budget: self._store.load(task, budget) for budget in self._budgets}
            if any(chunk is None for chunk in chunks.values()):
                for budget, chunk in self._engine.play_one(task).items():
                    self._store.save(task, budget, chunk)
                    chunks[budget] = chunk
            for budget, kept in chunks.items():
                assert kept is not None
                scores[budget].append(kept.micro_f1)
            self._report(Progress(f"{self._graph.name} {what}", games[-1] + 1, total))
        return {budget: np.concatenate(parts).reshape(runs, count).mean(0) for budget, parts in scores.items()}


def _batch_size(graph: GraphTensors, classifier: Classifier, budget: int, wanted: int) -> int:
    """As many games as are wanted, fewer on the CPU and where they would need over 4 GB.

    It depends on graph and device alone.
    """
    most = wanted if graph.device.type == "cuda" else min(wanted, 22)
    return max(1, min(most, int(RUNS_MEMORY // max(1, classifier.bytes_per_run(graph, budget)))))
