"""``nodewise session new``: starts a labelling job."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nodewise.cli.command import add_command
from nodewise.cli.options import (
    BudgetOption,
    ClassifierOption,
    DataDirOption,
    FeaturesOption,
    GraphArgument,
    PolicyOption,
    SeedOption,
    SessionArgument,
    SettingsOption,
    read_names,
    read_plugin_settings,
)
from nodewise.cli.screen import Screen

__all__ = ["new", "register"]

EXAMPLES = """
nodewise session new job.nodewise my.npz --budget 50 --classes spam,fine
nodewise session new job.nodewise my.npz --budget 50 --audit 30 --redundancy 2
"""


def new(
    screen: Screen,
    file: SessionArgument,
    graph: GraphArgument,
    budget: BudgetOption = None,
    classes: Annotated[
        str | None,
        typer.Option("--classes", metavar="A,B", help="The classes, if known; more may come.", show_default=False),
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option(
            "--strategy",
            metavar="NAME",
            help="How nodes are chosen.",
            show_default="the policy, where it fits the graph",
        ),
    ] = None,
    policy: PolicyOption = None,
    classifier: ClassifierOption = None,
    settings: SettingsOption = None,
    seed: SeedOption = 0,
    audit: Annotated[
        int,
        typer.Option(
            "--audit", metavar="N", min=0, help="Nodes drawn at random, on top of the budget, to measure the accuracy."
        ),
    ] = 0,
    redundancy: Annotated[
        int, typer.Option("--redundancy", metavar="N", min=1, help="Annotators that each node is asked of.")
    ] = 1,
    release_after: Annotated[
        float,
        typer.Option(
            "--release-after", metavar="MINUTES", min=0.01, help="When an unanswered query may go to another annotator."
        ),
    ] = 60.0,
    labels: Annotated[
        bool | None,
        typer.Option(
            "--use-labels/--hide-labels",
            help="Whether labels in the graph count as given.",
            show_default="yes, unless all nodes have one",
        ),
    ] = None,
    features: FeaturesOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Start a labelling job on a graph."""
    from nodewise.datasets import load_graph
    from nodewise.graph.features import canonical_features
    from nodewise.ground.errors import InputError
    from nodewise.session import Session

    if file.exists():
        raise InputError(
            f"there is a file {str(file)!r} already: a new session needs a new name; go on with it by 'nodewise session"
            f" ask {file}'"
        )
    of_classifier, of_strategy = read_plugin_settings(settings, classifier, strategy, policy)
    with screen.reporting() as reporter:
        if features is not None:
            canonical_features(features)
        loaded = load_graph(graph, data_dir=data_dir, reporter=reporter)
        source = Path(graph) if Path(graph).is_file() else None
        with Session.create(
            file,
            loaded,
            budget=budget,
            classes=None if classes is None else read_names(classes, "--classes"),
            strategy=strategy,
            policy=policy,
            classifier=classifier,
            classifier_settings=of_classifier,
            strategy_settings=of_strategy,
            seed=seed,
            audit=audit,
            redundancy=redundancy,
            release_after=60 * release_after,
            use_labels=labels,
            features=features,
            source=source,
            reporter=reporter,
        ) as session:
            made = session.settings
    beside = f" and an audit of {made.audit}" if made.audit else ""
    named = f", classes {', '.join(made.classes)}" if made.classes else ", classes as they come"
    screen.line(
        f"{file}: {loaded.name}, {loaded.num_nodes} nodes, a budget of {made.budget}{beside}, strategy"
        f" {made.strategy}{named}"
    )
    own = "".join(
        f" {flag} {name}"
        for flag, name in (("--classifier", classifier), ("--strategy", strategy))
        if name and ":" in name
    )
    screen.note(f"next: nodewise session ask {file}{own}")


def register(group: typer.Typer) -> None:
    """Adds the command."""
    add_command(group, "new", new, examples=EXAMPLES)
