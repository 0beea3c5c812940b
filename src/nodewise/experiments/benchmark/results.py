"""What the benchmark found, small enough to be tracked: a row for each graph, classifier, strategy and budget."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from nodewise.evaluation import Ranking, Setting, compare_pairs, rank_strategies, write_json
from nodewise.ground.errors import InputError
from nodewise.ground.events import count

__all__ = ["DOMAINS", "BenchmarkResult", "PlayedGraph", "Row", "join", "read_result", "rows_of", "time_words"]

DOMAINS = {
    name: domain
    for domain, names in {
        "airports": "airports-brazil airports-europe airports-usa",
        "blogs": "karate polblogs",
        "citation-acm": "acmv9 citationv1 dblpv7",
        "citation-planetoid": "citeseer cora pubmed",
        "coauthor": "coauthor-cs coauthor-physics",
        "facebook": "fb100-caltech36 fb100-haverford76 fb100-reed98 fb100-simmons81",
        "reddit": "reddit1 reddit2 reddit3 reddit4 reddit5 reddit1401-graph1 reddit1401-graph2 reddit1401-graph3"
        " reddit1401-graph4 reddit1401-graph5 reddit1401-graphforvis reddit-case-study",
        "twitch": "twitch-de twitch-engb twitch-es twitch-fr twitch-ptbr twitch-ru",
        "webkb": "webkb-cornell webkb-texas webkb-washington webkb-wisconsin",
        "wikipedia": "chameleon-filtered squirrel-filtered",
    }.items()
    for name in names.split()
}
"""Graphs of one domain share a rank; a graph that is not named is a domain of its own."""


@dataclass(frozen=True)
class PlayedGraph:
    """A graph that was played: what tells it from another of its name."""

    fingerprint: str
    nodes: int
    edges: int
    classes: int
    domain: str


@dataclass(frozen=True)
class Row:
    """One strategy with one classifier at one budget on one graph.

    Attributes:
        copy: which copy of the graph; -1: the graph itself.
        per_class, budget: labels a class, and in all.
        micro_f1, micro_ci95, macro_f1: percent, means over runs; no interval is None.
        seconds: of a query of one run, learning and choosing together.
        lead, lead_ci95: over random choice on the same splits, in points; None for random itself, or where it was not
            played.
        p: of the paired t-test of that lead, Holm-corrected over the strategies of the setting. won: share of runs.
    """

    graph: str
    copy: int
    classifier: str
    strategy: str
    per_class: int
    budget: int
    runs: int
    micro_f1: float
    micro_ci95: float | None
    macro_f1: float
    seconds: float
    lead: float | None = None
    lead_ci95: float | None = None
    p: float | None = None
    won: float | None = None

    @property
    def key(self) -> tuple[str, int, str, str, int]:
        """What may be there once."""
        return self.graph, self.copy, self.classifier, self.strategy, self.per_class


_COLUMNS = tuple(one.name for one in fields(Row))


@dataclass(frozen=True)
class BenchmarkResult:
    """All rows, and what they were played with.

    Attributes:
        seed: of all runs. graphs: by name. machine: where the seconds were measured, in words.
        versions: of strategies and classifiers by name, such as ``version 3`` or a digest of somebody's own code;
            files from before lack it.
    """

    seed: int
    graphs: dict[str, PlayedGraph]
    rows: tuple[Row, ...]
    machine: str = ""
    versions: dict[str, str] = field(default_factory=dict)

    def save(self, path: str | Path) -> Path:
        """Writes the result file: JSON, a line of numbers for each row."""
        from nodewise import __version__

        write_json(
            Path(path),
            {
                "schema": 1,
                "kind": "benchmark",
                "nodewise_version": __version__,
                "seed": self.seed,
                "machine": self.machine,
                "versions": self.versions,
                "graphs": {name: asdict(graph) for name, graph in self.graphs.items()},
                "columns": _COLUMNS,
                "rows": [[getattr(row, name) for name in _COLUMNS] for row in self.rows],
            },
            compact=True,
        )
        return Path(path)

    @property
    def classifiers(self) -> list[str]:
        """Their names, in order."""
        return list(dict.fromkeys(row.classifier for row in self.rows))

    @property
    def strategies(self) -> list[str]:
        """Their names, in order."""
        return list(dict.fromkeys(row.strategy for row in self.rows))

    @property
    def labels(self) -> list[int]:
        """The labels a class, ascending."""
        return sorted({row.per_class for row in self.rows})

    def select(self, classifier: str, per_class: int) -> list[Row]:
        """The rows of one classifier and number of labels a class."""
        return [row for row in self.rows if row.classifier == classifier and row.per_class == per_class]

    def full_table(self, classifier: str, per_class: int) -> dict[str, dict[str, float]]:
        """Micro-F1 by graph and strategy, the mean over a graph's copies, of graphs that all its strategies played.

        Where some were not played (their time was over, or they failed), the graph or the strategy that lacks the
        largest share goes, until no cell is empty.
        """
        scores: dict[str, dict[str, list[float]]] = {}
        for row in self.select(classifier, per_class):
            scores.setdefault(row.graph, {}).setdefault(row.strategy, []).append(row.micro_f1)
        names = list(dict.fromkeys(row.strategy for row in self.select(classifier, per_class)))
        graphs = list(scores)
        while True:
            by_graph = {graph: sum(name not in scores[graph] for name in names) / len(names) for graph in graphs}
            by_name = {name: sum(name not in scores[graph] for graph in graphs) / len(graphs) for name in names}
            if not any(by_graph.values()):
                return {graph: {name: float(np.mean(scores[graph][name])) for name in names} for graph in graphs}
            worst_graph, worst_name = max(by_graph, key=by_graph.__getitem__), max(by_name, key=by_name.__getitem__)
            if by_name[worst_name] >= by_graph[worst_graph]:
                names.remove(worst_name)
            else:
                graphs.remove(worst_graph)

    def domain_means(self, classifier: str, per_class: int) -> dict[str, list[float]]:
        """Micro-F1 by strategy, one number a domain: the mean over its graphs, of the full table."""
        whole = self.full_table(classifier, per_class)
        domains = dict.fromkeys(self.graphs[graph].domain for graph in whole)
        return {
            name: [
                float(np.mean([whole[graph][name] for graph in whole if self.graphs[graph].domain == domain]))
                for domain in domains
            ]
            for name in next(iter(whole.values()), {})
        }

    def without(self, keys: Collection[tuple[str, int, str, str, int]]) -> BenchmarkResult:
        """What is left without some rows: the others, with the graphs and versions that they need."""
        rows = tuple(row for row in self.rows if row.key not in keys)
        names = {name for row in rows for name in (row.strategy, row.classifier)}
        graphs = {row.graph for row in rows}
        return replace(
            self,
            rows=rows,
            graphs={name: graph for name, graph in self.graphs.items() if name in graphs},
            versions={name: version for name, version in self.versions.items() if name in names},
            machine=self.machine if rows else "",
        )

    def ranking(self, classifier: str, per_class: int) -> Ranking | None:
        """Average ranks, each domain counting once; None with fewer than two strategies or domains."""
        means = self.domain_means(classifier, per_class)
        if len(means) < 2 or len(next(iter(means.values()))) < 2:
            return None
        return rank_strategies(means)


def rows_of(setting: Setting, graph: str, copy: int, per_class: int) -> list[Row]:
    """The rows of a setting of a comparison."""
    leads = {}
    if "random" in setting.outcomes:
        leads = {test.second: test for test in compare_pairs(setting.scores(), "random")}
    rows = []
    for name, outcome in setting.outcomes.items():
        test = leads.get(name)
        lead: tuple[float | None, ...] = (None, None, None, None)
        if test is not None:  # random against the strategy, turned round
            mean, width = test.difference
            lead = (_kept(-mean, 3), _kept(width, 3), _kept(test.corrected_p, 6), _kept(1 - test.win_rate, 3))
        micro, macro = outcome.interval(), outcome.interval("macro_f1")
        rows.append(
            Row(
                graph,
                copy,
                setting.classifier,
                name,
                per_class,
                setting.budget,
                outcome.runs,
                round(micro.mean, 3),
                _kept(micro.half_width, 3),
                round(macro.mean, 3),
                float(f"{outcome.seconds / (outcome.runs * outcome.budget):.3g}"),
                *lead,
            )
        )
    return rows


def read_result(path: str | Path) -> BenchmarkResult:
    """A result file.

    Raises:
        InputError: it is none.
    """
    try:
        record: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
        if record["kind"] != "benchmark" or record["schema"] != 1:
            raise ValueError(f"its kind is {record['kind']!r}, schema {record['schema']!r}")
        graphs = {str(name): PlayedGraph(**graph) for name, graph in record["graphs"].items()}
        rows = tuple(Row(**dict(zip(record["columns"], row, strict=True))) for row in record["rows"])
        versions = {str(name): str(version) for name, version in record.get("versions", {}).items()}
        return BenchmarkResult(int(record["seed"]), graphs, rows, str(record["machine"]), versions)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path} is no result file of the benchmark ({type(error).__name__}: {error})") from None


def join(results: Sequence[BenchmarkResult]) -> BenchmarkResult:
    """Several results as one: those of other strategies, classifiers or graphs, or of other people.

    Where random choice was played by another of them alone, the lead over it is the difference of the means over the
    same splits, without a test.

    Raises:
        InputError: they were played with another seed, with other versions of a strategy or classifier or on other
            graphs of the same name, or tell the same row differently.
    """
    first = results[0]
    rows: dict[tuple[str, int, str, str, int], Row] = {}
    graphs: dict[str, PlayedGraph] = {}
    versions: dict[str, str] = {}
    for result in results:
        if result.seed != first.seed:
            raise InputError(f"results with the seeds {first.seed} and {result.seed} have other splits: use one seed")
        for name, version in result.versions.items():
            if versions.setdefault(name, version) != version:
                raise InputError(
                    f"the results were played with different code of {name!r} ({versions[name]} and {version}): play"
                    " one of them again, or leave it out"
                )
        for name, graph in result.graphs.items():
            if graphs.setdefault(name, graph).fingerprint != graph.fingerprint:
                raise InputError(f"the results have different graphs of the name {name!r}: rename one of them")
        for row in result.rows:
            known = rows.setdefault(row.key, row)
            if (known.runs, known.micro_f1, known.macro_f1) != (row.runs, row.micro_f1, row.macro_f1):
                raise InputError(
                    f"the results tell {row.strategy} with {row.classifier} on {row.graph}, {row.per_class} a class,"
                    f" differently: {known.micro_f1} over {known.runs} runs and {row.micro_f1} over {row.runs}; leave"
                    " one out"
                )
    machines = dict.fromkeys(one for result in results for one in result.machine.split("; ") if one)
    led = tuple(
        _led(row, rows.get((row.graph, row.copy, row.classifier, "random", row.per_class))) for row in rows.values()
    )
    return BenchmarkResult(first.seed, graphs, led, "; ".join(machines), versions)


def _led(row: Row, random: Row | None) -> Row:
    """A row with its lead over random choice, where it was played without."""
    if row.lead is not None or random is None or row is random or row.runs != random.runs:
        return row
    return replace(row, lead=round(row.micro_f1 - random.micro_f1, 3))


def time_words(seconds: float) -> str:
    """Hours, minutes where it is less than an hour, or seconds where it is less than a minute."""
    if seconds >= 3600:
        return f"{seconds / 3600:.1f} hours"
    return count(round(seconds / 60), "minute") if seconds >= 60 else count(max(1, round(seconds)), "second")


def _kept(value: float, digits: int) -> float | None:
    return None if math.isnan(value) else round(value, digits)
