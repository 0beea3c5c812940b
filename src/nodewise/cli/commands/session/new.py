"""``nodewise session new``: starts a labelling job."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from nodewise.cli.command import add_command
from nodewise.cli.options import (
    DataDirOption,
    GraphArgument,
    SessionArgument,
    SettingsOption,
    read_plugin_settings,
    read_setting_options,
    setting_options,
)
from nodewise.cli.screen import Screen

__all__ = ["new", "register"]

EXAMPLES = """
nodewise session new job.nodewise my.npz --budget 50 --classes spam,fine
nodewise session new job.nodewise my.npz --budget 50 --audit 30 --redundancy 2
nodewise session new job.nodewise my.npz --budget 50 --suggest assistant=answer --suggest rules=rules.csv
nodewise session new topics.nodewise my.npz --budget 50 --several --classes sports,politics,art
"""


def new(
    screen: Screen,
    /,
    file: SessionArgument,
    graph: GraphArgument,
    settings: SettingsOption = None,
    data_dir: DataDirOption = None,
    suggest: Annotated[
        list[str] | None,
        typer.Option(
            "--suggest",
            metavar="NAME=ROWS",
            help="What a model says of the nodes from the beginning, a CSV file or a column of the graph; repeat it"
            " for several.",
            show_default=False,
        ),
    ] = None,
    labelled: Annotated[
        str | None,
        typer.Option(
            "--labelled",
            metavar="TYPE",
            help="Of a file or folder of several node types the one to be labelled.",
            show_default=False,
        ),
    ] = None,
    **given: Any,
) -> None:
    """Start a labelling job on a graph."""
    from nodewise.datasets import load_graph
    from nodewise.graph import read_graph
    from nodewise.graph.graph import canonical_features
    from nodewise.ground.errors import InputError
    from nodewise.session import Session

    if file.exists():
        raise InputError(
            f"there is a file {str(file)!r} already: a new session needs a new name; go on with it by 'nodewise session"
            f" ask {file}'"
        )
    wanted = read_setting_options(given)
    own = (wanted["classifier"], wanted["strategy"])
    of_classifier, of_strategy = read_plugin_settings(settings, *own, wanted["policy"])
    with screen.reporting() as reporter:
        if wanted["features"] is not None:
            canonical_features(wanted["features"])
        loaded = (
            load_graph(graph, data_dir=data_dir, reporter=reporter, several=wanted["several"])
            if labelled is None
            else read_graph(graph, labelled=labelled, several=wanted["several"])
        )
        for note in loaded.notes:
            screen.note(f"note: {note}")
        source = Path(graph) if Path(graph).is_file() else None
        said = {}
        for text in suggest or ():
            name, equals, rows = text.partition("=")
            if not (name.strip() and equals and rows) or name.strip() in said:
                raise InputError(f"--suggest takes NAME=ROWS, each name once, got {text!r}")
            said[name.strip()] = rows if rows in loaded.attributes else Path(rows)
        with Session.create(
            file,
            loaded,
            classifier_settings=of_classifier,
            strategy_settings=of_strategy,
            suggestions=said,
            source=source,
            reporter=reporter,
            **wanted,
        ) as session:
            made = session.settings
            heard = {each.name: int((each.numbers > 0).sum()) for each in session.suggestions}
    beside = f" and an audit of {made.audit}" if made.audit else ""
    only = " and no others" if made.closed_classes else ""
    classes = f", classes {', '.join(made.classes)}{only}" if made.classes else ", classes as they come"
    classes += ", any number of them a node" if made.several else ""
    screen.line(
        f"{file}: {loaded.name}, {loaded.num_nodes} nodes, a budget of {made.budget}{beside}, strategy"
        f" {made.strategy}{classes}"
    )
    for name, answers in heard.items():
        screen.line(f"{name} says something of {answers} of {loaded.num_nodes} nodes")
    named = zip(("--classifier", "--strategy"), own, strict=True)
    flags = "".join(f" {flag} {name}" for flag, name in named if name and ":" in name)
    screen.note(f"next: nodewise session ask {file}{flags}")


def register(group: typer.Typer) -> None:
    """Adds the command."""
    add_command(group, "new", new, examples=EXAMPLES, options=setting_options())
