"""``nodewise studio``: the web page for labelling."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nodewise.cli.command import add_command
from nodewise.cli.pending import refuse_until_built
from nodewise.cli.screen import Screen

__all__ = ["register", "studio"]

EXAMPLES = """
nodewise studio
nodewise studio job.nodewise
"""


def studio(
    screen: Screen,
    session: Annotated[
        Path | None, typer.Argument(metavar="[SESSION]", help="The session's file; without it, a page that makes one.", show_default=False)
    ] = None,
) -> None:
    """Label in the browser; without a session, from an uploaded CSV."""
    refuse_until_built(screen, "studio")


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(app, "studio", studio, examples=EXAMPLES, panel="Labelling")
