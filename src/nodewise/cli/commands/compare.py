"""``nodewise compare``: graphs by strategies by classifiers by budgets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nodewise.cli.command import add_command
from nodewise.cli.failures import complain, make_folder
from nodewise.cli.loading import load_labelled
from nodewise.cli.options import (
    AddressOption,
    ClosingOption,
    CostOption,
    DataDirOption,
    DeviceOption,
    EngineOption,
    FeaturesOption,
    GpusOption,
    GraphsArgument,
    JsonOption,
    NoiseOption,
    OwnStateOption,
    ProcessesOption,
    RetrainOption,
    RoundOption,
    RunsOption,
    ScoresOption,
    SeedOption,
    SettingsOption,
    SplitsOption,
    StartOption,
    check_json,
    import_own_state,
    open_engine,
    read_closing,
    read_names,
    read_numbers,
    read_protocol,
    read_settings_of_each,
)
from nodewise.cli.screen import Screen

if TYPE_CHECKING:
    from nodewise.contracts import Classifier
    from nodewise.evaluation import Contest, Method
    from nodewise.ground.events import Reporter

__all__ = ["compare", "register"]

EXAMPLES = """
nodewise compare cora pubmed --strategies random,age,policy --out results
nodewise compare my.npz --strategies random,policy,policy:mine.safetensors --budgets 10,20,50 --runs 30 --out results
nodewise compare cora pubmed --out results --engine ray --address auto
"""


def compare(
    screen: Screen,
    graphs: GraphsArgument,
    strategies: Annotated[
        str | None,
        typer.Option(
            "--strategies",
            metavar="A,B,…",
            help="Strategies by name, joined by commas.",
            show_default="random and the default",
        ),
    ] = None,
    budgets: Annotated[
        str | None,
        typer.Option("--budgets", metavar="N,…", help="Labels to ask for.", show_default="each graph's own budget"),
    ] = None,
    classifiers: Annotated[
        str | None,
        typer.Option(
            "--classifiers",
            metavar="A,…",
            help="Classifiers by name, joined by commas.",
            show_default="each policy's own, else the default",
        ),
    ] = None,
    settings: SettingsOption = None,
    closing: ClosingOption = None,
    features: FeaturesOption = None,
    runs: RunsOption = 100,
    seed: SeedOption = 0,
    device: DeviceOption = "auto",
    splits: SplitsOption = None,
    round_size: RoundOption = 1,
    start: StartOption = 0,
    retrain: RetrainOption = False,
    noise: NoiseOption = "0",
    cost: CostOption = None,
    scores: ScoresOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Keep results, tables and plots there; a second call goes on there.",
            show_default=False,
        ),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(
            "--export",
            metavar="FILE",
            help="Write each run's split, queries and scores, for other programs.",
            show_default=False,
        ),
    ] = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
    gpus_per_task: GpusOption = 0.0,
    processes: ProcessesOption = None,
    state: OwnStateOption = None,
    json: JsonOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Compare strategies on the same splits, with paired tests.

    A strategy is a name; policy:NAME|FILE is one of several policies, age:0.2/0.3/0.5 is AGE with fixed weights,
    package.module:Name is your own, as for classifiers. --set gives a setting to each of them that knows it. With
    --out, every finished chunk of runs is kept: after a kill the same command goes on where it was. With --engine ray,
    chunks are played side by side on a Ray cluster; the scores are the same.
    """
    from nodewise.classifiers import make_classifier
    from nodewise.evaluation import ChunkStore, Method
    from nodewise.evaluation import compare as run
    from nodewise.evaluation.compare import numbered
    from nodewise.evaluation.results.comparison import lead_table, score_table
    from nodewise.evaluation.results.files import check_folder, write_comparison
    from nodewise.evaluation.results.tables import to_rows
    from nodewise.ground.errors import InputError
    from nodewise.strategies import DEFAULT_STRATEGY

    check_json(json)
    import_own_state(state)
    asked = read_names(strategies, "--strategies") if strategies else ("random", DEFAULT_STRATEGY)
    names = read_names(classifiers, "--classifiers") if classifiers else ()
    learn_with, ask_with = read_settings_of_each(settings, names, asked)
    methods = tuple(Method(name, settings=own) for name, own in zip(asked, ask_with, strict=True))
    for method in methods:
        method.resolved  # noqa: B018 what is misspelt is refused before any graph is read
    if closing is not None and not (names or ("gcn",)) == ("gcn",):
        raise InputError(f"--closing-epochs is the GCN's: use it with --classifiers gcn alone, got {', '.join(names)}")
    learners: tuple[Classifier | None, ...] = tuple(
        make_classifier(name, {**read_closing(closing), **own}) for name, own in zip(names, learn_with, strict=True)
    ) or (None,)
    if closing is not None and not names:
        learners = (make_classifier("gcn", read_closing(closing)),)
    protocol = read_protocol(round_size, start, retrain, noise, scores, cost)
    wanted = tuple(dict.fromkeys(read_numbers(budgets, "--budgets"))) if budgets else ()
    graphs = list(dict.fromkeys(graphs))
    if out is not None:
        make_folder(out, "--out")
    with screen.reporting() as reporter, open_engine(engine, address, gpus_per_task, processes) as used:
        used.device(device)  # what is misspelt or missing is refused before any graph is read
        contests = [_contest(name, features, data_dir, reporter, wanted, methods, runs, learners) for name in graphs]
        contests = [replace(one, splits=splits, protocol=protocol) for one in contests]
        contests = numbered(contests, keep=[False] * len(contests))
        if out is not None:
            check_folder(out, [setting for one in contests for setting in one.foreseen()], seed)
        try:
            comparison = run(
                contests,
                seed=seed,
                device=device,
                store=ChunkStore(out and out / "chunks"),
                engine=used,
                reporter=reporter,
            )
        except KeyboardInterrupt:
            complain(f"nodewise compare: interrupted; {_way_on(out)}")
            raise typer.Exit(130) from None
    if json is not None:
        screen.json(comparison.as_dict(), json)
    if out is not None:
        screen.note(f"written: {', '.join(str(path) for path in write_comparison(comparison, out))}")
    if export is not None:
        screen.note(f"written: {comparison.export(export)}")
    if str(json) == "-":
        return
    tables = [score_table(comparison, metric) for metric in ("micro_f1", *comparison.further)]
    tables += [leads] if (leads := lead_table(comparison)).rows else []
    for table in tables:
        screen.table(table.columns, to_rows(table), title=table.title)
        for note in table.notes:
            screen.note(f"{note} Here * is the best, = what is not significantly worse.")


def _contest(
    name: str,
    features: str | None,
    data_dir: Path | None,
    reporter: Reporter,
    budgets: tuple[int, ...],
    methods: tuple[Method, ...],
    runs: int,
    classifiers: tuple[Classifier | None, ...],
) -> Contest:
    """Reads the graph once to see that it can be used, and lets it go until its turn has come."""
    from nodewise.evaluation import Contest

    return Contest(
        name=load_labelled(name, features, data_dir, reporter).name,
        load=lambda: load_labelled(name, features, data_dir, reporter),
        features=features,
        budgets=budgets,
        methods=methods,
        runs=runs,
        classifiers=classifiers,
        source=name,
        data_dir=None if data_dir is None else str(data_dir),
    )


def _way_on(out: Path | None) -> str:
    if out is None:
        return "nothing was kept, since --out was not given"
    return f"what is finished lies in {out}, and the same command goes on from there"


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(app, "compare", compare, examples=EXAMPLES, panel="Research")
