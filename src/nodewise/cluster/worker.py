"""What a worker does: it plays a task, and keeps the last graph for the next one."""

from __future__ import annotations

import pickle
import socket
from dataclasses import replace
from pathlib import Path

from nodewise.cluster.versions import Versions
from nodewise.evaluation.engine import LocalEngine
from nodewise.evaluation.task import Chunk, Task
from nodewise.ground.compute import one_thread
from nodewise.ground.errors import ClusterError, GraphError, InputError

__all__ = ["play_packed"]

_ENGINE = LocalEngine()
"""One for each worker process: what it loaded and prepared serves every task on the same graph."""


def play_packed(driver: Versions, packed: bytes) -> dict[int, Chunk]:
    """Plays a pickled task on one thread.

    Args:
        driver: the versions on the machine that the result is for; a machine that joins later may have others.
        packed: the task; unpickled here, where a failure can be reported.

    Raises:
        ClusterError: this machine has other versions, or lacks the graph or a module that the task needs.
    """
    here = socket.gethostname()
    difference = driver.difference(Versions.here(), f"the worker on {here}")
    if difference is not None:
        raise ClusterError(difference)
    try:
        task: Task = pickle.loads(packed)
    except (ImportError, AttributeError) as error:
        raise ClusterError(
            f"the worker on {here} cannot import what the task needs ({error}): install the package with your"
            " classifier or strategy there, too"
        ) from None
    folder = task.graph.data_dir
    if (
        folder is not None and not Path(folder).is_dir()
    ):  # the driver's folder is not there: this machine's own is looked in
        task = replace(task, graph=replace(task.graph, data_dir=None))
    try:
        with one_thread():
            return _ENGINE.play_one(task)
    except GraphError as error:
        raise ClusterError(
            f"the worker on {here} cannot read the graph {task.graph.name!r} from {task.graph.source!r} ({error}): put"
            " it where every machine reads it under the same path, and give --out on such a shared folder for graphs"
            " that only lie in memory"
        ) from None
    except InputError as error:
        raise InputError(str(error)) from None  # as plain as it would be in this process
