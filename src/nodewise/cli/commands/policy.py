"""``nodewise policy``: what policies there are, what is in one, and the import of a state dict."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from nodewise.cli.command import add_command, make_group
from nodewise.cli.options import JsonOption
from nodewise.cli.screen import Screen

__all__ = ["import_policy", "list_policies", "register", "show_policy"]


def list_policies(screen: Screen, json: JsonOption = None) -> None:
    """List the policies that come with nodewise."""
    from nodewise.policy import load_policy, shipped_policies

    rows: list[dict[str, Any]] = []
    for name, path in shipped_policies().items():
        origin = load_policy(path).origin
        sources = origin.get("source_graphs", [])
        degrees = [source["average_degree"] for source in sources]
        rows.append(
            {
                "name": name,
                "sources": [source["name"] for source in sources],
                "episode": origin.get("episode"),
                "degrees": degrees,
            }
        )
    if json:
        screen.json({"schema": 1, "policies": rows}, json)
        return
    cells = [
        (row["name"], ", ".join(row["sources"]), row["episode"], ", ".join(f"{d:.1f}" for d in row["degrees"]))
        for row in rows
    ]
    screen.table(("policy", "trained on", "episode", "their average degrees"), cells)


def show_policy(
    screen: Screen,
    policy: Annotated[
        str, typer.Argument(metavar="NAME|FILE", help="A shipped policy's name or a policy file.", show_default=False)
    ],
    json: JsonOption = None,
) -> None:
    """Show where a policy comes from: state features, architecture, source graphs, training."""
    from nodewise.policy import find_policy

    loaded = find_policy(policy)
    settings, origin = loaded.settings.as_dict(), loaded.origin
    if json:
        screen.json(
            {
                "schema": 1,
                "settings": settings,
                "origin": origin,
                "parameters": sum(p.numel() for p in loaded.parameters()),
            },
            json,
        )
        return
    state = settings["state"]
    rows: list[tuple[str, str]] = [
        ("network", f"{settings['architecture']}, {settings['layers']} hidden layers of {settings['hidden']}"),
        ("state features", ", ".join(state["features"])),
        (
            "scaling",
            (
                f"degree / {state['degree_alpha']:g} up to 1, KL"
                f" {'as it is' if state['kl_scaling'] == 'none' else 'by ' + state['kl_scaling']}"
            ),
        ),
    ]
    for source in origin.get("source_graphs", []):
        rows.append(
            (
                f"trained on {source['name']}",
                f"{source['nodes']} nodes, average degree {source['average_degree']:.2f}, {source['budget']} queries",
            )
        )
    training = origin.get("training", {})
    for key, classifier in (("trained with", training.get("classifier")), ("played with", origin.get("played_with"))):
        if isinstance(classifier, dict):
            rows.append((key, _told(classifier)))
    rows += [(key, str(training[key])) for key in ("episodes", "batch", "reward", "seed") if key in training]
    rows += [
        (key.replace("_", " "), str(origin[key]))
        for key in ("episode", "imported_from", "nodewise_version")
        if key in origin
    ]
    screen.table(("", ""), rows)


def _told(classifier: Mapping[str, Any]) -> str:
    """A classifier's name with those of its settings that are not the defaults, where these are known."""
    from nodewise.classifiers import unusual_settings

    name = str(classifier.get("name"))
    return ", ".join(
        [name, *(f"{key} {value}" for key, value in unusual_settings(name, classifier.get("settings") or {}).items())]
    )


def import_policy(
    screen: Screen,
    state_dict: Annotated[
        Path, typer.Argument(metavar="STATE_DICT.pkl", help="The released state dict.", show_default=False)
    ],
    out: Annotated[
        Path, typer.Argument(metavar="OUT.safetensors", help="The policy file to write.", show_default=False)
    ],
) -> None:
    """Turn a state dict as the paper's authors released it into a policy file."""
    from nodewise.ground.errors import InputError
    from nodewise.policy import import_released, save_policy

    if out.suffix != ".safetensors":
        raise InputError(f"a policy file ends with .safetensors, got {out.name!r}")
    save_policy(import_released(state_dict), out)
    screen.line(f"{out}: written")


def register(app: typer.Typer) -> None:
    """Adds the group and its commands."""
    group = make_group("Policies: those that come with nodewise, and your own.")
    add_command(group, "list", list_policies, examples="nodewise policy list")
    add_command(group, "show", show_policy, examples="nodewise policy show cora+citeseer")
    add_command(group, "import", import_policy, examples="nodewise policy import released.pkl released.safetensors")
    app.add_typer(group, name="policy", rich_help_panel="Research")
