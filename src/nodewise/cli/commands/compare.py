"""``nodewise compare``: graphs by strategies by classifiers by budgets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from nodewise.cli.command import add_command
from nodewise.cli.options import DataDirOption, DeviceOption, FeaturesOption, GraphsArgument, RunsOption, SeedOption
from nodewise.cli.pending import refuse_until_built
from nodewise.cli.screen import Screen

__all__ = ["compare", "register"]

EXAMPLES = """
nodewise compare cora pubmed --strategies random,age,policy --out results
nodewise compare my.npz --strategies random,policy --budgets 10,20,50 --runs 30
"""


def compare(
    screen: Screen,
    graphs: GraphsArgument,
    strategies: Annotated[
        str, typer.Option("--strategies", metavar="A,B,…", help="Strategies by name, joined by commas.", show_default=False)
    ],
    budgets: Annotated[
        str | None, typer.Option("--budgets", metavar="N,…", help="Labels to ask for.", show_default="each graph's own budget")
    ] = None,
    classifiers: Annotated[str, typer.Option("--classifiers", metavar="A,…", help="Classifiers by name, joined by commas.")] = "gcn",
    features: FeaturesOption = None,
    runs: RunsOption = 100,
    seed: SeedOption = 0,
    device: DeviceOption = "auto",
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Keep results, tables and plots there; a second call goes on there.", show_default=False),
    ] = None,
    engine: Annotated[Literal["local", "ray"], typer.Option("--engine", help="Where the runs are done.")] = "local",
    data_dir: DataDirOption = None,
) -> None:
    """Compare strategies on the same splits, with paired tests; resumable."""
    refuse_until_built(screen, "comparison")


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(app, "compare", compare, examples=EXAMPLES, panel="Research")
