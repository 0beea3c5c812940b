"""Small sessions for the studio's tests."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from nodewise.graph import Graph
from nodewise.session import Session
from tests.session.jobs import small_job, unlabelled
from tests.small_graphs import block_graph

EVIL = "<img src=x onerror=alert(1)>"


def named_graph(nodes: int = 60, **attributes: list[str]) -> Graph:
    """The small graph with a name for each node and further things to show."""
    graph = unlabelled(block_graph(nodes))
    cells = {name: np.array(column, dtype=object) for name, column in attributes.items()}
    return replace(graph, node_names=tuple(f"Paper {node}" for node in range(nodes)), attributes=cells, name="papers")


def job(folder: Path, name: str = "job", **options: Any) -> Session:
    """A session of that name in the folder, on a graph of 60 nodes with classes a and b."""
    return small_job(folder / f"{name}.nodewise", **options)
