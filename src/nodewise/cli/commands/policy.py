"""``nodewise policy``: what policies there are, what is in one, and the import of a state dict."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nodewise.cli.command import add_command, make_group
from nodewise.cli.options import JsonFlag
from nodewise.cli.pending import refuse_until_built
from nodewise.cli.screen import Screen

__all__ = ["import_policy", "list_policies", "register", "show_policy"]


def list_policies(screen: Screen, json: JsonFlag = False) -> None:
    """List the policies that come with nodewise."""
    refuse_until_built(screen, "policies")


def show_policy(
    screen: Screen,
    policy: Annotated[str, typer.Argument(metavar="NAME|FILE", help="A shipped policy's name or a policy file.", show_default=False)],
    json: JsonFlag = False,
) -> None:
    """Show where a policy comes from: state features, architecture, source graphs, training."""
    refuse_until_built(screen, "policies")


def import_policy(
    screen: Screen,
    state_dict: Annotated[Path, typer.Argument(metavar="STATE_DICT.pkl", help="The released state dict.", show_default=False)],
    out: Annotated[Path, typer.Argument(metavar="OUT.safetensors", help="The policy file to write.", show_default=False)],
) -> None:
    """Turn a state dict as the paper's authors released it into a policy file."""
    refuse_until_built(screen, "policies")


def register(app: typer.Typer) -> None:
    """Adds the group and its commands."""
    group = make_group("Policies: those that come with nodewise, and your own.")
    add_command(group, "list", list_policies, examples="nodewise policy list")
    add_command(group, "show", show_policy, examples="nodewise policy show cora+citeseer")
    add_command(group, "import", import_policy, examples="nodewise policy import released.pkl released.safetensors")
    app.add_typer(group, name="policy", rich_help_panel="Research")
