"""A graph by its name or path, what is known about a name, and how many labels to ask for by default.

Names are listed without numpy, so that the shell's completion is quick: what needs graphs is imported where it is used.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodewise.datasets.catalogue import CATALOGUE
from nodewise.datasets.folder import data_folder, find_local, local_names
from nodewise.datasets.info import DatasetInfo
from nodewise.ground.errors import DownloadError, GraphError, InputError, UnknownNameError, WrongTypeError
from nodewise.ground.events import Note, Reporter, Silent
from nodewise.ground.files import as_path

if TYPE_CHECKING:
    from nodewise.graph import Graph

__all__ = [
    "LABELS_PER_CLASS",
    "as_graph",
    "as_it_is",
    "dataset_info",
    "default_budget",
    "default_features",
    "find_info",
    "held_out",
    "list_datasets",
    "load_graph",
    "plain_name",
]


LABELS_PER_CLASS = 5

_ENDINGS = (".npz", ".graphml", ".edges", ".edgelist", ".txt", ".csv", ".tsv", ".npy")

_BY_NAME = {name: info for info in CATALOGUE for name in (*info.files, *info.aliases, info.name)}


def load_graph(
    name_or_path: str | Path,
    *,
    features: str = "raw",
    data_dir: str | Path | None = None,
    reporter: Reporter | None = None,
    several: bool = False,
) -> Graph:
    """Loads a graph by name or path.

    A name is looked for in the data folder first, as ``NAME.npz``; any npz file there can be loaded by its name. A
    graph that must be downloaded is kept there. What has a folder or an ending that graphs have is a path; so is the
    name of a file or folder that no data set has. A folder may also hold a Reddit graph as the paper's authors released
    it, or a data set of the Open Graph Benchmark as its package unpacks it; a data folder that holds ``ogbn_arxiv`` in
    that form has ``ogbn-arxiv``.

    Args:
        name_or_path: such as ``"cora"`` or ``"my/graph.npz"``.
        features: preprocessing by name, see `nodewise.graph.preprocess`; `Graph.features` tells it. ``"raw"``: as the
            source has them.
        data_dir: the data folder; None: the one that NODEWISE_DATA names, else one in the user's cache.
        reporter: gets the progress.
        several: whether sets of classes (``y_multi``) count where a file has one label a node as well; a file that has
            only sets needs no word.

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
    from nodewise.graph import Graph
    from nodewise.graph.features import prepared
    from nodewise.graph.graph import canonical_features

    if isinstance(name_or_path, Graph):
        raise WrongTypeError(
            "load_graph takes a name or a file, received a Graph: it is loaded already, use it as it is"
        )
    as_path(name_or_path, "a data set's name or a file")
    canonical_features(features)  # a misspelt preprocessing is refused before a long download
    report = reporter or Silent()
    graph = (
        _from_path(Path(name_or_path), several)
        if _is_path(name_or_path)
        else _by_name(str(name_or_path), data_folder(data_dir), report, several)
    )
    return prepared(graph, features, "raw")


def as_graph(
    thing: Any, *, data_dir: str | Path | None = None, reporter: Reporter | None = None, several: bool = False
) -> Graph:
    """Whatever stands for one graph as a `Graph`.

    Itself, a data set's name, a file, a PyTorch Geometric `Data` or a networkx graph.

    Args:
        thing: what a caller gave as a graph.
        data_dir: where a name's file may lie.
        reporter: gets the progress.
        several: as for `load_graph`.

    Raises:
        InputError: if it is none of these, such as an array, a table or a list; says what to do with what it is.
    """
    if isinstance(thing, (str, Path)):
        return load_graph(thing, data_dir=data_dir, reporter=reporter, several=several)
    from nodewise.graph.io.files import from_foreign

    return from_foreign(thing)


def list_datasets(data_dir: str | Path | None = None) -> list[str]:
    """The names that `load_graph` takes.

    Those of the catalogue, the paper's first, then further graphs in the data folder.

    Example:
        >>> import nodewise as nw
        >>> {"cora", "digits", "wine"} <= set(nw.list_datasets())
        True
    """
    known = [info.name for info in CATALOGUE]
    return known + [name for name in local_names(data_folder(data_dir)) if find_info(name) is None]


def dataset_info(name: str, data_dir: str | Path | None = None) -> DatasetInfo:
    """What is known about a data set.

    Where its file is in the data folder, sizes are those of the graph in it, which is read.

    Raises:
        UnknownNameError: if there is none of that name; says which was probably meant.
    """
    folder = data_folder(data_dir)
    info = find_info(name)
    if info is None and name not in local_names(folder):
        raise unknown_dataset(name, folder)
    return as_it_is(
        info or DatasetInfo(name, "a graph in the data folder", None, None, 0, 0, "folder", "the data folder"), folder
    )


def as_it_is(info: DatasetInfo, folder: Path, largest: int | None = None) -> DatasetInfo:
    """The record with the sizes that the graph in the data folder really has.

    A file there need not be as it was published.

    Args:
        info: of the catalogue.
        folder: the data folder; without a file there the record stays as it is.
        largest: bytes of a file beyond which it is not read; None: any.
    """
    path = find_local(folder, (info.name, *info.files, *info.aliases))
    if path is None or (largest is not None and path.stat().st_size > largest):
        return info
    from nodewise.graph import read_graph

    try:
        graph = read_graph(path)
    except GraphError:
        if largest is None:
            raise
        return info  # a list is no place to stumble over one damaged file
    return replace(
        info,
        nodes=graph.num_nodes,
        edges=graph.num_edges,
        features=graph.num_features,
        classes=graph.num_classes,
        holds=_holds(graph),
    )


def _holds(graph: Graph) -> tuple[str, ...]:
    """What a graph has beyond nodes, edges and one label a node, in words."""
    record, words = graph.relations, []
    if record is not None and record.directed:
        words.append("direction")
    elif record is not None:
        types = ", ".join(f"{kind.count:,} {kind.name}" for kind in record.types)
        relations = ", ".join(f"{one.name} ({one.edge_index.shape[1]:,})" for one in record.relations)
        words.append(f"relations: {types}; {relations}")
    if graph.edge_weight is not None and (record is None or record.directed):
        words.append("weights")
    return (*words, "several labels a node") if graph.several else tuple(words)


def find_info(name: str) -> DatasetInfo | None:
    """What is known about a name, an alias or a file's name; None if nothing is."""
    return _BY_NAME.get(plain_name(name))


def plain_name(name: str) -> str:
    """One spelling for a name: lower case, words joined by hyphens."""
    return "-".join(name.strip().lower().replace("_", " ").split())


def default_features(name: str) -> str:
    """The feature preprocessing that commands use unless something else is said.

    ``"paper"`` for the paper's ten graphs by name, else ``"raw"``.
    """
    info = find_info(name)
    return "paper" if info is not None and info.paper else "raw"


def default_budget(graph: Graph | str | Path, data_dir: str | Path | None = None, *, simulated: bool = False) -> int:
    """The paper's budget for its graphs (Cora 35, Citeseer 30, Pubmed 15, Physics 25, CS 75, Reddit 50, its case study
    15), else five a class.

    Five a class are never more than half the pool, the nodes that the protocol holds out neither for the test nor for
    validation.

    Args:
        graph: a graph, or what `load_graph` takes. A graph counts as the paper's if it has the name and, but for the
            Reddit graphs, whose builder may find other classes, as many classes.
        data_dir: where a name's file may lie, if the graph must be read to count its classes.
        simulated: whether only nodes whose label is known can be asked, as where nobody is there to answer; they alone
            are counted then.

    Raises:
        InputError: if the graph has no classes, so that nothing can be said.
    """
    from nodewise.graph import Graph

    if not isinstance(graph, Graph):
        info = find_info(graph) if isinstance(graph, str) else None
        if info is not None:
            return info.budget or _five_a_class(info.classes, info.nodes)
        graph = load_graph(graph, data_dir=data_dir)
    info = find_info(graph.name)
    if info is not None and info.budget and (graph.num_classes == info.classes or info.name.startswith("reddit")):
        return info.budget
    if not graph.num_classes:
        raise InputError(
            f"the graph {graph.name!r} has no classes, so there is no default budget: give one, such as five labels for"
            " each class you expect"
        )
    nodes = int(graph.labelled.sum()) if simulated and (graph.y is not None or graph.several) else graph.num_nodes
    return _five_a_class(graph.num_classes, nodes)


def held_out(nodes: int) -> tuple[int, int]:
    """How many nodes the protocol tests and validates on, of so many labelled ones: 1000 and 500.

    A quarter each at 2250 nodes and below.
    """
    return (1000, 500) if nodes > 2250 else (nodes // 4, nodes // 4)


def _five_a_class(classes: int, nodes: int | None) -> int:
    if nodes is None:
        return LABELS_PER_CLASS * classes
    return max(1, min(LABELS_PER_CLASS * classes, (nodes - sum(held_out(nodes))) // 2))


def unknown_dataset(name: str, folder: Path) -> UnknownNameError:
    """The error for a name that neither the catalogue nor the data folder knows."""
    hint = (
        f"A file needs its ending, such as {name or 'my'}.npz; a graph {name or 'NAME'}.npz in the data folder {folder}"
        " is found by its name."
    )
    return UnknownNameError("data set", name, {*(info.name for info in CATALOGUE), *local_names(folder)}, hint)


def _is_path(given: str | Path) -> bool:
    if isinstance(given, Path):
        return True
    if "/" in given or "\\" in given or given.startswith(("~", ".")) or given.lower().endswith(_ENDINGS):
        return True
    return given != "" and find_info(given) is None and Path(given).exists()


def _from_path(path: Path, several: bool = False) -> Graph:
    if path.suffix == ".edgelist" or path.expanduser().is_dir():
        from nodewise.datasets.reddit.released import find_released, read_released

        released = find_released(path.expanduser())
        if released is not None:
            return read_released(released)
        from nodewise.datasets.ogb_folder import find_ogb, read_ogb

        unpacked = find_ogb(path.expanduser())
        if unpacked is not None:
            return read_ogb(unpacked, plain_name(unpacked.absolute().name))
    from nodewise.graph import read_graph

    return read_graph(path, several=several)


def _by_name(name: str, folder: Path, report: Reporter, several: bool = False) -> Graph:
    info = find_info(name)
    plain = plain_name(name)
    wanted = (info.name, *info.files, *info.aliases) if info is not None else (name, plain)
    path = find_local(folder, wanted)
    if path is not None:
        from nodewise.graph import read_graph

        graph = read_graph(path, several=several)
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
    if info.loader[0] == "ogb":
        from nodewise.datasets.downloads import keep
        from nodewise.datasets.ogb_folder import find_ogb, read_ogb

        unpacked = find_ogb(folder, info.name)
        if unpacked is not None:
            report(Note(f"{info.name}: reading {unpacked}"))
            return keep(info, read_ogb(unpacked, info.name), folder, report, "read")
    if info.origin == "download":
        from nodewise.datasets.downloads import download

        return download(info, folder, report)
    from nodewise.datasets.included import make

    return make(info, report)


def _not_here(info: DatasetInfo, folder: Path) -> str:
    names = " or ".join(f"{name}.npz" for name in (info.name, *info.files))
    said = f" ({info.remark})" if info.remark else ""
    return (
        f"{info.name} cannot be downloaded{said}: put {names} into the data folder {folder}, or give the path of a"
        f" file; it comes from {info.source}"
    )
