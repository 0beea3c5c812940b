"""``nodewise compare``: graphs by strategies by classifiers by budgets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from nodewise.cli.command import add_command
from nodewise.cli.failures import complain
from nodewise.cli.loading import load_for_command
from nodewise.cli.options import (
    DataDirOption,
    DeviceOption,
    FeaturesOption,
    GraphsArgument,
    RunsOption,
    SeedOption,
    read_names,
    read_numbers,
)
from nodewise.cli.screen import Screen

if TYPE_CHECKING:
    from nodewise.evaluation import Contest, Method
    from nodewise.ground.events import Reporter

__all__ = ["compare", "register"]

EXAMPLES = """
nodewise compare cora pubmed --strategies random,age,policy --out results
nodewise compare my.npz --strategies random,policy,policy:mine.safetensors --budgets 10,20,50 --runs 30 --out results
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
    """Compare strategies on the same splits, with paired tests.

    A strategy is a name; policy:NAME|FILE is one of several policies, age:0.2/0.3/0.5 is AGE with fixed weights.
    With --out, every finished chunk of runs is kept: after a kill the same command goes on where it was.
    """
    from nodewise.classifiers import CLASSIFIERS
    from nodewise.evaluation import ChunkStore, Method
    from nodewise.evaluation import compare as run
    from nodewise.evaluation.comparison_files import write_comparison
    from nodewise.evaluation.comparison_tables import lead_table, score_table
    from nodewise.evaluation.tables import to_rows
    from nodewise.ground.device import resolve_device
    from nodewise.ground.errors import InputError, UnknownNameError

    if engine != "local":
        raise InputError("--engine ray needs nodewise's cluster room, which this version does not have yet: use --engine local")
    resolve_device(device)  # what is misspelt or missing is told before any graph is read
    methods = tuple(Method.parse(name) for name in read_names(strategies, "--strategies"))
    for method in methods:
        method.make()
    learners = read_names(classifiers, "--classifiers")
    for name in learners:
        if name not in CLASSIFIERS:
            raise UnknownNameError("classifier", name, CLASSIFIERS)
    wanted = read_numbers(budgets, "--budgets") if budgets else ()
    with screen.reporting() as reporter:
        contests = [_contest(name, features, data_dir, reporter, wanted, methods, runs, learners) for name in graphs]
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
        try:
            found = run(contests, seed=seed, device=device, store=ChunkStore(out and out / "chunks"), reporter=reporter)
        except KeyboardInterrupt:
            complain(f"nodewise compare: interrupted; {_way_on(out)}")
            raise typer.Exit(130) from None
    tables = [score_table(found), *([lead_table(found)] if len(methods) > 1 else [])]
    for table in tables:
        screen.table(table.columns, to_rows(table), title=table.title)
        for note in table.notes:
            screen.note(f"{note} Here * is the best, = what is not significantly worse.")
    if out is not None:
        screen.note(f"written: {', '.join(str(path) for path in write_comparison(found, out))}")


def _contest(
    name: str, features: str | None, data_dir: Path | None, reporter: Reporter, budgets: tuple[int, ...], methods: tuple[Method, ...], runs: int,
    classifiers: tuple[str, ...],
) -> Contest:  # fmt: skip
    """Reads the graph once to see that it can be used, and lets it go until its turn has come."""
    from nodewise.evaluation import Contest
    from nodewise.ground.errors import InputError

    one = load_for_command(name, features, data_dir, reporter)
    if one.graph.y is None or not (one.graph.y >= 0).any():
        raise InputError(f"graph {name!r} has no labels: a comparison needs them to answer queries and to score; give a labelled graph")
    return Contest(
        name=one.graph.name,
        load=lambda: load_for_command(name, features, data_dir, reporter).graph,
        features=one.features,
        budgets=budgets or (one.budget,),
        methods=methods,
        runs=runs,
        classifiers=classifiers,
    )


def _way_on(out: Path | None) -> str:
    if out is None:
        return "nothing was kept, since --out was not given"
    return f"what is finished lies in {out}, and the same command goes on from there"


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(app, "compare", compare, examples=EXAMPLES, panel="Research")
