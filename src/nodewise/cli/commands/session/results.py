"""``nodewise session status``, ``predict``, ``export``, ``backup``: what has come of it so far."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from nodewise.cli.command import add_command
from nodewise.cli.options import JsonOption, OwnClassifierOption, OwnStrategyOption, SessionArgument
from nodewise.cli.screen import Screen
from nodewise.ground.events import count, percent
from nodewise.ground.files import atomic_file

if TYPE_CHECKING:
    from nodewise.session import Status

KeepFormulasFlag = Annotated[
    bool,
    typer.Option("--keep-formulas", help="Leave CSV cells that a spreadsheet would run (=, @, +, - …) as they are."),
]

EXPORT_EXAMPLES = """
nodewise session export job.nodewise labels.csv
nodewise session export job.nodewise everything.csv --format full
nodewise session export job.nodewise tasks.json --format label-studio
"""

__all__ = ["backup", "export", "predict", "register", "status"]


def status(
    screen: Screen,
    file: SessionArgument,
    json: JsonOption = None,
    brief: Annotated[
        bool, typer.Option("--brief", help="Counts only: nothing is trained to tell whether more labels are worth it.")
    ] = False,
    classifier: OwnClassifierOption = None,
    strategy: OwnStrategyOption = None,
) -> None:
    """Show how far the job is, and whether more labels are worth it."""
    from nodewise.session import Session

    with Session.open(file, classifier=classifier, strategy=strategy, reporter=screen.report) as session:
        now = session.status()
        report = None
        if not brief and now.told + now.given:
            with screen.reporting() as reporter:
                report = session.stop_report(reporter)
    if json:
        screen.json({"schema": 1, **now.as_dict(), "stop": None if report is None else report.as_dict()}, json)
        return
    screen.table(("", ""), _rows(now))
    for name, votes in now.disagreements.items():
        screen.line(f"disagreement on {name}: " + ", ".join(f"{who} says {what}" for who, what in votes.items()))
    for sentence in report.words if report is not None else ():
        screen.line(sentence)


def predict(
    screen: Screen,
    file: SessionArgument,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="F", help="Where to; else standard output.", show_default=False)
    ] = None,
    keep_formulas: KeepFormulasFlag = False,
    classifier: OwnClassifierOption = None,
    strategy: OwnStrategyOption = None,
) -> None:
    """Predict every node's class from the labels so far, as CSV with every class's probability."""
    from nodewise.graph.tables.table import csv_lines
    from nodewise.session import Session
    from nodewise.session.files.export import prediction_rows

    with Session.open(file, classifier=classifier, strategy=strategy, reporter=screen.report) as session:
        prediction = session.predict()
        if prediction.unknown:
            screen.note(
                "no label is there yet: the class of every node is unknown, and each class as likely as another"
            )
        if out is not None and out.suffix.lower() in (".json", ".npz", ".pt"):
            session.export(out)
        else:
            lines = csv_lines(*prediction_rows(session.moment(), prediction), keep_formulas=keep_formulas)
            if out is None:
                screen.text("".join(lines))
                return
            session.check_output(out)
            with atomic_file(out) as handle:
                handle.writelines(line.encode("utf-8", "replace") for line in lines)
        screen.note(
            f"{out}: predictions for {session.graph.num_nodes} nodes from {count(len(session.labels), 'label')}"
        )


def export(
    screen: Screen,
    file: SessionArgument,
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="The file to write: .csv, .json, .npz or .pt.", show_default=False)
    ],
    format: Annotated[
        Literal["full", "label-studio"] | None,
        typer.Option(
            "--format",
            help="A form that the ending does not tell: the whole job with every vote and note, as .csv; "
            "tasks for Label Studio, as .json.",
            show_default="by the ending",
        ),
    ] = None,
    keep_formulas: KeepFormulasFlag = False,
    classifier: OwnClassifierOption = None,
    strategy: OwnStrategyOption = None,
) -> None:
    """Write labels and predictions to a file: CSV, JSON, npz (the graph with its labels) or plain tensors for PyTorch
    Geometric.
    """
    from nodewise.session import Session

    with Session.open(file, classifier=classifier, strategy=strategy, reporter=screen.report) as session:
        screen.line(f"{out}: {', '.join(session.export(out, keep_formulas=keep_formulas, format=format))}")


def backup(
    screen: Screen,
    file: SessionArgument,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The copy to write.", show_default=False)],
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """Copy the session's file safely, also while others are labelling."""
    from nodewise.session.log.log import Log

    with Log.open(file) as log:
        log.backup(out, overwrite=force)
        if log.settings.get("graph", {}).get("where") != "inside":
            screen.note(
                f"the graph is too large to lie in the session: keep {log.settings['graph'].get('path')} as well"
            )
    screen.line(f"{out}: written")


def export_fitted(
    screen: Screen,
    file: SessionArgument,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write, *.fitted.", show_default=False)],
    classifier: OwnClassifierOption = None,
    strategy: OwnStrategyOption = None,
) -> None:
    """Write the learner, fitted to the labels so far, to a file of its own, which predicts new rows."""
    from nodewise.fitted.jobs import fit_session
    from nodewise.session import Session

    with Session.open(file, classifier=classifier, strategy=strategy, reporter=screen.report) as session:
        session.check_output(out)
        learned = fit_session(session, classifier, screen.report)
        learned.save(out)
    screen.line(f"{out}: {learned!r}")


def register(group: typer.Typer) -> None:
    """Adds the commands."""
    add_command(group, "status", status, examples="nodewise session status job.nodewise --json")
    add_command(group, "predict", predict, examples="nodewise session predict job.nodewise --out predictions.csv")
    add_command(group, "export", export, examples=EXPORT_EXAMPLES)
    add_command(
        group,
        "export-fitted",
        export_fitted,
        examples="nodewise session export-fitted job.nodewise job.fitted\nnodewise predict job.fitted new.csv",
    )
    add_command(group, "backup", backup, examples="nodewise session backup job.nodewise copy.nodewise")


def _rows(now: Status) -> list[tuple[str, str]]:
    rows = [
        ("graph", f"{now.graph}, {now.nodes} nodes"),
        ("strategy", f"{now.strategy} ({now.reason})"),
        (
            "labels",
            f"{now.told} of {now.budget}"
            + (f", {now.bulk} in bulk" if now.bulk else "")
            + (f", {now.given} given before" if now.given else "")
            + (", done" if now.done else ""),
        ),
        ("classes", ", ".join(f"{name} {count}" for name, count in now.balance.items()) or "none yet"),
    ]
    if now.several:
        rows.append(("none of them", str(now.none)))
    if now.audit[1]:
        rows.append(("audit", f"{now.audit[0]} of {now.audit[1]}"))
    if now.skipped:
        rows.append(("skipped", str(now.skipped)))
    if now.outdated:
        rows.append(
            (
                "changed since they were labelled",
                f"{len(now.outdated)}: {', '.join(now.outdated[:10])}{' …' if len(now.outdated) > 10 else ''}",
            )
        )
    if now.open:
        rows.append(("open", "; ".join(f"{who}: {', '.join(nodes)}" for who, nodes in now.open.items())))
    if now.random:
        listed = "; ".join(f"{who}: {', '.join(nodes)}" for who, nodes in now.random.items())
        rows.append(("random", f"{listed}; nodewise session ask says why"))
    if len(now.annotators) > 1:
        rows.append(("annotators", ", ".join(f"{who} {count}" for who, count in now.annotators.items())))
    if now.kappa is not None:
        kappa = now.kappa
        rows.append(("agreement", f"{percent(kappa.share)} of pairs of votes, Fleiss' kappa {_kappa(kappa.fleiss)}"))
        rows.append(("by class", ", ".join(f"{name} {_kappa(value)}" for name, value in kappa.classes.items())))
        rows += [
            ("", f"{one} and {other}: kappa {_kappa(value)} on {nodes} nodes")
            for one, other, nodes, value in kappa.cohen
        ]
    return rows


def _kappa(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2f}"
