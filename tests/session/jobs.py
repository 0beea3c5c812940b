"""Small jobs for the session's tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from nodewise.graph import Graph
from nodewise.session import Session
from nodewise.session.answers import Draft
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


def answer_when_asked(session: Session, who: str, labels: Mapping[int, str]) -> None:
    """Somebody is asked about rows whose answers are known, as it would happen now and then, and answers."""
    asked = [Draft("ask", who, {"node": node, "audit": False, "why": [], "control": True}) for node in labels]
    session._change_now(lambda moment: asked)
    session.tell(list(labels), list(labels.values()), who)
