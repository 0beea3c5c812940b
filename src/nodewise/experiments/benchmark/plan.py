"""What the benchmark plays, what that costs, and playing it."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from nodewise.classifiers import make_classifier
from nodewise.datasets import list_datasets, load_graph
from nodewise.datasets.folder import data_folder, local_names
from nodewise.datasets.load import find_info, held_out
from nodewise.evaluation import ChunkStore, Contest, Method, Setting, compare, graph_copies
from nodewise.evaluation.contest import play_contests
from nodewise.evaluation.engine import Engine
from nodewise.experiments.benchmark.results import (
    DOMAINS,
    BenchmarkResult,
    PlayedGraph,
    Row,
    join,
    read_result,
    rows_of,
    time_words,
)
from nodewise.graph import Graph
from nodewise.ground.errors import InputError
from nodewise.ground.events import Note, Reporter, count
from nodewise.ground.plugins import identity_of

__all__ = ["STRATEGIES", "BenchmarkSettings", "Cost", "budgets_of", "foresee", "graphs_at_hand", "play"]

STRATEGIES = (
    "random",
    "gain",
    "uncertainty",
    "margin",
    "least-confidence",
    "centrality",
    "coreset",
    "kcenter",
    "age",
    "anrmab",
    "featprop",
    "graphpart",
    "grain-ball",
    "rim",
    "igp",
    "badge",
    "bald",
    "typiclust",
    "diffusal",
    "expected-error",
)
"""Who plays unless somebody says otherwise."""

_TRIAL = 1000
"""Nodes of the graph on which the time is tried, at most."""


@dataclass(frozen=True)
class BenchmarkSettings:
    """What is played.

    Attributes:
        graphs: by name or file. strategies, classifiers: by name.
        labels: a class; a budget that exceeds half of a graph's pool is left out, and equal budgets are played once.
        runs: of each. copies: how many copies of each graph are played in place of it; 0: the graph itself.
        seed: everything random follows from it.
        on_cpu: strategies that are played on the CPU whatever the device.
    """

    graphs: tuple[str, ...]
    strategies: tuple[str, ...] = STRATEGIES
    classifiers: tuple[str, ...] = ("views", "gcn")
    labels: tuple[int, ...] = (1, 2, 5, 10, 20)
    runs: int = 20
    copies: int = 0
    seed: int = 0
    on_cpu: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.graphs or not self.strategies or not self.classifiers or min(self.labels, default=0) < 1:
            raise InputError("a benchmark needs a graph, a strategy, a classifier and a label a class at least")
        if self.runs < 1 or self.copies < 0:
            raise InputError(f"runs must be at least 1 and copies at least 0, got {self.runs} and {self.copies}")


@dataclass(frozen=True)
class Cost:
    """What a benchmark takes.

    Attributes:
        episodes, queries: how many are played, those that are kept already included.
        seconds: on this machine, roughly.
        tried_on: the graph of the short trial that tells it.
    """

    episodes: int
    queries: int
    seconds: float
    tried_on: str

    def __str__(self) -> str:
        return (
            f"{self.episodes:,} episodes with {self.queries:,} queries, about {time_words(self.seconds)} here on one"
            f" process (by a short trial on {self.tried_on}; what is kept already is not played again)"
        )


def graphs_at_hand(data_dir: str | Path | None = None) -> list[str]:
    """The names of graphs that need no network: those that come along, and those in the data folder."""
    there = set(local_names(data_folder(data_dir)))
    names = []
    for name in list_datasets(data_dir):
        info = find_info(name)
        known = {name} if info is None else {info.name, *info.files, *info.aliases}
        if known & there or (info is not None and info.origin == "included"):
            names.append(name)
    return names


def budgets_of(graph: Graph, labels: tuple[int, ...]) -> dict[int, int]:
    """Budgets by labels a class, in all: at most half of the pool."""
    assert graph.y is not None
    known = graph.y[graph.y >= 0]
    pool = len(known) - sum(held_out(len(known)))
    budgets = {one: one * len(np.unique(known)) for one in sorted(set(labels))}
    return {one: budget for one, budget in budgets.items() if budget <= pool // 2}


def _labelled(name: str, data_dir: str | Path | None) -> Graph:
    graph = load_graph(name, data_dir=data_dir)
    if graph.y is None or not bool((graph.y >= 0).any()):
        raise InputError(f"graph {name!r} has no labels: leave it out of the benchmark")
    return graph


def foresee(settings: BenchmarkSettings, data_dir: str | Path | None = None) -> Cost:
    """What the benchmark will take: a trial of each strategy and classifier on one of the graphs, scaled by nodes.

    On the largest of those with up to `_TRIAL` nodes, else the smallest: on a very small one fixed costs would count.
    """
    sizes = {}
    for name in settings.graphs:
        graph = _labelled(name, data_dir)
        sizes[name] = (graph.num_nodes, list(budgets_of(graph, settings.labels).values()))
    fitting = [name for name in sizes if sizes[name][0] <= _TRIAL]
    tried = max(fitting, key=lambda name: sizes[name][0]) if fitting else min(sizes, key=lambda name: sizes[name][0])
    graph = _labelled(tried, data_dir)
    classes = len(np.unique(graph.y[graph.y >= 0])) if graph.y is not None else 1
    trial = compare(graph, list(settings.strategies), classifiers=list(settings.classifiers), budgets=classes, runs=2)
    copies = max(1, settings.copies)
    each_budget = {one.name: one.resolved.reads_budget for one in _methods(settings)}
    episodes = queries = 0
    seconds = 0.0
    for nodes, budgets in sizes.values():
        for setting in trial.settings:
            for name, outcome in setting.outcomes.items():
                if not budgets:
                    continue
                played = budgets if each_budget[name] else [max(budgets)]
                episodes += len(played) * settings.runs * copies
                queries += sum(played) * settings.runs * copies
                each = outcome.seconds / (outcome.budget * outcome.runs) * nodes / sizes[tried][0]
                seconds += each * sum(played) * settings.runs * copies
    return Cost(episodes, queries, seconds, tried)


def play(
    settings: BenchmarkSettings,
    out: str | Path,
    engine: Engine,
    report: Reporter,
    device: str = "auto",
    data_dir: str | Path | None = None,
    partial: bool = False,
) -> BenchmarkResult:
    """Plays what is missing, what is cheap first, and writes the result file.

    Random choice on all graphs comes first, the largest graph before the others; then, from small graphs to large
    ones, strategies whose step a GPU can record, then the others. Chunks of runs are kept in ``out``, so that a second
    call goes on.

    Args:
        partial: whether the result may lack what the engine left unplayed, because its time was over or a task failed.

    Returns:
        What was played, with all that the folder's result held before.

    Raises:
        InputError: the folder's result would be lost.
    """
    Path(out).mkdir(parents=True, exist_ok=True)
    store = ChunkStore(Path(out) / "chunks")
    entries = list(_entries(settings, report, data_dir))
    if not entries:
        raise InputError("no graph has a pool for a label a class: choose others")
    where = engine.device(device)
    machine = f"{platform.system()} {platform.machine()}, {count(os.cpu_count() or 1, 'core')}"
    machine += f", Python {platform.python_version()}"
    if where != "cpu":
        machine += f", on {_gpu_name()}"
    if engine.processes > 1:
        machine += f", {engine.processes} processes at a time"
    if commit := os.environ.get("NODEWISE_COMMIT"):
        machine += f", commit {commit}"
    versions = {one.name: identity_of(one.resolved).code for one in _methods(settings)}
    versions |= {one.name: identity_of(one).code for one in map(make_classifier, settings.classifiers)}
    result = BenchmarkResult(settings.seed, {one.graph: one.played for one in entries}, (), machine, versions)
    together, before = result, _kept_before(Path(out), settings, entries, result)
    found: dict[tuple[str, int, str, int], Setting] = {}
    for contests in _passes(settings, entries, data_dir):
        table = play_contests([one for _, one in contests], settings.seed, where, store, engine, report, partial)
        by_name = {contest.name: entry for entry, contest in contests}
        for setting in table.settings:
            entry = by_name[setting.graph]
            key = (entry.graph, entry.copy, setting.classifier, setting.budget)
            known = found.get(key)
            outcomes = {**(known.outcomes if known else {}), **setting.outcomes}
            ordered = {method.name: outcomes[method.name] for method in _methods(settings) if method.name in outcomes}
            found[key] = replace(setting, outcomes=ordered)
        result = replace(result, rows=tuple(_rows(settings, entries, found)))
        together = join([*before, result]) if before else result
        together.save(Path(out) / "benchmark.json")
    return together


def _kept_before(
    out: Path, settings: BenchmarkSettings, entries: Sequence[_Entry], empty: BenchmarkResult
) -> list[BenchmarkResult]:
    """What a folder's result holds beside what is to be played: it stays there.

    Args:
        empty: the new result, before anything is played.

    Raises:
        InputError: it cannot stay beside the new one, or has more runs of what is to be played.
    """
    path = out / "benchmark.json"
    if not path.exists():
        return []
    held = read_result(path)
    learners = [make_classifier(name).name for name in settings.classifiers]
    keys = {
        (one.graph, one.copy, learner, method.name, labels)
        for one in entries
        for learner in learners
        for method in _methods(settings)
        for labels in one.budgets
    }
    most = max((row.runs for row in held.rows if row.key in keys), default=0)
    if most > settings.runs:
        raise InputError(
            f"{path} has {most} runs of what is to be played in {settings.runs}: give as many, or another folder"
        )
    left = held.without(keys)
    if not left.rows:
        return []
    try:
        join([left, empty])
    except InputError as error:
        raise InputError(f"{path} has results that would be lost, since {error}; or give another folder") from None
    return [left]


@dataclass(frozen=True)
class _Entry:
    """A graph that is played, or a copy of it; copy -1: the graph itself."""

    source: str
    graph: str
    name: str
    copy: int
    budgets: dict[int, int]
    played: PlayedGraph

    def load(self, settings: BenchmarkSettings, data_dir: str | Path | None) -> Graph:
        """The graph."""
        graph = _labelled(self.source, data_dir)
        return next(one for copy, one in _played(graph, settings.copies) if copy == self.copy)


def _entries(settings: BenchmarkSettings, report: Reporter, data_dir: str | Path | None) -> Iterator[_Entry]:
    """The graphs and copies that are played, in the order given."""
    for source in settings.graphs:
        graph = _labelled(source, data_dir)
        budgets = budgets_of(graph, settings.labels)
        if not budgets:
            report(Note(f"{graph.name}: half of the pool is fewer than a label a class: left out"))
            continue
        classes = len(np.unique(graph.y[graph.y >= 0])) if graph.y is not None else 0
        domain = DOMAINS.get(graph.name, graph.name)
        about = PlayedGraph(graph.fingerprint, graph.num_nodes, graph.num_edges, classes, domain)
        for copy in range(settings.copies) or (-1,):
            name = graph.name if copy < 0 else f"{graph.name} copy {copy}"
            yield _Entry(source, graph.name, name, copy, budgets, about)


def _methods(settings: BenchmarkSettings) -> tuple[Method, ...]:
    return tuple(Method(name) for name in settings.strategies)


def _passes(
    settings: BenchmarkSettings, entries: Sequence[_Entry], data_dir: str | Path | None
) -> Iterator[list[tuple[_Entry, Contest]]]:
    """What is played in which order; what was found is written after each part."""
    methods = _methods(settings)
    rest = [one for one in methods if one.name != "random"]
    beside = [one for one in rest if one.name in settings.on_cpu]
    random, recorded, stepwise = (
        [one for one in methods if one.name == "random"],
        [one for one in rest if one.resolved.recordable and one not in beside],
        [one for one in rest if not one.resolved.recordable and one not in beside],
    )
    rising = sorted(entries, key=lambda one: one.played.nodes)
    falling = rising[::-1]
    for parts in (
        ((falling, random, None), (rising, recorded, None)),
        ((rising, stepwise, None), (rising, beside, "cpu")),
    ):
        contests = [
            (one, _contest(one, tuple(who), settings, data_dir, device))
            for order, who, device in parts
            for one in order
            if who
        ]
        if contests:
            yield contests


def _contest(
    entry: _Entry,
    methods: tuple[Method, ...],
    settings: BenchmarkSettings,
    data_dir: str | Path | None,
    device: str | None,
) -> Contest:
    return Contest(
        entry.name,
        lambda: entry.load(settings, data_dir),
        tuple(entry.budgets.values()),
        methods,
        settings.runs,
        settings.classifiers,
        source=None if entry.copy >= 0 else entry.source,
        data_dir=None if data_dir is None else str(data_dir),
        device=device,
    )


def _rows(
    settings: BenchmarkSettings, entries: Sequence[_Entry], found: Mapping[tuple[str, int, str, int], Setting]
) -> Iterator[Row]:
    """The rows of what was found, graph after graph in the order given."""
    for entry in entries:
        for (graph, copy, _, budget), setting in found.items():
            if (graph, copy) == (entry.graph, entry.copy):
                per_class = next(labels for labels, one in entry.budgets.items() if one == budget)
                yield from rows_of(setting, graph, copy, per_class)


def _gpu_name() -> str:
    import torch

    return torch.cuda.get_device_name()


def _played(graph: Graph, copies: int) -> Iterator[tuple[int, Graph]]:
    """The graph itself, or its copies, each with its number."""
    if not copies:
        yield -1, graph
        return
    yield from enumerate(graph_copies(graph, copies))
