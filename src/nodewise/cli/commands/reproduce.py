"""``nodewise reproduce``: the paper's tables and figures, theirs beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nodewise.cli.command import add_command
from nodewise.cli.failures import complain, make_folder
from nodewise.cli.options import (
    AddressOption,
    ClosingOption,
    DataDirOption,
    DeviceOption,
    EngineOption,
    GpusOption,
    JsonOption,
    SeedOption,
    check_json,
    open_engine,
    read_classifier_settings,
    read_closing,
    read_names,
)
from nodewise.cli.screen import Screen
from nodewise.ground.errors import InputError

if TYPE_CHECKING:
    from nodewise.experiments.gpa import TrainingOutcome

__all__ = ["register", "reproduce"]

EXAMPLES = """
nodewise reproduce cross-domain --runs 100 --out results
nodewise reproduce table1 --quick
nodewise reproduce all --quick
nodewise reproduce trainings --only cora+citeseer,age-cora --policies policies --device cuda
"""


def reproduce(
    screen: Screen,
    experiment: Annotated[
        str,
        typer.Argument(
            metavar="EXPERIMENT|all|trainings",
            help="Its name, or its place in the paper as in table1; or all.",
            show_default=False,
        ),
    ],
    runs: Annotated[
        int | None,
        typer.Option(
            "--runs", metavar="N", min=1, help="Independent runs to average over.", show_default="the paper's 100"
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="At most 10 runs, 2 on large graphs; the same policies.")
    ] = False,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where results, tables and figures go.")] = Path(
        "reproduction"
    ),
    policies: Annotated[
        Path | None,
        typer.Option(
            "--policies",
            metavar="DIR",
            help="Where trained policies go and are looked for before nodewise's own.",
            show_default="./policies",
        ),
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting of the GCN; may be repeated.", show_default=False),
    ] = None,
    closing: ClosingOption = None,
    seed: SeedOption = 0,
    device: DeviceOption = "auto",
    only: Annotated[
        str | None,
        typer.Option("--only", metavar="A,…", help="With trainings: which ones.", show_default="all that are missing"),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", metavar="N", min=1, help="With trainings: how many at once.")] = 1,
    minutes: Annotated[
        float | None,
        typer.Option(
            "--minutes", metavar="N", min=0, help="With trainings: stop then, to go on later.", show_default=False
        ),
    ] = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
    gpus_per_task: GpusOption = 0.0,
    json: JsonOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Redo the paper's tables and figures, theirs beside ours.

    Tables: same-domain (table 1), cross-domain (2), policy-architecture (3), state-features (4), datasets (5),
    cross-domain-cora-pubmed (6), cross-domain-citeseer-pubmed (7). Figures: budgets (2, left), training-graphs (2,
    right), case-study (3), budgets-cora (4, left), training-budget (4, right). table1 or figure2 will do as well.

    What is finished is kept in --out: a second call goes on. The authors' policies stand beside ours where the data
    folder holds them as pretrain_NAME.pkl.

    With trainings, the policies that the experiments need and that are not there yet are trained at full length,
    checkpointed.
    """
    from nodewise.classifiers import make_classifier
    from nodewise.experiments.gpa import EXPERIMENTS, find_experiments
    from nodewise.ground.compute import resolve_device

    if experiment == "trainings":
        resolve_device(device)
        for option, given in (("--set", sets), ("--closing-epochs", closing)):
            if given:
                raise InputError(
                    f"{option} is for experiments, not for trainings: leave it out, or use 'nodewise train … --set"
                    " KEY=VALUE'"
                )
        _train(screen, policies, device, only, jobs, minutes, data_dir)
        return
    check_json(json)
    records = []
    names = list(EXPERIMENTS) if experiment == "all" else [one.name for one in find_experiments(experiment)]
    make_folder(out, "--out")
    settings: dict[str, Any] = {
        "runs": runs,
        "quick": quick,
        "policies": policies,
        "data_dir": data_dir,
        "device": device,
        "seed": seed,
    }
    settings["classifier"] = {**read_closing(closing), **read_classifier_settings(sets)}
    make_classifier("gcn", settings["classifier"])  # what is misspelt is refused before anything is played

    with open_engine(engine, address, gpus_per_task) as used:
        used.device(device)
        for name in names:
            try:
                records.append(_run(screen, name, out, str(json) != "-", len(names) == 1, {**settings, "engine": used}))
            except InputError as error:
                if len(names) == 1:
                    raise
                screen.note(f"warning: {error}", style="yellow")
            except KeyboardInterrupt:
                complain(
                    f"nodewise reproduce: interrupted; what is finished lies in {out}, and the same command goes on"
                    " from there"
                )
                raise typer.Exit(130) from None
    if json is not None:
        screen.json({"schema": 1, "experiments": records}, json)


def _run(screen: Screen, name: str, out: Path, shown: bool, tables: bool, settings: dict[str, Any]) -> dict[str, Any]:
    """Plays one experiment, tells of it if it is to be shown, and returns its record."""
    from nodewise.evaluation.results.tables import to_rows
    from nodewise.experiments.gpa import EXPERIMENTS
    from nodewise.experiments.gpa import reproduce as run
    from nodewise.experiments.gpa.rendering import record_tables

    with screen.reporting() as reporter:
        record: dict[str, Any] = run(name, out, reporter=reporter, **settings)
    if not shown:
        return record
    if tables:
        for table in record_tables(record):
            if table.title:
                screen.note(table.title)
            screen.table(table.columns, to_rows(table), title=table.title)
    written = [str(path) for ending in ("json", "md", "png") if (path := out / f"{name}.{ending}").is_file()]
    screen.line(f"{name} ({EXPERIMENTS[name].place}): {record['seconds']:.0f} s, written {', '.join(written)}")
    return record


def _train(
    screen: Screen,
    policies: Path | None,
    device: str,
    only: str | None,
    jobs: int,
    minutes: float | None,
    data_dir: Path | None,
) -> None:
    from nodewise.experiments.gpa import train_missing

    def show(outcome: TrainingOutcome) -> None:
        state = "finished" if outcome.finished else "unfinished, the same command goes on"
        screen.line(f"{outcome.name}: {state}, {outcome.seconds:.0f} s, {outcome.detail}")

    names = read_names(only, "--only") if only else ()
    try:
        with screen.reporting() as reporter:
            ended = train_missing(
                names,
                policies,
                device=device,
                jobs=jobs,
                minutes=minutes,
                data_dir=data_dir,
                reporter=reporter,
                each=show,
            )
    except KeyboardInterrupt:
        complain(
            "nodewise reproduce: interrupted; unfinished trainings are kept, and the same command goes on with them"
        )
        raise typer.Exit(130) from None
    if not ended:
        screen.line("nothing to train: every policy is there")


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(app, "reproduce", reproduce, examples=EXAMPLES, panel="Research")
