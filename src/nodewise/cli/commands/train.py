"""``nodewise train``: a policy from graphs whose labels are known."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from nodewise.cli.command import add_command
from nodewise.cli.failures import complain
from nodewise.cli.loading import load_labelled
from nodewise.cli.options import (
    DataDirOption,
    DeviceOption,
    FeaturesOption,
    GraphsArgument,
    JsonOption,
    SeedOption,
    SettingsOption,
    check_json,
    read_classifier_settings,
    read_names,
    read_numbers,
)
from nodewise.cli.screen import Screen
from nodewise.ground.events import count

__all__ = ["register", "train"]

EXAMPLES = """
nodewise train cora citeseer --out mine.safetensors
nodewise train my.npz other.npz --budget 20,40 --episodes 500 --out mine.safetensors --resume
"""


def train(
    screen: Screen,
    graphs: GraphsArgument,
    out: Annotated[
        Path, typer.Option("--out", metavar="P.safetensors", help="The policy file to write.", show_default=False)
    ],
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            metavar="N,…",
            help="Queries an episode: one for all graphs, or one each.",
            show_default="five a class",
        ),
    ] = None,
    episodes: Annotated[int, typer.Option("--episodes", metavar="N", min=1, help="Episodes to train for.")] = 2000,
    batch: Annotated[
        int, typer.Option("--batch", metavar="N", min=1, help="Runs simulated together in one episode.")
    ] = 5,
    features: FeaturesOption = None,
    classifier: Annotated[
        str, typer.Option("--classifier", metavar="NAME", help="What learns from the labels.")
    ] = "gcn",
    settings: SettingsOption = None,
    architecture: Annotated[
        str,
        typer.Option(
            "--architecture",
            metavar="NAME",
            help="The policy's network: gcn, mlp, or one that an installed package offers.",
        ),
    ] = "gcn",
    state: Annotated[
        str | None,
        typer.Option(
            "--state",
            metavar="A,…",
            help="State features by name, an installed package's, too, or your own as module:function.",
            show_default="the paper's five",
        ),
    ] = None,
    without: Annotated[
        str | None,
        typer.Option(
            "--without", metavar="A,…", help="State features to leave out, joined by commas.", show_default=False
        ),
    ] = None,
    kl_scaling: Annotated[
        Literal["max", "none"],
        typer.Option(
            "--kl-scaling",
            help="The state's divergences: divided by the largest, as in the released code, or as the paper has them.",
        ),
    ] = "max",
    reward: Annotated[
        Literal["trajectory", "stepwise"],
        typer.Option("--reward", help="The final score for every query, or each query's own gain."),
    ] = "trajectory",
    seed: SeedOption = 0,
    device: DeviceOption = "auto",
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the checkpoint beside --out, if there is one.")
    ] = False,
    keep_every: Annotated[
        int,
        typer.Option(
            "--keep-every",
            metavar="N",
            min=0,
            help="Also keep the policy of every Nth episode, as NAME.EPISODE.safetensors.",
            show_default="never",
        ),
    ] = 0,
    force: Annotated[bool, typer.Option("--force", help="Write over a finished policy without asking.")] = False,
    tensorboard: Annotated[
        Path | None,
        typer.Option(
            "--tensorboard", metavar="DIR", help="Also write the rewards there for TensorBoard.", show_default=False
        ),
    ] = None,
    json: JsonOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Train a policy by reinforcement learning on graphs whose labels are known.

    Beside the policy, which is the best so far, are kept the last one (.last.safetensors), a log (.jsonl) and, until
    the end, a checkpoint.
    """
    from contextlib import nullcontext

    from nodewise.classifiers import make_classifier
    from nodewise.datasets import default_budget
    from nodewise.ground.compute import resolve_device
    from nodewise.ground.errors import InputError
    from nodewise.policy import PAPER_STATE_FEATURES, PolicySettings, StateSettings
    from nodewise.policy.policy import import_state_features
    from nodewise.training import TrainingSettings, tensorboard_log, train_policy

    check_json(json)
    resolve_device(device)  # a device that is not there is refused before any graph is read
    learns = make_classifier(classifier, read_classifier_settings(settings))
    reads = StateSettings(
        import_state_features(read_names(state, "--state")) if state else PAPER_STATE_FEATURES, kl_scaling=kl_scaling
    )
    reads = reads.without(read_names(without, "--without") if without else ())
    shape = PolicySettings(architecture=architecture, state=reads)
    if not resume and not force:
        _keep_finished(screen, out)
    given = read_numbers(budget, "--budget") if budget else ()
    if len(given) not in (0, 1, len(graphs)):
        raise InputError(
            f"--budget got {len(given)} numbers for {len(graphs)} graphs: give one for all, or one for each"
        )
    with (
        screen.reporting() as reporter,
        nullcontext() if tensorboard is None else tensorboard_log(tensorboard) as each_episode,
    ):
        loaded = [load_labelled(name, features, data_dir, reporter) for name in graphs]
        budgets = (
            given * len(graphs)
            if len(given) == 1
            else given or tuple(default_budget(one, simulated=True) for one in loaded)
        )
        training = TrainingSettings(
            budgets=budgets,
            episodes=episodes,
            batch=batch,
            reward=reward,
            seed=seed,
            policy=shape,
            features=() if features is None else (features,),
            classifier=learns,
        )
        try:
            policy = train_policy(
                loaded,
                training,
                out=out,
                resume=resume,
                keep_every=keep_every,
                device=device,
                reporter=reporter,
                each_episode=each_episode,
            )
        except KeyboardInterrupt:
            complain("nodewise train: interrupted; the same command with --resume goes on from the last whole episode")
            raise typer.Exit(130) from None
    if json is not None:
        screen.json(
            {"schema": 1, "out": str(out), "settings": policy.settings.as_dict(), "origin": policy.origin}, json
        )
    if str(json) == "-":
        return
    origin = policy.origin
    over = count(min(100, origin["episode"]), "episode")
    screen.line(
        f"{out}: the policy of episode {origin['episode']}, mean reward of {over}"
        f" {origin['best_mean_reward_of_100']:.4f}"
    )


def _keep_finished(screen: Screen, out: Path) -> None:
    """Asks before a finished policy is written over; without anybody to ask, refuses."""
    from nodewise.ground.errors import InputError

    if not out.is_file() or out.with_name(out.name.removesuffix(".safetensors") + ".checkpoint").exists():
        return  # nothing there, or an unfinished training, of which the library tells
    if sys.stdin.isatty() and screen.err.is_terminal:
        if typer.confirm(f"{out} is a finished policy. Train anew and write over it?", err=True):
            return
        raise typer.Exit(2)
    raise InputError(
        f"{str(out)!r} is a finished policy: name another file, or write over it with --force; --resume leaves it as it"
        " is if it is of this training"
    )


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(app, "train", train, examples=EXAMPLES, panel="Research")
