"""Many strategies on the same splits of many graphs: work in chunks that are kept, so that nothing is done twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch

from nodewise.classifiers import make_classifier
from nodewise.environment import Environment, SplitSizes, Strategy, draw_splits
from nodewise.evaluation.comparison import Comparison, Outcome, Setting
from nodewise.evaluation.curves import reads_budget, rollout_curve
from nodewise.evaluation.evaluate import runs_at_once
from nodewise.evaluation.methods import Method
from nodewise.evaluation.store import Chunk, ChunkKey, ChunkStore, fingerprint
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.device import resolve_device
from nodewise.ground.errors import InputError
from nodewise.ground.events import Progress, Reporter, Silent
from nodewise.ground.seeds import derive_seed

__all__ = ["Contest", "compare"]


@dataclass(frozen=True)
class Contest:
    """What is played on one graph.

    Attributes:
        name: the graph's name.
        load: gives the graph when its turn has come, so that not all graphs are in memory at once.
        features: what is done to the features, for the record.
        budgets: queries; a strategy that does not read its budget is played once for all of them.
        methods: who plays; each has a name of its own.
        runs: independent runs.
        classifiers: what learns from the labels, by name.
        splits: test and validation nodes, if not the protocol's.
    """

    name: str
    load: Callable[[], Graph]
    features: str
    budgets: tuple[int, ...]
    methods: tuple[Method, ...]
    runs: int = 100
    classifiers: tuple[str, ...] = ("gcn",)
    splits: SplitSizes | None = None

    def __post_init__(self) -> None:
        if self.runs < 1 or not self.budgets or min(self.budgets) < 1:
            raise InputError(f"runs and budgets must be at least 1, got {self.runs} and {list(self.budgets)}")
        names = [method.name for method in self.methods]
        if not names or len(set(names)) < len(names):
            raise InputError(f"give at least one strategy, and each only once, got {', '.join(names) or 'none'}")


def compare(
    contests: Sequence[Contest],
    *,
    seed: int = 0,
    device: str = "auto",
    store: ChunkStore | None = None,
    engine: Literal["local", "ray"] = "local",
    reporter: Reporter | None = None,
) -> Comparison:
    """Plays all methods on all graphs with all classifiers at all budgets.

    Every method meets the same splits in the same runs. Scores do not depend on what else is compared, nor on what was kept before.

    Args:
        contests: one for each graph.
        seed: everything random follows from it.
        device: ``"auto"``, ``"cpu"`` or ``"cuda"``.
        store: finished chunks; those that it holds are not played again. A folder's store outlives a kill.
        engine: ``"local"`` plays one chunk after another in this process.
        reporter: told after every chunk, for each graph.
    """
    if engine != "local":
        raise InputError(f"engine {engine!r} needs nodewise's cluster room, which this version does not have yet: use --engine local")
    where, kept, report = resolve_device(device), store or ChunkStore(), reporter or Silent()
    settings = [setting for contest in contests for setting in _Play(contest, seed, where, kept, report).settings()]
    return Comparison(tuple(settings), seed, where.type)


class _Play:
    """One contest while it is played."""

    def __init__(self, contest: Contest, seed: int, device: torch.device, store: ChunkStore, report: Reporter) -> None:
        self._contest, self._seed, self._store, self._report = contest, seed, store, report
        graph = contest.load()
        self._tensors, self._fingerprint = GraphTensors(graph, device), fingerprint(graph)
        self._done = 0

    def settings(self) -> Iterator[Setting]:
        """Every classifier and budget, with what all methods reached."""
        contest = self._contest
        for classifier in contest.classifiers:
            self._environment: Environment | None = None
            reached = {method.name: self._outcomes(method, classifier) for method in contest.methods}
            for budget in contest.budgets:
                outcomes = {name: by_budget[budget] for name, by_budget in reached.items()}
                yield Setting(contest.name, contest.features, classifier, budget, outcomes)

    def _outcomes(self, method: Method, classifier: str) -> dict[int, Outcome]:
        contest, strategy, identity = self._contest, method.make(), tuple(method.identity().items())
        size = runs_at_once(self._tensors)
        splits = None if contest.splits is None else (contest.splits.test, contest.splits.validation)
        found: dict[int, list[Chunk]] = {budget: [] for budget in contest.budgets}
        for first in range(0, contest.runs, size):
            runs = min(size, contest.runs - first)
            keys = {
                budget: ChunkKey(
                    contest.name, self._fingerprint, contest.features, method.name, identity, classifier, budget, self._seed,
                    self._tensors.device.type, first, runs, splits,
                )
                for budget in contest.budgets
            }  # fmt: skip
            missing = [budget for budget, key in keys.items() if self._store.load(key) is None]
            together = [missing] if missing and not reads_budget(strategy) else [[budget] for budget in missing]
            for budgets in together:
                for budget, chunk in self._played(strategy, classifier, budgets, first, runs).items():
                    self._store.save(keys[budget], chunk)
            for budget, key in keys.items():
                kept = self._store.load(key)
                assert kept is not None
                found[budget].append(kept)
            self._done += runs
            total = len(contest.classifiers) * len(contest.methods) * contest.runs
            self._report(Progress(f"{contest.name}: {len(contest.methods)} strategies", self._done, total))
        return {budget: _joined(method, chunks) for budget, chunks in found.items()}

    def _played(self, strategy: Strategy, classifier: str, budgets: Sequence[int], first: int, runs: int) -> dict[int, Chunk]:
        """Scores by budget, from the same seeds as `evaluate`: chunk by chunk they are the same."""
        begin = time.perf_counter()
        tensors, seed = self._tensors, self._seed
        kept = self._environment
        if kept is None or (kept.runs, kept.budget) != (runs, max(budgets)):
            kept = self._environment = Environment(tensors, make_classifier(classifier, tensors, runs), runs, max(budgets))
        splits = draw_splits(tensors, runs, seed, first, self._contest.splits)
        curve = rollout_curve(kept, strategy, splits, derive_seed(seed, "chunk", first), budgets)
        asked = curve.queries.cpu().numpy()
        scores = {budget: [100 * part.cpu().double().numpy() for part in found] for budget, found in curve.scores.items()}
        share = (time.perf_counter() - begin) / len(budgets)
        return {budget: Chunk(micro, macro, asked[:, :budget], share) for budget, (micro, macro) in scores.items()}


def _joined(method: Method, chunks: Sequence[Chunk]) -> Outcome:
    micro, macro, queries = (np.concatenate([getattr(chunk, name) for chunk in chunks]) for name in ("micro_f1", "macro_f1", "queries"))
    return Outcome(method.strategy, method.policy_name, micro, macro, queries, sum(chunk.seconds for chunk in chunks))
