"""``nodewise session add``, ``change``, ``remove``, ``erase``, ``join``: rows that come later, become others or go, and
labels of another job.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nodewise.cli.command import add_command
from nodewise.cli.options import SessionArgument
from nodewise.cli.screen import Screen
from nodewise.ground.events import count

__all__ = ["add", "change", "erase", "join", "register", "remove"]


def add(
    screen: Screen,
    file: SessionArgument,
    rows: Annotated[
        Path,
        typer.Argument(
            metavar="ROWS",
            help="The new rows: a table (.csv, .tsv) with the columns that the graph was made from, a text a line"
            " (.txt), or numbers (.npy).",
            show_default=False,
        ),
    ],
    annotator: Annotated[str, typer.Option("--annotator", help="Who adds them.")] = "me",
) -> None:
    """Add rows to a job: labels, open queries and the audit stay."""
    from nodewise.graph.knn.growth import read_rows
    from nodewise.session import Session

    given = read_rows(rows)
    with Session.open(file) as session:
        before = session.status()
        numbers = session.add_rows(given, annotator=annotator, folder=rows.parent)
        now = session.status()
        named = f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else f"number {numbers[0]}"
        drawn = f", {now.audit[1] - before.audit[1]} of them drawn for the audit" if now.audit[1] else ""
        screen.line(
            f"{count(len(numbers), 'row')} added, {named}{drawn}: {now.nodes} rows, {now.told} of {now.budget} labels"
        )


def change(
    screen: Screen,
    file: SessionArgument,
    rows: Annotated[
        Path,
        typer.Argument(
            metavar="ROWS",
            help="The rows as they are to be: a table (.csv, .tsv) with a column that names the row, or has its number,"
            " and the columns that change.",
            show_default=False,
        ),
    ],
    annotator: Annotated[str, typer.Option("--annotator", help="Who changes them.")] = "me",
) -> None:
    """Put other texts in the place of some rows': labels stay, and undo brings the former texts back."""
    from nodewise.graph.knn.growth import read_rows
    from nodewise.session import Session

    given = read_rows(rows)
    with Session.open(file) as session:
        event = session.change_rows(given, annotator=annotator, folder=rows.parent)
        changed = session.events[event - 1].body["nodes"]
        labelled = sum(node in session.labels for node in changed)
        screen.line(
            f"{count(len(changed), 'row')} changed (event {event}), {labelled} of them labelled before: look at these"
            " again"
            if labelled
            else f"{count(len(changed), 'row')} changed (event {event}), none of them labelled"
        )


def remove(
    screen: Screen,
    file: SessionArgument,
    rows: Annotated[list[str], typer.Argument(metavar="ROW…", help="The rows' names or numbers.", show_default=False)],
    annotator: Annotated[str, typer.Option("--annotator", help="Who says so.")] = "me",
) -> None:
    """Take rows out of a job: not asked, not trained on, not exported; undo brings them back."""
    from nodewise.session import Session

    with Session.open(file) as session:
        event = session.remove_rows(rows, annotator=annotator)
        screen.line(f"{count(len(rows), 'row')} taken out (event {event}), and still in the file")


def erase(
    screen: Screen,
    file: SessionArgument,
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="The new file; there must be none yet.", show_default=False)
    ],
    rows: Annotated[list[str], typer.Argument(metavar="ROW…", help="The rows' names or numbers.", show_default=False)],
    annotator: Annotated[str, typer.Option("--annotator", help="Who says so.")] = "me",
) -> None:
    """Write a new file in which nothing is left of some rows, for data that must go; the old file stays as it is."""
    from nodewise.session import Session

    with Session.open(file) as session:
        gone = session.erase_rows(rows, out, annotator=annotator)
    screen.line(
        f"{count(len(gone.rows), 'row')} erased in {out.name}: texts, features, names, edges and notes are gone"
    )
    screen.line(
        f"the log lost {count(gone.answers, 'answer')}: {count(gone.events, 'event')} say no more than kind, time and"
        f" person, {gone.shortened} go on without the rows; also {count(gone.reasons, 'reason')} of other questions"
        f" and {count(gone.words, 'word')} that no other row has"
    )
    for where in gone.mentioned[:20]:
        screen.note(f"the same words stand in the {where}, which was not touched")
    screen.line(
        f"{file.name} still holds them, as do its backups and *.replies.jsonl, exports, and the files that the rows"
        " came from: delete these"
    )


def join(
    screen: Screen,
    file: SessionArgument,
    other: Annotated[
        Path,
        typer.Argument(metavar="OTHER", help="Another job of the same rows.", show_default=False),
    ],
    me: Annotated[str | None, typer.Option("--me", help="Who is called 'me' there.", show_default=False)] = None,
    annotator: Annotated[str, typer.Option("--annotator", help="Who joins them.")] = "me",
) -> None:
    """Take over the labels of another job of the same rows, with who gave them and when."""
    from nodewise.session import Session

    with Session.open(file) as session:
        taken = session.join(other, annotator=annotator, me=me)
        settle = len(session.status().disagreements)
        screen.line(f"{taken} labels taken over from {other.name}; {settle} rows on which people disagree")


def register(group: typer.Typer) -> None:
    """Adds the commands."""
    add_command(group, "add", add, examples="nodewise session add job.nodewise next-week.csv")
    add_command(group, "change", change, examples="nodewise session change job.nodewise corrected.csv")
    add_command(group, "erase", erase, examples="nodewise session erase job.nodewise job-without.nodewise 17")
    add_command(group, "join", join, examples="nodewise session join job.nodewise colleague.nodewise --me ada")
    add_command(group, "remove", remove, examples="nodewise session remove job.nodewise 17 23")
