"""``nodewise evaluate``: one strategy on one graph, over many runs."""

from __future__ import annotations

from dataclasses import replace

import typer

from nodewise.cli.command import add_command
from nodewise.cli.loading import load_labelled
from nodewise.cli.options import (
    BudgetOption,
    ClassifierOption,
    ClosingOption,
    CostOption,
    DataDirOption,
    DeviceOption,
    FeaturesOption,
    GraphArgument,
    JsonOption,
    NoiseOption,
    OwnStateOption,
    PolicyOption,
    RetrainOption,
    RoundOption,
    RunsOption,
    ScoresOption,
    SeedOption,
    SettingsOption,
    SplitsOption,
    StartOption,
    StrategyOption,
    check_json,
    import_own_state,
    read_closing,
    read_plugin_settings,
    read_protocol,
)
from nodewise.cli.screen import Screen
from nodewise.ground.errors import InputError

__all__ = ["evaluate", "register"]

EXAMPLES = """
nodewise evaluate pubmed --strategy policy --runs 100
nodewise evaluate my.npz --strategy age --budget 40 --json result.json
"""


def evaluate(
    screen: Screen,
    graph: GraphArgument,
    strategy: StrategyOption = None,
    policy: PolicyOption = None,
    classifier: ClassifierOption = None,
    settings: SettingsOption = None,
    closing: ClosingOption = None,
    features: FeaturesOption = None,
    budget: BudgetOption = None,
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
    state: OwnStateOption = None,
    json: JsonOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Score one strategy on one labelled graph: micro and macro F1, mean and 95 % interval over runs."""
    from nodewise.classifiers import DEFAULT_CLASSIFIER, make_classifier
    from nodewise.evaluation import evaluate as run
    from nodewise.evaluation.contest import policy_name
    from nodewise.ground.compute import resolve_device
    from nodewise.strategies import make_strategy

    resolve_device(device)
    import_own_state(state)
    learned = policy is not None or (strategy or "").partition(":")[0] == "policy"
    if closing is not None and (classifier == DEFAULT_CLASSIFIER or (classifier is None and not learned)):
        raise InputError(
            f"--closing-epochs is the GCN's, and {DEFAULT_CLASSIFIER} is not trained: use it with --classifier gcn"
        )
    of_classifier, of_strategy = read_plugin_settings(settings, classifier, strategy, policy)
    of_classifier |= read_closing(closing)
    asks = make_strategy(strategy, policy, of_strategy)  # misspelt names are refused before the graph is read
    learns = None if classifier is None else make_classifier(classifier, of_classifier)
    check_json(json)
    protocol = read_protocol(round_size, start, retrain, noise, scores, cost)
    with screen.reporting() as reporter:
        one = load_labelled(graph, features, data_dir, reporter)
        result = run(
            one,
            asks,
            classifier=learns,
            settings=None if classifier else of_classifier,
            budget=budget,
            runs=runs,
            seed=seed,
            device=device,
            features=features,
            splits=splits,
            protocol=protocol,
            reporter=reporter,
        )
        result = replace(result, policy=policy_name(strategy, policy))
    if json is not None:
        screen.json(result.as_dict(), json)
    if str(json) == "-":
        return
    rows = list(result.shown.items())
    screen.line(f"{result.played}, features {result.features}, {result.device}, {result.seconds:.1f} s")
    screen.table(("", "mean ± 95 % interval" if "±" in rows[0][1] else "mean"), rows)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(app, "evaluate", evaluate, examples=EXAMPLES, panel="Research")
