"""One task, one function that plays it.

A task is a chunk of runs of one strategy and classifier on one graph, at one or several budgets; `play_task` plays it,
and nothing else has such a loop. A task can be pickled: it names its graph by reference and fingerprint. What it gives
is a `Chunk` for each budget, which a `ChunkStore` keeps under all that its numbers follow from.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch

from nodewise.contracts import Classifier, Strategy
from nodewise.datasets.load import find_info
from nodewise.environment import (
    Environment,
    EvaluationProtocol,
    ProtocolEnvironment,
    Scores,
    SetScores,
    Splits,
    SplitSizes,
    TestNodes,
    draw_splits,
    most_queries,
    rollout,
)
from nodewise.evaluation.scores import NUMBER_KNOWN, further_scores
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import derive_seed
from nodewise.ground.errors import InputError
from nodewise.ground.files import write_json
from nodewise.ground.plugins import Identity, identity_of

__all__ = [
    "RUNS_MEMORY",
    "SET_SCORES",
    "Chunk",
    "ChunkStore",
    "GraphReference",
    "Task",
    "chunk_digest",
    "default_splits",
    "play_task",
    "runs_at_once",
]


SET_SCORES = (*NUMBER_KNOWN, "average_precision")
"""Further scores where nodes may have several classes, in percent: F1 with each node's known number of classes, and
the mean over classes of their average precision.
"""

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
        seed: everything random follows from it and from ``first``.
        first: the first run of the chunk.
        runs: how many runs it has; results of a chunk of another size may differ in rounding.
        splits: how many nodes are held out, or which are tested; None: the protocol's sizes.
        splits_of: whose split each run uses, if not its own: several runs on one split, for a search.
        score_on: the nodes that are scored.
        device: ``"cpu"`` or ``"cuda"``.
        protocol: rounds, labels at the start, wrong answers, further scores; None: the usual.
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
    protocol: EvaluationProtocol | None = None

    def __post_init__(self) -> None:
        if self.protocol is not None and not self.protocol.identity():
            object.__setattr__(self, "protocol", None)
        if not self.budgets or min(self.budgets) < 1 or self.runs < 1:
            raise InputError(f"runs and budgets must be at least 1, got {self.runs} and {list(self.budgets)}")
        if len(set(self.budgets)) > 1 and self.strategy.reads_budget:
            raise InputError(
                f"strategy {self.strategy.name!r} looks at its budget, so one rollout cannot give {list(self.budgets)}:"
                " play one for each"
            )

    @cached_property
    def identities(self) -> tuple[Identity, Identity]:
        """Who asks and who learns, with their settings and code."""
        return identity_of(self.strategy), identity_of(self.classifier)

    @property
    def storable(self) -> bool:
        """Whether a file may hold its results: not where some code cannot be told from a corrected one."""
        known = self.protocol is None or self.protocol.storable
        return known and all(one.storable for one in self.identities)

    def key(self, budget: int) -> dict[str, Any]:
        """Everything that the scores at one budget follow from, as JSON holds it.

        What a task is played with beyond this gets a line here: results that it changes must not be taken for those
        that were kept without it.
        """
        strategy, classifier = self.identities
        key = {
            "graph": self.graph.name,
            "fingerprint": self.graph.fingerprint,
            "features": self.graph.features,
            "strategy": strategy[:3],
            "classifier": classifier[:3],
            "environment": Environment.version,
            "budget": budget,
            "seed": self.seed,
            "device": self.device,
            "first": self.first,
            "runs": self.runs,
            "splits": None if self.splits is None else self.splits.identity(),
            "splits_of": self.splits_of,
            "score_on": self.score_on,
            **({} if self.protocol is None else {"protocol": self.protocol.identity()}),
        }
        return json.loads(json.dumps(key))  # type: ignore[no-any-return]

    def path(self, budget: int) -> Path:
        """Where a store keeps the chunk of one budget, a path that a person can read."""
        digest = hashlib.blake2b(json.dumps(self.key(budget), sort_keys=True).encode(), digest_size=6).hexdigest()
        names = "-".join(_file_name(str(one.name)) for one in (self.strategy, self.classifier))
        return Path(_file_name(self.graph.name)) / f"{names}-{budget}-{self.first:04d}+{self.runs}-{digest}.json"


def _file_name(text: str) -> str:
    """A name as a file may have it on every system."""
    return re.sub(r"[^A-Za-z0-9.+_-]+", "-", text).strip("-.") or "graph"


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
    """The sizes that the protocol has for this graph alone, called by its name; None.

    Those that follow from the number of nodes.
    """
    info = find_info(graph.name)
    return (
        SplitSizes(*info.splits)
        if info is not None and info.splits is not None and info.nodes == graph.num_nodes
        else None
    )


@dataclass(frozen=True)
class Chunk:
    """What a chunk's runs reached.

    Attributes:
        micro_f1, macro_f1: percent: [run].
        queries: the nodes in the order asked: int64 [run, step]; -1 after the last where runs have different numbers.
        seconds: what an episode of this budget takes; where one episode serves several, up to this budget.
        further: further scores by name: [run] each.
    """

    micro_f1: npt.NDArray[np.float64]
    macro_f1: npt.NDArray[np.float64]
    queries: npt.NDArray[np.int64]
    seconds: float
    further: Mapping[str, npt.NDArray[np.float64]] = field(default_factory=dict)

    @classmethod
    def joined(cls, chunks: Sequence[Chunk]) -> Chunk:
        """The runs of several chunks, in that order, as those of one."""
        micro, macro = (np.concatenate([getattr(chunk, name) for chunk in chunks]) for name in ("micro_f1", "macro_f1"))
        queries = _padded([chunk.queries for chunk in chunks])
        further = {name: np.concatenate([chunk.further[name] for chunk in chunks]) for name in chunks[0].further}
        return cls(micro, macro, queries, sum(chunk.seconds for chunk in chunks), further)

    def fits(self, runs: int, budget: int, costs: Sequence[float] | None = None) -> bool:
        """Whether these can be the results of so many runs at that budget at all.

        So many scores between 0 and 100, so many queries, each node once; with costs, what the budget pays for.
        """
        scores = all(s.shape == (runs,) and bool(((s >= 0) & (s <= 100)).all()) for s in (self.micro_f1, self.macro_f1))
        scores = scores and all(s.shape == (runs,) and bool(np.isfinite(s).all()) for s in self.further.values())
        if not scores or self.queries.ndim != 2 or len(self.queries) != runs or not self.seconds >= 0:
            return False
        if costs is not None:
            asked = [row[row >= 0] for row in self.queries]
            price, most = np.asarray(costs), budget * (1 + 1e-6)
            return all(
                0 < len(row) == len(set(row.tolist())) and row.max() < len(price) and price[row].sum() <= most
                for row in asked
            )
        if self.queries.shape[1] != budget:
            return False
        ordered = np.sort(self.queries, axis=1)
        return bool((ordered >= 0).all()) and not bool((np.diff(ordered, axis=1) == 0).any())


def _padded(tables: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """Rows of several tables as one, -1 after the last query of those that have fewer."""
    width = max(table.shape[1] for table in tables)
    return np.concatenate([np.pad(t, ((0, 0), (0, width - t.shape[1])), constant_values=-1) for t in tables])


def play_task(task: Task, environment: Environment, strategy: Strategy) -> dict[int, Chunk]:
    """Plays a task: the chunk at each budget. Its numbers follow from the task alone.

    Args:
        environment: one of the task's graph, classifier, runs and largest budget; it is reset.
        strategy: the task's, or its like.
    """
    begin = time.perf_counter()
    rows = task.splits_of or range(task.first, task.first + task.runs)
    lowest = min(rows)
    drawn = draw_splits(environment.graph, max(rows) - lowest + 1, task.seed, lowest, task.splits)
    splits = drawn.rows([row - lowest for row in rows]) if task.splits_of else drawn
    if task.protocol is None:
        spent: dict[int, float] = {}
        scores, queries = _play_curve(environment, strategy, splits, task, spent)
        asked = queries.cpu().numpy()
        spent[max(scores)] = time.perf_counter() - begin - spent.pop(_BESIDE)
        played = {budget: (score, asked[:, :budget], _NOTHING) for budget, score in scores.items()}
    else:
        played, spent = {}, {}
        for budget in task.budgets:
            start = time.perf_counter()
            played[budget] = _play_protocol(environment, strategy, splits, task, task.protocol, budget, rows)
            spent[budget] = time.perf_counter() - start
    chunks = {}
    for budget, (score, chosen, further) in played.items():
        micro, macro, *others = (100 * part.cpu().double().numpy() for part in score)
        of_sets = dict(zip(SET_SCORES, others, strict=True)) if others else {}
        chunks[budget] = Chunk(micro, macro, np.ascontiguousarray(chosen), spent[budget], {**further, **of_sets})
    return chunks


_NOTHING: Mapping[str, npt.NDArray[np.float64]] = {}
_BESIDE = 0
"""In a table of seconds by budget: what smaller budgets took beside the one episode that serves all."""


def _play_protocol(
    environment: Environment,
    strategy: Strategy,
    splits: Splits,
    task: Task,
    protocol: EvaluationProtocol,
    budget: int,
    rows: Sequence[int],
) -> tuple[Scores | SetScores, npt.NDArray[np.int64], Mapping[str, npt.NDArray[np.float64]]]:
    """One episode of every run at one budget, its scores and queries."""
    if protocol.cost is not None:
        return _play_costs(environment.graph, strategy, splits, task, protocol, budget, rows)
    graph, nodes = environment.graph, splits.test if task.score_on == "test" else splits.validation
    if not protocol.plays_as_usual:
        environment = played = ProtocolEnvironment(graph, task.classifier, task.runs, budget, protocol)
        played.set_up(task.seed, rows, splits.pool)
    elif budget != environment.budget:
        environment = Environment.of(graph, task.classifier, task.runs, budget)
    queries = rollout(environment, strategy, splits, derive_seed(task.seed, "chunk", task.first))
    scores, further = _protocol_scores(environment, protocol, nodes)
    return scores, queries.cpu().numpy(), further


def _play_costs(
    graph: GraphTensors,
    strategy: Strategy,
    splits: Splits,
    task: Task,
    protocol: EvaluationProtocol,
    budget: int,
    rows: Sequence[int],
) -> tuple[Scores, npt.NDArray[np.int64], Mapping[str, npt.NDArray[np.float64]]]:
    """Each run on its own: a budget in costs pays for another number of queries in each."""
    costs = np.asarray(protocol.cost)
    if len(costs) != graph.num_nodes:
        raise InputError(f"costs are given for {len(costs)} nodes, the graph has {graph.num_nodes}: give one each")
    scores, asked, further = [], [], []
    for index, row in enumerate(rows):
        own = splits.rows([index])
        room = most_queries(costs[own.pool[0].numpy()], budget)
        if not room:
            raise InputError(
                f"a budget of {budget} pays for no node of the pool, whose cheapest costs"
                f" {costs[own.pool[0].numpy()].min():g}: raise the budget"
            )
        played = ProtocolEnvironment(graph, task.classifier, 1, room, protocol, budget)
        played.set_up(task.seed, [row], own.pool)
        asked.append(rollout(played, strategy, own, derive_seed(task.seed, "run", row)).numpy())
        score, more = _protocol_scores(played, protocol, own.test if task.score_on == "test" else own.validation)
        scores.append(score)
        further.append(more)
    together = {name: np.concatenate([one[name] for one in further]) for name in further[0]}
    micro, macro = (torch.cat(part) for part in zip(*(one[:2] for one in scores), strict=True))
    return Scores(micro, macro), _padded(asked), together


def _protocol_scores(
    environment: Environment, protocol: EvaluationProtocol, nodes: torch.Tensor
) -> tuple[Scores | SetScores, Mapping[str, npt.NDArray[np.float64]]]:
    """What the learners reach on some nodes, int64 [run, node], and the further scores."""
    with torch.no_grad():
        scores = environment.score(nodes)
        logits = environment.learner.logits()
        chances = logits.gather(1, nodes[..., None].expand(-1, -1, logits.shape[-1])).double().softmax(-1)
    return scores, further_scores(protocol.scores, chances.cpu().numpy(), environment.graph.y[nodes].cpu().numpy())


def _play_curve(
    environment: Environment, strategy: Strategy, splits: Splits, task: Task, spent: dict[int, float]
) -> tuple[dict[int, Scores | SetScores], torch.Tensor]:
    """One episode of every run, scored at each budget on the way.

    The scores are those that episodes of these budgets have, for the first queries of a longer episode are a shorter
    episode, and a snapshot brings the learner back after it has finished. Without snapshots every budget is an episode
    of its own.

    Args:
        spent: filled with the seconds that an episode of each smaller budget takes.
    """
    begin = time.perf_counter()
    spent[_BESIDE] = 0.0
    nodes = splits.test if task.score_on == "test" else splits.validation
    seed = derive_seed(task.seed, "chunk", task.first)
    earlier = sorted(set(task.budgets))[:-1]
    scores: dict[int, Scores | SetScores] = {}
    trained = task.classifier.trained
    if earlier and trained and environment.learner.snapshot() is None:
        for budget in earlier:
            start = time.perf_counter()
            shorter = Environment.of(environment.graph, task.classifier, task.runs, budget)
            rollout(shorter, strategy, splits, seed)
            scores[budget] = shorter.score(nodes)
            spent[budget] = time.perf_counter() - start
            spent[_BESIDE] += spent[budget]
        earlier = []

    def score_copy(queries: int) -> None:
        if queries in earlier:
            start = time.perf_counter()
            kept = environment.learner.snapshot() if trained else None
            environment.finish()
            scores[queries] = environment.score(nodes)
            if trained:
                environment.learner.restore(kept)
            end = time.perf_counter()
            spent[queries] = end - begin - spent[_BESIDE]
            spent[_BESIDE] += end - start

    queries = rollout(environment, strategy, splits, seed, score_copy if earlier else None)
    with torch.no_grad():
        scores[environment.budget] = environment.score(nodes)
    return scores, queries


class ChunkStore:
    """Finished chunks: in a folder, one file each, or in memory.

    A file appears whole or not at all, so that what was finished before a kill is there afterwards and is not done
    again.

    Attributes:
        folder: where the files go; None: in memory.
    """

    @classmethod
    def of(cls, given: ChunkStore | str | Path | None) -> ChunkStore:
        """What a caller means: a store, a folder for one, or None for one in memory."""
        return given if isinstance(given, ChunkStore) else cls(given)

    def __init__(self, folder: str | Path | None = None) -> None:
        self.folder = None if folder is None else Path(folder)
        self._memory: dict[Path, Chunk] = {}

    def load(self, task: Task, budget: int) -> Chunk | None:
        """The chunk, or None if it is not there, not readable, or of other settings."""
        path = task.path(budget)
        if path in self._memory or self.folder is None or not task.storable:
            return self._memory.get(path)
        try:
            record = json.loads((self.folder / path).read_text(encoding="utf-8"))
            if record["key"] != task.key(budget) or record["digest"] != chunk_digest(record):
                return None  # of other settings, damaged, or edited
            micro, macro = (np.asarray(record[name], dtype=np.float64) for name in ("micro_f1", "macro_f1"))
            further = {name: np.asarray(kept, dtype=np.float64) for name, kept in record.get("further", {}).items()}
            asked = np.asarray(record["queries"], dtype=np.int64)
            chunk = Chunk(micro, macro, asked, float(record["seconds"]), further)
            if not chunk.fits(task.runs, budget, None if task.protocol is None else task.protocol.cost):
                return None  # edited, with a right digest
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return None
        self._memory[path] = chunk
        return chunk

    def save(self, task: Task, budget: int, chunk: Chunk) -> None:
        """Keep a finished chunk."""
        path = task.path(budget)
        self._memory[path] = chunk
        if self.folder is not None and task.storable:
            file = self.folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            scores = {name: getattr(chunk, name).tolist() for name in ("micro_f1", "macro_f1", "queries")}
            further = {name: values.tolist() for name, values in chunk.further.items()}
            record = {"schema": 1, "key": task.key(budget), "seconds": chunk.seconds, **scores}
            record |= {"further": further} if further else {}
            write_json(file, {**record, "digest": chunk_digest(record)})


def chunk_digest(record: Mapping[str, Any]) -> str:
    """Tells a chunk that was damaged on the disk, or edited, from the one that was written."""
    content = {name: value for name, value in record.items() if name != "digest"}
    return hashlib.blake2b(json.dumps(content, sort_keys=True).encode(), digest_size=8).hexdigest()
