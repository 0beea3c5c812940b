"""Names to what is known about them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from nodewise.datasets.catalogue import CATALOGUE
from nodewise.datasets.folder import data_folder, find_local, local_names
from nodewise.datasets.info import DatasetInfo
from nodewise.ground.errors import UnknownNameError

__all__ = ["as_it_is", "dataset_info", "default_features", "find_info", "list_datasets", "plain_name"]

_BY_NAME = {name: info for info in CATALOGUE for name in (*info.files, *info.aliases, info.name)}


def plain_name(name: str) -> str:
    """One spelling for a name: lower case, words joined by hyphens."""
    return "-".join(name.strip().lower().replace("_", " ").split())


def find_info(name: str) -> DatasetInfo | None:
    """What is known about a name, an alias or a file's name; None if nothing is."""
    return _BY_NAME.get(plain_name(name))


def list_datasets(data_dir: str | Path | None = None) -> list[str]:
    """The names that `load_graph` takes: those of the catalogue, the paper's first, then further graphs in the data folder.

    Example:
        >>> import nodewise as nw
        >>> {"cora", "digits", "wine"} <= set(nw.list_datasets())
        True
    """
    known = [info.name for info in CATALOGUE]
    return known + [name for name in local_names(data_folder(data_dir)) if find_info(name) is None]


def dataset_info(name: str, data_dir: str | Path | None = None) -> DatasetInfo:
    """What is known about a data set. Where its file is in the data folder, sizes are those of the graph in it, which is read.

    Raises:
        UnknownNameError: if there is none of that name; says which was probably meant.
    """
    folder = data_folder(data_dir)
    info = find_info(name)
    if info is None and name not in local_names(folder):
        raise unknown_dataset(name, folder)
    return as_it_is(info or DatasetInfo(name, "a graph in the data folder", None, None, 0, 0, "folder", "the data folder"), folder)


def as_it_is(info: DatasetInfo, folder: Path, largest: int | None = None) -> DatasetInfo:
    """The record with the sizes that the graph in the data folder really has: a file there need not be as it was published.

    Args:
        info: of the catalogue.
        folder: the data folder; without a file there the record stays as it is.
        largest: bytes of a file beyond which it is not read; None: any.
    """
    path = find_local(folder, (info.name, *info.files, *info.aliases))
    if path is None or (largest is not None and path.stat().st_size > largest):
        return info
    from nodewise.graph import read_graph
    from nodewise.ground.errors import GraphError

    try:
        graph = read_graph(path)
    except GraphError:
        if largest is None:
            raise
        return info  # a list is no place to stumble over one damaged file
    return replace(info, nodes=graph.num_nodes, edges=graph.num_edges, features=graph.num_features, classes=graph.num_classes)


def default_features(name: str) -> str:
    """The feature preprocessing that commands use unless told otherwise: ``"paper"`` for the paper's ten graphs by name, else ``"raw"``."""
    info = find_info(name)
    return "paper" if info is not None and info.paper else "raw"


def unknown_dataset(name: str, folder: Path) -> UnknownNameError:
    """The error for a name that neither the catalogue nor the data folder knows."""
    hint = f"A file needs its ending, such as {name or 'my'}.npz; a graph {name or 'NAME'}.npz in the data folder {folder} is found by its name."
    return UnknownNameError("data set", name, {*(info.name for info in CATALOGUE), *local_names(folder)}, hint)
