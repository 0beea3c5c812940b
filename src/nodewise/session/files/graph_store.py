"""How a session keeps its graph: inside its file, or, where that would be too large, beside it with a hash that tells a change."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any

from nodewise.graph import Graph, read_graph
from nodewise.graph.io.npz import read_npz, write_npz
from nodewise.ground.errors import GraphError, SessionError, SessionFileError
from nodewise.session.log.log import Log

__all__ = ["EMBED_LIMIT", "fetch_graph", "store_graph"]

EMBED_LIMIT = 256 * 2**20
"""The largest graph, in bytes of its npz form, that lies in the session's file."""


def store_graph(graph: Graph, session: Path, source: Path | None = None, limit: int = EMBED_LIMIT) -> tuple[dict[str, Any], bytes | None]:
    """Where the graph is, for the settings, and its bytes if it is to lie inside.

    Args:
        graph: what to keep.
        session: the session's file.
        source: the file that the graph was read from, as it is; where it is too large to lie inside, that file is referred to. Without it, a
            copy is written beside the session.
        limit: the largest size in bytes that lies inside.
    """
    with tempfile.TemporaryDirectory() as folder:
        packed = Path(folder) / "graph.npz"
        write_npz(graph, packed)
        if packed.stat().st_size <= limit:
            return {"where": "inside"}, packed.read_bytes()
    if source is None:
        source = session.with_name(session.name + ".graph.npz")
        if source.exists():
            raise SessionError(
                f"the graph is too large for the session's file, and there is a {source.name!r} beside it already: remove that one"
            )
        write_npz(graph, source)
    return {"where": "file", "path": str(source.absolute()), "sha256": _hash(source)}, None


def fetch_graph(log: Log) -> Graph:
    """The session's graph.

    Raises:
        SessionFileError: the stored graph is damaged, or the file referred to is gone or has changed.
    """
    stored = log.settings.get("graph", {})
    if stored.get("where") == "inside":
        packed = log.part("graph")
        if packed is None:
            raise SessionFileError(f"the session {str(log.path)!r} holds no graph: go on from a backup")
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "graph.npz"
            file.write_bytes(packed)
            return read_npz(file)
    path = Path(str(stored.get("path")))
    if not path.exists():
        path = log.path.with_name(os.path.basename(path))  # noqa: PTH119 (the path may come from another system)
    if not path.exists():
        raise SessionFileError(
            f"the graph of the session {str(log.path)!r} is not at {stored.get('path')!r}: put it back there, or beside the session's file"
        )
    if path.is_file() and _hash(path) != stored.get("sha256"):
        raise SessionFileError(
            f"the graph {str(path)!r} has changed since the session was made: put the old file back, or make a new session"
        )
    try:
        return read_graph(path)
    except GraphError as error:
        raise SessionFileError(f"the session's graph cannot be read: {error}") from error


def _hash(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(2**20):
            digest.update(block)
    return digest.hexdigest()
