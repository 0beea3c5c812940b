"""``nodewise session suggest``, ``models``: what models say beside people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nodewise.cli.command import add_command
from nodewise.cli.options import JsonOption, SessionArgument
from nodewise.cli.screen import Screen

if TYPE_CHECKING:
    from nodewise.session.learning.estimates import Accuracy

__all__ = ["list_models", "register", "suggest"]


def suggest(
    screen: Screen,
    file: SessionArgument,
    rows: Annotated[
        str,
        typer.Argument(
            metavar="ROWS",
            help="A CSV file with a column that names the node, one with what the model says of it, and perhaps one"
            " with its confidence from 0 to 1; or the name of a column of the graph.",
            show_default=False,
        ),
    ],
    name: Annotated[str, typer.Option("--as", metavar="NAME", help="What the model is called.", show_default=False)],
) -> None:
    """Take what a model says of the nodes: the learner begins with it, and people's labels decide how far it counts."""
    from nodewise.session import Session

    with Session.open(file) as session:
        session.suggest(name, rows if rows in session.graph.attributes else Path(rows))
        (said,) = (each for each in session.suggestions if each.name == name.strip())
        answers = int((said.numbers > 0).sum())
        screen.line(f"{said.name} says something of {answers} of {session.graph.num_nodes} nodes")
        if said.unnamed:
            screen.line(f"{said.unnamed} answers name no class of the job and were left out")


def list_models(
    screen: Screen,
    file: SessionArgument,
    differing: Annotated[
        int, typer.Option("--differing", metavar="N", help="List N nodes where a model and the learner differ.", min=0)
    ] = 0,
    json: JsonOption = None,
) -> None:
    """How right each model is, by people's labels and by the audit, and where it and the learner differ."""
    from nodewise.session import Session

    with Session.open(file) as session:
        reports = session.model_reports()
        listed = session.model_disagreements(differing) if differing else []
    if json:
        from dataclasses import asdict

        models_found = [each.as_dict() for each in reports]
        screen.json({"schema": 1, "models": models_found, "differing": [asdict(each) for each in listed]}, json)
        return
    if not reports:
        screen.line("no model has said anything yet: session suggest FILE ROWS --as NAME")
        return
    screen.table(
        ("model", "answers", "left out", "right by labels", "right by the audit"),
        [
            (each.name, str(each.answers), str(each.unnamed), _share(each.by_labels), _share(each.by_audit))
            for each in reports
        ],
    )
    for each in reports:
        for label, share in each.classes.items():
            screen.line(f"{each.name}, {label}: {_share(share)}")
    if listed:
        screen.table(
            ("node", "model", "says", "predicted", "probability"),
            [(one.name, one.said_by, one.says, one.predicted, f"{one.probability:.2f}") for one in listed],
        )


def _share(found: Accuracy | None) -> str:
    if found is None:
        return "no label yet"
    return f"{100 * found.mean:.0f} % ({100 * found.low:.0f} to {100 * found.high:.0f}, of {found.nodes})"


def register(group: typer.Typer) -> None:
    """Adds the commands."""
    add_command(group, "suggest", suggest, examples="nodewise session suggest job.nodewise answers.csv --as assistant")
    add_command(group, "models", list_models, examples="nodewise session models job.nodewise --differing 20")
