"""``nodewise session``: a person's labelling job on one graph."""

from __future__ import annotations

import typer

from nodewise.cli.command import make_group
from nodewise.cli.commands.session import adjust, label, new, people, results, rows, suggestions

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Adds the group and its commands."""
    group = make_group("A labelling job on one graph, kept in one file: ask, tell, and go on whenever you like.")
    for part in (new, label, results, adjust, people, rows, suggestions):
        part.register(group)
    app.add_typer(group, name="session", rich_help_panel="Labelling")
