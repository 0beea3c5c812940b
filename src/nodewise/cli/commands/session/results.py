"""``nodewise session status``, ``predict``, ``export``, ``backup``: what has come of it so far."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nodewise.cli.command import add_command
from nodewise.cli.options import JsonFlag, SessionArgument
from nodewise.cli.pending import refuse_until_built
from nodewise.cli.screen import Screen

__all__ = ["backup", "export", "predict", "register", "status"]


def status(screen: Screen, file: SessionArgument, json: JsonFlag = False) -> None:
    """Show how far the job is, and whether more labels are worth it."""
    refuse_until_built(screen, "labelling sessions")


def predict(
    screen: Screen,
    file: SessionArgument,
    out: Annotated[Path | None, typer.Option("--out", metavar="F", help="Where to; else standard output.", show_default=False)] = None,
) -> None:
    """Predict every node's class from the labels so far."""
    refuse_until_built(screen, "labelling sessions")


def export(
    screen: Screen,
    file: SessionArgument,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write; its ending says the form.", show_default=False)],
) -> None:
    """Write labels and predictions to a file."""
    refuse_until_built(screen, "labelling sessions")


def backup(
    screen: Screen,
    file: SessionArgument,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The copy to write.", show_default=False)],
) -> None:
    """Copy the session's file safely, also while others are labelling."""
    refuse_until_built(screen, "labelling sessions")


def register(group: typer.Typer) -> None:
    """Adds the commands."""
    add_command(group, "status", status, examples="nodewise session status job.nodewise --json")
    add_command(group, "predict", predict, examples="nodewise session predict job.nodewise --out predictions.csv")
    add_command(group, "export", export, examples="nodewise session export job.nodewise labels.csv")
    add_command(group, "backup", backup, examples="nodewise session backup job.nodewise copy.nodewise")
