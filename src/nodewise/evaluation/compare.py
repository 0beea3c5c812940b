"""Many strategies on the same splits of many graphs: work in chunks that are kept, so that nothing is done twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from nodewise.contracts import Classifier, Strategy
from nodewise.datasets import as_graph, default_budget, load_graph
from nodewise.environment import SplitSizes, TestNodes
from nodewise.evaluation.comparison import Comparison, Outcome, Setting
from nodewise.evaluation.evaluate import check_counts
from nodewise.evaluation.methods import Method, choose_classifier
from nodewise.evaluation.store import Chunk, ChunkStore
from nodewise.evaluation.task import GraphReference, Player, Task, default_splits, runs_at_once
from nodewise.graph import Graph
from nodewise.graph.features import prepared
from nodewise.ground.device import resolve_device
from nodewise.ground.errors import InputError
from nodewise.ground.events import Progress, Reporter, Silent
from nodewise.policy import Policy

__all__ = ["Contest", "Engine", "LocalEngine", "compare"]


@dataclass(frozen=True)
class Contest:
    """What is played on one graph.

    Attributes:
        name: the graph's name.
        load: gives the graph when its turn has come, so that not all graphs are in memory at once.
        budgets: queries; a strategy that does not read its budget is played once for all of them. Empty: the graph's default.
        methods: who plays; each has a name of its own.
        runs: independent runs.
        classifiers: what learns from the labels, by name or as objects; None: each policy's own, else the default one.
        features: preprocessing by name; None: each classifier's own default.
        splits: sizes of random test and validation sets, or test nodes of one's own; None: the protocol's.
        source, data_dir: the name or file that other processes can load the graph from.
    """

    name: str
    load: Callable[[], Graph]
    budgets: tuple[int, ...]
    methods: tuple[Method, ...]
    runs: int = 100
    classifiers: tuple[str | Classifier | None, ...] = (None,)
    features: str | None = None
    splits: SplitSizes | TestNodes | None = None
    source: str | None = None
    data_dir: str | None = None

    def __post_init__(self) -> None:
        if self.runs < 1 or min(self.budgets, default=1) < 1:
            raise InputError(f"runs and budgets must be at least 1, got {self.runs} and {list(self.budgets)}")
        names = [method.name for method in self.methods]
        if not names or len(set(names)) < len(names):
            raise InputError(f"give at least one strategy, and each only once, got {', '.join(names) or 'none'}")


class Engine(Protocol):
    """Where tasks are played: in this process, or on a cluster."""

    def play(self, tasks: Sequence[Task]) -> Iterable[tuple[Task, dict[int, Chunk]]]:
        """Plays all tasks and gives each one's chunks as soon as they are there, in whatever order."""


@dataclass
class LocalEngine:
    """Plays one task after another in this process."""

    player: Player = field(default_factory=Player)

    def play(self, tasks: Sequence[Task]) -> Iterator[tuple[Task, dict[int, Chunk]]]:
        """Each task's chunks, in order."""
        for task in tasks:
            yield task, self.player.play(task)


def compare(
    graphs: str | Path | Graph | Contest | Sequence[str | Path | Graph | Contest],
    strategies: Sequence[str | Strategy | Policy | Method] | None = None,
    *,
    classifiers: Sequence[str | Classifier] | None = None,
    budgets: Sequence[int] | int | None = None,
    features: str | None = None,
    runs: int = 100,
    test_nodes: Any = None,
    seed: int = 0,
    device: str = "auto",
    store: ChunkStore | str | Path | None = None,
    engine: Engine | Literal["local", "ray"] = "local",
    data_dir: str | Path | None = None,
    reporter: Reporter | None = None,
) -> Comparison:
    """Plays all strategies on all graphs with all classifiers at all budgets.

    Every strategy meets the same splits in the same runs. Scores do not depend on what else is compared, nor on what was kept before.

    Args:
        graphs: names, files or graphs; or contests, which say everything for their graph.
        strategies: names or strategies of your own; by default random choice and the default one.
        classifiers: names or classifiers of your own; by default each policy's own, else the default one.
        budgets: queries; by default the paper's for its graphs, else five a class.
        features: preprocessing by name; by default each classifier's own.
        runs: independent runs.
        test_nodes: test nodes of your own, where one graph is given: a mask or indices.
        seed: everything random follows from it.
        device: ``"auto"``, ``"cpu"`` or ``"cuda"``.
        store: finished chunks, or a folder for them; those that it holds are not played again. A folder outlives a kill.
        engine: ``"local"`` plays one chunk after another in this process; or an engine of your own.
        data_dir: where names of graphs are looked for.
        reporter: told after every chunk, for each graph.
    """
    given = [graphs] if isinstance(graphs, (str, Path, Graph, Contest)) else list(graphs)
    if not given:
        raise InputError("no graph was given to compare on: name at least one")
    if test_nodes is not None and len(given) > 1:
        raise InputError(f"test nodes were given for {len(given)} graphs: they belong to one")
    check_counts(runs, None, seed)
    from nodewise.strategies import DEFAULT_STRATEGY

    methods = tuple(Method.of(one) for one in (strategies if strategies is not None else ("random", DEFAULT_STRATEGY)))
    asked = (budgets,) if isinstance(budgets, int) else tuple(budgets or ())
    splits = None if test_nodes is None else TestNodes.of(test_nodes)
    chosen: tuple[str | Classifier | None, ...] = tuple(classifiers) if classifiers else (None,)
    contests = [
        one if isinstance(one, Contest) else _contest(one, asked, methods, runs, chosen, features, splits, data_dir) for one in given
    ]
    where, report = resolve_device(device), reporter or Silent()
    kept = store if isinstance(store, ChunkStore) else ChunkStore(store)
    used = _engine(engine)
    settings = [setting for contest in contests for setting in _Play(contest, seed, str(where), kept, used, report).settings()]
    return Comparison(tuple(settings), seed, where.type)


def _engine(engine: Engine | str) -> Engine:
    if not isinstance(engine, str):
        return engine
    if engine == "local":
        return LocalEngine()
    raise InputError(f"engine {engine!r} needs nodewise's cluster room, which this version does not have yet: use --engine local")


def _contest(
    graph: str | Path | Graph, budgets: tuple[int, ...], methods: tuple[Method, ...], runs: int,
    classifiers: tuple[str | Classifier | None, ...], features: str | None, splits: TestNodes | None, data_dir: str | Path | None,
) -> Contest:  # fmt: skip
    if not isinstance(graph, (str, Path)):
        held = as_graph(graph)
        return Contest(held.name, lambda: held, budgets, methods, runs, classifiers, features, splits)
    folder = None if data_dir is None else str(data_dir)
    return Contest(
        str(graph), lambda: load_graph(graph, data_dir=data_dir), budgets, methods, runs, classifiers, features, splits, str(graph), folder
    )


class _Play:
    """One contest while it is played."""

    def __init__(self, contest: Contest, seed: int, device: str, store: ChunkStore, engine: Engine, report: Reporter) -> None:
        self._contest, self._seed, self._device, self._store, self._engine, self._report = contest, seed, device, store, engine, report
        self._graph = contest.load()
        self._budgets = contest.budgets or (default_budget(self._graph, simulated=True),)
        self._splits = contest.splits or default_splits(self._graph)
        self._local = Player()  # sizes of chunks follow from the graph's tensors
        self._done = 0

    def settings(self) -> Iterator[Setting]:
        """Every classifier and budget, with what all methods reached."""
        for given in self._contest.classifiers:
            groups: dict[tuple[str, str], dict[str, dict[int, Outcome]]] = {}
            for method in self._contest.methods:
                strategy = method.make()
                classifier = choose_classifier(given, strategy)
                graph = prepared(self._graph, self._contest.features, classifier.default_features(self._graph))
                outcomes = self._outcomes(method, strategy, classifier, graph)
                groups.setdefault((classifier.name, graph.features), {})[method.name] = outcomes
            for (name, features), reached in groups.items():
                for budget in self._budgets:
                    outcomes_at = {method: by_budget[budget] for method, by_budget in reached.items()}
                    yield Setting(self._contest.name, features, name, budget, outcomes_at)

    def _outcomes(self, method: Method, strategy: Strategy, classifier: Classifier, graph: Graph) -> dict[int, Outcome]:
        contest = self._contest
        reference = GraphReference.of(graph, contest.source, contest.data_dir)
        player = self._engine.player if isinstance(self._engine, LocalEngine) else self._local
        player.hold(graph, reference)
        tasks = self._tasks(player, reference, classifier, strategy)
        missing = [task for task in tasks if any(self._store.load(task.key(budget)) is None for budget in task.budgets)]
        played = {id(task) for task in missing}
        for task in tasks:
            if id(task) not in played:
                self._tell(task)
        for task, chunks in self._engine.play(missing):
            for budget, chunk in chunks.items():
                self._store.save(task.key(budget), chunk)
            self._tell(task)
        return {budget: _joined(method, strategy, self._chunks(tasks, budget)) for budget in self._budgets}

    def _tasks(self, player: Player, reference: GraphReference, classifier: Classifier, strategy: Strategy) -> list[Task]:
        """Chunks of runs; a strategy that does not read its budget plays all budgets that are missing in one episode."""
        tensors = player.tensors(reference, self._device)
        size = runs_at_once(tensors, classifier, strategy, max(self._budgets))
        together = [tuple(self._budgets)] if not strategy.reads_budget else [(budget,) for budget in self._budgets]
        tasks = []
        for first in range(0, self._contest.runs, size):
            for budgets in together:
                runs = min(size, self._contest.runs - first)
                task = Task(reference, classifier, strategy, budgets, self._seed, first, runs, self._splits, device=self._device)
                lacking = tuple(budget for budget in budgets if self._store.load(task.key(budget)) is None)
                if lacking and lacking != budgets:
                    tasks.append(Task(reference, classifier, strategy, lacking, self._seed, first, runs, self._splits, device=self._device))
                    budgets = tuple(budget for budget in budgets if budget not in lacking)
                    task = Task(reference, classifier, strategy, budgets, self._seed, first, runs, self._splits, device=self._device)
                tasks.append(task)
        return tasks

    def _chunks(self, tasks: Sequence[Task], budget: int) -> list[Chunk]:
        chunks = [self._store.load(task.key(budget)) for task in sorted(tasks, key=lambda task: task.first) if budget in task.budgets]
        assert all(chunk is not None for chunk in chunks)
        return [chunk for chunk in chunks if chunk is not None]

    def _tell(self, task: Task) -> None:
        contest = self._contest
        self._done += task.runs * len(task.budgets)
        total = len(contest.classifiers) * len(contest.methods) * contest.runs * len(self._budgets)
        self._report(
            Progress(f"{contest.name}: {len(contest.methods)} strategies", self._done // len(self._budgets), total // len(self._budgets))
        )


def _joined(method: Method, strategy: Strategy, chunks: Sequence[Chunk]) -> Outcome:
    micro, macro, queries = (np.concatenate([getattr(chunk, name) for chunk in chunks]) for name in ("micro_f1", "macro_f1", "queries"))
    return Outcome(strategy.name, method.policy_name, micro, macro, queries, sum(chunk.seconds for chunk in chunks))
