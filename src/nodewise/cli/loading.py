"""A graph as the research commands take it: by name or path, with its own preprocessing and budget."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from nodewise.graph import Graph
    from nodewise.ground.events import Reporter

__all__ = ["LoadedGraph", "load_for_command"]


class LoadedGraph(NamedTuple):
    """A graph, what was done to its features, and the budget that it has by default."""

    graph: Graph
    features: str
    budget: int


def load_for_command(name: str, features: str | None, data_dir: Path | None, reporter: Reporter) -> LoadedGraph:
    """Loads a graph; without ``features`` the paper's preprocessing for the paper's graphs, none for others.

    Raises:
        InputError: the graph has no labels, so that nobody could answer queries.
    """
    from nodewise.datasets import default_budget, default_features, load_graph
    from nodewise.graph.features import canonical_features
    from nodewise.ground.errors import InputError

    spec = features or default_features(name)
    graph = load_graph(name, features=spec, data_dir=data_dir, reporter=reporter)
    if graph.y is None or not (graph.y >= 0).any():
        raise InputError(
            f"{name!r} has no labels: this command needs them to answer queries; to label it yourself, use 'nodewise session new'"
        )
    return LoadedGraph(graph, canonical_features(spec, graph.name), default_budget(graph))
