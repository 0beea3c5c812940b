"""Where tasks are played: in this process, or by an engine that another room or package registers."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from nodewise.evaluation.store import Chunk
from nodewise.evaluation.task import GraphReference, Player, Task
from nodewise.graph import Graph
from nodewise.ground.compute import resolve_device
from nodewise.ground.plugins import resolve_plugin

__all__ = ["ENGINES", "Engine", "LocalEngine", "make_engine"]


class Engine(Protocol):
    """Where tasks are played."""

    def device(self, name: str) -> str:
        """The device that tasks are to name, of what was asked for.

        Raises:
            InputError: there is none.
        """

    def share(self, graph: Graph, reference: GraphReference, folder: Path | None) -> GraphReference:
        """Sees to it that whoever plays a task with the reference that this gives has the graph.

        Args:
            graph: the graph, its features as the classifier gets them.
            reference: its reference.
            folder: where finished chunks are kept, so that more can be written there; None: nowhere.
        """

    def play(self, tasks: Iterable[Task]) -> Generator[tuple[Task, dict[int, Chunk]], None, None]:
        """Plays all tasks and gives each one's chunks as soon as they are there, in whatever order.

        Tasks are taken as there is room for them: the next graph may be loaded for the next one.
        """


@dataclass
class LocalEngine:
    """Plays one task after another in this process."""

    player: Player = field(default_factory=Player)

    def device(self, name: str) -> str:
        """This machine's device of that name."""
        return str(resolve_device(name))

    def share(self, graph: Graph, reference: GraphReference, folder: Path | None) -> GraphReference:
        """The player holds the graph."""
        self.player.hold(graph, reference)
        return reference

    def play(self, tasks: Iterable[Task]) -> Generator[tuple[Task, dict[int, Chunk]], None, None]:
        """Each task's chunks, in order."""
        for task in tasks:
            yield task, self.player.play(task)


ENGINES: dict[str, Callable[..., Engine]] = {"local": LocalEngine}
"""Engines by name; ``nodewise.cluster`` adds its own when it is imported, and offers it as an entry point of ``nodewise.engines``."""


def make_engine(engine: Engine | str) -> Engine:
    """The engine of that name, or the one that was given.

    Raises:
        UnknownNameError: there is none of that name.
    """
    if not isinstance(engine, str):
        return engine
    made: Engine = resolve_plugin("engine", engine, ENGINES, "nodewise.engines")
    return made
