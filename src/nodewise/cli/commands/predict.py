"""``nodewise predict``: rows that were not in the graph, with a fitted learner."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nodewise.cli.command import add_command
from nodewise.cli.screen import Screen

__all__ = ["predict", "register"]

EXAMPLES = """
nodewise session export-fitted job.nodewise job.fitted
nodewise predict job.fitted new.csv --out predictions.csv
nodewise predict job.fitted more-texts.txt
"""


def predict(
    screen: Screen,
    fitted: Annotated[Path, typer.Argument(metavar="FITTED", help="The file of a fitted learner.", show_default=False)],
    rows: Annotated[
        Path,
        typer.Argument(
            metavar="ROWS",
            help=(
                "Rows as the graph was made from: .csv or .tsv, .txt with a text a line, .npy vectors, a folder of"
                " pictures."
            ),
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="F", help="The CSV file to write; else it is printed.", show_default=False),
    ] = None,
) -> None:
    """Predict rows that were not in the graph, some at a time, so that long files fit the memory."""
    from nodewise.fitted import load_fitted, predicted_rows
    from nodewise.graph.tables.table import cell, write_rows

    learner = load_fitted(fitted)
    table = (
        [cell(text) if text else "" for text in row] for row in predicted_rows(learner, rows, reporter=screen.report)
    )
    if out is None:
        for row in table:
            screen.line(",".join(row))
        return
    write_rows(out, table)
    screen.note(f"{out}: predictions by {learner!r}")


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(app, "predict", predict, examples=EXAMPLES, panel="Labelling")
