"""Pictures of comparisons: learning curves with bands, win rates, and critical differences. Drawn without a display."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from nodewise.evaluation.results.statistics import Interval, Ranking
from nodewise.ground.errors import InputError
from nodewise.ground.events import count
from nodewise.ground.files import remove_dead_parts, whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "colour_of",
    "draw_critical_difference",
    "draw_curves",
    "draw_legend",
    "draw_win_rates",
    "new_figure",
    "save_figure",
    "save_picture",
    "tidy_axes",
]

# Told apart by people who see few colours (Okabe and Ito), the first for whatever is named first.
_COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#000000",
    "#999999",
    "#8B4513",
    "#6A3D9A",
    "#B2182B",
    "#4D9221",
)
_MARKERS = "osD^vPX*<>ph"
_TITLE = 34
"""Letters of a title that fit above a panel."""
_ENDINGS = (".png", ".svg", ".pdf")


def colour_of(index: int) -> str:
    """The colour of the method that stands at this index in the list."""
    return _COLOURS[index % len(_COLOURS)]


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, in inches, that no window belongs to."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=150, layout="constrained")


def save_figure(figure: Figure, path: str | Path) -> Path:
    """Write the figure whole or not at all; the ending says the format."""
    path = Path(path)
    remove_dead_parts(path.absolute().parent)
    with whole_file(path) as file:
        figure.savefig(file, format=path.suffix[1:], metadata={"Software": None} if path.suffix == ".png" else None)
    return path


def draw_curves(
    axes: Axes,
    curves: Mapping[str, Mapping[int, Interval]],
    *,
    title: str = "",
    xlabel: str = "labels",
    ylabel: str = "Micro-F1",
    legend: bool = True,
) -> None:
    """Mean scores over budgets, one line a method, with its 95 % interval as a band.

    Args:
        curves: by method, then by budget.
    """
    for index, (name, points) in enumerate(curves.items()):
        budgets = sorted(points)
        means = np.array([points[budget].mean for budget in budgets])
        widths = np.nan_to_num([points[budget].half_width for budget in budgets])
        axes.plot(
            budgets,
            means,
            marker=_MARKERS[index % len(_MARKERS)],
            markersize=4,
            linewidth=1.4,
            color=colour_of(index),
            label=name,
        )
        axes.fill_between(budgets, means - widths, means + widths, color=colour_of(index), alpha=0.15, linewidth=0)
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.set_title(_fitted(title))
    axes.grid(alpha=0.25, linewidth=0.6)
    if curves:
        axes.set_xticks(sorted({budget for points in curves.values() for budget in points}))
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if legend and curves:
        draw_legend(axes, len(curves))


def draw_legend(axes: Axes, entries: int) -> None:
    """The legend: among the lines where it is short, beside them where it would hide some."""
    if entries > 4:
        axes.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    else:
        axes.legend(frameon=False, fontsize="small", loc="best")


def draw_win_rates(axes: Axes, names: Sequence[str], rates: npt.NDArray[np.float64]) -> None:
    """How often the row's method beats the column's on the same split, in percent."""
    axes.imshow(np.nan_to_num(rates, nan=0.5), cmap="RdBu", vmin=0, vmax=1)
    for i in range(len(names)):
        for j in range(len(names)):
            if i != j:
                strong = abs(rates[i, j] - 0.5) > 0.35
                axes.text(
                    j,
                    i,
                    f"{100 * rates[i, j]:.0f}",
                    ha="center",
                    va="center",
                    fontsize=9,
                    color="white" if strong else "black",
                )
    ticks = range(len(names))
    axes.set_xticks(ticks, names, rotation=35, ha="right", rotation_mode="anchor")
    axes.set_yticks(ticks, names)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_title("percent of runs in which the row beats the column", fontsize=10)


def draw_critical_difference(axes: Axes, ranking: Ranking, over: str = "graph") -> None:
    """Average ranks on a line, best on the left; a bar joins methods that cannot be told apart (Demšar 2006).

    Args:
        over: what was ranked once each, in the singular.
    """
    names, values = list(ranking.ranks), list(ranking.ranks.values())
    low, high = 1, max(len(names), 2)
    half = (len(names) + 1) // 2
    groups = ranking.cliques()
    depth = 1.2 + 0.45 * len(groups)
    margin = 0.08 * (high - low)
    axes.plot([low, high], [0, 0], color="black", linewidth=1)
    for rank in range(low, high + 1):
        axes.plot([rank, rank], [0, 0.15], color="black", linewidth=1)
        axes.text(rank, 0.3, str(rank), ha="center", va="bottom", fontsize=9)
    for index, (name, value) in enumerate(zip(names, values, strict=True)):
        left = index < half
        line = index if left else len(names) - 1 - index
        y, edge = -(depth + 0.6 * line), low - margin if left else high + margin
        axes.plot([value, value, edge], [0, y, y], color="black", linewidth=0.8)
        axes.text(
            edge,
            y,
            f"{name}  {value:.2f} " if left else f" {value:.2f}  {name}",
            ha="right" if left else "left",
            va="center",
            fontsize=9,
        )
    for index, group in enumerate(groups):
        ends = ranking.ranks[group[0]], ranking.ranks[group[-1]]
        y = -(0.45 + 0.45 * index)
        axes.plot([ends[0] - 0.02, ends[1] + 0.02], [y, y], color=colour_of(1), linewidth=3.5, solid_capstyle="butt")
    width = min(ranking.critical_difference, high - low)
    axes.plot([low, low + width], [1.25, 1.25], color="black", linewidth=1.2, marker="|")
    text = f"critical difference {ranking.critical_difference:.2f}" + (
        " (wider than the scale)" if ranking.critical_difference > high - low else ""
    )
    axes.text(
        low,
        1.45,
        f"{text}, {count(ranking.graphs, over)}, Friedman p {ranking.friedman_p:.2g}",
        ha="left",
        va="bottom",
        fontsize=8,
    )
    axes.set_xlim(low - 6 * margin, high + 6 * margin)
    axes.set_ylim(-(depth + 0.6 * half), 2.2)
    axes.axis("off")


def save_picture(figure: Figure, path: str | Path | None) -> Figure:
    """The figure, written where a caller wants it; None: nowhere.

    Raises:
        InputError: nothing can be written there.
    """
    if path is not None:
        where = Path(path)
        if where.suffix.lower() not in _ENDINGS or not where.absolute().parent.is_dir():
            raise InputError(
                f"no picture can be written to {str(path)!r}: name a .png, .svg or .pdf file in a folder that is there"
            )
        save_figure(figure, where)
    return figure


def tidy_axes(axes: Axes, title: str) -> None:
    """Axes of scores: a title, percent, a faint grid and no frame."""
    axes.set_title(_fitted(title))
    axes.set_ylabel("percent")
    axes.grid(axis="y", alpha=0.25, linewidth=0.6)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _fitted(title: str) -> str:
    """A title in as many lines as it needs to stay above its own panel."""
    return "\n".join(wrap(title, _TITLE))
