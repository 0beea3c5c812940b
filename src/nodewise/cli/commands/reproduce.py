"""``nodewise reproduce``: the paper's tables and figures, theirs beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nodewise.cli.command import add_command
from nodewise.cli.options import DataDirOption
from nodewise.cli.pending import refuse_until_built
from nodewise.cli.screen import Screen

__all__ = ["register", "reproduce"]

EXAMPLES = """
nodewise reproduce cross-domain --runs 100 --out results
nodewise reproduce all --quick
"""


def reproduce(
    screen: Screen,
    experiment: Annotated[str, typer.Argument(metavar="EXPERIMENT|all", help="The experiment's name, or all of them.", show_default=False)],
    runs: Annotated[
        int | None, typer.Option("--runs", metavar="N", min=1, help="Independent runs to average over.", show_default="the paper's")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer runs, the same policies.")] = False,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where results, tables and figures go.")] = Path("reproduction"),
    data_dir: DataDirOption = None,
) -> None:
    """Redo the paper's tables and figures, theirs beside ours."""
    refuse_until_built(screen, "reproduction of the paper")


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(app, "reproduce", reproduce, examples=EXAMPLES, panel="Research")
