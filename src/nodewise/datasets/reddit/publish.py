"""Puts the finished graphs into the output folder, all at once at the end."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from types import TracebackType

from nodewise.datasets.reddit.work import Work
from nodewise.graph import Graph, write_graph
from nodewise.ground.errors import InputError

__all__ = ["PUBLISHING", "Publisher"]

PUBLISHING = "publish"
"""The stage that is noted in the work folder while graphs are moved; to be forgotten when the work folder is kept."""


class Publisher:
    """Collects graphs in a hidden folder and moves them, then their report, to where they belong.

    To be used as a context: what was not published is gone at its end. Each move is atomic. That moving has begun is
    noted in the work folder, so a build killed among the moves may finish them.

    Args:
        out: the output folder.
        prefix: what the graphs' names begin with.
        work: knows whether this build was publishing when it was stopped.
        overwrite: whether graphs of before may be replaced.

    Raises:
        InputError: if `out` is no folder, or holds such graphs already and `overwrite` is false.
    """

    def __init__(self, out: Path, prefix: str, work: Work, overwrite: bool) -> None:
        self._out, self._prefix, self._work = out, prefix, work
        if out.exists() and not out.is_dir():
            raise InputError(f"{str(out)!r} is not a folder: name a folder for the graphs")
        old = sorted(path.name for path in out.glob(f"{prefix}*.npz") if re.fullmatch(rf"{prefix}\d+\.npz", path.name))
        if old and not overwrite and work.key_of(PUBLISHING) is None:
            raise InputError(
                f"{str(out)!r} holds {old[0]} already: choose another folder or another prefix, or ask to overwrite"
            )
        self._staging = out / f".{prefix}-new"

    def __enter__(self) -> Publisher:
        shutil.rmtree(self._staging, ignore_errors=True)  # what a killed build has left
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shutil.rmtree(self._staging, ignore_errors=True)

    def stage(self, graph: Graph) -> None:
        """Writes the graph where nobody looks for it yet."""
        self._staging.mkdir(parents=True, exist_ok=True)
        write_graph(graph, self._staging / f"{graph.name}.npz")

    def publish(self, report: str) -> None:
        """Moves the graphs and the report into the output folder."""
        (self._staging / f"{self._prefix}-report.json").write_text(report, encoding="utf-8")
        with self._work.transaction():
            self._work.begin(PUBLISHING, "moving")
        for path in sorted(self._staging.iterdir(), key=lambda path: (path.suffix == ".json", path.name)):
            path.replace(self._out / path.name)
