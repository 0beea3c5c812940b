"""``nodewise session new``: starts a labelling job."""

from __future__ import annotations

from typing import Annotated

import typer

from nodewise.cli.command import add_command
from nodewise.cli.options import BudgetOption, ClassifierOption, DataDirOption, GraphArgument, PolicyOption, SeedOption, SessionArgument
from nodewise.cli.pending import refuse_until_built
from nodewise.cli.screen import Screen

__all__ = ["new", "register"]

EXAMPLES = """
nodewise session new job.nodewise my.npz --budget 50 --classes spam,fine
"""


def new(
    screen: Screen,
    file: SessionArgument,
    graph: GraphArgument,
    budget: BudgetOption = None,
    classes: Annotated[
        str | None, typer.Option("--classes", metavar="A,B", help="The classes, if known; more may come.", show_default=False)
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option("--strategy", metavar="NAME", help="How nodes are chosen.", show_default="the policy, where it fits the graph"),
    ] = None,
    policy: PolicyOption = None,
    classifier: ClassifierOption = "gcn",
    seed: SeedOption = 0,
    data_dir: DataDirOption = None,
) -> None:
    """Start a labelling job on a graph."""
    refuse_until_built(screen, "labelling sessions")


def register(group: typer.Typer) -> None:
    """Adds the command."""
    add_command(group, "new", new, examples=EXAMPLES)
