"""``nodewise train``: a policy from graphs whose labels are known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nodewise.cli.command import add_command
from nodewise.cli.options import DataDirOption, DeviceOption, FeaturesOption, GraphsArgument, SeedOption
from nodewise.cli.pending import refuse_until_built
from nodewise.cli.screen import Screen

__all__ = ["register", "train"]

EXAMPLES = """
nodewise train cora citeseer --out mine.safetensors
nodewise train my.npz other.npz --budget 20,40 --episodes 500 --out mine.safetensors --resume
"""


def train(
    screen: Screen,
    graphs: GraphsArgument,
    out: Annotated[Path, typer.Option("--out", metavar="P.safetensors", help="The policy file to write.", show_default=False)],
    budget: Annotated[
        str | None,
        typer.Option("--budget", metavar="N,…", help="Queries an episode: one for all graphs, or one each.", show_default="five a class"),
    ] = None,
    episodes: Annotated[int, typer.Option("--episodes", metavar="N", min=1, help="Episodes to train for.")] = 2000,
    batch: Annotated[int, typer.Option("--batch", metavar="N", min=1, help="Runs simulated together in one episode.")] = 5,
    features: FeaturesOption = None,
    seed: SeedOption = 0,
    device: DeviceOption = "auto",
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint beside --out, if there is one.")] = False,
    data_dir: DataDirOption = None,
) -> None:
    """Train a policy by reinforcement learning on graphs whose labels are known."""
    refuse_until_built(screen, "policy training")


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(app, "train", train, examples=EXAMPLES, panel="Research")
