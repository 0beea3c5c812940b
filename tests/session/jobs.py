"""Small jobs for the session's tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from nodewise.graph import Graph
from nodewise.graph.knn.knn import knn_from_table
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


def texts_of_three_kinds(odd: int = 6) -> tuple[Graph, list[int]]:
    """114 texts of two kinds and a few of a third; which kind each is of."""
    generator = np.random.default_rng(5)
    kinds = [2] * odd + [number % 2 for number in range(120 - odd)]
    rows = [
        " ".join(f"kind{kind}word{generator.integers(12)}" for _ in range(9)) + f" word{generator.integers(40)}"
        for kind in kinds
    ]
    return knn_from_table({"text": rows}, 5, text="text", label=""), kinds


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
