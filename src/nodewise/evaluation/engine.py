"""Where tasks are played: in this process, or wherever another room or package plays them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from nodewise.contracts import Strategy, seen_by
from nodewise.environment import Environment
from nodewise.evaluation.task import Chunk, GraphReference, Task, play_task
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import resolve_device
from nodewise.ground.events import Reporter
from nodewise.ground.plugins import resolve_plugin

__all__ = ["ENGINES", "Engine", "LocalEngine", "make_engine"]


class Engine(Protocol):
    """Where tasks are played."""

    @property
    def processes(self) -> int:
        """How many tasks are played at a time on this machine; 0: they are played elsewhere."""

    def device(self, name: str) -> str:
        """The device that tasks are to name, of what was asked for.

        Raises:
            InputError: there is none.
        """

    def prepare(
        self, graph: Graph, reference: GraphReference, device: str, folder: Path | None
    ) -> tuple[GraphReference, GraphTensors]:
        """Sees to it that whoever plays a task finds the graph.

        Args:
            graph: the graph, its features as the classifier gets them.
            reference: its reference.
            device: where tasks are played.
            folder: where finished chunks are kept, so that more can be written there; None: nowhere.

        Returns:
            The reference that tasks are to name, and the graph's tensors in this process, by which chunks are sized.
        """

    def play(self, tasks: Iterable[Task], report: Reporter) -> Generator[tuple[Task, dict[int, Chunk]], None, None]:
        """Plays all tasks and gives each one's chunks as soon as they are there, in whatever order.

        Tasks are taken as there is room for them: the next graph may be loaded for the next one.

        Args:
            report: gets what takes long before a task begins, and what goes wrong on the way.
        """


@dataclass
class LocalEngine:
    """Plays one task after another in this process.

    It keeps what the next task is likely to need: the last graph and its tensors, the environment, the recorded
    strategy.
    """

    _held: tuple[str, Graph] | None = field(default=None, init=False, repr=False)
    _tensors: tuple[tuple[str, str], GraphTensors] | None = field(default=None, init=False, repr=False)
    _environment: tuple[Any, Environment] | None = field(default=None, init=False, repr=False)
    _strategy: tuple[Any, Strategy] | None = field(default=None, init=False, repr=False)

    @property
    def processes(self) -> int:
        """One task after another."""
        return 1

    def device(self, name: str) -> str:
        """This machine's device of that name."""
        return str(resolve_device(name))

    def prepare(
        self, graph: Graph, reference: GraphReference, device: str, folder: Path | None = None
    ) -> tuple[GraphReference, GraphTensors]:
        """Holds the graph, which need not be loaded again; only the last one is held."""
        self._held = (reference.fingerprint, graph)
        return reference, self._tensors_of(reference, device)

    def play(self, tasks: Iterable[Task], report: Reporter) -> Generator[tuple[Task, dict[int, Chunk]], None, None]:
        """Each task's chunks, in order."""
        for task in tasks:
            yield task, self.play_one(task, report)

    def play_one(self, task: Task, report: Reporter | None = None) -> dict[int, Chunk]:
        """A task's chunks, by budget.

        Args:
            report: gets what the classifier makes of the graph first, where that takes long.
        """
        tensors = self._tensors_of(task.graph, task.device)
        seen_by(task.classifier, tensors).prepared_by(task.classifier, report)
        return play_task(task, self._environment_of(task, tensors), self._same_strategy(task))

    def _tensors_of(self, reference: GraphReference, device: str) -> GraphTensors:
        key = (reference.fingerprint, device)
        if self._tensors is None or self._tensors[0] != key:
            held = self._held is not None and self._held[0] == reference.fingerprint
            graph = self._held[1] if held and self._held is not None else reference.load()
            self._environment = None
            self._tensors = (key, GraphTensors(graph, device))
        return self._tensors[1]

    def _environment_of(self, task: Task, tensors: GraphTensors) -> Environment:
        key = (task.identities[1], task.runs, max(task.budgets))
        if self._environment is None or self._environment[0] != key or self._environment[1].graph is not tensors:
            self._environment = (key, Environment.of(tensors, task.classifier, task.runs, max(task.budgets)))
        return self._environment[1]

    def _same_strategy(self, task: Task) -> Strategy:
        """The strategy that was played last, if this is its like: a GPU's recorded step belongs to an object."""
        key = task.identities[0]
        if self._strategy is None or self._strategy[0] != key:
            self._strategy = (key, task.strategy)
        return self._strategy[1]


ENGINES: dict[str, Callable[..., Engine]] = {"local": LocalEngine}
"""Engines by name; ``nodewise.cluster`` adds its own when it is imported, and offers it as an entry point of
``nodewise.engines``.
"""


def make_engine(engine: Engine | str) -> Engine:
    """The engine of that name, or the one that was given.

    Raises:
        UnknownNameError: there is none of that name.
    """
    if not isinstance(engine, str):
        return engine
    made: Engine = resolve_plugin("engine", engine, ENGINES, "nodewise.engines")
    return made
