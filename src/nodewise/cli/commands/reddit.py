"""``nodewise reddit build``: graphs from a month of posts and comments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nodewise.cli.command import add_command, make_group
from nodewise.cli.pending import refuse_until_built
from nodewise.cli.screen import Screen

__all__ = ["build", "register"]

EXAMPLES = """
nodewise reddit build --submissions RS_2014-01.zst --comments RC_2014-01.zst --glove glove.840B.300d.txt --out graphs
nodewise reddit build --submissions 'dumps/RS_*' --comments 'dumps/RC_*' --glove glove.zip --out graphs
"""


def build(
    screen: Screen,
    submissions: Annotated[
        list[str],
        typer.Option("--submissions", metavar="F", help="Dump of posts: file, folder or quoted glob; repeatable.", show_default=False),
    ],
    comments: Annotated[
        list[str],
        typer.Option("--comments", metavar="F", help="Dump of comments: file, folder or quoted glob; repeatable.", show_default=False),
    ],
    glove: Annotated[
        list[str], typer.Option("--glove", metavar="F", help="GloVe vectors: text, .gz or .zip; repeatable.", show_default=False)
    ],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the graphs and the report go.", show_default=False)],
) -> None:
    """Build the paper's kind of graphs from a month of posts and comments."""
    refuse_until_built(screen, "Reddit builder")


def register(app: typer.Typer) -> None:
    """Adds the group and its command."""
    group = make_group("Graphs from dumps of Reddit.")
    add_command(group, "build", build, examples=EXAMPLES)
    app.add_typer(group, name="reddit", rich_help_panel="Graphs")
