"""``nodewise demo``: the first thing to try, on data that comes along."""

from __future__ import annotations

import typer

from nodewise.cli.command import add_command
from nodewise.cli.description import describe
from nodewise.cli.screen import Screen

__all__ = ["demo", "register"]

GRAPH = "digits"


def demo(screen: Screen) -> None:
    """Try nodewise on an embedded graph; needs no network."""
    from nodewise.datasets import load_graph

    with screen.reporting() as reporter:
        graph = load_graph(GRAPH, reporter=reporter)
    screen.line(f"{GRAPH}: handwritten digits, each joined to the images nearest to it")
    screen.table(("what", "value"), [(what, str(value)) for what, value in describe(graph).items()])


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(app, "demo", demo, examples="nodewise demo", panel="Start here")
