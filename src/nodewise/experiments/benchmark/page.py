"""The benchmark's page: ranks, leads over random choice and times, made from a result file alone."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from nodewise.evaluation.results.plots import draw_critical_difference, new_figure, save_figure
from nodewise.evaluation.results.tables import ResultTable, to_markdown
from nodewise.experiments.benchmark.results import BenchmarkResult, time_words
from nodewise.ground.events import count

__all__ = ["benchmark_page", "draw_ranks", "write_page"]

_USUAL = 5
"""Labels a class of the pictures and of the tables that show one budget, where they were played; else the most that as
many graphs have as any."""


def write_page(result: BenchmarkResult, folder: str | Path) -> list[Path]:
    """Writes ``benchmark.md`` and a picture of critical differences for each classifier, where there can be one.

    Returns:
        The files.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    pictures = draw_ranks(result, folder)
    page = folder / "benchmark.md"
    page.write_text(benchmark_page(result, {key: path.name for key, path in pictures.items()}), encoding="utf-8")
    return [page, *pictures.values()]


def draw_ranks(result: BenchmarkResult, folder: Path) -> dict[str, Path]:
    """Critical differences, by classifier: where three strategies or more were played on three domains or more."""
    pictures = {}
    for classifier in result.classifiers:
        ranking = result.ranking(classifier, _shown(result))
        if ranking is not None and len(ranking.ranks) > 2 and ranking.graphs > 2:
            figure = new_figure(7, 1.4 + 0.25 * len(ranking.ranks))
            draw_critical_difference(figure.subplots(), ranking, "domain")
            name = re.sub(r"[^A-Za-z0-9.+_-]+", "-", classifier)
            pictures[classifier] = save_figure(figure, folder / f"benchmark-{name}.png")
    return pictures


def benchmark_page(
    result: BenchmarkResult, pictures: dict[str, str] | None = None, protocol: str = "nodewise's protocol"
) -> str:
    """The page as Markdown.

    Args:
        pictures: by classifier, the file of its critical differences.
        protocol: what it was played by, such as a link to a page.
    """
    shown, classifiers = _shown(result), result.classifiers
    runs = sorted({row.runs for row in result.rows})
    copies = max(row.copy for row in result.rows) + 1
    domains = len({graph.domain for graph in result.graphs.values()})
    seconds = sum(row.seconds * row.runs * row.budget for row in result.rows)
    by_classifier = {one: len({row.strategy for row in result.rows if row.classifier == one}) for one in classifiers}
    counts = [f"{count(number, 'strategy', 'strategies')} with {one}" for one, number in by_classifier.items()]
    parts = [
        "# Benchmark",
        f"{', '.join(counts)} on"
        f" {count(len(result.graphs), 'graph')} of {count(domains, 'domain')},"
        f" {', '.join(map(str, result.labels))} labels a class, {' or '.join(map(str, runs))} runs"
        f"{f' on each of {copies} copies' if copies else ''}, seed {result.seed}, by {protocol}."
        f" Each budget played by itself, this is {time_words(seconds)} of one process"
        f" ({result.machine or 'machine not recorded'}). {_versions(result)}",
    ]
    for classifier in classifiers:
        sentences = f"{_first(result, classifier, shown)} {_lacking(result, classifier, shown)}".strip()
        ranks = _ranks(result, classifier)
        parts += [f"## With {classifier}", sentences, *([to_markdown(ranks)] if ranks.rows else [])]
        if pictures and classifier in pictures:
            parts.append(f"![Critical differences with {classifier}, {shown} labels a class]({pictures[classifier]})")
        parts.append(to_markdown(_leads(result, classifier, shown)))
        if len(result.labels) > 1:
            parts.append(to_markdown(_by_labels(result, classifier)))
    parts += ["## By graph", to_markdown(_graphs(result, shown))]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _shown(result: BenchmarkResult) -> int:
    graphs = {one: len({row.graph for row in result.rows if row.per_class == one}) for one in result.labels}
    return _USUAL if _USUAL in graphs else max(graphs, key=lambda one: (graphs[one], one))


def _versions(result: BenchmarkResult) -> str:
    """Which versions were played; a file from before does not tell them."""
    unknown = [f"`{one}`" for one in (*result.classifiers, *result.strategies) if one not in result.versions]
    known = [f"`{name}` {code.removeprefix('version ')}" for name, code in result.versions.items()]
    said = f"Versions: {', '.join(known)}." if known else ""
    if unknown and known:
        return f"{said} Not known of {', '.join(unknown)}."
    return said or "The file does not tell the versions of strategies and classifiers."


def _first(result: BenchmarkResult, classifier: str, shown: int) -> str:
    """Who is first, and where the default is not."""
    said = []
    for labels in result.labels:
        ranking = result.ranking(classifier, labels)
        if ranking is None:
            continue
        if "gain" not in ranking.ranks:
            continue
        own, best = ranking.ranks["gain"], min(ranking.ranks.values())
        first = ", ".join(f"`{name}`" for name, rank in ranking.ranks.items() if rank == best and name != "gain")
        place = 1 + sum(rank < own for rank in ranking.ranks.values())
        if place > 1:
            said.append(f"With {count(labels, 'label')} a class `gain` is number {place}, and {first} is first.")
        elif first:
            said.append(f"With {count(labels, 'label')} a class `gain` shares the best average rank with {first}.")
    ranking = result.ranking(classifier, shown)
    if ranking is None:
        return "With fewer than two domains or strategies there are no ranks."
    if "gain" in ranking.ranks and not said:
        many = " at every number of labels" if len(result.labels) > 1 else ""
        said.append(f"`gain` has the best average rank{many}.")
    whole = result.full_table(classifier, shown)
    others = [graph for graph, scores in whole.items() if "gain" in scores and max(scores.values()) > scores["gain"]]
    if others:
        graphs = count(len(whole), "graph")
        said.append(
            f"With {count(shown, 'label')} a class another strategy's mean is higher on {len(others)} of {graphs}."
        )
    ranks = list(ranking.ranks.values())
    if max(ranks) - min(ranks) < ranking.critical_difference:
        said.append(f"With {count(shown, 'label')} a class no two strategies can be told apart by their ranks.")
    elif "gain" in ranking.ranks:
        own = ranking.ranks["gain"]
        near = [
            name
            for name, rank in ranking.ranks.items()
            if name != "gain" and abs(rank - own) <= ranking.critical_difference
        ]
        if near:
            named = ", ".join(f"`{name}`" for name in near)
            said.append(f"By the critical difference of the ranks `gain` cannot be told from {named}.")
    return " ".join(said)


def _lacking(result: BenchmarkResult, classifier: str, shown: int) -> str:
    """What was not played, and which strategies and graphs the ranks therefore leave out."""
    rows = {row.key: row for row in result.select(classifier, shown)}.values()
    graphs = list(dict.fromkeys(row.graph for row in rows))
    played = {name: {row.graph for row in rows if row.strategy == name} for name in result.strategies}
    short = {name: len(there) for name, there in played.items() if there and len(there) < len(graphs)}
    absent = ", ".join(f"`{name}`" for name, there in played.items() if not there)
    absent = f"Not played with {classifier}: {absent}." if absent else ""
    if not short:
        return absent
    whole = result.full_table(classifier, shown)
    ranked = next(iter(whole.values()), {})
    listed = ", ".join(f"`{name}` on {there}" for name, there in short.items())
    said = f"Not all was played: of {count(len(graphs), 'graph')} {listed}."
    gone = [f"`{name}`" for name in played if played[name] and name not in ranked]
    gone += [graph for graph in graphs if graph not in whole]
    said += f" The ranks leave out {', '.join(gone)}." if gone else ""
    return f"{said} {absent}".strip()


def _ranks(result: BenchmarkResult, classifier: str) -> ResultTable:
    rankings = {labels: result.ranking(classifier, labels) for labels in result.labels}
    names = [name for name in result.strategies if any(r is not None and name in r.ranks for r in rankings.values())]
    mean = {
        name: float(np.mean([r.ranks[name] for r in rankings.values() if r is not None and name in r.ranks]))
        for name in names
    }
    rows = tuple(
        (
            name,
            *(f"{r.ranks[name]:.2f}" if r is not None and name in r.ranks else "–" for r in rankings.values()),
            *([f"{mean[name]:.2f}"] if len(rankings) > 1 else []),
        )
        for name in sorted(names, key=lambda one: mean[one])
    )
    gaps = "; ".join(
        f"{labels}: {r.critical_difference:.2f} over {count(r.graphs, 'domain')}"
        for labels, r in rankings.items()
        if r is not None
    )
    note = f"Average ranks, each domain counting once, 1 is the best. Critical difference (Nemenyi, 5 %): {gaps}."
    columns = ("strategy", *(f"{labels} a class" for labels in rankings), *(["mean"] if len(rankings) > 1 else []))
    return ResultTable(f"Average ranks with {classifier}", columns, rows, (note,))


def _leads(result: BenchmarkResult, classifier: str, shown: int) -> ResultTable:
    rows = []
    chosen, means = result.select(classifier, shown), result.domain_means(classifier, shown)
    for name in result.strategies:
        own = [row for row in chosen if row.strategy == name]
        if not own:
            continue
        leads = [row.lead for row in own if row.lead is not None]
        tested = [(row.lead, row.p) for row in own if row.lead is not None and row.p is not None]
        better, worse = (sum(p < 0.05 and sign * lead > 0 for lead, p in tested) for sign in (1, -1))
        lead = _signed(leads) if leads else "–"
        domains = means.get(name)
        score = f"{np.mean(domains):.1f}" if domains else "–"
        times = f"{1000 * np.median([row.seconds for row in own]):.1f} ms"
        rows.append((name, score, lead, f"{better} / {worse} of {len(tested)}" if tested else "–", times))
    note = (
        "Micro-F1 in percent, the mean over domains; the lead over random choice in points, the mean over graphs; on"
        f" how many {'copies of graphs' if any(row.copy >= 0 for row in chosen) else 'graphs'} it is significantly"
        " better / worse (paired t-test on the same splits, Holm-corrected over strategies, 5 %; none is tested below"
        " six runs); the time of one query of one run, learning included, the median over graphs."
    )
    columns = ("strategy", "Micro-F1", "lead", "better / worse", "a query")
    return ResultTable(f"With {classifier}, {count(shown, 'label')} a class", columns, tuple(rows), (note,))


def _signed(leads: list[float]) -> str:
    """The mean with its sign, to a tenth; zero is +0.0."""
    return f"{round(float(np.mean(leads)), 1) + 0.0:+.1f}".replace("-", "−")


def _by_labels(result: BenchmarkResult, classifier: str) -> ResultTable:
    """Scores and leads at every number of labels a class."""
    rows = []
    means = {labels: result.domain_means(classifier, labels) for labels in result.labels}
    chosen = {labels: result.select(classifier, labels) for labels in result.labels}
    for name in result.strategies:
        cells = []
        for labels in result.labels:
            leads = [row.lead for row in chosen[labels] if row.strategy == name and row.lead is not None]
            score = f"{np.mean(means[labels][name]):.1f}" if name in means[labels] else "–"
            cells.append(f"{score} ({_signed(leads)})" if leads else score)
        rows.append((name, *cells))
    graphs = {labels: len({row.graph for row in chosen[labels]}) for labels in result.labels}
    many = ", ".join(f"{labels}: {number}" for labels, number in graphs.items())
    note = (
        "Micro-F1 in percent, the mean over domains, and the lead over random choice in points, the mean over graphs. A"
        f" budget of more than half of a graph's pool is left out, so that more labels may have fewer graphs ({many})."
    )
    columns = ("strategy", *(f"{labels} a class" for labels in result.labels))
    return ResultTable(f"With {classifier}, by labels a class", columns, tuple(rows), (note,))


def _graphs(result: BenchmarkResult, shown: int) -> ResultTable:
    rows = []
    for name, graph in result.graphs.items():
        best = []
        for classifier in result.classifiers:
            means: dict[str, list[float]] = {}
            for row in result.select(classifier, shown):
                if row.graph == name:
                    means.setdefault(row.strategy, []).append(row.micro_f1)
            top = max(means, key=lambda one: float(np.mean(means[one])), default=None)
            best.append("–" if top is None else f"{top} {np.mean(means[top]):.1f}")
        rows.append((name, graph.domain, f"{graph.nodes:,}", str(graph.classes), *best))
    columns = ("graph", "domain", "nodes", "classes", *(f"best with {one}" for one in result.classifiers))
    return ResultTable("", columns, tuple(rows), (f"{count(shown, 'label')} a class.",), text_columns=2)
