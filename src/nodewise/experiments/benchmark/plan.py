"""What the benchmark plays, what that costs, and playing it."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from nodewise.datasets import list_datasets, load_graph
from nodewise.datasets.folder import data_folder, local_names
from nodewise.datasets.load import find_info, held_out
from nodewise.evaluation import ChunkStore, Contest, Method, compare, graph_copies
from nodewise.evaluation.engine import Engine
from nodewise.experiments.benchmark.results import DOMAINS, BenchmarkResult, PlayedGraph, Row, rows_of
from nodewise.graph import Graph
from nodewise.ground.compute import cores
from nodewise.ground.errors import InputError
from nodewise.ground.events import Note, Reporter, count
from nodewise.strategies import make_strategy

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
    """

    graphs: tuple[str, ...]
    strategies: tuple[str, ...] = STRATEGIES
    classifiers: tuple[str, ...] = ("views", "gcn")
    labels: tuple[int, ...] = (1, 2, 5, 10, 20)
    runs: int = 20
    copies: int = 0
    seed: int = 0

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
        hours = self.seconds / 3600
        time = f"{hours:.1f} hours" if hours >= 1 else f"{max(1, round(self.seconds / 60))} minutes"
        return (
            f"{self.episodes:,} episodes with {self.queries:,} queries, about {time} here on one process (by a short"
            f" trial on {self.tried_on}; what is kept already is not played again)"
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
    episodes = queries = 0
    seconds = 0.0
    for nodes, budgets in sizes.values():
        for setting in trial.settings:
            for name, outcome in setting.outcomes.items():
                if not budgets:
                    continue
                played = budgets if make_strategy(name).reads_budget else [max(budgets)]
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
) -> BenchmarkResult:
    """Plays what is missing, graph after graph, and writes the result file after each.

    Chunks of runs are kept in ``out``, so that a second call goes on.
    """
    store = ChunkStore(Path(out) / "chunks")
    methods = tuple(Method(name) for name in settings.strategies)
    rows: list[Row] = []
    graphs: dict[str, PlayedGraph] = {}
    machine = f"{platform.system()} {platform.machine()}, {count(cores(), 'core')}, Python {platform.python_version()}"
    result = BenchmarkResult(settings.seed, {}, (), machine)
    for name in settings.graphs:
        graph = _labelled(name, data_dir)
        budgets = budgets_of(graph, settings.labels)
        if not budgets:
            report(Note(f"{graph.name}: half of the pool is fewer than a label a class: left out"))
            continue
        for copy, one in _played(graph, settings.copies):
            contest = Contest(
                one.name,
                lambda held=one: held,  # type: ignore[misc]
                tuple(budgets.values()),
                methods,
                settings.runs,
                settings.classifiers,
                source=None if copy >= 0 else name,
                data_dir=None if data_dir is None else str(data_dir),
            )
            table = compare(contest, seed=settings.seed, device=device, store=store, engine=engine, reporter=report)
            per_class = {budget: labels for labels, budget in budgets.items()}
            for setting in table.settings:
                rows += rows_of(setting, graph.name, copy, per_class[setting.budget])
        classes = len(np.unique(graph.y[graph.y >= 0])) if graph.y is not None else 0
        domain = DOMAINS.get(graph.name, graph.name)
        graphs[graph.name] = PlayedGraph(graph.fingerprint, graph.num_nodes, graph.num_edges, classes, domain)
        result = replace(result, graphs=dict(graphs), rows=tuple(rows))
        result.save(Path(out) / "benchmark.json")
    if not rows:
        raise InputError("no graph has a pool for a label a class: choose others")
    return result


def _played(graph: Graph, copies: int) -> Iterator[tuple[int, Graph]]:
    """The graph itself, or its copies, each with its number."""
    if not copies:
        yield -1, graph
        return
    yield from enumerate(graph_copies(graph, copies))
