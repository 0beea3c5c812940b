"""What a comparison leaves in its folder: the result, tables in four forms, and pictures."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from nodewise.evaluation.results.comparison import Comparison, lead_table, learning_curves, long_form, score_table
from nodewise.evaluation.results.statistics import win_rates
from nodewise.evaluation.results.tables import to_latex, to_markdown
from nodewise.graph.tables.table import csv_text
from nodewise.ground.errors import InputError
from nodewise.ground.files import write_json

__all__ = ["check_folder", "write_comparison"]


def check_folder(folder: str | Path, graphs: Sequence[str], methods: Sequence[str], seed: int) -> None:
    """Refuse a folder whose comparison would be lost: it has graphs or methods that the new one has not.

    Args:
        graphs, methods: of the comparison that is to be written there. seed: its seed.

    Raises:
        InputError: says what the folder has, and what to do.
    """
    try:
        record = json.loads((Path(folder) / "comparison.json").read_text(encoding="utf-8"))
        held = {str(setting["graph"]) for setting in record["settings"]}
        names = {str(row["name"]) for setting in record["settings"] for row in setting["results"]}
        other = record["seed"] != seed
    except (OSError, ValueError, KeyError, TypeError):
        return  # there is none that could be lost
    gone = sorted(held - set(graphs)) + sorted(names - set(methods))
    if gone or other:
        what = f"the seed {record['seed']}" if other else ", ".join(gone)
        raise InputError(
            f"{folder} holds a comparison with {what}, which this one has not and would write over: name it, too (what"
            " is kept is not played again), or give another folder"
        )


def write_comparison(comparison: Comparison, folder: str | Path, plots: bool = True) -> list[Path]:
    """Writes ``comparison.json``, ``table.md``, ``table.tex``, ``table.csv`` and pictures.

    Curves are drawn for graphs with several budgets, win rates for two methods or more, critical differences for three
    methods or more over three graphs or more.

    Returns:
        The files, in the order written.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tables = [score_table(comparison), score_table(comparison, "macro_f1")]
    if len(comparison.methods) > 1:
        tables.append(lead_table(comparison))
    texts = {
        "table.md": "\n".join(to_markdown(table) for table in tables),
        "table.tex": "\n".join(to_latex(table) for table in tables),
        "table.csv": csv_text(*long_form(comparison)),
    }
    write_json(folder / "comparison.json", comparison.as_dict())
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    files = [folder / name for name in ("comparison.json", *texts)]
    return files + (_pictures(comparison, folder) if plots else [])


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
