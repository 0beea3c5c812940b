"""How results show themselves: a line or a table in a shell, HTML in a notebook, a data frame, a picture."""

from __future__ import annotations

from html import escape
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from nodewise.evaluation.comparison import (
    Comparison,
    Entry,
    ResultTable,
    learning_curves,
    long_form,
    score_table,
    to_rows,
)
from nodewise.evaluation.plots import colour_of, draw_curves, new_figure, save_figure
from nodewise.ground.errors import InputError, MissingExtraError
from nodewise.ground.events import count

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nodewise.evaluation.comparison import Setting
    from nodewise.evaluation.evaluate import Evaluation

__all__ = [
    "comparison_frame",
    "comparison_html",
    "comparison_text",
    "evaluation_frame",
    "evaluation_html",
    "evaluation_line",
    "plot_comparison",
    "plot_evaluation",
]

_COLUMNS = 100  # of what is said below a table
_ENDINGS = (".png", ".svg", ".pdf")


def evaluation_line(result: Evaluation) -> str:
    """``Evaluation(digits, random, gcn, 50 labels, 10 runs: Micro-F1 88.1 ± 0.9, Macro-F1 87.9 ± 1.0)``."""
    strategy = f"{result.strategy} {result.policy}" if result.policy else result.strategy
    what = (
        f"{result.graph}, {strategy}, {result.classifier}, {count(result.budget, 'label')}, {count(result.runs, 'run')}"
    )
    return f"Evaluation({what}: Micro-F1 {result.micro}, Macro-F1 {result.macro})"


def evaluation_html(result: Evaluation) -> str:
    """A small table; whatever comes from the caller is escaped."""
    rows: dict[str, object] = {
        "graph": result.graph,
        "features": result.features,
        "strategy": result.strategy,
        "policy": result.policy,
        "classifier": result.classifier,
        "labels": result.budget,
        "runs": result.runs,
        "Micro-F1": result.micro,
        "Macro-F1": result.macro,
    }
    cells = "".join(
        f"<tr><th style='text-align:left'>{key}</th><td style='text-align:left'>{escape(str(value))}</td></tr>"
        for key, value in rows.items()
        if value is not None
    )
    return f"<table>{cells}</table>"


def evaluation_frame(result: Evaluation) -> pd.DataFrame:
    """One row a run."""
    names = ("graph", "features", "strategy", "policy", "classifier", "budget", "seed")
    same = {name: getattr(result, name) for name in names}
    return _pandas().DataFrame(
        {**same, "run": range(result.runs), "micro_f1": result.micro_f1, "macro_f1": result.macro_f1}
    )


def plot_evaluation(result: Evaluation, path: str | Path | None = None) -> Figure:
    """Runs as dots, means with intervals beside them."""
    figure = new_figure(3.6, 3.6)
    axes = figure.subplots()
    names = ("Micro-F1", "Macro-F1")
    for index, (name, values, interval) in enumerate(
        zip(names, (result.micro_f1, result.macro_f1), (result.micro, result.macro), strict=True)
    ):
        spread = np.linspace(-0.12, 0.12, len(values)) if len(values) > 1 else np.zeros(1)
        axes.plot(index + spread, values, ".", color=colour_of(index), alpha=0.45, markersize=5)
        axes.errorbar(
            index + 0.22,
            interval.mean,
            np.nan_to_num(interval.half_width),
            fmt="o",
            color=colour_of(index),
            capsize=3,
            label=name,
        )
    axes.set_xticks(range(len(names)), names)
    axes.set_xlim(-0.5, 1.6)
    _tidy(axes, f"{result.graph}: {result.strategy}, {count(result.budget, 'label')}")
    return _kept(figure, path)


def comparison_text(comparison: Comparison) -> str:
    """The table of Micro-F1 as plain text, with what it rests on below it."""
    table = score_table(comparison)
    rows = [tuple(cell or "–" for cell in row) for row in (table.columns, *to_rows(table))]
    widths = [max(len(row[index]) for row in rows) for index in range(len(table.columns))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    notes = [line for note in table.notes for line in wrap(note, _COLUMNS)]
    return "\n".join([*lines, *notes, "* the best, = what is not significantly worse"])


def comparison_html(comparison: Comparison) -> str:
    """The table of Micro-F1: the best in bold, what is not significantly worse in italics."""
    table = score_table(comparison)
    head = "".join(f"<th style='text-align:left'>{escape(name)}</th>" for name in table.columns)
    body = "".join(f"<tr>{''.join(_cell(cell) for cell in row)}</tr>" for row in table.rows)
    notes = "".join(f"<p>{escape(note)}</p>" for note in _spoken(table))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"


def comparison_frame(comparison: Comparison, runs: bool) -> pd.DataFrame:
    """Means by method and setting, or every run."""
    pandas = _pandas()
    if not runs:
        columns, rows = long_form(comparison)
        frame = pandas.DataFrame(rows, columns=columns)
        return frame.astype(dict.fromkeys(("best", "not_significantly_worse"), bool))
    records = [
        {
            "graph": setting.graph,
            "features": setting.features,
            "classifier": setting.classifier,
            "budget": setting.budget,
            "name": name,
            "strategy": outcome.strategy,
            "policy": outcome.policy,
            "seed": comparison.seed,
            "run": run,
            "micro_f1": float(outcome.micro_f1[run]),
            "macro_f1": float(outcome.macro_f1[run]),
        }
        for setting in comparison.settings
        for name, outcome in setting.outcomes.items()
        for run in range(len(outcome.micro_f1))
    ]
    return pandas.DataFrame.from_records(records)


def plot_comparison(comparison: Comparison, path: str | Path | None = None) -> Figure:
    """One panel for each graph and classifier: curves over budgets, or means side by side."""
    panels: dict[tuple[str, str], list[Setting]] = {}
    for setting in comparison.settings:
        panels.setdefault((setting.graph, setting.classifier), []).append(setting)
    several = len({classifier for _, classifier in panels}) > 1
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    figure = new_figure(1 + 4.2 * columns, 3.6 * rows)
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, ((graph, classifier), settings) in zip(grid, panels.items(), strict=False):
        title = f"{graph}, {classifier}" if several else graph
        if len(settings) > 1:
            methods = list(dict.fromkeys(name for setting in settings for name in setting.outcomes))
            draw_curves(axes, learning_curves(settings, methods), title=title, legend=axes is grid[0])
        else:
            _draw_means(axes, settings[0], comparison.methods)
            _tidy(axes, f"{title}, {count(settings[0].budget, 'label')}")
    for axes in grid[len(panels) :]:
        axes.set_axis_off()
    return _kept(figure, path)


def _draw_means(axes: Axes, setting: Setting, methods: list[str]) -> None:
    names = [name for name in methods if name in setting.outcomes]
    for index, name in enumerate(names):
        mean, width = setting.outcomes[name].interval()
        axes.errorbar(index, mean, np.nan_to_num(width), fmt="o", color=colour_of(methods.index(name)), capsize=3)
    axes.set_xticks(range(len(names)), names, rotation=30 if len(names) > 3 else 0)
    axes.margins(x=0.2)


def _tidy(axes: Axes, title: str) -> None:
    axes.set_title(title)
    axes.set_ylabel("percent")
    axes.grid(axis="y", alpha=0.25, linewidth=0.6)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _kept(figure: Figure, path: str | Path | None) -> Figure:
    if path is not None:
        where = Path(path)
        if where.suffix.lower() not in _ENDINGS or not where.absolute().parent.is_dir():
            raise InputError(
                f"no picture can be written to {str(path)!r}: name a .png, .svg or .pdf file in a folder that is there"
            )
        save_figure(figure, where)
    return figure


def _spoken(table: ResultTable) -> list[str]:
    return [
        note.replace("Marked: the best mean of a setting", "Bold: the best mean of a setting") for note in table.notes
    ]


def _cell(cell: Entry | str | None) -> str:
    mark = {"best": "<b>{}</b>", "near": "<i>{}</i>"}.get(cell.mark, "{}") if isinstance(cell, Entry) else "{}"
    text = cell.text if isinstance(cell, Entry) else cell or "–"
    return f"<td style='text-align:left'>{mark.format(escape(text))}</td>"


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise MissingExtraError("pandas", "pandas") from None
    return pandas
