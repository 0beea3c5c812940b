"""``nodewise demo``: the main job on data that comes along: a policy on a graph that it has never seen, against simple rules."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nodewise.cli.command import add_command
from nodewise.cli.options import DeviceOption, RunsOption, SeedOption
from nodewise.cli.screen import Screen

if TYPE_CHECKING:
    from nodewise.evaluation import Comparison

__all__ = ["demo", "register"]

GRAPH, FEATURES = "digits", "unit"
BUDGETS = (10, 20, 30, 40, 50)
STRATEGIES = ("random", "centrality", "policy")


def demo(
    screen: Screen,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The picture to write: .png, .svg or .pdf.")] = Path(
        "nodewise-demo.png"
    ),
    runs: RunsOption = 30,
    seed: SeedOption = 0,
    device: DeviceOption = "auto",
) -> None:
    """Try nodewise on an embedded graph; needs no network.

    A policy that was trained on citations between papers chooses which handwritten digits to label; it has seen neither pictures nor this
    graph. Random choice and the best connected node first are set beside it, on the same splits.
    """
    from nodewise.datasets import load_graph
    from nodewise.evaluation import compare as run
    from nodewise.ground.errors import InputError
    from nodewise.policy import DEFAULT_POLICY

    if out.suffix.lower() not in (".png", ".svg", ".pdf") or not out.absolute().parent.is_dir():
        raise InputError(f"--out got {str(out)!r}: give a .png, .svg or .pdf file in a folder that is there")
    graph = load_graph(GRAPH, features=FEATURES)
    screen.line(
        f"{graph.name}: {graph.num_nodes} handwritten digits, each joined to the pictures nearest to it; "
        f"the policy {DEFAULT_POLICY} was trained on other graphs"
    )
    with screen.reporting() as reporter:
        found = run(graph, STRATEGIES, classifiers=["gcn"], budgets=BUDGETS, runs=runs, seed=seed, device=device, reporter=reporter)
    _show(screen, found)
    _draw(found, out)
    screen.line(f"picture: {out}")


def _show(screen: Screen, found: Comparison) -> None:
    rows = [(f"{setting.budget} labels", *(str(setting.outcomes[name].interval()) for name in STRATEGIES)) for setting in found.settings]
    screen.table(("Micro-F1, %", *STRATEGIES), rows)
    last = found.settings[-1]
    test = next((t for t in last.tests if {t.first, t.second} == {"random", "policy"}), None)
    if test is not None:
        lead = float((last.outcomes["policy"].micro_f1 - last.outcomes["random"].micro_f1).mean())
        screen.line(f"with {last.budget} labels the policy leads random choice by {lead:.1f} points (paired t-test, p = {test.t_p:.2g})")


def _draw(found: Comparison, out: Path) -> None:
    from nodewise.evaluation.plots import draw_curves, new_figure, save_figure

    curves = {name: {s.budget: s.outcomes[name].interval() for s in found.settings} for name in STRATEGIES}
    figure = new_figure(5.6, 3.6)
    draw_curves(figure.subplots(), curves, title="digits: a graph that the policy has never seen")
    save_figure(figure, out)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(app, "demo", demo, examples="nodewise demo", panel="Start here")
