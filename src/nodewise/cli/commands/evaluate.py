"""``nodewise evaluate``: one strategy on one graph, over many runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nodewise.cli.command import add_command
from nodewise.cli.loading import load_for_command
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
from nodewise.cli.screen import Screen
from nodewise.ground.wording import count

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
    from nodewise.classifiers import CLASSIFIERS
    from nodewise.evaluation import evaluate as run
    from nodewise.evaluation import write_json
    from nodewise.ground.device import resolve_device
    from nodewise.ground.errors import InputError, UnknownNameError
    from nodewise.strategies import make_strategy

    resolve_device(device)
    make_strategy(strategy, policy)  # misspelt names are told before the graph is read
    if classifier not in CLASSIFIERS:
        raise UnknownNameError("classifier", classifier, CLASSIFIERS)
    if json_file is not None and not json_file.absolute().parent.is_dir():
        raise InputError(f"--json got {str(json_file)!r}, but there is no such folder: make it first")
    with screen.reporting() as reporter:
        one = load_for_command(graph, features, data_dir, reporter)
        result = run(
            one.graph, strategy, policy=policy, classifier=classifier, budget=budget or one.budget, runs=runs, seed=seed, device=device,
            features=one.features, reporter=reporter,
        )  # fmt: skip
    if json_file is not None:
        write_json(json_file, result.as_dict())
    rows = [("Micro-F1", str(result.micro)), ("Macro-F1", str(result.macro))]
    title = f"{result.graph}, {result.strategy}{f' {result.policy}' if result.policy else ''}, {result.budget} labels, {count(result.runs, 'run')}"
    screen.line(f"{title}, features {result.features}, {result.device}, {result.seconds:.1f} s")
    screen.table(("", "mean ± 95 % interval" if "±" in rows[0][1] else "mean"), rows)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(app, "evaluate", evaluate, examples=EXAMPLES, panel="Research")
