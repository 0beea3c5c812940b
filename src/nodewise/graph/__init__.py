"""Graphs: the immutable record, its readers and writers, feature preprocessing, and graphs made from tables, texts and images."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nodewise.graph.graph import Graph

if TYPE_CHECKING:
    from nodewise.graph.features import preprocess
    from nodewise.graph.files import read_graph, write_graph
    from nodewise.graph.knn import knn_graph
    from nodewise.graph.structural import structural_features

__all__ = ["Graph", "knn_graph", "preprocess", "read_graph", "structural_features", "write_graph"]

_HOME = {"knn_graph": "knn", "preprocess": "features", "read_graph": "files", "structural_features": "structural", "write_graph": "files"}


def __getattr__(name: str) -> Any:
    """Imports a name's file when it is first asked for: a start that needs none of them stays light."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
