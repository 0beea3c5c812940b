"""``nodewise datasets``: which graphs have a name, and what is known about one of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nodewise.cli.command import add_command
from nodewise.cli.options import DataDirOption, JsonOption, complete_dataset
from nodewise.cli.screen import Cell, Screen

if TYPE_CHECKING:
    from nodewise.datasets import DatasetInfo

__all__ = ["datasets", "register"]

_READ = (
    32 * 2**20
)  # bytes of a file in the data folder up to which the list reads it; beyond that it tells what the catalogue does

EXAMPLES = """
nodewise datasets
nodewise datasets cora
nodewise datasets --json | jq -r '.datasets[] | select(.ready).name'
"""


def datasets(
    screen: Screen,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]", help="One of them, in detail.", autocompletion=complete_dataset, show_default=False
        ),
    ] = None,
    data_dir: DataDirOption = None,
    json: JsonOption = None,
) -> None:
    """List the graphs that have a name, or tell what is known about one.

    Those found in the data folder, included with a dependency or generated need no network; a download is kept in the
    data folder.
    """
    from nodewise.datasets import data_folder, dataset_info

    folder = data_folder(data_dir)
    if name is None:
        _list_all(screen, folder, json)
        return
    info = dataset_info(name, folder)
    known = _details(info, folder)
    if json:
        screen.json({"schema": 1, **known}, json)
        return
    shown = {
        key.replace("_", " "): ", ".join(value) if isinstance(value, list) else value
        for key, value in known.items()
        if key != "ready"
    }
    screen.table(("", ""), [(key, str(value)) for key, value in shown.items() if value not in (None, "")])


def _list_all(screen: Screen, folder: Path, json: Path | None) -> None:
    from nodewise.datasets import list_datasets
    from nodewise.datasets.load import as_it_is, find_info

    catalogued = {name: find_info(name) for name in list_datasets(folder)}
    known = {name: None if info is None else as_it_is(info, folder, _READ) for name, info in catalogued.items()}
    if json:
        described = [
            {"name": name, "ready": True} if info is None else _details(info, folder) for name, info in known.items()
        ]
        screen.json({"schema": 1, "data_dir": str(folder), "datasets": described}, json)
        return
    rows: list[tuple[Cell, ...]] = []
    for name, info in known.items():
        if info is None:  # a file of the user's own: not opened, it may be large
            rows.append((name, None, None, None, None, "", "data folder"))
        else:
            rows.append((name, info.nodes, info.edges, info.features, info.classes, _kinds(info), _where(info, folder)))
    screen.table(("name", "nodes", "edges", "features", "classes", "holds", "where"), rows)
    screen.note(f"The data folder is {folder}. 'nodewise datasets NAME' tells more about one.")


def _details(info: DatasetInfo, folder: Path) -> dict[str, object]:
    """What is known about a data set, ready for JSON."""
    from nodewise.datasets import default_features

    where = _where(info, folder)
    return {
        "name": info.name,
        "description": info.description,
        "nodes": info.nodes,
        "edges": info.edges,
        "features": info.features,
        "classes": info.classes,
        "holds": list(info.holds),
        "where": where,
        "ready": where in ("data folder", "included", "generated"),
        "needs_extra": info.extra,
        "paper_budget": info.budget,
        "default_features": default_features(info.name),
        "source": info.source,
        "citation": info.citation,
        "licence": info.licence,
        "remark": info.remark,
        "aliases": list(info.aliases),
    }


def _kinds(info: DatasetInfo) -> str:
    """What it holds beyond a plain graph, in a word each."""
    return ", ".join(words.partition(":")[0] for words in info.holds)


def _where(info: DatasetInfo, folder: Path) -> str:
    """Where the graph would come from now."""
    from nodewise.datasets.folder import find_local

    if find_local(folder, (info.name, *info.files, *info.aliases)) is not None:
        return "data folder"
    return "not here" if info.origin == "folder" else info.origin


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(app, "datasets", datasets, examples=EXAMPLES, panel="Graphs")
