"""Data sets that are fetched once, through PyTorch Geometric or from the address it has, and then kept as npz in the
data folder.

Graphs come out as the record holds them, whatever form their source has: every edge once, no self loops, features
sparse where they mostly are zeros. So the counts are those of the catalogue: PyTorch Geometric's count every edge
twice, Citeseer's source repeats some, and so on.
"""

from __future__ import annotations

import contextlib
import io
import socket
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

from nodewise.datasets.info import DatasetInfo
from nodewise.datasets.sources import SOURCES
from nodewise.graph import Graph, write_graph
from nodewise.ground.errors import DownloadError, GraphError, MissingExtraError
from nodewise.ground.events import Note, Reporter, Warned

__all__ = ["download", "keep"]

_PATIENCE = 60.0  # seconds without an answer


def download(info: DatasetInfo, folder: Path, report: Reporter) -> Graph:
    """Fetches a data set and keeps it as ``NAME.npz`` in the data folder; what was fetched on the way is removed.

    Raises:
        DownloadError: if it cannot be fetched or is not what was expected; the data folder is as before.
        MissingExtraError: if it needs an extra that is not installed.
    """
    loader, which = info.loader
    report(Note(f"{info.name}: downloading from {info.source}"))
    try:
        with _workspace(folder) as root, _undisturbed():
            graph = SOURCES[loader](info.name, which, root)
    except MissingExtraError:
        raise
    except (
        Exception,
        SystemExit,
    ) as error:  # whatever a foreign reader may raise on a page that is not the file: SystemExit is ogb's
        unpacked = f", or the folder {info.name.replace('-', '_')} that ogb unpacked before" if loader == "ogb" else ""
        raise DownloadError(
            f"{info.name} could not be downloaded from {info.source} ({_reason(error)}): check the network and try"
            f" again, or put {info.name}.npz (made on another machine by nodewise, or by hand from edge_index, y and"
            f" x){unpacked} into the data folder {folder}, or give the path of a file"
        ) from error
    return keep(info, graph, folder, report, "downloaded")


def keep(info: DatasetInfo, graph: Graph, folder: Path, report: Reporter, got: str) -> Graph:
    """Keeps a data set as ``NAME.npz`` in the data folder, if it is as it was published, and gives it back.

    Args:
        info: what is known about it.
        graph: the data set.
        folder: the data folder.
        report: gets what could not be kept, and why.
        got: what was done to get it, and is done again next time if it cannot be kept: ``"downloaded"``.
    """
    if other := _differences(info, graph):
        # Some readers take a file that was cut off for a smaller one: what is not as published is not kept.
        report(
            Warned(
                f"{info.name} is not as it was published: {', '.join(other)}. It is used but not kept: a download may"
                " be cut off; " + ("try again" if got == "downloaded" else "download it again")
            )
        )
        return graph
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_graph(graph, folder / f"{info.name}.npz")
    except (OSError, GraphError) as error:
        report(Warned(f"{info.name} could not be kept and will be {got} again next time: {error}"))
    return graph


@contextlib.contextmanager
def _workspace(folder: Path) -> Iterator[Path]:
    """A folder for what comes on the way, beside the result where that can be written to, since temporary folders may
    be small.
    """
    made = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        holder = tempfile.TemporaryDirectory(prefix=".download-", dir=folder, ignore_cleanup_errors=True)
    except OSError:
        made, holder = [], tempfile.TemporaryDirectory(prefix="nodewise-", ignore_cleanup_errors=True)
    try:
        with holder as root:
            yield Path(root)
    except BaseException:
        for parent in made:  # not even an empty folder stays behind after a failure
            with contextlib.suppress(OSError):
                parent.rmdir()
        raise


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Keeps foreign code from printing, warning, asking a question or waiting for ever."""
    patience, stdin = socket.getdefaulttimeout(), sys.stdin
    sys.stdin = io.StringIO("y\n" * 8)  # ogb asks before it downloads more than 1 GB; who named the data set wants it
    socket.setdefaulttimeout(_PATIENCE)
    try:
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        socket.setdefaulttimeout(patience)
        sys.stdin = stdin


def _reason(error: BaseException) -> str:
    text = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _differences(info: DatasetInfo, graph: Graph) -> list[str]:
    """Where the graph is not of the size that the catalogue tells."""
    if info.loader[0] in ("twitch", "webkb"):  # a remark says why these differ
        return []
    received = {
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "features": graph.num_features,
        "classes": graph.num_classes,
    }
    expected = {"nodes": info.nodes, "edges": info.edges, "features": info.features, "classes": info.classes}
    return [
        f"{value:,} {key} instead of {expected[key]:,}"
        for key, value in received.items()
        if expected[key] not in (None, value)
    ]
