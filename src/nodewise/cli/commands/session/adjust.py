"""``nodewise session class`` and ``budget``: what may be changed on the way."""

from __future__ import annotations

from typing import Annotated

import typer

from nodewise.cli.command import add_command
from nodewise.cli.options import SessionArgument
from nodewise.cli.screen import Screen

__all__ = ["add_class", "budget", "register"]


def add_class(
    screen: Screen,
    file: SessionArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new class.", show_default=False)],
) -> None:
    """Declare a class before it is used."""
    from nodewise.session import Session

    with Session.open(file) as session:
        session.add_class(name)
        screen.line(f"classes: {', '.join(session.classes)}")


def budget(
    screen: Screen,
    file: SessionArgument,
    labels: Annotated[int, typer.Argument(metavar="N", min=1, help="Labels to ask for in all.", show_default=False)],
) -> None:
    """Raise or lower the budget."""
    from nodewise.session import Session

    with Session.open(file) as session:
        session.set_budget(labels)
        screen.line(f"{session.status().told} of {labels} labels told")


def register(group: typer.Typer) -> None:
    """Adds the commands."""
    add_command(group, "class", add_class, examples="nodewise session class job.nodewise spam")
    add_command(group, "budget", budget, examples="nodewise session budget job.nodewise 80")
