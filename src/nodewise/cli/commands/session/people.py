"""``nodewise session people``, ``known``: how much, how fast and how right each person labels."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from nodewise.cli.command import add_command
from nodewise.cli.options import JsonOption, SessionArgument
from nodewise.cli.screen import Screen
from nodewise.ground.events import count, percent

__all__ = ["known", "people", "register"]


def people(screen: Screen, file: SessionArgument, json: JsonOption = None) -> None:
    """What can be said of each person: labels, time, agreement, and how right they are where answers are known."""
    from nodewise.session import Session

    with Session.open(file) as session:
        reports = session.person_reports()
    if json:
        screen.json({"schema": 1, "people": [asdict(each) for each in reports]}, json)
        return
    if not reports:
        screen.note("nobody has labelled anything yet")
        return
    rows = [
        (
            each.annotator,
            str(each.labels),
            "" if each.seconds is None else f"{each.seconds:.1f} s",
            "" if each.agreement is None else f"{percent(each.agreement)} of {each.shared}",
            ""
            if each.known is None
            else f"{percent(each.known.mean)} of {each.known.nodes}"
            f" ({percent(each.known.low)} to {percent(each.known.high)})",
            str(each.open),
        )
        for each in reports
    ]
    screen.table(("who", "labels", "time a label", "others agree", "right where known", "rows out"), rows)


def known(
    screen: Screen,
    file: SessionArgument,
    answers: Annotated[
        str | None,
        typer.Argument(
            metavar="[ANSWERS]", help="A CSV file with node and label, or a column of the graph.", show_default=False
        ),
    ] = None,
    percent: Annotated[
        int | None,
        typer.Option(
            "--percent", metavar="N", min=0, max=50, help="Of a hundred questions, how many.", show_default="as it was"
        ),
    ] = None,
    counts: Annotated[bool, typer.Option("--counts", help="They are labels of the job, too; they train nothing.")] = (
        False
    ),
    annotator: Annotated[
        str, typer.Option("--annotator", metavar="A", help="Who knows them; they are not asked.")
    ] = "me",
) -> None:
    """Say which rows' answers you know: people are asked about them now and then, and cannot tell."""
    from nodewise.session import Session

    with Session.open(file) as session:
        given: object = {} if answers is None else answers
        if answers is not None and answers not in session.graph.attributes:
            given = Path(answers)
        session.set_known(given, annotator, percent=percent, counts=counts)
        rules = session.rules()
        screen.line(
            f"the answers of {count(len(rules.known), 'row')} are known; {rules.control} of 100 questions are about"
            " them"
        )
        if opened := session.refresh().known.opened:
            screen.note(f"note: {count(len(opened), 'row')} more became ordinary by a label that nobody was asked for")


def register(group: typer.Typer) -> None:
    """Adds the commands."""
    add_command(group, "people", people, examples="nodewise session people job.nodewise")
    add_command(
        group,
        "known",
        known,
        examples="nodewise session known job.nodewise answers.csv --percent 10",
    )
