"""``nodewise benchmark``: strategies by classifiers by labels a class on all graphs at hand."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nodewise.cli.command import add_command
from nodewise.cli.failures import complain, make_folder
from nodewise.cli.options import (
    AddressOption,
    DataDirOption,
    DeviceOption,
    EngineOption,
    GpusOption,
    ProcessesOption,
    SeedOption,
    open_engine,
    read_names,
    read_numbers,
)
from nodewise.cli.screen import Screen
from nodewise.ground.events import count

__all__ = ["benchmark", "register"]

EXAMPLES = """
nodewise benchmark --graphs wine,digits --strategies random,gain,age --classifiers views --runs 10
nodewise benchmark --runs 100 --labels 5 --engine processes --until 3600
nodewise benchmark --runs 100 --labels 5 --engine ray --address auto
nodewise benchmark --graphs my.npz --strategies random,mine:Strategy --join others/benchmark.json
"""


def benchmark(
    screen: Screen,
    graphs: Annotated[
        str | None,
        typer.Option("--graphs", metavar="A,B,…", help="Graphs by name or file.", show_default="all at hand"),
    ] = None,
    strategies: Annotated[
        str | None,
        typer.Option("--strategies", metavar="A,B,…", help="Strategies by name.", show_default="twenty of them"),
    ] = None,
    classifiers: Annotated[
        str, typer.Option("--classifiers", metavar="A,…", help="Classifiers by name.")
    ] = "views,gcn",
    labels: Annotated[
        str, typer.Option("--labels", "--budgets", metavar="N,…", help="Labels a class.")
    ] = "1,2,5,10,20",
    runs: Annotated[int, typer.Option("--runs", metavar="N", min=1, help="Independent runs of each.")] = 20,
    copies: Annotated[
        int, typer.Option("--copies", metavar="N", min=0, help="Play so many copies of each graph in place of it.")
    ] = 0,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where results, page and plots go.")] = Path(
        "benchmark"
    ),
    join: Annotated[
        list[Path] | None,
        typer.Option(
            "--join", metavar="FILE", help="A result file to be shown with these; may be repeated.", show_default=False
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what it would take.")] = False,
    seed: SeedOption = 0,
    device: DeviceOption = "auto",
    engine: EngineOption = "local",
    address: AddressOption = None,
    gpus_per_task: GpusOption = 0.0,
    processes: ProcessesOption = None,
    until: Annotated[
        float | None,
        typer.Option(
            "--until",
            metavar="SECONDS",
            min=1,
            help="With --engine processes: end after so many seconds with what is whole by then; a failure ends"
            " nothing else.",
            show_default="when all is played",
        ),
    ] = None,
    data_dir: DataDirOption = None,
) -> None:
    """Play all strategies with all classifiers on all graphs at hand, by one protocol.

    What it will take is printed first. Finished chunks are kept in --out, and a second call goes on. The result file
    benchmark.json there is small, and others can join theirs with --join.
    """
    from nodewise.classifiers import make_classifier
    from nodewise.experiments.benchmark import (
        STRATEGIES,
        BenchmarkResult,
        BenchmarkSettings,
        foresee,
        graphs_at_hand,
        play,
        read_result,
        write_page,
    )
    from nodewise.experiments.benchmark import join as joined
    from nodewise.strategies import make_strategy

    others = [read_result(path) for path in join or ()]
    joined([BenchmarkResult(seed, {}, ()), *others])  # what cannot be shown together is told before anything is played
    settings = BenchmarkSettings(
        tuple(read_names(graphs, "--graphs") if graphs else graphs_at_hand(data_dir)),
        read_names(strategies, "--strategies") if strategies else STRATEGIES,
        read_names(classifiers, "--classifiers"),
        read_numbers(labels, "--labels"),
        runs,
        copies,
        seed,
    )
    for name in settings.strategies:
        make_strategy(name)  # what is misspelt is refused before any graph is read
    for name in settings.classifiers:
        make_classifier(name)
    screen.line(f"{count(len(settings.graphs), 'graph')}: {foresee(settings, data_dir)}")
    if dry_run:
        return
    make_folder(out, "--out")
    with screen.reporting() as reporter, open_engine(engine, address, gpus_per_task, processes, until) as used:
        try:
            result = play(settings, out, used, reporter, device, data_dir, partial=until is not None)
        except KeyboardInterrupt:
            complain(f"nodewise benchmark: interrupted; what is finished lies in {out}, the same command goes on there")
            raise typer.Exit(130) from None
    files = write_page(joined([result, *others]), out)
    screen.line(f"written: {', '.join(str(path) for path in (out / 'benchmark.json', *files))}")


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(app, "benchmark", benchmark, examples=EXAMPLES, panel="Research")
