"""The arguments and options that several commands share, and how lists in them are read."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from nodewise.ground.errors import InputError
from nodewise.ground.files import existing_file
from nodewise.session.settings import Kind, NewSettings, settings_of

if TYPE_CHECKING:
    from nodewise.evaluation import EvaluationProtocol
    from nodewise.evaluation.engine import Engine

__all__ = [
    "AddressOption",
    "BudgetOption",
    "ClassifierOption",
    "CostOption",
    "DataDirOption",
    "DeviceOption",
    "EngineOption",
    "FeaturesOption",
    "GpusOption",
    "GraphArgument",
    "GraphsArgument",
    "JsonOption",
    "NoiseOption",
    "OwnClassifierOption",
    "OwnStateOption",
    "OwnStrategyOption",
    "PolicyOption",
    "ProcessesOption",
    "RetrainOption",
    "RoundOption",
    "RunsOption",
    "ScoresOption",
    "SeedOption",
    "SessionArgument",
    "SettingsOption",
    "SplitsOption",
    "StartOption",
    "StrategyOption",
    "check_json",
    "import_own_state",
    "open_engine",
    "read_classifier_settings",
    "read_names",
    "read_numbers",
    "read_plugin_settings",
    "read_protocol",
    "read_setting_options",
    "read_settings_of_each",
    "setting_option",
    "setting_options",
    "with_json_value",
]


_SETTINGS = {one.name: one for one in settings_of(NewSettings)}


def setting_option(name: str, help: str | None = None) -> Any:
    """The option of a session's setting, which other commands share: its flag, bounds and help, unless it is given."""
    one = _SETTINGS[name]
    return typer.Option(
        one.flags or f"--{name.replace('_', '-')}",
        metavar=one.metavar or {"count": "N", "name": "NAME"}.get(one.kind),
        min=0.01 if one.kind == "duration" else one.least,
        max=one.most,
        help=help or one.help_with_names,
        show_default=one.unset or True,
    )


def setting_options() -> list[inspect.Parameter]:
    """An option for each setting of a new session; those of its classifier and strategy are given by ``--set``."""
    types: dict[Kind, Any] = {"count": int, "duration": float, "name": str, "names": str, "flag": bool}
    return [
        inspect.Parameter(
            one.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=one.default / 60 if one.kind == "duration" else one.default,
            annotation=Annotated[
                types[one.kind] if one.default is not None else types[one.kind] | None, setting_option(one.name)
            ],
        )
        for one in _SETTINGS.values()
        if one.kind in types
    ]


def read_setting_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that `setting_options` were given, as `Session.create` takes them."""
    settings = dict(given)
    for name, value in given.items():
        if _SETTINGS[name].kind == "duration":
            settings[name] = 60 * value
        elif _SETTINGS[name].kind == "names" and value is not None:
            settings[name] = read_names(value, f"--{name.replace('_', '-')}")
    return settings


def complete_dataset(incomplete: str) -> list[str]:
    """The data sets whose names begin so, for the shell's completion."""
    from nodewise.datasets import list_datasets

    return [name for name in list_datasets() if name.startswith(incomplete)]


_GRAPH_HELP = "A data set's name (see 'nodewise datasets') or a file."

GraphArgument = Annotated[
    str, typer.Argument(metavar="GRAPH", help=_GRAPH_HELP, autocompletion=complete_dataset, show_default=False)
]
GraphsArgument = Annotated[
    list[str], typer.Argument(metavar="GRAPH", help=_GRAPH_HELP, autocompletion=complete_dataset, show_default=False)
]
SessionArgument = Annotated[Path, typer.Argument(metavar="FILE", help="The session's file.", show_default=False)]

DataDirOption = Annotated[
    Path | None,
    typer.Option(
        "--data-dir",
        metavar="DIR",
        help="Where data sets lie or go: else NODEWISE_DATA, else the user's cache.",
        show_default=False,
    ),
]
FeaturesOption = Annotated[str | None, setting_option("features")]
SeedOption = Annotated[int, setting_option("seed")]
DeviceOption = Annotated[str, typer.Option("--device", metavar="D", help="auto, cpu, cuda or cuda:N.")]
EngineOption = Annotated[
    Literal["local", "processes", "ray"], typer.Option("--engine", help="Where the runs are done.")
]
AddressOption = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="HOST:PORT",
        help="With --engine ray: the cluster's head node, or auto.",
        show_default="RAY_ADDRESS, else this machine alone",
    ),
]
GpusOption = Annotated[
    float,
    typer.Option(
        "--gpus-per-task", metavar="X", min=0, help="With --engine ray: share of a GPU for each chunk of runs."
    ),
]
ProcessesOption = Annotated[
    int | None,
    typer.Option(
        "--processes",
        metavar="N",
        min=1,
        help="With --engine processes: how many.",
        show_default="one for each core",
    ),
]
RunsOption = Annotated[int, typer.Option("--runs", metavar="N", min=1, help="Independent runs to average over.")]
SplitsOption = Annotated[
    str | None,
    typer.Option(
        "--splits",
        metavar="FILE|public",
        help="Test and validation nodes from a file, or those that the data set was published with.",
        show_default="drawn at random",
    ),
]
RoundOption = Annotated[
    int, typer.Option("--round-size", metavar="N", min=1, help="Queries that are chosen together, before it learns.")
]
StartOption = Annotated[
    int, typer.Option("--start", metavar="N", min=0, help="Labels a class at the start; they count in the budget.")
]
RetrainOption = Annotated[
    bool, typer.Option("--retrain", help="Train a classifier that is trained from scratch in each round.")
]
NoiseOption = Annotated[
    str,
    typer.Option(
        "--noise",
        metavar="RATE|FILE",
        help="Share of queries that are answered wrong; or a CSV file with a rate for each node, a line each, or with"
        " how often each class is answered as each other.",
    ),
]
CostOption = Annotated[
    Path | None,
    typer.Option(
        "--cost",
        metavar="FILE",
        help="A CSV file with what each node costs, a line each: the budget then counts costs.",
        show_default=False,
    ),
]
ScoresOption = Annotated[
    str | None,
    typer.Option(
        "--scores",
        metavar="A,B,…",
        help="Further scores, such as log_loss, or functions of your own, module:function.",
        show_default=False,
    ),
]
OwnStateOption = Annotated[
    str | None,
    typer.Option(
        "--state",
        metavar="module:function,…",
        help="State features of your own that a policy reads, to be imported.",
        show_default=False,
    ),
]
BudgetOption = Annotated[int | None, setting_option("budget", "Labels to ask for.")]
PolicyOption = Annotated[str | None, setting_option("policy")]
ClassifierOption = Annotated[str | None, setting_option("classifier")]
StrategyOption = Annotated[str | None, setting_option("strategy")]
SettingsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A setting of the classifier or the strategy; may be repeated.",
        show_default=False,
    ),
]
ClosingOption = Annotated[
    str | None,
    typer.Option(
        "--closing-epochs",
        metavar="N|converged",
        show_default="35, as in the released code",
        help="How long the GCN trains after the last label: so many epochs, or until its training loss stops falling.",
    ),
]
OwnClassifierOption = Annotated[
    str | None,
    typer.Option(
        "--classifier",
        metavar="MODULE:NAME",
        show_default=False,
        help=(
            "Where the session was begun with a classifier of your own: package.module:Name, since opening a file"
            " imports no code."
        ),
    ),
]
OwnStrategyOption = Annotated[
    str | None,
    typer.Option(
        "--strategy",
        metavar="MODULE:NAME",
        show_default=False,
        help="Where the session was begun with a strategy of your own: package.module:Name.",
    ),
]
JsonOption = Annotated[
    Path | None,
    typer.Option(
        "--json",
        metavar="[FILE|-]",
        help="Write JSON, for a machine: to standard output, or to a file named .json.",
        show_default=False,
    ),
]


def check_json(to: Path | None) -> None:
    """Refuses a file that could not be written, before the work begins."""
    if to is not None and str(to) != "-" and not to.absolute().parent.is_dir():
        raise InputError(f"--json got {str(to)!r}, but there is no such folder: make it first")


def with_json_value(arguments: Sequence[str]) -> list[str]:
    """The arguments with ``--json`` alone read as ``--json -``.

    What follows it is its value where that is ``-`` or ends with .json; so the name of a session or a data set after it
    is never taken for a file to be written. ``--json=FILE`` takes any name.
    """
    given: list[str] = []
    for position, argument in enumerate(arguments):
        given.append(argument)
        after = arguments[position + 1] if position + 1 < len(arguments) else ""
        if argument == "--":
            return [*given, *arguments[position + 1 :]]
        if argument == "--json" and after != "-" and not after.lower().endswith(".json"):
            given.append("-")
    return given


def open_engine(
    engine: str,
    address: str | None,
    gpus_per_task: float,
    processes: int | None = None,
    until: float | None = None,
) -> AbstractContextManager[Engine]:
    """The engine that the options choose; the connection that it makes is closed with it.

    Raises:
        InputError: options of one engine were given for another, or Ray is not installed.
    """
    from nodewise.evaluation.engine import LocalEngine
    from nodewise.evaluation.processes import ProcessEngine

    options = (
        ("ray", "--address", address),
        ("ray", "--gpus-per-task", gpus_per_task or None),
        ("processes", "--processes", processes),
        ("processes", "--until", until),
    )
    for whose, option, given in options:
        if given is not None and whose != engine:
            raise InputError(f"{option} {given} is for --engine {whose}: add that, or leave {option} out")
    if engine == "ray":
        from nodewise.cluster import RayEngine

        return RayEngine(address, gpus_per_task)
    if engine == "processes":
        return nullcontext(ProcessEngine(processes or 0, until, leave_out=until is not None))
    return nullcontext(LocalEngine())


def import_own_state(text: str | None) -> None:
    """Import the state features that ``--state`` names, so that a policy's file can be read that uses them."""
    if text:
        from nodewise.policy.policy import import_state_features

        import_state_features(read_names(text, "--state"))


def read_protocol(
    round_size: int, start: int, retrain: bool, noise: str, scores: str | None, cost: Path | None = None
) -> EvaluationProtocol | None:
    """How runs are played and scored, as the options say; None: as usual."""
    from nodewise.evaluation import EvaluationProtocol
    from nodewise.evaluation.scores import SCORES
    from nodewise.ground.plugins import find_plugin

    names = read_names(scores, "--scores") if scores else ()
    asked = tuple(find_plugin("score", name, SCORES, "nodewise.scores") if ":" in name else name for name in names)
    try:
        rates: Any = float(noise)
    except ValueError:
        rates = _table_of_numbers(Path(noise), "--noise", "a rate between 0 and 1, or a CSV file of rates")
    costs = None if cost is None else _table_of_numbers(cost, "--cost", "a CSV file with a number a line")
    protocol = EvaluationProtocol(round_size, start, retrain, rates, asked, costs)
    return protocol if protocol.identity() else None


def _table_of_numbers(path: Path, option: str, wanted: str) -> list[float] | list[list[float]]:
    """The numbers of a CSV file without a heading: a list where each line has one, else rows."""
    try:
        lines = existing_file(path).read_text(encoding="utf-8-sig").splitlines()
        rows = [[float(cell) for cell in line.split(",")] for line in lines if line.strip()]
        if not rows:
            raise ValueError("it holds nothing")
    except (OSError, ValueError) as error:
        raise InputError(f"{option} must be {wanted}, received {str(path)!r} ({error})") from None
    return [row[0] for row in rows] if all(len(row) == 1 for row in rows) else rows


def read_plugin_settings(
    texts: list[str] | None, classifier: str | None, strategy: str | None, policy: str | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings of the classifier and of the strategy that ``--set`` gives.

    A key may say whom it is for, as in ``classifier.hidden=32``; else it goes to the one of the two that knows it. The
    classifier that is not named is the policy's own, where there is a policy.

    Raises:
        InputError: neither or both know a key.
    """
    asks = strategy or ("policy" if policy else None)
    if texts and classifier is None:
        classifier = _own_classifier(asks, policy)
    classifiers, strategies = read_settings_of_each(texts, [classifier], [asks])
    return classifiers[0], strategies[0]


def _own_classifier(strategy: str | None, policy: str | None = None) -> str | None:
    """The name of the classifier that a strategy's policy is played with; None where there is no policy, or the file
    names code, which is not imported.
    """
    from nodewise.policy import find_policy

    name, _, which = (strategy or "").partition(":")
    own = find_policy(policy or which or None).classifier[0] if name == "policy" else None
    return None if own is None or ":" in own else own


def read_settings_of_each(
    texts: list[str] | None, classifiers: Sequence[str | None], strategies: Sequence[str | None]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The settings of several classifiers and strategies that ``--set`` gives, each those that it knows.

    A key may say whom it is for, as in ``classifier.hidden=32``; else it goes to those of the two kinds that know it.

    Args:
        texts: ``key=value`` each. classifiers, strategies: by name; None: the default.

    Raises:
        InputError: nobody knows a key, or both classifiers and strategies do.
    """
    from nodewise.classifiers import CLASSIFIERS, DEFAULT_CLASSIFIER
    from nodewise.classifiers import GROUP as CLASSIFIER_GROUP
    from nodewise.ground.plugins import plugin_settings, read_settings
    from nodewise.strategies import DEFAULT_STRATEGY, STRATEGIES
    from nodewise.strategies import GROUP as STRATEGY_GROUP

    given: dict[str, list[dict[str, Any]]] = {
        "classifier": [{} for _ in classifiers],
        "strategy": [{} for _ in strategies],
    }
    if not texts:
        return given["classifier"], given["strategy"]
    asks = [(name or DEFAULT_STRATEGY).partition(":") for name in strategies]
    known = {
        "classifier": [
            plugin_settings("classifier", name or DEFAULT_CLASSIFIER, CLASSIFIERS, CLASSIFIER_GROUP)
            for name in classifiers
        ],
        "strategy": [
            plugin_settings("strategy", one[0] if one[0] in STRATEGIES else "".join(one), STRATEGIES, STRATEGY_GROUP)
            for one in asks
        ],
    }
    for key, value in read_settings(texts).items():
        kind, dot, name = key.partition(".")
        if not dot or kind not in given:
            takers, name = [kind for kind, sets in known.items() if any(key in names for names in sets)], key
            if len(takers) != 1:
                heard = {
                    kind: f"the {kind} knows {', '.join(sorted(set().union(*sets))) or 'none'}"
                    for kind, sets in known.items()
                }
                if not classifiers:
                    heard["classifier"] = "a classifier's settings need --classifiers, as in --classifiers gcn"
                both = "; ".join(heard.values())
                raise InputError(f"--set got {key!r}: say classifier.{key} or strategy.{key}; {both}")
            kind = takers[0]
        alone = len(known[kind]) == 1  # which is named if it does not know the key
        if not alone and not any(name in names for names in known[kind]):
            need = "" if known[kind] else ": name them by --classifiers, as in --classifiers gcn"
            raise InputError(
                f"--set got {key!r}: no {kind} here knows {name!r}; they know"
                f" {', '.join(sorted(set().union(*known[kind]))) or 'none'}{need}"
            )
        for settings, names in zip(given[kind], known[kind], strict=True):
            if alone or name in names:
                settings[name] = value
    return given["classifier"], given["strategy"]


def read_classifier_settings(texts: list[str] | None) -> dict[str, Any]:
    """The settings of a command's classifier that ``--set`` gives, where there is no strategy to choose:
    ``classifier.hidden=32`` or ``hidden=32``.
    """
    from nodewise.ground.plugins import read_settings

    return {key.removeprefix("classifier."): value for key, value in read_settings(texts or []).items()}


def read_closing(text: str | None) -> dict[str, Any]:
    """The classifier's settings that ``--closing-epochs`` gives: a number, or ``converged`` (by less than 1 % in ten
    epochs, at most 500).
    """
    if text is None:
        return {}
    if text == "converged":
        return {"closing_epochs": 500, "convergence": 0.01}
    if not text.isdecimal():
        raise InputError(f"--closing-epochs got {text!r}: give a number of epochs, or 'converged'")
    return {"closing_epochs": int(text)}


def read_numbers(text: str, option: str) -> tuple[int, ...]:
    """The whole numbers of ``"10,20,30"``.

    Args:
        text: what the user gave.
        option: the option's name, for the message.

    Raises:
        InputError: something in the list is not a whole number above 0.
    """
    parts = read_names(text, option)
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise InputError(f"{option} got {text!r}: give whole numbers above 0 joined by commas, such as 10,20,50")
    return tuple(int(part) for part in parts)


def read_names(text: str, option: str) -> tuple[str, ...]:
    """The names of ``"random,age"``, blanks around them dropped.

    Raises:
        InputError: the list is empty, or a name in it is.
    """
    parts = tuple(part.strip() for part in text.split(","))
    if not all(parts):
        raise InputError(f"{option} got {text!r}: give names joined by commas, with none left empty")
    return parts
