"""A graph by its name or path."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from nodewise.datasets.folder import data_folder, find_local
from nodewise.datasets.info import DatasetInfo
from nodewise.datasets.registry import find_info, plain_name, unknown_dataset
from nodewise.graph import Graph, read_graph
from nodewise.graph.features import canonical_features, prepared
from nodewise.graph.io.files import from_foreign
from nodewise.ground.errors import DownloadError
from nodewise.ground.events import Reporter, Silent

__all__ = ["as_graph", "load_graph"]

_ENDINGS = (".npz", ".graphml", ".edges", ".edgelist", ".txt", ".csv", ".tsv", ".npy")


def load_graph(
    name_or_path: str | Path, *, features: str = "raw", data_dir: str | Path | None = None, reporter: Reporter | None = None
) -> Graph:
    """Loads a graph by name or path.

    A name is looked for in the data folder first, as ``NAME.npz``; any npz file there can be loaded by its name. A graph that must be downloaded
    is kept there. What has a folder or an ending that graphs have is a path; so is the name of a file or folder that no data set has. A folder
    may also hold a Reddit graph as the paper's authors released it.

    Args:
        name_or_path: such as ``"cora"`` or ``"my/graph.npz"``.
        features: preprocessing by name, see `nodewise.graph.preprocess`; `Graph.features` tells it. ``"raw"``: as the source has them.
        data_dir: the data folder; None: the one that NODEWISE_DATA names, else one in the user's cache.
        reporter: is told the progress.

    Example:
        >>> import nodewise as nw
        >>> nw.load_graph("wine")
        Graph('wine': 178 nodes, ... 3 classes)

    Raises:
        UnknownNameError: if there is no data set of that name; says which was probably meant.
        GraphError: if a file cannot be read.
        InputError: if the file's features were preprocessed in another way already.
        DownloadError: if a data set is not in the data folder and cannot be fetched; says what to do.
    """
    canonical_features(features)  # a misspelt preprocessing is told before a long download
    report = reporter or Silent()
    graph = _from_path(Path(name_or_path)) if _is_path(name_or_path) else _by_name(str(name_or_path), data_folder(data_dir), report)
    return prepared(graph, features, "raw")


def as_graph(thing: Any, *, data_dir: str | Path | None = None, reporter: Reporter | None = None) -> Graph:
    """Whatever stands for one graph as a `Graph`: itself, a data set's name, a file, a PyTorch Geometric `Data` or a networkx graph.

    Args:
        thing: what a caller gave as a graph.
        data_dir: where a name's file may lie.
        reporter: is told the progress.

    Raises:
        InputError: if it is none of these, such as an array, a table or a list; says what to do with what it is.
    """
    if isinstance(thing, (str, Path)):
        return load_graph(thing, data_dir=data_dir, reporter=reporter)
    return from_foreign(thing)


def _is_path(given: str | Path) -> bool:
    if isinstance(given, Path):
        return True
    if "/" in given or "\\" in given or given.startswith(("~", ".")) or given.lower().endswith(_ENDINGS):
        return True
    return given != "" and find_info(given) is None and Path(given).exists()


def _from_path(path: Path) -> Graph:
    if path.suffix == ".edgelist" or path.expanduser().is_dir():
        from nodewise.datasets.reddit.released import find_released, read_released

        released = find_released(path.expanduser())
        if released is not None:
            return read_released(released)
    return read_graph(path)


def _by_name(name: str, folder: Path, report: Reporter) -> Graph:
    info = find_info(name)
    plain = plain_name(name)
    wanted = (info.name, *info.files, *info.aliases) if info is not None else (name, plain)
    path = find_local(folder, wanted)
    if path is not None:
        graph = read_graph(path)
        return replace(graph, name=info.name) if info is not None else graph
    if info is None:
        raise unknown_dataset(name, folder)
    if info.origin == "folder":
        raise DownloadError(_not_here(info, folder))
    if info.loader[0] == "reddit":
        from nodewise.datasets.reddit.released import FOLDER, find_released, read_released

        copied = find_released(folder / FOLDER / info.loader[1])
        if copied is not None:
            return read_released(copied, info.name)
    if info.origin == "download":
        from nodewise.datasets.downloads import download

        return download(info, folder, report)
    from nodewise.datasets.included import make

    return make(info, report)


def _not_here(info: DatasetInfo, folder: Path) -> str:
    names = " or ".join(f"{name}.npz" for name in (info.name, *info.files))
    said = f" ({info.remark})" if info.remark else ""
    return f"{info.name} cannot be downloaded{said}: put {names} into the data folder {folder}, or give the path of a file; it comes from {info.source}"
