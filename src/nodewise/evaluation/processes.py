"""The engine ``processes``: many tasks at a time on this machine, each in a process of its own; a GPU is shared."""

from __future__ import annotations

import multiprocessing
import pickle
import shutil
import signal
import tempfile
import time
import weakref
from collections import Counter
from collections.abc import Generator, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from pathlib import Path

from nodewise.datasets import data_folder
from nodewise.datasets.load import find_info
from nodewise.evaluation.engine import ENGINES, LocalEngine
from nodewise.evaluation.task import Chunk, GraphReference, Task
from nodewise.graph import Graph, write_graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import cores, one_thread, resolve_device
from nodewise.ground.errors import ClusterError, InputError, NodewiseError
from nodewise.ground.events import Reporter, Warned

__all__ = ["ProcessEngine", "shared_reference"]

_FAILURES = 3
"""After so many failures a strategy with a classifier is not tried again."""

_KEPT = 2e9
"""Bytes of a GPU that a process may keep for its next task."""


@dataclass
class ProcessEngine:
    """Plays as many tasks at a time as it has processes, each on one thread; on a GPU all processes share it.

    Attributes:
        processes: how many; 0: as many as there are cores.
        seconds: when it ends whatever is under way, counted from when it was made; None: when all is done.
        leave_out: whether a task that fails is reported and left out, in place of ending all; after three failures of a
            strategy with a classifier all their later tasks are left out, too.

    Example:
        >>> from nodewise.evaluation import ProcessEngine
        >>> engine = ProcessEngine(2)  # then compare(..., engine=engine), under if __name__ == "__main__"
        >>> engine.processes
        2
    """

    processes: int = 0
    seconds: float | None = None
    leave_out: bool = False
    _end: float = field(default=float("inf"), init=False, repr=False)
    _graphs: Path | None = field(default=None, init=False, repr=False)
    _sized: tuple[str, GraphTensors] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.processes < 0 or (self.seconds is not None and not self.seconds > 0):
            raise InputError(
                f"processes must be at least 0 and seconds above 0, got {self.processes} and {self.seconds}"
            )
        self.processes = self.processes or cores()
        if self.seconds is not None:
            self._end = time.monotonic() + self.seconds

    @property
    def over(self) -> bool:
        """Whether its time is over."""
        return time.monotonic() >= self._end

    def device(self, name: str) -> str:
        """This machine's device of that name."""
        return str(resolve_device(name))

    def prepare(
        self, graph: Graph, reference: GraphReference, device: str, folder: Path | None
    ) -> tuple[GraphReference, GraphTensors]:
        """A reference that other processes can load, and the graph's tensors on the CPU."""
        if self._sized is None or self._sized[0] != graph.fingerprint:
            self._sized = (graph.fingerprint, GraphTensors(graph, "cpu"))
        if folder is None and reference.source is None:
            if self._graphs is None:
                self._graphs = Path(tempfile.mkdtemp(prefix="nodewise-graphs-"))
                weakref.finalize(self, shutil.rmtree, self._graphs, ignore_errors=True)
            folder = self._graphs
        return shared_reference(graph, reference, folder), self._sized[1]

    def play(self, tasks: Iterable[Task], report: Reporter) -> Generator[tuple[Task, dict[int, Chunk]], None, None]:
        """Each task's chunks, as they are done, until all are or the time is over."""
        workers, failures = list[_Worker](), Counter[tuple[str, str]]()
        waiting = (task for task in tasks if failures[_who(task)] < _FAILURES)
        exhausted = False
        try:
            while True:
                while not exhausted and not self.over and sum(one.task is not None for one in workers) < self.processes:
                    task = next(waiting, None)
                    exhausted = task is None
                    if task is not None:
                        _next_worker(workers, task, self.processes).give(task)
                busy = {one.connection: one for one in workers if one.task is not None}
                if not busy or self.over:
                    return
                left = self._end - time.monotonic()
                for ready in wait(list(busy), timeout=None if left == float("inf") else max(0.0, left)):
                    worker = busy[ready]  # type: ignore[index]
                    task = worker.task
                    assert task is not None
                    try:
                        chunks = worker.take()
                    except NodewiseError as error:
                        if not self.leave_out:
                            raise
                        workers.remove(worker)  # a process that has failed on a GPU may be able to do nothing more
                        worker.end()
                        failures[_who(task)] += 1
                        later = " and what it has left to play" * (failures[_who(task)] >= _FAILURES)
                        report(Warned(f"left out{later}: {error}"))
                    else:
                        yield task, chunks
        finally:
            for worker in workers:
                worker.end()


def shared_reference(graph: Graph, reference: GraphReference, folder: Path | None) -> GraphReference:
    """The graph by name or absolute path, as other processes find it; one that lies in memory is written to a file.

    Args:
        folder: where such files go.
    """
    if reference.source is None:
        assert folder is not None
        path = (folder / "graphs" / f"{graph.fingerprint}.npz").absolute()
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_graph(graph, path)
        return replace(reference, source=str(path))
    path = Path(reference.source).expanduser()
    named = find_info(reference.source) is not None
    source = str(path.absolute()) if not named and path.exists() else reference.source
    return replace(reference, source=source, data_dir=str(data_folder(reference.data_dir).absolute()))


def _who(task: Task) -> tuple[str, str]:
    """Who asks and who learns."""
    return task.strategy.name, task.classifier.name


class _Worker:
    """A process that plays one task after another, and the task that it is at."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")  # a forked process cannot use a GPU
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        self.task: Task | None = None
        self.graph = ""

    def give(self, task: Task) -> None:
        """Hands it a task."""
        try:
            packed = pickle.dumps(task)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise InputError(
                f"the strategy {task.strategy.name!r} or the classifier {task.classifier.name!r} cannot be sent to"
                f" another process ({error}): define it in a module, or use the engine local"
            ) from None
        self.task, self.graph = task, task.graph.fingerprint
        self.connection.send_bytes(packed)

    def take(self) -> dict[int, Chunk]:
        """What its task gave.

        Raises:
            NodewiseError: what the task failed with, or that the process died.
        """
        task, self.task = self.task, None
        assert task is not None
        what = f"runs {task.first} to {task.first + task.runs - 1} of {task.strategy.name!r} on {task.graph.name!r}"
        try:
            chunks, failure = self.connection.recv()
        except (EOFError, OSError):
            self.process.join(5)
            raise ClusterError(
                f"the process with {what} died ({self.process.exitcode}), mostly for want of memory: use fewer"
                " processes; a script of your own starts them under if __name__ == '__main__'"
            ) from None
        if failure is not None:
            kind, text = failure
            raise InputError(text) if kind == "input" else ClusterError(f"{what} failed, {text}")
        done: dict[int, Chunk] = chunks
        return done

    def end(self) -> None:
        """Lets it go."""
        self.connection.close()
        self.process.kill()  # it keeps nothing
        self.process.join(5)


def _next_worker(workers: list[_Worker], task: Task, most: int) -> _Worker:
    """An idle one, best of all one that has the graph; a new one where there are fewer than ``most``."""
    idle = [one for one in workers if one.task is None]
    same = [one for one in idle if one.graph == task.graph.fingerprint]
    if same:
        return same[0]
    if len(workers) < most:
        workers.append(_Worker())
        return workers[-1]
    return idle[0]


def _work(connection: Connection) -> None:
    """What a process does: it plays what it is given, and keeps the last graph for the next task."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who started it ends it
    engine = LocalEngine()
    while True:
        with suppress(EOFError, OSError):
            packed = connection.recv_bytes()
            chunks, failure = _played(engine, packed)
            _free_device()
            connection.send((chunks, failure))
            continue
        return


def _played(engine: LocalEngine, packed: bytes) -> tuple[dict[int, Chunk] | None, tuple[str, str] | None]:
    """A task's chunks, or the kind and the words of its failure."""
    try:
        task: Task = pickle.loads(packed)
        with one_thread():
            return engine.play_one(task), None
    except InputError as error:
        return None, ("input", str(error))
    except Exception as error:
        return None, ("other", f"{type(error).__name__}: {error}"[:2000])


def _free_device() -> None:
    """Gives what torch keeps of a GPU's memory for later back to the processes beside this one, where it is much."""
    import torch

    if torch.cuda.is_initialized() and torch.cuda.memory_reserved() > _KEPT:
        torch.cuda.empty_cache()


ENGINES["processes"] = ProcessEngine
