"""The paper's Reddit graphs as its authors released them: ``graphN.edgelist``, ``graphN.x.pkl`` and ``graphN.y.pkl``.

They lie in ``data/reddit1401`` of the repository ShengdingHu/GraphPolicyNetworkActiveLearning, five graphs and the case
study's, each in a folder of its own. The edge list's first line is the number of nodes, every other one an edge; x and
y are pickled arrays, the mean GloVe vector of each post (float64 [node, 300]) and the number of its subreddit (int64
[node]). Nothing of them is ever executed (see `pickled_array`).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from nodewise.datasets.reddit.pickled_array import PickleRefusedError, read_pickled_array
from nodewise.graph import Graph
from nodewise.ground.errors import GraphError

__all__ = ["ADDRESS", "FILES", "FOLDER", "find_released", "read_released"]

FOLDER = "reddit1401"
"""What the authors call the folder; a copy of it in the data folder is found."""

ADDRESS = f"https://raw.githubusercontent.com/ShengdingHu/GraphPolicyNetworkActiveLearning/HEAD/data/{FOLDER}"
"""Where the files of a graph are fetched from: ADDRESS/graph1/graph1.x.pkl and so on."""

FILES = (".edgelist", ".x.pkl", ".y.pkl")

_LARGEST = 2_000_000_000
"""Bytes of a file above which it is not one of these; the largest of the authors' has eleven million."""


def find_released(path: Path) -> Path | None:
    """The edge list of a released graph.

    Of a folder that holds one with its labels, or the file itself if its labels lie beside it; else None.
    """
    if path.suffix == ".edgelist" and path.is_file():
        candidates = [path]
    else:
        candidates = sorted(path.glob("*.edgelist")) if path.is_dir() else []
    labelled = [one for one in candidates if _beside(one, ".y.pkl").is_file()]
    return labelled[0] if len(labelled) == 1 else None


def read_released(path: str | Path, name: str | None = None) -> Graph:
    """Reads a graph as the authors released it.

    Args:
        path: the folder with the three files, or the edge list among them. Without ``.x.pkl`` the graph has no
            features.
        name: what to call it; by default what the files are called.

    Raises:
        GraphError: a file is missing, damaged, or holds anything but plain arrays; says what to do.
    """
    path = Path(path).expanduser()
    edgelist = find_released(path)
    if edgelist is None:
        raise GraphError(
            f"{path} does not hold one graph of the authors' Reddit release: give the folder with NAME.edgelist,"
            " NAME.x.pkl and NAME.y.pkl"
        )
    nodes, edges = _edges(edgelist)
    y = _array(_beside(edgelist, ".y.pkl"), (nodes,), "iu", "labels: whole numbers")
    features = _beside(edgelist, ".x.pkl")
    x = _array(features, (nodes, None), "f", "features: numbers, a row a node") if features.is_file() else None
    return Graph.build(
        edges, nodes, x=None if x is None else x.astype(np.float32), y=y.astype(np.int64), name=name or edgelist.stem
    )


def _beside(edgelist: Path, ending: str) -> Path:
    return edgelist.with_name(edgelist.stem + ending)


def _edges(path: Path) -> tuple[int, npt.NDArray[np.int64]]:
    """The number of nodes and the edges [2, edge]."""
    lines = _content(path).decode("ascii", errors="replace").split("\n")
    try:
        nodes = int(lines[0])
    except ValueError:
        raise GraphError(
            f"{path.name} does not begin with the number of nodes, but with {lines[0][:40]!r}: this is not an edge list"
            " of the authors' release"
        ) from None
    pairs = []
    for number, line in enumerate(lines[1:], start=2):
        parts = line.split()
        if not parts:
            continue
        if len(parts) != 2 or not all(part.isdigit() and len(part) < 16 and int(part) < nodes for part in parts):
            raise GraphError(
                f"{path.name} line {number:,} is {line[:40]!r}: an edge is two node numbers from 0 to {nodes - 1:,};"
                " get the file again"
            )
        pairs.append((int(parts[0]), int(parts[1])))
    return nodes, np.array(pairs, dtype=np.int64).reshape(-1, 2).T


def _array(path: Path, shape: tuple[int | None, ...], kinds: str, what: str) -> npt.NDArray[np.generic]:
    """A pickled array of the shape that the edge list tells; None is any length."""
    try:
        array = read_pickled_array(_content(path))
    except PickleRefusedError as error:
        raise GraphError(
            f"{path.name} is not a pickled array of numbers: it {error}. Nothing of it was executed; get the file from"
            " the authors' repository again"
        ) from None
    fits = array.ndim == len(shape) and all(
        expected in (None, side) for expected, side in zip(shape, array.shape, strict=True)
    )
    if not fits or array.dtype.kind not in kinds:
        wanted = " × ".join("any" if side is None else f"{side:,}" for side in shape)
        raise GraphError(
            f"{path.name} holds {' × '.join(f'{side:,}' for side in array.shape)} values of {array.dtype}, but {wanted}"
            f" are needed ({what}): the three files of one graph belong together"
        )
    return array


def _content(path: Path) -> bytes:
    try:
        if path.stat().st_size > _LARGEST:
            raise GraphError(
                f"{path.name} has {path.stat().st_size:,} bytes, far more than a file of the authors' release: get it"
                " again"
            )
        return path.read_bytes()
    except OSError as error:
        raise GraphError(
            f"{path} cannot be read: {error.strerror or error}; check the path and its permissions"
        ) from error
