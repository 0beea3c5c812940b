"""Who plays what on one graph, and the one way on which it is played, by `evaluate`, `compare` and the experiments.

A contest becomes tasks, an engine plays those that the store does not hold, and the chunks of each method are joined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from nodewise.classifiers import make_classifier, notes_on_graph, unusual_settings
from nodewise.contracts import Classifier, HasOwnClassifier, Strategy, can, check_needs, refusal
from nodewise.datasets import default_budget
from nodewise.environment import EvaluationProtocol, SplitSizes, TestNodes
from nodewise.environment.protocol import noisy_answers
from nodewise.evaluation.engine import Engine
from nodewise.evaluation.results.comparison import Comparison, Setting
from nodewise.evaluation.results.evaluation import Evaluation, GivenSplits
from nodewise.evaluation.scores import check_scores
from nodewise.evaluation.splits import PUBLIC, resolve_splits, split_record
from nodewise.evaluation.task import Chunk, ChunkStore, GraphReference, Task, default_splits, runs_at_once
from nodewise.graph import Graph
from nodewise.graph.features import prepared
from nodewise.ground.errors import ClusterError, InputError, WrongTypeError
from nodewise.ground.events import Note, Progress, Reporter, Warned, count
from nodewise.policy import DEFAULT_POLICY, Policy
from nodewise.strategies import DEFAULT_STRATEGY, Learned, make_strategy, parse_strategy

if TYPE_CHECKING:
    import torch

__all__ = [
    "Contest",
    "Method",
    "check_counts",
    "choose_classifier",
    "play_contests",
    "policy_name",
    "simulated_budget",
]


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

    @cached_property
    def resolved(self) -> Strategy:
        """The strategy, made once, ready to run."""
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
        name = self.resolved.name
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
        splits: sizes of random test and validation sets, or test nodes of one's own, or a file of splits, or
            ``"public"``; None: the protocol's.
        source, data_dir: the name or file that other processes can load the graph from.
        protocol: rounds, labels at the start, wrong answers, further scores; None: the usual.
        device: where it is played, if not where all others are.
    """

    name: str
    load: Callable[[], Graph]
    budgets: tuple[int, ...]
    methods: tuple[Method, ...]
    runs: int = 100
    classifiers: tuple[str | Classifier | None, ...] = (None,)
    features: str | None = None
    splits: SplitSizes | TestNodes | str | Path | None = None
    source: str | None = None
    data_dir: str | None = None
    protocol: EvaluationProtocol | None = None
    device: str | None = None

    def __post_init__(self) -> None:
        if self.protocol is not None:
            if not isinstance(self.protocol, EvaluationProtocol):
                raise WrongTypeError(
                    f"a protocol was expected, received {type(self.protocol).__name__}: give an EvaluationProtocol(…)"
                )
            check_scores(self.protocol.scores)
            if self.protocol.cost is not None and not self.budgets:
                raise InputError(
                    "a budget in costs must be said: give what all queries of a run may cost together, as the budget"
                )
        if self.runs < 1 or min(self.budgets, default=1) < 1:
            raise InputError(f"runs and budgets must be at least 1, got {self.runs} and {list(self.budgets)}")
        names = [method.name for method in self.methods]
        if not names or len(set(names)) < len(names):
            raise InputError(
                f"give at least one strategy, and each only once, got {', '.join(names) or 'none'}; two with other"
                " settings need names of your own: Method(strategy, name=…) of nodewise.evaluation"
            )
        for method in self.methods:  # refused before anything is read or played
            needs = method.policy_name is None and bool(method.resolved.needs)
            for given in self.classifiers if needs else ():
                check_needs(method.resolved, choose_classifier(given, method.resolved))

    def foreseen(self) -> list[dict[str, Any]]:
        """Which settings and methods a result of it will have, in the form of its file: known before it is played.

        The graph is read where its default budget or the splits that were given must be known.
        """
        budgets, used = self.budgets, None
        if not budgets or self.splits is not None:
            graph = self.load()
            used = None if self.splits is None else resolve_splits(self.splits, graph)
            budgets = budgets or (simulated_budget(graph, used),)
        given = self.named_splits(used)
        unusual = {} if self.protocol is None else self.protocol.identity()
        labels = _classifier_labels(self.classifiers)
        return [
            {
                "graph": self.name,
                "classifier": label or learner.name,
                "budget": budget,
                **({"protocol": unusual} if unusual else {}),
                **({} if given is None else {"splits": given.as_dict()}),
                "results": [{"name": method.name, "runs": self.runs, "classifier_settings": _changed(learner)}],
            }
            for classifier, label in zip(self.classifiers, labels, strict=True)
            for budget in budgets
            for method in self.methods
            for learner in [choose_classifier(classifier, method.resolved)]
        ]

    def named_splits(self, used: SplitSizes | TestNodes | None) -> GivenSplits | None:
        """The splits that were given in place of the protocol's, as a result names them; None where none were.

        Args:
            used: as `resolve_splits` understood them.
        """
        given = self.splits
        if given is None or used is None:
            return None
        if isinstance(used, SplitSizes):
            return GivenSplits(f"{used.test} test and {used.validation} validation nodes", used.identity())
        number = len(used.columns)
        if given == PUBLIC:
            which = "the public split" if number == 1 else f"{number} public splits"
        else:
            origin = f"of {Path(given).name}" if isinstance(given, (str, Path)) else "given"
            which = f"{count(number, 'split')} {origin}"
        again = "" if number >= self.runs else ", the same in every run" if number == 1 else ", in turn"
        return GivenSplits(which + again, used.identity())


def play_contests(
    contests: Sequence[Contest],
    seed: int,
    device: str | torch.device,
    store: ChunkStore,
    engine: Engine,
    report: Reporter,
    partial: bool = False,
) -> Comparison:
    """Plays what the store does not hold, and gives what all methods reached.

    Every method of a contest meets the same splits in the same runs. Scores do not depend on what else is played, nor
    on what was kept before.

    Args:
        partial: whether methods of which the engine left something unplayed are left out, in place of an error.

    Raises:
        ClusterError: the engine left something unplayed.
    """
    where = engine.device(device if isinstance(device, str) or device is None else str(device))
    plans: list[_Plan] = []
    under_way: dict[int, tuple[Task, _Plan]] = {}  # by the task's identity, while it is kept here

    def missing() -> Iterator[Task]:
        planned: set[Path] = set()
        for contest in contests:
            own = where if contest.device is None else engine.device(contest.device)
            plans.append(plan := _Plan(contest, seed, own, store, engine, report))
            for task in plan.missing(planned):
                under_way[id(task)] = (task, plan)
                yield task

    tasks = missing()
    with closing(engine.play(tasks, report)) as played:  # an interrupt ends what the engine has under way
        for task, chunks in played:
            for budget, chunk in chunks.items():
                store.save(task, budget, chunk)
            under_way.pop(id(task))[1].tell(task.runs * len(task.budgets))
    for _ in tasks:
        pass  # whoever was not played for want of time may have been kept before
    comparison = Comparison(
        tuple(setting for plan in plans for setting in plan.settings(partial)),
        seed,
        where.partition(":")[0],
        {plan.name: plan.split_record for plan in plans if plan.split_record is not None},
        {plan.name: plan.answers for plan in plans if plan.answers is not None},
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
        self._budgets = contest.budgets
        self._splits: SplitSizes | TestNodes | None = None
        self.name = contest.name
        self.split_record: Callable[[], dict[str, Any]] | None = None
        self.answers: Callable[[], npt.NDArray[np.int64]] | None = None
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
        given = None if contest.splits is None else resolve_splits(contest.splits, graph)
        self._budgets = contest.budgets or (simulated_budget(graph, given),)
        self._splits = given or default_splits(graph)
        if graph.y is not None:
            labels = np.asarray(graph.y, dtype=np.int64)
            self.split_record = partial(split_record, labels, graph.name, contest.runs, self._seed, self._splits)
            if contest.protocol is not None and contest.protocol.noise != 0.0:
                runs, noise = range(contest.runs), contest.protocol.noise
                self.answers = partial(noisy_answers, labels, graph.num_classes, noise, self._seed, runs)
        noted: set[str] = set()
        for number, label in enumerate(_classifier_labels(contest.classifiers)):
            for method in contest.methods:
                strategy = method.resolved
                classifier = choose_classifier(contest.classifiers[number], strategy)
                _check_several(graph, classifier, strategy, contest.protocol)
                ready = prepared(graph, contest.features, classifier.default_features(graph))
                for remark in notes_on_graph(classifier, graph, contest.features):
                    if remark not in noted:
                        noted.add(remark)
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
                protocol=self._contest.protocol,
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

    def settings(self, partial: bool) -> Iterator[Setting]:
        """Every classifier and budget, with what all methods reached; those without a whole method are left out."""
        for (_, classifier, features), tasks in self._tasks.items():
            for budget in self._budgets:
                reached = {
                    method.name: self._evaluation(method, tasks[method.name], classifier, features, budget)
                    for method in self._contest.methods
                    if method.name in tasks
                }
                outcomes = {name: one for name, one in reached.items() if one is not None}
                if len(outcomes) < len(reached) and not partial:
                    lacking = ", ".join(name for name in reached if name not in outcomes)
                    raise ClusterError(
                        f"the engine has not played all of {lacking} on {self.name}: play the same again to go on, with"
                        " more time"
                    )
                if outcomes:
                    yield Setting(self._contest.name, features, classifier, budget, outcomes)

    def _evaluation(
        self, method: Method, tasks: Sequence[Task], classifier: str, features: str, budget: int
    ) -> Evaluation | None:
        """What a method reached; None where a chunk is missing."""
        kept = [self._store.load(task, budget) for task in tasks if budget in task.budgets]
        there = [chunk for chunk in kept if chunk is not None]
        if len(there) < len(kept):
            return None
        whole, contest = Chunk.joined(there), self._contest
        return Evaluation(
            graph=contest.name,
            features=features,
            strategy=method.resolved.name,
            policy=method.policy_name,
            classifier=classifier,
            budget=budget,
            runs=contest.runs,
            seed=self._seed,
            device=self._device.partition(":")[0],
            seconds=whole.seconds,
            micro_f1=whole.micro_f1,
            macro_f1=whole.macro_f1,
            queries=whole.queries,
            further=whole.further,
            protocol=contest.protocol,
            splits=contest.named_splits(self._splits),
            classifier_settings=_changed(tasks[0].classifier),
        )

    def tell(self, played: int) -> None:
        """Reports that so many more runs are done, each budget counting as one."""
        contest = self._contest
        self._done += played
        methods = contest.methods
        who = f" {methods[0].name}" if len(methods) == 1 else f": {count(len(methods), 'strategy', 'strategies')}"
        total = len(contest.classifiers) * len(methods) * contest.runs
        self._report(Progress(f"{contest.name}{who}", self._done // len(self._budgets), total))


def _check_several(
    graph: Graph, classifier: Classifier, strategy: Strategy, protocol: EvaluationProtocol | None
) -> None:
    """Refuse who cannot deal with nodes that may have several classes, before anything is played."""
    if graph.several and protocol is not None:
        raise InputError(
            f"nodes of the graph {graph.name!r} may have several classes, and a protocol of one's own is for one class"
            " a node: leave it out"
        )
    for one in (classifier, strategy) if graph.several else ():
        if not can(one, "several-labels"):
            raise refusal(one, "several-labels", f"nodes of the graph {graph.name!r} may have several")


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


def _changed(classifier: Classifier) -> dict[str, Any]:
    """A classifier's settings that are not its defaults."""
    return unusual_settings(classifier.name, classifier.identity())


def _warn_of_flat_scores(strategy: str, queries: npt.NDArray[np.int64], report: Reporter) -> None:
    """Tells of a strategy that asked nodes in the order of their numbers in every run, as one does that scores all
    alike.

    Args:
        queries: the nodes in the order asked: [run, step]; with fewer than five steps this may be chance.
    """
    rises = (np.diff(queries, axis=1) > 0) | (queries[:, 1:] < 0)  # what follows the last query is below 0
    if queries.shape[1] >= 5 and bool(rises.all()):
        report(
            Warned(
                f"strategy {strategy!r} asked nodes in the order of their numbers in every run, as it does where it"
                " scores all alike: give different scores, or add observation.noise to choose among equals at random"
            )
        )


def choose_classifier(
    classifier: str | Classifier | None, strategy: Strategy, settings: Mapping[str, Any] | None = None
) -> Classifier:
    """The classifier that is asked for, else the strategy's own one, else the default."""
    if classifier is None and can(strategy, "own-classifier"):
        name, own = cast(HasOwnClassifier, strategy).own_classifier()
        return make_classifier(name, {**own, **(settings or {})}, imports=False)
    return make_classifier(classifier, settings)


def policy_name(strategy: object, policy: str | Path | Policy | None) -> str | None:
    """The policy that a strategy uses, as the caller named it; None where it uses none."""
    if isinstance(strategy, (Policy, Learned)) or isinstance(policy, Policy):
        return "given"
    if strategy is None:
        strategy = DEFAULT_STRATEGY if policy is None else "policy"
    name, settings = parse_strategy(strategy) if isinstance(strategy, str) else ("", {})
    return str(policy or settings.get("policy") or DEFAULT_POLICY) if name == "policy" else None


def simulated_budget(graph: Graph, held_out: SplitSizes | TestNodes | None = None) -> int:
    """The default budget of a graph.

    Where a caller says what is held out, at most half of the pool that this leaves.
    """
    if not graph.num_classes:
        return 1  # the splits refuse such a graph, and say more
    budget = default_budget(graph, simulated=True)
    if held_out is None or not graph.labelled.any():
        return budget
    labelled = np.flatnonzero(graph.labelled)
    pool = (
        held_out.pool_size(labelled)
        if isinstance(held_out, TestNodes)
        else len(labelled) - held_out.test - held_out.validation
    )
    return max(1, min(budget, pool // 2))


def check_counts(runs: int, budget: int | None, seed: int) -> None:
    """Refuses numbers that are none: a run count or budget below 1 or not whole, a seed that is None."""
    for name, value, least in (("number of runs", runs, 1), ("budget", budget, 1), ("seed", seed, 0)):
        if name == "budget" and value is None:
            continue
        wrong = f"the {name} must be a whole number, at least {least}, got {value!r}"
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            raise WrongTypeError(wrong)
        if value < least:
            raise InputError(wrong)
