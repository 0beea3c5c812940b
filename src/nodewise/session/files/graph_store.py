"""How a session keeps its graph: inside its file, or, where that would be too large, beside it with a hash that tells a change."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

from nodewise.graph import Graph, read_graph
from nodewise.graph.io.npz import read_npz, write_npz
from nodewise.ground.errors import GraphError, SessionError, SessionFileError
from nodewise.ground.files import scratch_folder
from nodewise.session.files.outputs import graph_files, graph_path
from nodewise.session.log.checks import damaged
from nodewise.session.log.log import Log

__all__ = ["EMBED_LIMIT", "fetch_graph", "store_graph"]

EMBED_LIMIT = 256 * 2**20
"""The largest graph, in bytes of its npz form, that lies in the session's file."""


def store_graph(graph: Graph, session: Path, source: Path | None = None, limit: int = EMBED_LIMIT) -> tuple[dict[str, Any], bytes | None]:
    """Where the graph is, for the settings, and its bytes if it is to lie inside.

    Args:
        graph: what to keep.
        session: the session's file.
        source: the file or folder that the graph was read from, as it is; where it is too large to lie inside, that is referred to. Without
            it, a copy is written beside the session.
        limit: the largest size in bytes that lies inside.
    """
    if source is not None and source.suffix == ".npz" and source.is_file():  # in the form that it is kept in already
        if source.stat().st_size <= limit:
            return {"where": "inside"}, source.read_bytes()
    else:
        with scratch_folder() as folder:
            packed = folder / "graph.npz"
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
    stored = log.settings.get("graph")
    if not isinstance(stored, dict):
        raise damaged(log.path, "it does not say where its graph is")
    if stored.get("where") == "inside":
        packed = log.part("graph")
        if packed is None:
            raise SessionFileError(f"the session {str(log.path)!r} holds no graph: go on from a backup")
        with scratch_folder() as folder:
            file = folder / "graph.npz"
            file.write_bytes(packed)
            try:
                return read_npz(file)
            except GraphError as error:
                raise SessionFileError(f"the graph in the session {str(log.path)!r} cannot be read: {error}") from error
    path = graph_path(log)
    if path is None:
        raise SessionFileError(
            f"the graph of the session {str(log.path)!r} is not at {str(stored.get('path'))!r}: put it back there, or beside the session's file"
        )
    if _hash(path) != stored.get("sha256"):
        raise SessionFileError(
            f"the graph {str(path)!r} has changed since the session was made: put the old file back, or make a new session"
        )
    try:
        return read_graph(path)
    except GraphError as error:
        raise SessionFileError(f"the session's graph cannot be read: {error}") from error


def _hash(path: Path) -> str:
    """SHA-256 of a file, or of the names and hashes of the files that a folder's graph is read from."""
    files = graph_files(path)
    digests = []
    for file in files:
        if not file.is_file():  # a pipe would never end
            raise SessionFileError(
                f"the session's graph {str(file)!r} is not an ordinary file: put the old file back, or make a new session"
            )
        digest = hashlib.sha256()
        try:
            with file.open("rb") as stream:
                while block := stream.read(2**20):
                    digest.update(block)
        except OSError as error:
            raise SessionFileError(
                f"the session's graph {str(file)!r} cannot be read: {error.strerror or error}; check its permissions"
            ) from error
        digests.append(digest.hexdigest())
    if files == [path]:
        return digests[0]
    named = [f"{os.fsdecode(file.name)} {digest}" for file, digest in zip(files, digests, strict=True)]
    return hashlib.sha256("\n".join(named).encode("utf-8", "surrogateescape")).hexdigest()
