"""What a session reads, and that nothing is ever written over it. It imports neither torch nor numpy."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from nodewise.ground.errors import InputError

if TYPE_CHECKING:
    from nodewise.session.log.log import Log

__all__ = ["check_output", "graph_files", "graph_path"]

_FOLDER_FILES = ("nodes.csv", "edges.csv", "features.csv", "graph.json")


def graph_path(log: Log) -> Path | None:
    """Where the graph of a session lies that is not inside its file: where it was, else beside the session; None where it is in neither."""
    stored = log.settings.get("graph")
    if not isinstance(stored, dict) or stored.get("where") == "inside" or not isinstance(stored.get("path"), str) or "\0" in stored["path"]:
        return None
    path = Path(stored["path"])
    beside = log.path.with_name(os.path.basename(stored["path"]) or "graph")  # noqa: PTH119 (the path may come from another system)
    try:
        return next((place for place in (path, beside) if place.exists()), None)
    except OSError:
        return None


def graph_files(path: Path) -> list[Path]:
    """The files that a graph's path stands for: itself, or those of a folder of tables."""
    folder = path if path.is_dir() else path.parent
    tables = [folder / name for name in _FOLDER_FILES if os.path.lexists(folder / name)]
    is_table = path.name in ("nodes.csv", "edges.csv") and {"nodes.csv", "edges.csv"} <= {table.name for table in tables}
    return tables if path.is_dir() or is_table else [path]


def check_output(path: Path, log: Log) -> None:
    """Refuse to write over what the session is made of, by whatever path, link or spelling.

    Raises:
        InputError: the path is the session's file, a file that SQLite keeps beside it, or its graph.
    """
    session = log.path.resolve()
    if _is_same(path, session):
        raise InputError(f"{str(path)!r} is the session itself: export to another file")
    for ending in ("-journal", "-wal", "-shm"):
        beside = session.with_name(session.name + ending)
        if _is_same(path, beside) or _is_same_name(path, beside):
            raise InputError(f"{str(path)!r} is the place of the session's journal: export to another file")
    graph = graph_path(log)
    if graph is not None and any(_is_same(path, file) for file in (graph, *graph_files(graph))):
        raise InputError(f"{str(path)!r} is the session's graph, without which it cannot be opened: export to another file")


def _is_same(path: Path, other: Path) -> bool:
    try:
        return path.samefile(other)
    except OSError:
        return False


def _is_same_name(path: Path, other: Path) -> bool:
    """For a file that need not be there yet."""
    return path.name.casefold() == other.name.casefold() and _is_same(path.absolute().parent, other.parent)
