"""Many strategies on the same splits of many graphs: work in chunks that are kept, so that nothing is done twice.

A `Contest` says what is played on one graph, a `Method` who plays, an `Engine` where: in this process, or wherever
another room or package plays tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from nodewise.classifiers import make_classifier, notes_on_features
from nodewise.contracts import Classifier, Strategy
from nodewise.datasets import as_graph, load_graph
from nodewise.environment import SplitSizes, TestNodes
from nodewise.evaluation.comparison import Comparison, Outcome, Setting
from nodewise.evaluation.evaluate import (
    check_counts,
    choose_classifier,
    policy_name,
    simulated_budget,
    warn_of_flat_scores,
)
from nodewise.evaluation.task import Chunk, ChunkStore, GraphReference, Player, Task, default_splits, runs_at_once
from nodewise.graph import Graph
from nodewise.graph.features import prepared
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import resolve_device
from nodewise.ground.errors import InputError
from nodewise.ground.events import Note, Progress, Reporter, count, listening
from nodewise.ground.plugins import resolve_plugin
from nodewise.policy import Policy
from nodewise.strategies import DEFAULT_STRATEGY, make_strategy

if TYPE_CHECKING:
    import torch

__all__ = ["ENGINES", "Contest", "Engine", "LocalEngine", "Method", "compare", "make_engine"]


@dataclass(frozen=True)
class Method:
    """One row of a comparison.

    Attributes:
        strategy: what `make_strategy` takes: a name, ``policy:FILE``, ``package.module:Name``, a strategy or a policy;
            None: the default.
        policy: for the strategy ``"policy"``: a shipped name, a file or a policy; None is the default one.
        weights: for the strategy ``"age"``: fixed weights of entropy, centrality and density; None: those that change
            with time.
        settings: further settings of the strategy.
        name: what to call it; made from the others if empty.
    """

    strategy: str | Strategy | Policy | None = None
    policy: str | Path | Policy | None = None
    weights: tuple[float, float, float] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""

    def __post_init__(self) -> None:
        if self.policy is not None and self.strategy not in ("policy", None):
            raise InputError(f"strategy {self.strategy!r} takes no policy: only 'policy' does")
        if self.weights is not None and self.strategy != "age":
            raise InputError(f"strategy {self.strategy!r} takes no weights: only 'age' does")
        if not self.name:
            object.__setattr__(self, "name", self._own_name())

    @classmethod
    def of(cls, given: Method | str | Strategy | Policy) -> Method:
        """What a caller means by an entry of a list of strategies."""
        return given if isinstance(given, Method) else cls(given)

    def make(self) -> Strategy:
        """The strategy, ready to run."""
        weights = {} if self.weights is None else {"weights": self.weights}
        return make_strategy(self.strategy, self.policy, {**weights, **self.settings})

    @property
    def policy_name(self) -> str | None:
        """The policy's name, or its file's; None for other strategies."""
        name = policy_name(self.strategy, self.policy)
        return None if name is None else Path(name).name.removesuffix(".safetensors")

    def _own_name(self) -> str:
        if self.weights is not None:
            return f"age {'/'.join(f'{weight:g}' for weight in self.weights)}"
        policy, given = self.policy_name, self.strategy
        if policy is not None:
            named = self.policy is not None or isinstance(given, Policy) or (isinstance(given, str) and ":" in given)
            return f"policy {policy}" if named else "policy"
        name = self.make().name
        if given == "age" or not isinstance(given, str) or not given.startswith("age:"):
            return (
                name
                if not self.settings
                else f"{name} {', '.join(f'{key}={value}' for key, value in self.settings.items())}"
            )
        return given.replace(":", " ")


@dataclass(frozen=True)
class Contest:
    """What is played on one graph.

    Attributes:
        name: the graph's name.
        load: gives the graph when its turn has come, so that not all graphs are in memory at once.
        budgets: queries; a strategy that does not read its budget is played once for all of them. Empty: the graph's
            default.
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
            raise InputError(
                f"give at least one strategy, and each only once, got {', '.join(names) or 'none'}; two with other"
                " settings are told apart by names of your own: Method(strategy, name=…) of nodewise.evaluation"
            )


def compare(
    graphs: str | Path | Graph | Contest | Sequence[str | Path | Graph | Contest],
    strategies: str | Strategy | Policy | Method | Sequence[str | Strategy | Policy | Method] | None = None,
    *,
    classifiers: str | Classifier | Sequence[str | Classifier] | None = None,
    budgets: Sequence[int] | int | None = None,
    features: str | None = None,
    runs: int = 100,
    test_nodes: Any = None,
    seed: int = 0,
    device: str | torch.device = "auto",
    store: ChunkStore | str | Path | None = None,
    engine: Engine | str = "local",
    data_dir: str | Path | None = None,
    progress: bool = False,
    reporter: Reporter | None = None,
) -> Comparison:
    """Plays all strategies on all graphs with all classifiers at all budgets.

    Every strategy meets the same splits in the same runs. Scores do not depend on what else is compared, nor on what
    was kept before.

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
        store: finished chunks, or a folder for them; those that it holds are not played again. A folder outlives a
            kill.
        engine: ``"local"`` plays one chunk after another in this process, ``"ray"`` many at a time on a Ray cluster; or
            an engine of your own.
        data_dir: where names of graphs are looked for.
        progress: whether to draw a bar on standard error.
        reporter: told after every chunk, for each graph.

    Example:
        >>> import nodewise as nw
        >>> table = nw.compare("wine", ["random", "centrality"], budgets=[5, 10], runs=3)
        >>> table.graphs, table.methods
        (['wine'], ['random', 'centrality'])
    """
    given = _several(graphs)
    if not given:
        raise InputError("no graph was given to compare on: name at least one")
    if test_nodes is not None and len(given) > 1:
        raise InputError(f"test nodes were given for {len(given)} graphs: they belong to one")
    check_counts(runs, None, seed)
    methods = tuple(
        Method.of(one) for one in (("random", DEFAULT_STRATEGY) if strategies is None else _several(strategies))
    )
    asked = () if budgets is None else tuple(_several(getattr(budgets, "tolist", lambda: budgets)()))
    for budget in asked:
        check_counts(runs, budget, seed)
    splits = None if test_nodes is None else TestNodes.of(test_nodes)
    chosen: tuple[str | Classifier | None, ...] = tuple(_several(classifiers)) if classifiers else (None,)
    contests = [
        one if isinstance(one, Contest) else _contest(one, asked, methods, runs, chosen, features, splits, data_dir)
        for one in given
    ]
    contests = _named_apart(contests, keep=[isinstance(one, Contest) for one in given])
    kept = store if isinstance(store, ChunkStore) else ChunkStore(store)
    with listening(reporter, progress) as report:
        comparison = _play_all(contests, seed, device, kept, make_engine(engine), report)
        for name, outcome in (
            (name, outcome) for setting in comparison.settings for name, outcome in setting.outcomes.items()
        ):
            warn_of_flat_scores(name, outcome.queries, report)
    return comparison


class Engine(Protocol):
    """Where tasks are played."""

    def device(self, name: str) -> str:
        """The device that tasks are to name, of what was asked for.

        Raises:
            InputError: there is none.
        """

    def share(self, graph: Graph, reference: GraphReference, folder: Path | None) -> GraphReference:
        """Sees to it that whoever plays a task with the reference that this gives has the graph.

        Args:
            graph: the graph, its features as the classifier gets them.
            reference: its reference.
            folder: where finished chunks are kept, so that more can be written there; None: nowhere.
        """

    def play(self, tasks: Iterable[Task]) -> Generator[tuple[Task, dict[int, Chunk]], None, None]:
        """Plays all tasks and gives each one's chunks as soon as they are there, in whatever order.

        Tasks are taken as there is room for them: the next graph may be loaded for the next one.
        """


@dataclass
class LocalEngine:
    """Plays one task after another in this process."""

    player: Player = field(default_factory=Player)

    def device(self, name: str) -> str:
        """This machine's device of that name."""
        return str(resolve_device(name))

    def share(self, graph: Graph, reference: GraphReference, folder: Path | None) -> GraphReference:
        """The player holds the graph."""
        self.player.hold(graph, reference)
        return reference

    def play(self, tasks: Iterable[Task]) -> Generator[tuple[Task, dict[int, Chunk]], None, None]:
        """Each task's chunks, in order."""
        for task in tasks:
            yield task, self.player.play(task)


ENGINES: dict[str, Callable[..., Engine]] = {"local": LocalEngine}
"""Engines by name; ``nodewise.cluster`` adds its own when it is imported, and offers it as an entry point of
``nodewise.engines``.
"""


def make_engine(engine: Engine | str) -> Engine:
    """The engine of that name, or the one that was given.

    Raises:
        UnknownNameError: there is none of that name.
    """
    if not isinstance(engine, str):
        return engine
    made: Engine = resolve_plugin("engine", engine, ENGINES, "nodewise.engines")
    return made


def _play_all(
    contests: Sequence[Contest], seed: int, device: str | torch.device, kept: ChunkStore, used: Engine, report: Reporter
) -> Comparison:
    where = used.device(device if isinstance(device, str) or device is None else str(device))
    plays: list[_Play] = []
    owners: dict[int, _Play] = {}  # by the task's identity: every play keeps its tasks

    def missing() -> Iterator[Task]:
        planned: set[Path] = set()
        for contest in contests:
            plays.append(play := _Play(contest, seed, where, kept, used, report))
            for task in play.missing(planned):
                owners[id(task)] = play
                yield task

    with closing(used.play(missing())) as played:  # an interrupt ends what the engine has under way
        for task, chunks in played:
            for budget, chunk in chunks.items():
                kept.save(task.key(budget), chunk)
            owners[id(task)].tell(task)
    return Comparison(tuple(setting for play in plays for setting in play.settings()), seed, where.partition(":")[0])


def _named_apart(contests: Sequence[Contest], keep: Sequence[bool]) -> list[Contest]:
    """The contests, graphs of one name told apart by a number: many graphs are called "graph".

    Those that the caller made keep their names.
    """
    met: dict[str, int] = {}
    named = []
    for contest, kept in zip(contests, keep, strict=True):
        met[contest.name] = met.get(contest.name, 0) + 1
        named.append(
            contest if kept or met[contest.name] == 1 else replace(contest, name=f"{contest.name} {met[contest.name]}")
        )
    return named


def _several(given: Any) -> list[Any]:
    """A list of what was given: one thing counts as a list of itself."""
    return (
        list(given)
        if isinstance(given, (list, tuple, set, frozenset, range)) or hasattr(given, "__next__")
        else [given]
    )


def _contest(
    graph: str | Path | Graph,
    budgets: tuple[int, ...],
    methods: tuple[Method, ...],
    runs: int,
    classifiers: tuple[str | Classifier | None, ...],
    features: str | None,
    splits: TestNodes | None,
    data_dir: str | Path | None,
) -> Contest:
    if not isinstance(graph, (str, Path)):
        held = as_graph(graph)
        return Contest(held.name, lambda: held, budgets, methods, runs, classifiers, features, splits)
    folder = None if data_dir is None else str(data_dir)
    return Contest(
        str(graph),
        lambda: load_graph(graph, data_dir=data_dir),
        budgets,
        methods,
        runs,
        classifiers,
        features,
        splits,
        str(graph),
        folder,
    )


@dataclass(frozen=True)
class _Job:
    """One method with one classifier: all its chunks, those that were there before included."""

    method: Method
    strategy: Strategy
    classifier: str
    features: str
    tasks: list[Task]


class _Play:
    """One contest while it is played."""

    def __init__(
        self, contest: Contest, seed: int, device: str, store: ChunkStore, engine: Engine, report: Reporter
    ) -> None:
        self._contest, self._seed, self._device, self._store, self._engine, self._report = (
            contest,
            seed,
            device,
            store,
            engine,
            report,
        )
        self._budgets = contest.budgets
        self._splits = contest.splits
        self._jobs: list[list[_Job]] = []  # by classifier
        self._sizing = Player()
        self._done = 0

    def missing(self, planned: set[Path]) -> Iterator[Task]:
        """The tasks of every classifier and method that are not in the store; the graph is let go at the end.

        Args:
            planned: chunks that somebody plays already; those of this contest are added.
        """
        graph = self._contest.load()
        self._budgets = self._contest.budgets or (simulated_budget(graph, self._contest.splits),)
        self._splits = self._contest.splits or default_splits(graph)
        told: set[str] = set()
        for given, label in zip(self._contest.classifiers, _classifier_labels(self._contest.classifiers), strict=True):
            self._jobs.append([])
            for method in self._contest.methods:
                strategy = method.make()
                classifier = choose_classifier(given, strategy)
                ready = prepared(graph, self._contest.features, classifier.default_features(graph))
                for remark in notes_on_features(classifier, graph, self._contest.features):
                    if remark not in told:
                        told.add(remark)
                        self._report(Note(remark))
                tasks = self._shared_tasks(ready, classifier, strategy)
                self._jobs[-1].append(_Job(method, strategy, label or classifier.name, ready.features, tasks))
                lacking = {
                    id(task)
                    for task in tasks
                    if any(self._store.load(task.key(budget)) is None for budget in task.budgets)
                }
                fresh = [
                    task
                    for task in tasks
                    if id(task) in lacking and not {task.key(b).path for b in task.budgets} <= planned
                ]
                planned |= {task.key(budget).path for task in fresh for budget in task.budgets}
                there = {id(task) for task in tasks} - {id(task) for task in fresh}
                for task in tasks:
                    if id(task) in there:
                        self.tell(task)
                if fresh and isinstance(self._engine, LocalEngine):  # what takes long is told, and how far it is
                    self._engine.player.tensors(fresh[0].graph, self._device).prepared_by(classifier, self._report)
                yield from fresh
        self._sizing = Player()

    def settings(self) -> Iterator[Setting]:
        """Every classifier and budget, with what all methods reached."""
        for jobs in self._jobs:
            groups: dict[tuple[str, str], list[_Job]] = {}
            for job in jobs:
                groups.setdefault((job.classifier, job.features), []).append(job)
            for (name, features), some in groups.items():
                for budget in self._budgets:
                    outcomes = {
                        job.method.name: _joined(job.method, job.strategy, self._chunks(job.tasks, budget))
                        for job in some
                    }
                    yield Setting(self._contest.name, features, name, budget, outcomes)

    def _shared_tasks(self, graph: Graph, classifier: Classifier, strategy: Strategy) -> list[Task]:
        reference = GraphReference.of(graph, self._contest.source, self._contest.data_dir)
        reference = self._engine.share(graph, reference, self._store.folder)
        if isinstance(self._engine, LocalEngine):
            tensors = self._engine.player.tensors(reference, self._device)
        else:  # for the size of chunks alone
            self._sizing.hold(graph, reference)
            tensors = self._sizing.tensors(reference, "cpu")
        return self._tasks(tensors, reference, classifier, strategy)

    def _tasks(
        self, tensors: GraphTensors, reference: GraphReference, classifier: Classifier, strategy: Strategy
    ) -> list[Task]:
        """Chunks of runs; a strategy that does not read its budget plays all budgets that are missing in one
        episode.
        """
        size = runs_at_once(tensors, classifier, strategy, max(self._budgets), self._device)
        together = [tuple(self._budgets)] if not strategy.reads_budget else [(budget,) for budget in self._budgets]
        tasks = []
        for first in range(0, self._contest.runs, size):
            for budgets in together:
                runs = min(size, self._contest.runs - first)
                task = Task(
                    reference, classifier, strategy, budgets, self._seed, first, runs, self._splits, device=self._device
                )
                lacking = tuple(budget for budget in budgets if self._store.load(task.key(budget)) is None)
                if lacking and lacking != budgets:
                    tasks.append(replace(task, budgets=lacking))
                    task = replace(task, budgets=tuple(budget for budget in budgets if budget not in lacking))
                tasks.append(task)
        return tasks

    def _chunks(self, tasks: Sequence[Task], budget: int) -> list[Chunk]:
        chunks = [
            self._store.load(task.key(budget))
            for task in sorted(tasks, key=lambda task: task.first)
            if budget in task.budgets
        ]
        assert all(chunk is not None for chunk in chunks)
        return [chunk for chunk in chunks if chunk is not None]

    def tell(self, task: Task) -> None:
        """Reports that a task is done."""
        contest = self._contest
        self._done += task.runs * len(task.budgets)
        total = len(contest.classifiers) * len(contest.methods) * contest.runs * len(self._budgets)
        self._report(
            Progress(
                f"{contest.name}: {count(len(contest.methods), 'strategy', 'strategies')}",
                self._done // len(self._budgets),
                total // len(self._budgets),
            )
        )


def _classifier_labels(given: Sequence[str | Classifier | None]) -> list[str | None]:
    """What each classifier is called in the results: its name, with its settings where another has the same name.

    None where the strategy chooses it.

    Raises:
        InputError: two are the same.
    """
    made = [None if one is None else make_classifier(one) for one in given]
    names = [one.name for one in made if one is not None]
    labels = [
        (
            None
            if one is None
            else " ".join([one.name, *(f"{k}={v}" for k, v in one.identity().items() if names.count(one.name) > 1)])
        )
        for one in made
    ]
    if len(set(labels)) < len(labels):
        raise InputError(f"give each classifier only once, got {', '.join(names)}")
    return labels


def _joined(method: Method, strategy: Strategy, chunks: Sequence[Chunk]) -> Outcome:
    whole = Chunk.joined(chunks)
    return Outcome(strategy.name, method.policy_name, whole.micro_f1, whole.macro_f1, whole.queries, whole.seconds)
