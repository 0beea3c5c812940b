"""Views that were made before, in the user's cache: by the graph's fingerprint and the code that makes them, bounded in size."""

from __future__ import annotations

import hashlib
import os
import zlib
from functools import cache
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import torch

from nodewise.classifiers.views import construction, large
from nodewise.classifiers.views.construction import GraphViews, make_views
from nodewise.classifiers.views.needs import tell_needs
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.events import Reporter, Silent
from nodewise.ground.files import user_cache, whole_file

__all__ = ["cached_views"]

_LEAST_NODES = 2000
"""Graphs smaller than this are not worth a file: their views are made in a moment."""

_MOST_BYTES = 4 * 2**30
"""What the cache may take; the files that were not used for longest go first."""


def cached_views(graph: GraphTensors, reporter: Reporter | None = None) -> GraphViews:
    """The graph's views, on the CPU: read if they were made before, else made and kept. A cache that cannot be used costs time alone."""
    if graph.num_nodes < _LEAST_NODES:
        return make_views(graph, reporter)
    report = reporter or Silent()
    path = user_cache() / "views" / f"{graph.fingerprint}-{_code()}.npz"
    views = _read(path, graph.num_nodes)
    if views is None:
        tell_needs(graph, report)
        views = make_views(graph, report)
        _write(path, views)
    return views


@cache
def _code() -> str:
    digest = hashlib.blake2b(digest_size=6)
    for module in (construction, large):
        digest.update(Path(str(module.__file__)).read_bytes())
    return digest.hexdigest()


def _read(path: Path, nodes: int) -> GraphViews | None:
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:  # numpy leaves a damaged file open
            columns, names = file["columns"], file["names"]
        if columns.dtype != np.float32 or columns.ndim != 3 or columns.shape[:2] != (nodes, len(names)) or not np.isfinite(columns).all():
            return None
        os.utime(path)
        return GraphViews(tuple(map(str, names)), torch.from_numpy(columns))
    except (OSError, ValueError, KeyError, EOFError, BadZipFile, zlib.error):
        return None


def _write(path: Path, views: GraphViews) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            np.savez(file, columns=views.columns.numpy(), names=np.array(views.names))
        _bound(path.parent)
    except OSError:  # a full or read-only disk: the views are made again next time
        return


def _bound(folder: Path) -> None:
    files = sorted(((file.stat().st_mtime, file.stat().st_size, file) for file in folder.glob("*.npz")), reverse=True)
    total = 0
    for _, size, file in files:
        total += size
        if total > _MOST_BYTES:
            file.unlink(missing_ok=True)
