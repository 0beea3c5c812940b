"""``nodewise evaluate``: one strategy on one graph, over many runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nodewise.cli.command import add_command
from nodewise.cli.options import (
    BudgetOption,
    ClassifierOption,
    DataDirOption,
    DeviceOption,
    FeaturesOption,
    GraphArgument,
    PolicyOption,
    RunsOption,
    SeedOption,
)
from nodewise.cli.pending import refuse_until_built
from nodewise.cli.screen import Screen

__all__ = ["evaluate", "register"]

EXAMPLES = """
nodewise evaluate pubmed --strategy policy --runs 100
nodewise evaluate my.npz --strategy age --budget 40 --json result.json
"""


def evaluate(
    screen: Screen,
    graph: GraphArgument,
    strategy: Annotated[
        str,
        typer.Option(
            "--strategy",
            metavar="NAME",
            help="random, uncertainty, centrality, coreset, kcenter, age, anrmab or policy.",
            show_default=False,
        ),
    ],
    policy: PolicyOption = None,
    classifier: ClassifierOption = "gcn",
    features: FeaturesOption = None,
    budget: BudgetOption = None,
    runs: RunsOption = 100,
    seed: SeedOption = 0,
    device: DeviceOption = "auto",
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the result there, every run's score included.", show_default=False)
    ] = None,
    data_dir: DataDirOption = None,
) -> None:
    """Score one strategy on one labelled graph: micro and macro F1, mean and 95 % interval over runs."""
    refuse_until_built(screen, "evaluation")


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(app, "evaluate", evaluate, examples=EXAMPLES, panel="Research")
