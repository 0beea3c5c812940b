"""``nodewise demo``: the main job on data that comes along: the default and the paper's policy on a graph that they
have never seen.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nodewise.cli.command import add_command
from nodewise.cli.options import DeviceOption, JsonOption, RunsOption, SeedOption, check_json
from nodewise.cli.screen import Screen

if TYPE_CHECKING:
    from nodewise.evaluation import Comparison

__all__ = ["demo", "register"]

GRAPH = "digits"
BUDGETS = (10, 20, 30, 40, 50)
CONTESTANTS = {"views": ("gain", "random"), "gcn": ("policy", "random")}
"""Who plays with which classifier: the default, and the paper's."""


def demo(
    screen: Screen,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="The picture to write: .png, .svg or .pdf.")
    ] = Path("nodewise-demo.png"),
    runs: RunsOption = 30,
    seed: SeedOption = 0,
    device: DeviceOption = "auto",
    json: JsonOption = None,
) -> None:
    """Try nodewise on an embedded graph; needs no network.

    Which handwritten digits to label, as nodewise chooses by default (gain, with the classifier views, which needs no
    training), and as the paper's policy does, which was trained on citations between papers (with its classifier, a
    GCN). Both have seen neither pictures nor this graph; random choice is set beside each, on the same splits.
    """
    from nodewise.datasets import load_graph
    from nodewise.evaluation import compare as run
    from nodewise.ground.errors import InputError
    from nodewise.policy import DEFAULT_POLICY

    if out.suffix.lower() not in (".png", ".svg", ".pdf") or not out.absolute().parent.is_dir():
        raise InputError(f"--out got {str(out)!r}: give a .png, .svg or .pdf file in a folder that is there")
    check_json(json)
    graph = load_graph(GRAPH)
    if str(json) != "-":
        screen.line(
            f"{graph.name}: {graph.num_nodes} handwritten digits, each joined to the pictures nearest to it; "
            f"the policy {DEFAULT_POLICY} was trained on other graphs, gain and views need no training"
        )
    with screen.reporting() as reporter:
        results = {
            classifier: run(
                graph,
                strategies,
                classifiers=[classifier],
                budgets=BUDGETS,
                runs=runs,
                seed=seed,
                device=device,
                reporter=reporter,
            )
            for classifier, strategies in CONTESTANTS.items()
        }
    _draw(results, out)
    if json is not None:
        screen.json(
            {"schema": 1, "picture": str(out), "comparisons": [result.as_dict() for result in results.values()]}, json
        )
    if str(json) == "-":
        return
    _show(screen, results)
    screen.line(f"picture: {out}")


def _show(screen: Screen, results: dict[str, Comparison]) -> None:
    columns = [
        (f"{name}, {classifier}", results[classifier], name)
        for classifier, names in CONTESTANTS.items()
        for name in names
    ]
    rows = [
        (
            f"{budget} labels",
            *(str(result.select(budget=budget)[0].outcomes[name].interval()) for _, result, name in columns),
        )
        for budget in BUDGETS
    ]
    screen.table(("Micro-F1, %", *(title for title, _, _ in columns)), rows)
    for classifier, (first, second) in CONTESTANTS.items():
        last = results[classifier].settings[-1]
        test = next((t for t in last.tests if {t.first, t.second} == {first, second}), None)
        if test is not None:
            lead = float((last.outcomes[first].micro_f1 - last.outcomes[second].micro_f1).mean())
            sure = (
                f"paired t-test, p = {test.t_p:.2g}"
                if test.t_p == test.t_p
                else "too few runs to tell whether that is chance"
            )
            screen.line(
                f"with {last.budget} labels and {classifier}, {first} leads {second} choice by {lead:.1f} points"
                f" ({sure})"
            )


def _draw(results: dict[str, Comparison], out: Path) -> None:
    from nodewise.evaluation.results.plots import draw_curves, new_figure, save_figure

    curves = {
        f"{name} with {classifier}": {
            setting.budget: setting.outcomes[name].interval() for setting in results[classifier].settings
        }
        for classifier, names in CONTESTANTS.items()
        for name in names
    }
    figure = new_figure(5.6, 3.6)
    draw_curves(figure.subplots(), curves, title="digits: a graph that nobody was trained on")
    save_figure(figure, out)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(app, "demo", demo, examples="nodewise demo", panel="Start here")
