"""What a comparison leaves in its folder: the result, tables in four forms, and pictures."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nodewise.evaluation.results.comparison import (
    Comparison,
    explained_table,
    lead_table,
    learning_curves,
    long_form,
    time_table,
)
from nodewise.evaluation.results.statistics import win_rates
from nodewise.evaluation.results.tables import ResultTable, to_latex, to_markdown
from nodewise.graph.tables.table import csv_text
from nodewise.ground.errors import InputError
from nodewise.ground.files import write_json

__all__ = ["check_folder", "write_comparison"]


def check_folder(folder: str | Path, settings: Sequence[Mapping[str, Any]], seed: int) -> None:
    """Refuse a folder whose comparison would be lost: it has something that the new one has not, or more runs of it.

    Args:
        settings: of the comparison that is to be written there, as its file will hold them. seed: its seed.

    Raises:
        InputError: says what the folder has, and what to do.
    """
    record = _held(folder)
    if record is None:
        return
    if record["seed"] != seed:
        _refuse_loss(folder, [f"the seed {record['seed']}"])
    known = all("features" in one for one in settings)  # before a comparison is played they may not be
    there, new = _cells(record, known), _cells({"settings": settings}, known)
    lost = [cell for cell, runs in there.items() if new.get(cell, 0) < runs]
    _refuse_loss(folder, [" ".join(filter(None, cell)) + _difference(cell, there[cell], new) for cell in lost])


def _difference(cell: tuple[str, ...], runs: int, new: Mapping[tuple[str, ...], int]) -> str:
    """What a cell has that the new comparison's cell of the same name has not, where its words do not say it."""
    if cell in new:
        return f", {runs} runs"
    named = len(cell) - len(_USUAL)
    for other in new:
        if other[:named] == cell[:named]:
            pairs = zip(_USUAL, cell[named:], other[named:], strict=True)
            return "".join(f" {usual}" for usual, own, changed in pairs if changed and not own)
    return ""


def _held(folder: str | Path) -> dict[str, Any] | None:
    """The comparison that lies in a folder; None where there is none that could be lost."""
    try:
        record: dict[str, Any] = json.loads((Path(folder) / "comparison.json").read_text(encoding="utf-8"))
        _values(record), record["seed"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return record


_USUAL = ("with its usual settings", "under the usual protocol", "on the protocol's splits")
"""How the last words of a cell read where they are empty: its classifier's settings, its protocol, its splits."""


def _cells(record: Mapping[str, Any], features: bool) -> dict[tuple[str, ...], int]:
    """Every method of every setting, in words, with or without its features, and how many runs it has."""
    return {cell: int(row["runs"]) for cell, row in _rows(record, features)}


def _rows(record: Mapping[str, Any], features: bool) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Every method of every setting, in words, and its row."""
    for one in record["settings"]:
        for row in one["results"]:
            cell = (
                str(one["graph"]),
                f"with {one['classifier']}" + (f" on {one['features']} features" if features else ""),
                f"at {one['budget']}",
                str(row["name"]),
                _told("with", row.get("classifier_settings")),
                _told("under the protocol", one.get("protocol")),
                _told("on", one.get("splits")),
            )
            yield cell, row


def _check_scores(folder: Path, record: Mapping[str, Any]) -> None:
    """Refuse to write over other scores of what has the same name: its graph, or nodewise, is another since.

    Raises:
        InputError: says whose.
    """
    there, new = ({} if one is None else _values(one) for one in (_held(folder), record))
    other = [cell for cell, values in there.items() if cell in new and new[cell][: len(values)] != values]
    if other:
        raise InputError(
            f"{folder} holds other scores of {', '.join(other[:5])}: the graph, the classifier or nodewise itself has"
            " changed since, so give another folder"
        )


def _values(record: Mapping[str, Any]) -> dict[str, list[float]]:
    """Micro-F1 of every run of every method of every setting, by its words."""
    return {" ".join(filter(None, cell)): row["micro_f1"]["values"] for cell, row in _rows(record, True)}


def _told(before: str, unusual: Mapping[str, Any] | None) -> str:
    """What is unusual, in words; splits are told apart by their nodes, not by where they were read."""
    plain = {key: value for key, value in (unusual or {}).items() if key != "words"}
    return f"{before} {json.dumps(plain, sort_keys=True)}" if plain else ""


def _refuse_loss(folder: str | Path, gone: Sequence[str]) -> None:
    if gone:
        more = f" and {len(gone) - 5} more" if len(gone) > 5 else ""
        raise InputError(
            f"{folder} holds a comparison with {', '.join(gone[:5])}{more}, which this one has not and would write"
            " over: name it, too (what is kept is not played again), or give another folder"
        )


def write_comparison(comparison: Comparison, folder: str | Path, plots: bool = True) -> list[Path]:
    """Writes ``comparison.json``, ``table.md``, ``table.tex``, ``table.csv`` and pictures.

    Curves are drawn for graphs with several budgets, win rates for two methods or more, critical differences for three
    methods or more over three graphs or more.

    Returns:
        The files, in the order written.

    Raises:
        InputError: the folder holds a comparison with what this one has not, or with more runs of it.
    """
    folder, record = Path(folder), comparison.as_dict()
    check_folder(folder, record["settings"], comparison.seed)
    _check_scores(folder, record)
    folder.mkdir(parents=True, exist_ok=True)
    beside = [one for one in (lead_table(comparison), time_table(comparison)) if one.rows]
    metrics = ("micro_f1", "macro_f1", *comparison.further)
    texts = {
        "table.md": "\n".join(to_markdown(one) for one in _tables(comparison, metrics, "italics", beside)),
        "table.tex": "\n".join(to_latex(one) for one in _tables(comparison, metrics, "underlined", beside)),
        "table.csv": csv_text(*long_form(comparison)),
    }
    write_json(folder / "comparison.json", record)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    files = [folder / name for name in ("comparison.json", *texts)]
    return files + (_pictures(comparison, folder) if plots else [])


def _tables(
    comparison: Comparison, metrics: Sequence[str], near: str, beside: Sequence[ResultTable]
) -> list[ResultTable]:
    return [*(explained_table(comparison, metric, near) for metric in metrics), *beside]


def _pictures(comparison: Comparison, folder: Path) -> list[Path]:
    from nodewise.evaluation.results.plots import (
        draw_critical_difference,
        draw_curves,
        draw_win_rates,
        new_figure,
        save_figure,
    )

    files: list[Path] = []
    classifiers = list(dict.fromkeys(setting.classifier for setting in comparison.settings))
    for graph in comparison.graphs:
        for classifier in classifiers:
            settings = comparison.select(graph=graph, classifier=classifier)
            if len(settings) > 1:
                figure = new_figure(6 if len(comparison.methods) < 6 else 7.6, 4)
                curves = learning_curves(settings, comparison.methods)
                draw_curves(
                    figure.subplots(), curves, title=graph if len(classifiers) == 1 else f"{graph}, {classifier}"
                )
                name = re.sub(r"[^A-Za-z0-9.+_-]+", "-", graph if len(classifiers) == 1 else f"{graph}-{classifier}")
                files.append(save_figure(figure, folder / f"curves-{name}.png"))
    labels = {f"{s.graph}/{s.classifier}/{s.budget}": s.scores() for s in comparison.settings}
    names, rates = win_rates(labels)
    if len(names) > 1:
        figure = new_figure(2 + 0.6 * len(names), 1.6 + 0.55 * len(names))
        draw_win_rates(figure.subplots(), names, rates)
        files.append(save_figure(figure, folder / "win-rates.png"))
    ranking = comparison.ranking()
    if ranking is not None and len(ranking.ranks) > 2 and ranking.graphs > 2:
        figure = new_figure(7, 1.4 + 0.25 * len(ranking.ranks))
        draw_critical_difference(figure.subplots(), ranking)
        files.append(save_figure(figure, folder / "critical-difference.png"))
    return files
