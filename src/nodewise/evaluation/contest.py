"""What is played on one graph, and the one way on which it is played, by `evaluate`, `compare` and the experiments.

A contest becomes tasks, an engine plays those that the store does not hold, and the chunks of each method are joined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from nodewise.classifiers import make_classifier, notes_on_features
from nodewise.contracts import Classifier, Strategy
from nodewise.environment import SplitSizes, TestNodes
from nodewise.evaluation.engine import Engine
from nodewise.evaluation.method import Method, choose_classifier
from nodewise.evaluation.protocol import default_splits, simulated_budget
from nodewise.evaluation.results.comparison import Comparison, Setting
from nodewise.evaluation.results.evaluation import Evaluation
from nodewise.evaluation.store import ChunkStore
from nodewise.evaluation.task import Chunk, GraphReference, Task, runs_at_once
from nodewise.graph import Graph
from nodewise.graph.features import prepared
from nodewise.ground.errors import InputError
from nodewise.ground.events import Note, Progress, Reporter, Warned, count

if TYPE_CHECKING:
    import torch

__all__ = ["Contest", "play_contests"]


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


def play_contests(
    contests: Sequence[Contest],
    seed: int,
    device: str | torch.device,
    store: ChunkStore,
    engine: Engine,
    report: Reporter,
) -> Comparison:
    """Plays what the store does not hold, and gives what all methods reached.

    Every method of a contest meets the same splits in the same runs. Scores do not depend on what else is played, nor
    on what was kept before.
    """
    where = engine.device(device if isinstance(device, str) or device is None else str(device))
    plans: list[_Plan] = []
    under_way: dict[int, tuple[Task, _Plan]] = {}  # by the task's identity, while it is kept here

    def missing() -> Iterator[Task]:
        planned: set[Path] = set()
        for contest in contests:
            plans.append(plan := _Plan(contest, seed, where, store, engine, report))
            for task in plan.missing(planned):
                under_way[id(task)] = (task, plan)
                yield task

    with closing(engine.play(missing(), report)) as played:  # an interrupt ends what the engine has under way
        for task, chunks in played:
            for budget, chunk in chunks.items():
                store.save(task, budget, chunk)
            under_way.pop(id(task))[1].tell(task.runs * len(task.budgets))
    comparison = Comparison(
        tuple(setting for plan in plans for setting in plan.settings()), seed, where.partition(":")[0]
    )
    for setting in comparison.settings:
        for name, outcome in setting.outcomes.items():
            _warn_of_flat_scores(name, outcome.queries, report)
    return comparison


class _Plan:
    """One contest while it is played: its tasks, how far they are, and what they gave."""

    def __init__(
        self, contest: Contest, seed: int, device: str, store: ChunkStore, engine: Engine, report: Reporter
    ) -> None:
        self._contest, self._seed, self._device = contest, seed, device
        self._store, self._engine, self._report = store, engine, report
        self._budgets, self._splits = contest.budgets, contest.splits
        # all tasks, those that the store holds included: by the classifier's number and name and the features, then by
        # the method's name
        self._tasks: dict[tuple[int, str, str], dict[str, list[Task]]] = {}
        self._done = 0

    def missing(self, planned: set[Path]) -> Iterator[Task]:
        """The tasks of every classifier and method that are not in the store; the graph is let go at the end.

        Args:
            planned: chunks that somebody plays already; those of this contest are added.
        """
        contest, graph = self._contest, self._contest.load()
        self._budgets = contest.budgets or (simulated_budget(graph, contest.splits),)
        self._splits = contest.splits or default_splits(graph)
        told: set[str] = set()
        for number, label in enumerate(_classifier_labels(contest.classifiers)):
            for method in contest.methods:
                strategy = method.resolved
                classifier = choose_classifier(contest.classifiers[number], strategy)
                ready = prepared(graph, contest.features, classifier.default_features(graph))
                for remark in notes_on_features(classifier, graph, contest.features):
                    if remark not in told:
                        told.add(remark)
                        self._report(Note(remark))
                tasks = self._chunked(ready, classifier, strategy)
                group = self._tasks.setdefault((number, label or classifier.name, ready.features), {})
                group[method.name] = tasks
                yield from self._lacking(tasks, planned)

    def _chunked(self, graph: Graph, classifier: Classifier, strategy: Strategy) -> list[Task]:
        """Chunks of runs; a strategy that does not read its budget plays all budgets in one episode."""
        reference = GraphReference.of(graph, self._contest.source, self._contest.data_dir)
        reference, tensors = self._engine.prepare(graph, reference, self._device, self._store.folder)
        size = runs_at_once(tensors, classifier, strategy, max(self._budgets), self._device)
        together = [(budget,) for budget in self._budgets] if strategy.reads_budget else [tuple(self._budgets)]
        return [
            Task(
                reference,
                classifier,
                strategy,
                budgets,
                self._seed,
                first,
                min(size, self._contest.runs - first),
                self._splits,
                device=self._device,
            )
            for first in range(0, self._contest.runs, size)
            for budgets in together
        ]

    def _lacking(self, tasks: Sequence[Task], planned: set[Path]) -> Iterator[Task]:
        """What is left of the tasks, without the budgets whose chunks are there or on their way."""
        for task in tasks:
            paths = {budget: task.path(budget) for budget in task.budgets if self._store.load(task, budget) is None}
            budgets = tuple(budget for budget, path in paths.items() if path not in planned)
            if len(budgets) < len(task.budgets):
                self.tell(task.runs * (len(task.budgets) - len(budgets)))
            if budgets:
                planned |= {paths[budget] for budget in budgets}
                yield replace(task, budgets=budgets)

    def settings(self) -> Iterator[Setting]:
        """Every classifier and budget, with what all methods reached."""
        for (_, classifier, features), tasks in self._tasks.items():
            for budget in self._budgets:
                outcomes = {
                    method.name: self._evaluation(method, tasks[method.name], classifier, features, budget)
                    for method in self._contest.methods
                    if method.name in tasks
                }
                yield Setting(self._contest.name, features, classifier, budget, outcomes)

    def _evaluation(
        self, method: Method, tasks: Sequence[Task], classifier: str, features: str, budget: int
    ) -> Evaluation:
        kept = [self._store.load(task, budget) for task in tasks if budget in task.budgets]
        assert all(chunk is not None for chunk in kept)
        whole = Chunk.joined([chunk for chunk in kept if chunk is not None])
        return Evaluation(
            graph=self._contest.name,
            features=features,
            strategy=method.resolved.name,
            policy=method.policy_name,
            classifier=classifier,
            budget=budget,
            runs=self._contest.runs,
            seed=self._seed,
            device=self._device.partition(":")[0],
            seconds=whole.seconds,
            micro_f1=whole.micro_f1,
            macro_f1=whole.macro_f1,
            queries=whole.queries,
        )

    def tell(self, played: int) -> None:
        """Reports that so many more runs are done, each budget counting as one."""
        contest = self._contest
        self._done += played
        methods = contest.methods
        who = f" {methods[0].name}" if len(methods) == 1 else f": {count(len(methods), 'strategy', 'strategies')}"
        total = len(contest.classifiers) * len(methods) * contest.runs
        self._report(Progress(f"{contest.name}{who}", self._done // len(self._budgets), total))


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


def _warn_of_flat_scores(strategy: str, queries: npt.NDArray[np.int64], report: Reporter) -> None:
    """Tells of a strategy that asked nodes in the order of their numbers in every run, as one does that scores all
    alike.

    Args:
        queries: the nodes in the order asked: [run, step]; with fewer than five steps this may be chance.
    """
    if queries.shape[1] >= 5 and bool((np.diff(queries, axis=1) > 0).all()):
        report(
            Warned(
                f"strategy {strategy!r} asked nodes in the order of their numbers in every run, as it does where it"
                " scores all alike: give different scores, or add observation.noise to choose among equals at random"
            )
        )
