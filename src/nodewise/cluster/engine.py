"""The engine ``ray``: a chunk of runs is a Ray task."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Generator, Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from nodewise.cluster.connection import check_machines, connected, import_ray
from nodewise.cluster.versions import Versions
from nodewise.cluster.worker import play_packed
from nodewise.evaluation.processes import shared_reference
from nodewise.evaluation.task import Chunk, GraphReference, Task
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import ClusterError, InputError, NodewiseError
from nodewise.ground.events import Reporter, Warned

__all__ = ["RayEngine"]

RETRIES = 5
"""How often a chunk is begun again because its worker or its machine died. An error of the chunk's own is not retried.

Everything random is seeded, so it would come again."""

_LEAST_AHEAD = 64
"""Tasks that are given to Ray at least, so that a cluster that grows by demand sees some."""


@dataclass
class RayEngine:
    """Plays tasks on a Ray cluster, each on one thread of one core, or on a share of a GPU.

    A worker loads a graph by its reference and keeps it for the next task; chunks come back to this process alone,
    which keeps them. A worker or a machine that dies costs the chunks that it was at, which others begin again; if this
    process dies, the same call goes on with what is stored.

    Attributes:
        address: ``HOST:PORT``, ``ray://HOST:PORT`` or ``"auto"``; None: ``RAY_ADDRESS``, else a cluster of this machine
            alone.
        gpus_per_task: share of a GPU for each task, such as 0.5; 0: tasks run on the CPU.
    """

    address: str | None = None
    gpus_per_task: float = 0.0
    _graphs: tempfile.TemporaryDirectory[str] | None = field(default=None, init=False, repr=False)
    _open: ExitStack | None = field(default=None, init=False, repr=False)
    _own: bool = field(default=False, init=False, repr=False)  # whether what is open is its own connection
    _alone: bool = field(default=False, init=False, repr=False)
    _sized: tuple[str, GraphTensors] | None = field(default=None, init=False, repr=False)
    _heard: SimpleQueue[str] = field(default_factory=SimpleQueue, init=False, repr=False)

    def __post_init__(self) -> None:
        share = self.gpus_per_task
        if not math.isfinite(share) or share < 0 or (share > 1 and share != int(share)):
            raise InputError(f"--gpus-per-task must be a share from 0 to 1 or a whole number, got {share}")
        import_ray()

    def __enter__(self) -> RayEngine:
        """Keeps the connection, once it is needed, for several calls of `play`."""
        self._open = ExitStack()
        return self

    def __exit__(self, *_: object) -> None:
        if self._open is not None:
            self._open.close()
            self._open, self._own = None, False

    @property
    def processes(self) -> int:
        """None on this machine: the cluster says how many at a time."""
        return 0

    def device(self, name: str) -> str:
        """A GPU where tasks have a share of one, else the CPU; this machine need not have one."""
        if name == "auto":
            name = "cuda" if self.gpus_per_task else "cpu"
        if name == "cpu" and not self.gpus_per_task:
            return "cpu"
        if name == "cuda" and self.gpus_per_task:
            return "cuda:0"  # Ray shows a task only its own
        if name in ("cpu", "cuda"):
            raise InputError(
                f"--device {name} and --gpus-per-task {self.gpus_per_task:g} contradict each other: a task on a GPU"
                " needs a share of it"
            )
        raise InputError(
            f"unknown device {name!r} for a cluster: use auto, cpu or cuda, with --gpus-per-task for the GPU"
        )

    def prepare(
        self, graph: Graph, reference: GraphReference, device: str, folder: Path | None
    ) -> tuple[GraphReference, GraphTensors]:
        """A reference that workers can load, and the graph's tensors, on this machine's CPU."""
        if self._sized is None or self._sized[0] != graph.fingerprint:
            self._sized = (graph.fingerprint, GraphTensors(graph, "cpu"))
        if folder is None and reference.source is None:
            self._graphs = self._graphs or tempfile.TemporaryDirectory(prefix="nodewise-graphs-")
            folder = Path(self._graphs.name)
        return shared_reference(graph, reference, folder), self._sized[1]

    def play(self, tasks: Iterable[Task], report: Reporter) -> Generator[tuple[Task, dict[int, Chunk]], None, None]:
        """Each task's chunks, as they are done."""
        waiting = iter(tasks)
        first = next(waiting, None)
        if first is None:
            return  # everything is stored: no cluster is needed
        there_before = import_ray().is_initialized()
        if not there_before:
            self._alone = not (self.address or os.environ.get("RAY_ADDRESS"))
        if self._open is not None and not there_before:
            self._open.enter_context(connected(self.address, self._heard.put))
            self._own = True
        lent = there_before and not self._own
        with connected(self.address, self._heard.put) as ray:
            check_machines(ray)
            room = self._room(ray, report)
            remote = ray.remote(num_cpus=1, num_gpus=self.gpus_per_task, max_retries=RETRIES, retry_exceptions=False)(
                play_packed
            )
            driver, pack = ray.put(Versions.here()), ray.cloudpickle.dumps
            pending: dict[Any, Task] = {}
            waiting = chain([first], waiting)
            try:
                while True:
                    for task in islice(waiting, room - len(pending)):
                        pending[remote.remote(driver, pack(task))] = task
                    if not pending:
                        return
                    ready, _ = ray.wait(list(pending), num_returns=1, timeout=1.0)
                    self._tell_heard(report)
                    for answer in ready:
                        task = pending.pop(answer)
                        yield task, _chunks(ray, answer, task)
            finally:
                # Ray ends a connection's tasks when it is closed, as one of our own is next. Cancelling them before
                # can end this process from one of Ray's threads. Where a lent connection stays, they must not go on.
                for answer in pending if lent else ():
                    with suppress(Exception):  # what Ray says of work that is dropped must not hide why it is
                        ray.cancel(answer, force=True)

    def _tell_heard(self, report: Reporter) -> None:
        """Reports the first sentence of what the cluster said; the rest stands in Ray's own logs."""
        while not self._heard.empty():
            first = self._heard.get().strip().split("\n")[0].split(". ")[0].rstrip(".")
            if not first.startswith("Task "):  # that it is begun again, beside what happened
                lost = any(word in first for word in ("died", "dead", "killed"))
                report(
                    Warned(
                        f"Ray tells: {first}"
                        + f"; the chunks it was at are begun again, {RETRIES} times at most" * lost
                    )
                )

    def _room(self, ray: Any, report: Reporter) -> int:
        """How many tasks Ray is given at a time: enough for every core or GPU to have its next one."""
        there = ray.cluster_resources()
        if self.gpus_per_task and (gpus := there.get("GPU", 0)) < self.gpus_per_task:
            lacking = f"{f'{gpus:g}' if gpus else 'no'} GPU for --gpus-per-task {self.gpus_per_task:g}"
            if self._alone:
                raise ClusterError(
                    f"this machine has {lacking}, and is the whole cluster: leave it out to use cores, or name a"
                    " cluster with --address"
                )
            report(Warned(f"the cluster has {lacking}: the work waits until a machine with more joins"))
        slots: float = there.get("GPU", 0) / self.gpus_per_task if self.gpus_per_task else there.get("CPU", 0)
        return max(_LEAST_AHEAD, 4 * math.ceil(slots))


def _chunks(ray: Any, answer: Any, task: Task) -> dict[int, Chunk]:
    """What a task gave.

    Raises:
        NodewiseError: what it failed with.
    """
    what = f"runs {task.first} to {task.first + task.runs - 1} of {task.strategy.name!r} on {task.graph.name!r}"
    try:
        chunks: dict[int, Chunk] = ray.get(answer)
    except ray.exceptions.RayTaskError as error:
        cause = error.cause
        if isinstance(cause, NodewiseError):
            kind = InputError if isinstance(cause, InputError) else ClusterError
            raise kind(str(cause)) from None
        raise ClusterError(
            f"{what} failed on a worker, {type(cause).__name__}: {cause}; the same command on --engine local shows"
            " where"
        ) from error
    except ray.exceptions.RayError as error:
        raise ClusterError(
            f"{what} were given up after their worker or its machine died {RETRIES + 1} times ({type(error).__name__}):"
            " mostly too little memory; what is finished is kept, and the same command goes on"
        ) from error
    return chunks
