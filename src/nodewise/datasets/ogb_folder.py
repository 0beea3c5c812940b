"""A data set of the Open Graph Benchmark as its own package left it on the disk.

``ogbn_arxiv/raw/edge.csv.gz`` and what lies beside it.

That is the published archive, unpacked. It is read without that package and without a network; of ``processed``, which
is pickled, nothing is.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nodewise.graph import Graph
from nodewise.ground.errors import GraphError

__all__ = ["find_ogb", "read_ogb"]

_EDGES, _LABELS, _FEATURES = "edge.csv.gz", "node-label.csv.gz", "node-feat.csv.gz"

_LINE, _LEAST, _EXPANDS = 2**16, 2**22, 24
"""Bytes of a line at most; and of a file unpacked: so many, and so many times its size.

Numbers as text, packed, have about three times their size.
"""


def find_ogb(folder: Path, name: str | None = None) -> Path | None:
    """A data set's folder: the one given, or with a name the one that the benchmark's packages call so inside it.

    None if it has no edges and labels.

    Args:
        folder: the data set's, or, with a name, the ``root`` that the benchmark's package was given.
        name: such as ``"ogbn-arxiv"``.
    """
    plain = None if name is None else name.replace("-", "_")
    places = (
        [folder] if plain is None else [folder / f"{plain}{ending}" for ending in ("", "_pyg", "_dgl")]
    )  # the last two by old versions
    return next((one for one in places if all((one / "raw" / file).is_file() for file in (_EDGES, _LABELS))), None)


def read_ogb(folder: Path, name: str) -> Graph:
    """The graph of a data set's folder.

    Raises:
        GraphError: a file is damaged or does not belong to the others; says which, and what to do.
    """
    raw = folder / "raw"
    y = _table(raw / _LABELS, np.float64)
    if y.shape[1] != 1:
        raise GraphError(
            f"{raw / _LABELS} has {y.shape[1]} columns: a graph here has one label a node, as ogbn-arxiv and"
            " ogbn-products do"
        )
    edges = _table(raw / _EDGES, np.int64)
    x = _table(raw / _FEATURES, np.float32) if (raw / _FEATURES).is_file() else None
    if edges.shape[1] != 2 or (x is not None and len(x) != len(y)):
        rows = "no features" if x is None else f"{len(x):,} rows of features"
        raise GraphError(
            f"the files in {raw} do not belong together: {edges.shape[1]} columns of edges, {len(y):,} labels, {rows};"
            f" remove {folder} and download it again"
        )
    labels = np.nan_to_num(y[:, 0], nan=-1).astype(np.int64)
    return Graph.build(edges.T, len(y), x=x, y=labels, name=name)


def _table(path: Path, dtype: Any) -> npt.NDArray[Any]:
    try:
        return np.loadtxt(_lines(path), dtype, delimiter=",", comments=None, ndmin=2)
    except (OSError, EOFError, zlib.error, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise GraphError(
            f"{path} cannot be read ({reason}): it is damaged or was not downloaded to the end; remove"
            f" {path.parents[1]} and download it again"
        ) from error


def _lines(path: Path) -> Iterator[str]:
    most, taken = _LEAST + _EXPANDS * path.stat().st_size, 0
    with gzip.open(path, "rb") as file:
        while line := file.readline(_LINE):
            taken += len(line)
            if taken > most or (len(line) == _LINE and not line.endswith(b"\n")):
                raise ValueError(f"it unpacks to far more than its {path.stat().st_size:,} bytes")
            yield line.decode("ascii")
