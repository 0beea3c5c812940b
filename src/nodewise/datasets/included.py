"""Data sets that need no network.

Scikit-learn's as nearest-neighbour graphs, networkx's karate club, and generated ones.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from nodewise.datasets.info import DatasetInfo
from nodewise.graph import Graph, knn_graph
from nodewise.ground.events import Reporter

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["make"]

_NEIGHBOURS = 10
# Four communities by modularity, 0.419, member by member.
_COMMUNITIES = "0000111020100022102020233323322322"


def make(info: DatasetInfo, report: Reporter) -> Graph:
    """The data set, made anew; the same at each call."""
    loader, which = info.loader
    return _LOADERS[loader](info.name, which, report)


def _digits(name: str, which: str, report: Reporter) -> Graph:
    from sklearn.datasets import load_digits

    source = load_digits()
    pictures = [_picture(image) for image in source.images]
    return knn_graph(
        source.data,
        _NEIGHBOURS,
        "euclidean",
        name=name,
        reporter=report,
        y=source.target,
        attributes={"picture": pictures},
    )


def _standardised(name: str, which: str, report: Reporter) -> Graph:
    from sklearn import datasets

    source = getattr(datasets, f"load_{which}")()
    x = (source.data - source.data.mean(axis=0)) / source.data.std(axis=0)
    return knn_graph(
        x,
        _NEIGHBOURS,
        "euclidean",
        name=name,
        reporter=report,
        y=source.target,
        class_names=[str(kind) for kind in source.target_names],
    )


def _karate(name: str, which: str, report: Reporter) -> Graph:
    from networkx import karate_club_graph

    club = karate_club_graph()
    joined = [str(club.nodes[member]["club"]) for member in club]
    y: Any = joined if which == "clubs" else [int(community) for community in _COMMUNITIES]
    edges = np.array(list(club.edges), dtype=np.int64).T
    return Graph.build(edges, len(joined), y=y, name=name, attributes={"club": joined})


def _synthetic(name: str, which: str, report: Reporter) -> Graph:
    from nodewise.datasets.synthetic import NAMED, synthetic_graph

    return synthetic_graph(NAMED[name], name=name, reporter=report)


def _overlapping(name: str, which: str, report: Reporter) -> Graph:
    from nodewise.datasets.overlapping import overlapping_graph

    return overlapping_graph(name=name)


def _library(name: str, which: str, report: Reporter) -> Graph:
    from nodewise.datasets.relational import library_graph

    return library_graph(name=name)


def _directed(name: str, which: str, report: Reporter) -> Graph:
    from nodewise.datasets.relational import directed_graph

    return directed_graph(name=name)


def _picture(image: npt.NDArray[np.float64], scale: int = 8) -> str:
    """A picture of a digit, values 0 to 16, as a data address that a browser shows.

    PNG, 8 bits of grey, dark on white.
    """
    grey = (255 - image * (255 / 16)).astype(np.uint8).repeat(scale, axis=0).repeat(scale, axis=1)
    rows = b"".join(b"\0" + row.tobytes() for row in grey)
    height, width = grey.shape
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows, 9)),
        (b"IEND", b""),
    )
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(chunks)).decode()


_LOADERS: Mapping[str, Callable[[str, str, Reporter], Graph]] = {
    "digits": _digits,
    "directed": _directed,
    "karate": _karate,
    "library": _library,
    "overlapping": _overlapping,
    "standardised": _standardised,
    "synthetic": _synthetic,
}
