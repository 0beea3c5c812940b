"""The paper's figures, drawn from a reproduction's record."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nodewise.evaluation.results.plots import colour_of, draw_curves, draw_legend, new_figure, save_figure
from nodewise.evaluation.results.statistics import Interval
from nodewise.experiments.gpa.rendering import graph_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from nodewise.graph import Graph

__all__ = ["draw_figure"]

Record = Mapping[str, Any]


def draw_figure(record: Record, path: Path, data_dir: Path | None = None) -> Path | None:
    """Draws the experiment's figure; None where the paper has none."""
    draw = {"budgets": _budgets, "training-budget": _training_budget, "training-graphs": _training_graphs}.get(
        record["figure"]
    )
    if record["figure"] == "case-study" and record.get("sequences"):
        return _case_study(record, path, data_dir)
    return None if draw is None else draw(record["parts"][0], path)


def _interval(result: Record, metric: str = "micro_f1") -> Interval:
    return Interval(result[metric]["mean"], float("nan") if result[metric]["ci95"] is None else result[metric]["ci95"])


def _names(part: Record) -> list[str]:
    return list(dict.fromkeys(result["name"] for setting in part["settings"] for result in setting["results"]))


def _of(setting: Record, name: str) -> Record | None:
    return next((result for result in setting["results"] if result["name"] == name), None)


def _budgets(part: Record, path: Path) -> Path:
    """Micro-F1 over budgets, one line a method."""
    figure = new_figure(8.4, 4.6)
    curves = {
        name: {
            setting["budget"]: _interval(result)
            for setting in part["settings"]
            if (result := _of(setting, name)) is not None
        }
        for name in _names(part)
    }
    draw_curves(figure.subplots(), curves, title=graph_title(part["settings"][0]))
    return save_figure(figure, path)


def _training_budget(part: Record, path: Path) -> Path:
    """Micro-F1 over the training budget, one line for each test budget."""
    figure = new_figure(6, 4.2)
    curves = {
        f"tested with {setting['budget']}": {
            int(result["name"].rsplit(" ", 1)[1]): _interval(result) for result in setting["results"]
        }
        for setting in part["settings"]
    }
    draw_curves(figure.subplots(), curves, title=graph_title(part["settings"][0]), xlabel="labels in training")
    return save_figure(figure, path)


def _training_graphs(part: Record, path: Path) -> Path:
    """Micro-F1 over the number of training graphs, one line for each test graph, and their mean."""
    figure = new_figure(7.4, 4.6)
    axes = figure.subplots()
    counts = [name for name in _names(part) if name.split(" ")[0].isdigit()]
    curves = {
        setting["graph"]: {
            int(name.split(" ")[0]): _interval(result) for name in counts if (result := _of(setting, name)) is not None
        }
        for setting in part["settings"]
    }
    draw_curves(axes, curves, xlabel="training graphs", legend=False)
    whole = sorted(set.intersection(*(set(points) for points in curves.values()))) if curves else []
    if whole:
        means = [float(np.mean([points[count].mean for points in curves.values()])) for count in whole]
        axes.plot(whole, means, color="black", linewidth=2.4, linestyle="--", label="mean of all")
    draw_legend(axes, len(curves) + 1)
    return save_figure(figure, path)


def _case_study(record: Record, path: Path, data_dir: Path | None) -> Path:
    """The graph once for each of GPA, AGE and centrality: classes as colours, asked nodes large, with the step."""
    import networkx as nx

    from nodewise.datasets import load_graph

    graph = load_graph("reddit-case-study", data_dir=data_dir)
    scores = {result["name"]: result for result in record["parts"][0]["settings"][0]["results"]}
    known = {one["name"]: one for one in record["sequences"]}
    order = ("GPA", "GPA, authors' policy", "AGE", "AGE, fixed weights", "centrality")
    shown = [name for name in order if name in known and not (", " in name and name.split(",")[0] in known)]
    layout = nx.kamada_kawai_layout(graph.to_networkx())
    positions = np.array([layout[node] for node in sorted(layout)])
    figure = new_figure(4.6 * len(shown), 4.8)
    for axes, name in zip(np.atleast_1d(figure.subplots(1, len(shown))), shown, strict=True):
        _draw_sequence(axes, graph, positions, known[name]["sequence"])
        theirs = known[name]["paper_micro_f1"]
        axes.set_title(
            f"{name}: {_interval(scores[name])}" + ("" if theirs is None else f" (paper {theirs:.2f})"), fontsize=10
        )
    if "random" in scores:
        figure.supxlabel(f"random selection: {_interval(scores['random'])}", fontsize=9)
    return save_figure(figure, path)


def _draw_sequence(axes: Axes, graph: Graph, positions: np.ndarray[Any, Any], sequence: list[int]) -> None:
    assert graph.y is not None
    colours = [colour_of(int(label)) for label in graph.y]
    for a, b in graph.edge_index.T:
        axes.plot(*positions[[a, b]].T, color="#bbbbbb", linewidth=0.6, zorder=1)
    x, y = positions.T
    axes.scatter(x, y, s=28, c=colours, zorder=2, linewidths=0)
    axes.scatter(
        x[sequence],
        y[sequence],
        s=190,
        c=[colours[node] for node in sequence],
        zorder=3,
        edgecolors="black",
        linewidths=0.8,
    )
    for step, node in enumerate(sequence, start=1):
        axes.text(
            x[node],
            y[node],
            str(step),
            ha="center",
            va="center",
            fontsize=8,
            color="white",
            fontweight="bold",
            zorder=4,
        )
    axes.set_aspect("equal")
    axes.axis("off")
