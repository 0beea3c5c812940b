"""A graph as the research commands take it: by name or path, with labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nodewise.graph import Graph
    from nodewise.ground.events import Reporter

__all__ = ["load_labelled"]


def load_labelled(name: str, features: str | None, data_dir: Path | None, reporter: Reporter) -> Graph:
    """Loads a graph, its features as they are; a misspelt preprocessing is refused before it is read.

    Raises:
        InputError: the graph has no labels, so that nobody could answer queries.
    """
    from nodewise.datasets import load_graph
    from nodewise.graph.graph import canonical_features
    from nodewise.ground.errors import InputError

    if features is not None:
        canonical_features(features)
    graph = load_graph(name, data_dir=data_dir, reporter=reporter)
    if not graph.labelled.any():
        raise InputError(
            f"{name!r} has no labels: this command needs them to answer queries; to label it yourself, use 'nodewise"
            " session new'"
        )
    return graph
