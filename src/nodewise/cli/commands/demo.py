"""``nodewise demo``: the first thing to try, on data that comes along."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from nodewise.cli.command import add_command
from nodewise.cli.screen import Screen

if TYPE_CHECKING:
    from nodewise.graph import Graph

__all__ = ["demo", "register"]

GRAPH = "digits"


def demo(screen: Screen) -> None:
    """Try nodewise on an embedded graph; needs no network."""
    from nodewise.datasets import load_graph

    with screen.reporting() as reporter:
        graph = load_graph(GRAPH, reporter=reporter)
    introduce(screen, graph)


def introduce(screen: Screen, graph: Graph) -> None:
    """Shows what the graph is."""
    from nodewise.graph.show import facts

    screen.line(f"{graph.name}: handwritten digits, each joined to the pictures nearest to it")
    screen.table(("", ""), list(facts(graph).items()))


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(app, "demo", demo, examples="nodewise demo", panel="Start here")
