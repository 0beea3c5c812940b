"""One function for each place that data sets come from; PyTorch Geometric, ogb and torch are imported only here.

Each takes the name of the data set, what it is called there, and an empty folder to work in. Readers of PyTorch
Geometric unpickle the files of some sources (Planetoid, MUSAE): trust these as you trust a package. What is kept in the
data folder afterwards is never pickled.
"""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from nodewise.graph import Graph
from nodewise.ground.errors import MissingExtraError

__all__ = ["SOURCES"]

_CLASSES: Mapping[str, tuple[str, ...]] = {
    "coauthor-cs": (
        "bioinformatics",
        "machine_learning",
        "computer_vision",
        "NLP",
        "graphics",
        "networks",
        "security",
        "databases",
        "data_mining",
        "game_theory",
        "HCI",
        "information_theory",
        "medical_informatics",
        "robotics",
        "theoretical_cs",
    ),
    "coauthor-physics": ("phys rev d", "phys rev a", "phys rev b", "phys rev c", "phys rev e"),
}
_SPARSE = 0.25  # share of non-zero values below which CSR is smaller than a dense table


def _planetoid(name: str, which: str, root: Path) -> Graph:
    from torch_geometric.datasets import Planetoid

    data = Planetoid(str(root), which)[0]
    extra = {
        f"planetoid_{part}": np.flatnonzero(data[f"{part}_mask"].numpy()).astype(np.int32)
        for part in ("train", "val", "test")
    }
    x = data.x.numpy()
    extra["missing_nodes"] = np.flatnonzero(~x.any(axis=1)).astype(np.int32)
    return _graph(name, data.edge_index.numpy(), x, data.y.numpy(), extra=extra)


def _coauthor(name: str, which: str, root: Path) -> Graph:
    # Read here: PyTorch Geometric makes the features dense, 1.2 GB for Physics, and their counts 0 and 1.
    from torch_geometric.datasets import Coauthor

    with (
        _fetched(f"{Coauthor.url}ms_academic_{which}.npz", root) as handle,
        np.load(handle, allow_pickle=False) as file,
    ):
        adjacency, x = (
            sp.csr_matrix(
                tuple(file[f"{part}_{field}"] for field in ("data", "indices", "indptr")),
                shape=tuple(file[f"{part}_shape"]),
            )
            for part in ("adj", "attr")
        )
        y = file["labels"]
    return _graph(name, np.stack(adjacency.nonzero()), x, y, class_names=_CLASSES[name])


def _heterophilous(name: str, which: str, root: Path) -> Graph:
    # PyTorch Geometric refuses the two filtered graphs, which lie at the same address in the same form.
    from torch_geometric.datasets import HeterophilousGraphDataset

    with (
        _fetched(f"{HeterophilousGraphDataset.url}/{which}.npz", root) as handle,
        np.load(handle, allow_pickle=False) as file,
    ):
        return _graph(name, file["edges"].T, file["node_features"], file["node_labels"])


def _polblogs(name: str, which: str, root: Path) -> Graph:
    # PyTorch Geometric reads these two tables with pandas, which nothing else here needs.
    from torch_geometric.datasets import PolBlogs

    tables = {}
    with _fetched(PolBlogs.url, root) as handle, tarfile.open(fileobj=handle) as archive:
        for member in archive:
            content = archive.extractfile(member)
            if content is not None and member.name.endswith((".tsv", ".csv")):
                tables[Path(member.name).stem] = np.loadtxt(content, delimiter="\t", ndmin=2)
    return _graph(name, tables["adjacency"][:, :2].T.astype(np.int64), None, tables["labels"][:, 0].astype(np.int64))


def _airports(name: str, which: str, root: Path) -> Graph:
    from torch_geometric.datasets import Airports

    data = Airports(str(root), which)[0]
    return _graph(name, data.edge_index.numpy(), None, data.y.numpy())  # its features only number the nodes


def _twitch(name: str, which: str, root: Path) -> Graph:
    from torch_geometric.datasets import Twitch

    data = Twitch(str(root), which)[0]
    return _graph(name, data.edge_index.numpy(), data.x.numpy(), data.y.numpy(), class_names=("not-mature", "mature"))


def _wikics(name: str, which: str, root: Path) -> Graph:
    from torch_geometric.datasets import WikiCS

    return _from_data(name, WikiCS(str(root), is_undirected=True)[0])


def _webkb(name: str, which: str, root: Path) -> Graph:
    from torch_geometric.datasets import WebKB

    return _from_data(name, WebKB(str(root), which)[0])


def _amazon(name: str, which: str, root: Path) -> Graph:
    from torch_geometric.datasets import Amazon

    return _from_data(name, Amazon(str(root), which)[0])


def _citation_full(name: str, which: str, root: Path) -> Graph:
    from torch_geometric.datasets import CitationFull

    return _from_data(name, CitationFull(str(root), which)[0])


def _pyg(name: str, which: str, root: Path) -> Graph:
    import torch_geometric.datasets

    return _from_data(name, getattr(torch_geometric.datasets, which)(str(root))[0])


def _ogb(name: str, which: str, root: Path) -> Graph:
    try:
        from ogb.nodeproppred import NodePropPredDataset
    except ImportError as error:
        raise MissingExtraError("ogb", "ogb") from error
    graph, labels = NodePropPredDataset(name, root=str(root))[0]
    y = np.nan_to_num(np.asarray(labels, dtype=np.float64).reshape(-1), nan=-1).astype(np.int64)
    return _graph(name, graph["edge_index"], graph["node_feat"], y)


def _reddit(name: str, which: str, root: Path) -> Graph:
    from nodewise.datasets.reddit import released

    for ending in released.FILES:
        _fetched(f"{released.ADDRESS}/{which}/{which}{ending}", root).close()
    return released.read_released(root, name)


def _fetched(url: str, root: Path) -> BinaryIO:
    from torch_geometric.data import download_url

    return Path(download_url(url, str(root), log=False)).open("rb")


def _from_data(name: str, data: Any) -> Graph:
    return _graph(name, data.edge_index.numpy(), None if data.x is None else data.x.numpy(), data.y.numpy())


def _graph(name: str, edge_index: Any, x: Any, y: Any, **parts: Any) -> Graph:
    if isinstance(x, np.ndarray) and np.count_nonzero(x) < _SPARSE * x.size:
        x = sp.csr_matrix(x)
    return Graph.build(edge_index, len(y), x=x, y=y, name=name, **parts)


SOURCES: Mapping[str, Callable[[str, str, Path], Graph]] = {
    "airports": _airports,
    "amazon": _amazon,
    "citation_full": _citation_full,
    "coauthor": _coauthor,
    "heterophilous": _heterophilous,
    "ogb": _ogb,
    "planetoid": _planetoid,
    "polblogs": _polblogs,
    "pyg": _pyg,
    "reddit": _reddit,
    "twitch": _twitch,
    "webkb": _webkb,
    "wikics": _wikics,
}
