"""Small jobs for the session's tests."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from nodewise.graph import Graph
from nodewise.session import Session
from tests.small_graphs import block_graph


class Clock:
    """A clock that stands until it is set on."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def unlabelled(graph: Graph) -> Graph:
    return replace(graph, y=None, class_names=())


def small_job(path: Path, **options: Any) -> Session:
    """A job on a graph of 60 nodes with two classes known, by uncertainty unless told otherwise."""
    given = {"budget": 20, "classes": ["a", "b"], "strategy": "uncertainty", "seed": 3, **options}
    graph = given.pop("graph", None)
    return Session.create(path, unlabelled(block_graph(60)) if graph is None else graph, **given)
