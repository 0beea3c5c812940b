"""``nodewise session ask``, ``tell``, ``skip``, ``undo``: the labelling itself."""

from __future__ import annotations

from typing import Annotated

import typer

from nodewise.cli.command import add_command
from nodewise.cli.options import JsonFlag, SessionArgument
from nodewise.cli.pending import refuse_until_built
from nodewise.cli.screen import Screen

__all__ = ["ask", "register", "skip", "tell", "undo"]

NodeArgument = Annotated[
    str, typer.Argument(metavar="NODE", help="The node's name where the graph has names, else its index.", show_default=False)
]


def ask(
    screen: Screen,
    file: SessionArgument,
    count: Annotated[int, typer.Option("-k", metavar="N", min=1, help="How many nodes to ask about at once.")] = 1,
    json: JsonFlag = False,
) -> None:
    """Say which node to label next, why, and what is predicted for it now."""
    refuse_until_built(screen, "labelling sessions")


def tell(
    screen: Screen,
    file: SessionArgument,
    node: NodeArgument,
    label: Annotated[str, typer.Argument(metavar="LABEL", help="The class's name.", show_default=False)],
    annotator: Annotated[str | None, typer.Option("--annotator", metavar="A", help="Who says so.", show_default=False)] = None,
) -> None:
    """Give a node its label, whether it was asked for or not."""
    refuse_until_built(screen, "labelling sessions")


def skip(screen: Screen, file: SessionArgument, node: NodeArgument) -> None:
    """Pass over a node that cannot be told; it spends no budget."""
    refuse_until_built(screen, "labelling sessions")


def undo(screen: Screen, file: SessionArgument) -> None:
    """Take back the last thing told or skipped."""
    refuse_until_built(screen, "labelling sessions")


def register(group: typer.Typer) -> None:
    """Adds the commands."""
    add_command(group, "ask", ask, examples="nodewise session ask job.nodewise -k 5 --json")
    add_command(group, "tell", tell, examples="nodewise session tell job.nodewise 17 spam --annotator ada")
    add_command(group, "skip", skip, examples="nodewise session skip job.nodewise 17")
    add_command(group, "undo", undo, examples="nodewise session undo job.nodewise")
