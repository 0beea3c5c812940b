"""One task, one function that plays it.

A chunk of runs of one strategy and classifier on one graph, at one or several budgets.

`evaluate`, `compare`, the search of AGE's weights and the experiments make tasks and play them here; nothing else has
such a loop. A task can be
pickled: it names its graph by reference and fingerprint. What it gave is a `Chunk`, kept by a `ChunkStore` under a key
that holds all that it follows from.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch

from nodewise.contracts import Classifier, Strategy
from nodewise.datasets.load import find_info as dataset_info
from nodewise.environment import Environment, Scores, Splits, SplitSizes, TestNodes, draw_splits, rollout
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import derive_seed
from nodewise.ground.errors import InputError
from nodewise.ground.files import write_json
from nodewise.ground.identity import Identity, identity_of

__all__ = [
    "Chunk",
    "ChunkKey",
    "ChunkStore",
    "GraphReference",
    "Player",
    "Task",
    "default_splits",
    "play",
    "runs_at_once",
]


RUNS_MEMORY = 4e9
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
        origin, where = (None if part is None else str(part) for part in (source, data_dir))
        return cls(graph.name, graph.fingerprint, graph.features, origin, where)

    def load(self) -> Graph:
        """The graph, read again from its source.

        Raises:
            InputError: it has no source, or the source holds another graph now.
        """
        from nodewise.datasets import load_graph

        if self.source is None:
            raise InputError(
                f"the graph {self.name!r} lies in another process's memory: write it to a file, and give that"
            )
        graph = load_graph(self.source, features=self.features, data_dir=self.data_dir)
        if graph.fingerprint != self.fingerprint:
            raise InputError(
                f"the graph {self.source!r} has changed since the work began: begin anew, or put the old one back"
            )
        return graph


@dataclass(frozen=True)
class Task:
    """A chunk of runs.

    Attributes:
        graph: which graph, its features as the classifier gets them. classifier, strategy: who learns and who asks.
        budgets: queries, several where the strategy does not read its budget.
        seed: everything random follows from it and from ``first``. first, runs: which runs: ``first`` to ``first + runs
        - 1``.
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
                f"strategy {self.strategy.name!r} looks at its budget, so one rollout cannot give {list(self.budgets)}:"
                " play one for each"
            )

    def key(self, budget: int) -> ChunkKey:
        """Everything that the scores at one budget follow from."""
        return ChunkKey(
            graph=self.graph.name,
            fingerprint=self.graph.fingerprint,
            features=self.graph.features,
            strategy=identity_of(self.strategy),
            classifier=identity_of(self.classifier),
            budget=budget,
            seed=self.seed,
            device=self.device,
            first=self.first,
            runs=self.runs,
            splits=None if self.splits is None else self.splits.identity(),
            splits_of=self.splits_of,
            score_on=self.score_on,
        )


def runs_at_once(
    graph: GraphTensors, classifier: Classifier, strategy: Strategy, budget: int, device: str | None = None
) -> int:
    """How many runs make one chunk: 10 on the CPU, 50 on a GPU, fewer where they would need over 4 GB.

    It follows from graph, classifier, strategy and the kind of device alone, so that a result is the same however many
    workers made it.

    Args:
        device: where the runs will be done, if not where the graph's tensors are.
    """
    most = 50 if (device or graph.device.type).startswith("cuda") else 10
    size = classifier.bytes_per_run(graph, budget) + strategy.bytes_per_run(graph, budget)
    return max(1, min(most, int(RUNS_MEMORY // max(1, size))))


def default_splits(graph: Graph) -> SplitSizes | None:
    """The sizes that the protocol has for this graph alone, told by its name; None.

    Those that follow from the number of nodes.
    """
    info = dataset_info(graph.name)
    return (
        SplitSizes(*info.splits)
        if info is not None and info.splits is not None and info.nodes == graph.num_nodes
        else None
    )


@dataclass
class Player:
    """Plays tasks, and keeps what the next one is likely to need.

    The last graph's tensors, the environment, the strategy that was recorded.
    """

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
        key = (identity_of(task.classifier), task.runs, max(task.budgets))
        if self._environment is None or self._environment[0] != key or self._environment[1].graph is not tensors:
            self._environment = (key, Environment.of(tensors, task.classifier, task.runs, max(task.budgets)))
        return self._environment[1]

    def _same_strategy(self, strategy: Strategy) -> Strategy:
        """The strategy that was played last, if this is its like: a GPU's recorded step belongs to an object."""
        key = identity_of(strategy)
        if self._strategy is None or self._strategy[0] != key:
            self._strategy = (key, strategy)
        return self._strategy[1]


def play(task: Task) -> dict[int, Chunk]:
    """Plays a task in this process, by the process's own player: what a worker is given."""
    return _PLAYER.play(task)


_PLAYER = Player()


def _play_curve(
    environment: Environment, strategy: Strategy, splits: Splits, task: Task
) -> tuple[dict[int, Scores], torch.Tensor]:
    """One episode of every run, scored at each budget on the way.

    The scores are those that episodes of these budgets have, for the first queries of a longer episode are a shorter
    episode, and a snapshot brings the learner back after it has finished. Without snapshots every budget is an episode
    of its own.
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


@dataclass(frozen=True)
class Chunk:
    """What a chunk's runs reached.

    Attributes:
        micro_f1, macro_f1: percent: [run].
        queries: the nodes in the order asked: int64 [run, step].
        seconds: its share of the time that the rollout took.
    """

    micro_f1: npt.NDArray[np.float64]
    macro_f1: npt.NDArray[np.float64]
    queries: npt.NDArray[np.int64]
    seconds: float

    @classmethod
    def joined(cls, chunks: Sequence[Chunk]) -> Chunk:
        """The runs of several chunks, in that order, as those of one."""
        micro, macro, queries = (
            np.concatenate([getattr(chunk, name) for chunk in chunks]) for name in ("micro_f1", "macro_f1", "queries")
        )
        return cls(micro, macro, queries, sum(chunk.seconds for chunk in chunks))

    def fits(self, key: ChunkKey) -> bool:
        """Whether these can be a chunk's results at all.

        So many scores between 0 and 100, so many queries, each node once.
        """
        scores = all(
            s.shape == (key.runs,) and bool(((s >= 0) & (s <= 100)).all()) for s in (self.micro_f1, self.macro_f1)
        )
        if not scores or self.queries.shape != (key.runs, key.budget) or not self.seconds >= 0:
            return False
        ordered = np.sort(self.queries, axis=1)
        return bool((ordered >= 0).all()) and not bool((np.diff(ordered, axis=1) == 0).any())


@dataclass(frozen=True)
class ChunkKey:
    """Everything that the scores of a chunk follow from.

    Attributes:
        graph, fingerprint: the graph's name, and a digest of its edges, features and labels.
        features: what was done to its features. strategy, classifier: who asks and who learns, with their code. first,
        runs: which runs: ``first`` to ``first + runs - 1``; results of a chunk of another size may differ in rounding.
        splits, splits_of, score_on: as in `Task`.
    """

    graph: str
    fingerprint: str
    features: str
    strategy: Identity
    classifier: Identity
    budget: int
    seed: int
    device: str
    first: int
    runs: int
    splits: Mapping[str, Any] | None = None
    splits_of: tuple[int, ...] | None = None
    score_on: str = "test"

    @property
    def storable(self) -> bool:
        """Whether a file may hold it: not where some code cannot be told from a corrected one."""
        return self.strategy.storable and self.classifier.storable

    def as_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        record = {field.name: getattr(self, field.name) for field in fields(self)}
        record |= {name: list(getattr(self, name)[:3]) for name in ("strategy", "classifier")}
        return json.loads(json.dumps({**record, "environment": Environment.version}))  # type: ignore[no-any-return]

    @cached_property
    def path(self) -> Path:
        """Where a store keeps it, a path that a person can read."""
        digest = hashlib.blake2b(json.dumps(self.as_dict(), sort_keys=True).encode(), digest_size=6).hexdigest()
        played = f"{_plain(self.strategy.name)}-{_plain(self.classifier.name)}-{self.budget}"
        name = f"{played}-{self.first:04d}+{self.runs}-{digest}.json"
        return Path(_plain(self.graph)) / name


class ChunkStore:
    """Finished chunks: in a folder, one file each, or in memory.

    A file appears whole or not at all, so that what was finished before a kill is there afterwards and is not done
    again.

    Attributes:
        folder: where the files go; None: in memory.
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        self.folder = None if folder is None else Path(folder)
        self._memory: dict[Path, Chunk] = {}

    def load(self, key: ChunkKey) -> Chunk | None:
        """The chunk, or None if it is not there, not readable, or of other settings."""
        if key.path in self._memory or self.folder is None or not key.storable:
            return self._memory.get(key.path)
        try:
            record = json.loads((self.folder / key.path).read_text(encoding="utf-8"))
            if record["key"] != key.as_dict() or record["digest"] != _digest(record):
                return None  # of other settings, damaged, or edited
            micro, macro = (np.asarray(record[name], dtype=np.float64) for name in ("micro_f1", "macro_f1"))
            chunk = Chunk(micro, macro, np.asarray(record["queries"], dtype=np.int64), float(record["seconds"]))
            if not chunk.fits(key):
                return None  # edited, with a right digest
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return None
        self._memory[key.path] = chunk
        return chunk

    def save(self, key: ChunkKey, chunk: Chunk) -> None:
        """Keep a finished chunk."""
        self._memory[key.path] = chunk
        if self.folder is not None and key.storable:
            path = self.folder / key.path
            path.parent.mkdir(parents=True, exist_ok=True)
            scores = {name: getattr(chunk, name).tolist() for name in ("micro_f1", "macro_f1", "queries")}
            record = {"schema": 1, "key": key.as_dict(), "seconds": chunk.seconds, **scores}
            write_json(path, {**record, "digest": _digest(record)})


def _digest(record: Mapping[str, Any]) -> str:
    """Tells a chunk that was damaged on the disk, or edited, from the one that was written."""
    content = {name: value for name, value in record.items() if name != "digest"}
    return hashlib.blake2b(json.dumps(content, sort_keys=True).encode(), digest_size=8).hexdigest()


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9.+_-]+", "-", text).strip("-.") or "graph"
