"""One task, one function that plays it: a chunk of runs of one strategy and classifier on one graph, at one or several budgets.

`evaluate`, `compare`, the search of AGE's weights and the experiments make tasks and play them here; nothing else has such a loop. A task can be
pickled: it names its graph by reference and fingerprint.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from nodewise.contracts import Classifier, Strategy
from nodewise.datasets.registry import find_info as dataset_info
from nodewise.environment import Environment, Scores, Splits, SplitSizes, TestNodes, draw_splits, rollout
from nodewise.evaluation.store import Chunk, ChunkKey, code_of
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import derive_seed
from nodewise.ground.errors import InputError

__all__ = ["GraphReference", "Player", "Task", "default_splits", "play", "runs_at_once"]

_MEMORY = 4e9
"""Bytes that the runs of a chunk may take together."""


@dataclass(frozen=True)
class GraphReference:
    """A graph by where it comes from and by what it holds.

    Attributes:
        name: what it is called.
        fingerprint: a digest of its edges, features and labels, as they are after preprocessing.
        features: what was done to its features.
        source: a data set's name or a file; None for a graph that only this process has.
        data_dir: where names are looked for.
    """

    name: str
    fingerprint: str
    features: str = "raw"
    source: str | None = None
    data_dir: str | None = None

    @classmethod
    def of(cls, graph: Graph, source: str | Path | None = None, data_dir: str | Path | None = None) -> GraphReference:
        """A graph's reference.

        Args:
            source: the name or file that it was loaded from, if another process is to find it.
            data_dir: where names are looked for.
        """
        found, where = (None if part is None else str(part) for part in (source, data_dir))
        return cls(graph.name, graph.fingerprint, graph.features, found, where)

    def load(self) -> Graph:
        """The graph, read again from its source.

        Raises:
            InputError: it has no source, or the source holds another graph now.
        """
        from nodewise.datasets import load_graph

        if self.source is None:
            raise InputError(f"the graph {self.name!r} lies in another process's memory: write it to a file, and give that")
        graph = load_graph(self.source, features=self.features, data_dir=self.data_dir)
        if graph.fingerprint != self.fingerprint:
            raise InputError(f"the graph {self.source!r} has changed since the work began: begin anew, or put the old one back")
        return graph


@dataclass(frozen=True)
class Task:
    """A chunk of runs.

    Attributes:
        graph: which graph, its features as the classifier gets them.
        classifier, strategy: who learns and who asks.
        budgets: queries, several where the strategy does not read its budget.
        seed: everything random follows from it and from ``first``.
        first, runs: which runs: ``first`` to ``first + runs - 1``.
        splits: how many nodes are held out, or which are tested; None: the protocol's sizes.
        splits_of: whose split each run uses, if not its own: several runs on one split, for a search.
        score_on: the nodes that are scored.
        device: ``"cpu"`` or ``"cuda"``.
    """

    graph: GraphReference
    classifier: Classifier
    strategy: Strategy
    budgets: tuple[int, ...]
    seed: int
    first: int
    runs: int
    splits: SplitSizes | TestNodes | None = None
    splits_of: tuple[int, ...] | None = None
    score_on: Literal["test", "validation"] = "test"
    device: str = "cpu"

    def __post_init__(self) -> None:
        if not self.budgets or min(self.budgets) < 1 or self.runs < 1:
            raise InputError(f"runs and budgets must be at least 1, got {self.runs} and {list(self.budgets)}")
        if len(set(self.budgets)) > 1 and self.strategy.reads_budget:
            raise InputError(
                f"strategy {self.strategy.name!r} looks at its budget, so one rollout cannot give {list(self.budgets)}: play one for each"
            )

    def key(self, budget: int) -> ChunkKey:
        """Everything that the scores at one budget follow from."""
        return ChunkKey(
            graph=self.graph.name, fingerprint=self.graph.fingerprint, features=self.graph.features, strategy=code_of(self.strategy),
            classifier=code_of(self.classifier), budget=budget, seed=self.seed, device=self.device, first=self.first, runs=self.runs,
            splits=None if self.splits is None else self.splits.identity(), splits_of=self.splits_of, score_on=self.score_on,
        )  # fmt: skip


def runs_at_once(graph: GraphTensors, classifier: Classifier, strategy: Strategy, budget: int, device: str | None = None) -> int:
    """How many runs make one chunk: 10 on the CPU, 50 on a GPU, fewer where they would need over 4 GB.

    It follows from graph, classifier, strategy and the kind of device alone, so that a result is the same however many workers made it.

    Args:
        device: where the runs will be done, if not where the graph's tensors are.
    """
    most = 50 if (device or graph.device.type).startswith("cuda") else 10
    size = classifier.bytes_per_run(graph, budget) + strategy.bytes_per_run(graph, budget)
    return max(1, min(most, int(_MEMORY // max(1, size))))


def default_splits(graph: Graph) -> SplitSizes | None:
    """The sizes that the protocol has for this graph alone, told by its name; None: those that follow from the number of nodes."""
    info = dataset_info(graph.name)
    return SplitSizes(*info.splits) if info is not None and info.splits is not None and info.nodes == graph.num_nodes else None


@dataclass
class Player:
    """Plays tasks, and keeps what the next one is likely to need: the last graph's tensors, the environment, the strategy that was recorded."""

    _graphs: dict[str, Graph] = field(default_factory=dict)
    _tensors: tuple[tuple[str, str], GraphTensors] | None = None
    _environment: tuple[Any, Environment] | None = None
    _strategy: tuple[Any, Strategy] | None = None

    def hold(self, graph: Graph, reference: GraphReference) -> None:
        """Use this graph wherever the reference is met, instead of loading it; the last one held is kept."""
        self._graphs = {reference.fingerprint: graph}

    def tensors(self, reference: GraphReference, device: str) -> GraphTensors:
        """The graph's tensors on a device."""
        key = (reference.fingerprint, device)
        if self._tensors is None or self._tensors[0] != key:
            graph = self._graphs.get(reference.fingerprint) or reference.load()
            self._environment = None
            self._tensors = (key, GraphTensors(graph, device))
        return self._tensors[1]

    def play(self, task: Task) -> dict[int, Chunk]:
        """The chunk at each budget. Its numbers follow from the task alone."""
        begin = time.perf_counter()
        tensors = self.tensors(task.graph, task.device)
        environment = self._environment_for(task, tensors)
        rows = task.splits_of or range(task.first, task.first + task.runs)
        lowest = min(rows)
        drawn = draw_splits(tensors, max(rows) - lowest + 1, task.seed, lowest, task.splits)
        splits = drawn.rows([row - lowest for row in rows]) if task.splits_of else drawn
        scores, queries = _play_curve(environment, self._same_strategy(task.strategy), splits, task)
        asked = queries.cpu().numpy()
        share = (time.perf_counter() - begin) / len(task.budgets)
        chunks = {}
        for budget, score in scores.items():
            micro, macro = (100 * part.cpu().double().numpy() for part in score)
            chunks[budget] = Chunk(micro, macro, np.ascontiguousarray(asked[:, :budget]), share)
        return chunks

    def _environment_for(self, task: Task, tensors: GraphTensors) -> Environment:
        key = (code_of(task.classifier), task.runs, max(task.budgets))
        if self._environment is None or self._environment[0] != key or self._environment[1].graph is not tensors:
            self._environment = (key, Environment.of(tensors, task.classifier, task.runs, max(task.budgets)))
        return self._environment[1]

    def _same_strategy(self, strategy: Strategy) -> Strategy:
        """The strategy that was played last, if this is its like: a GPU's recorded step belongs to an object."""
        key = code_of(strategy)
        if self._strategy is None or self._strategy[0] != key:
            self._strategy = (key, strategy)
        return self._strategy[1]


def _play_curve(environment: Environment, strategy: Strategy, splits: Splits, task: Task) -> tuple[dict[int, Scores], torch.Tensor]:
    """One episode of every run, scored at each budget on the way.

    The scores are those that episodes of these budgets have, for the first queries of a longer episode are a shorter episode, and a snapshot brings
    the learner back after it has finished. Without snapshots every budget is an episode of its own.
    """
    nodes = splits.test if task.score_on == "test" else splits.validation
    seed = derive_seed(task.seed, "chunk", task.first)
    earlier = sorted(set(task.budgets))[:-1]
    scores: dict[int, Scores] = {}
    trained = task.classifier.trained
    if earlier and trained and environment.learner.snapshot() is None:
        for budget in earlier:
            shorter = Environment.of(environment.graph, task.classifier, task.runs, budget)
            rollout(shorter, strategy, splits, seed)
            scores[budget] = shorter.score(nodes)
        earlier = []

    def score_copy(queries: int) -> None:
        if queries in earlier:
            kept = environment.learner.snapshot() if trained else None
            environment.learner.finish()
            scores[queries] = environment.score(nodes)
            if trained:
                environment.learner.restore(kept)

    queries = rollout(environment, strategy, splits, seed, score_copy if earlier else None)
    with torch.no_grad():
        scores[environment.budget] = environment.score(nodes)
    return scores, queries


_PLAYER = Player()


def play(task: Task) -> dict[int, Chunk]:
    """Plays a task in this process, by the process's own player: what a worker is given."""
    return _PLAYER.play(task)
