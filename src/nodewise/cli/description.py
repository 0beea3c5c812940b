"""A graph in figures, for a machine to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nodewise.graph import Graph

__all__ = ["describe"]


def describe(graph: Graph) -> dict[str, object]:
    """What the graph holds, by name; None where it has no such thing."""
    return {
        "graph": graph.name,
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "isolated": int((graph.degree == 0).sum()),
        "feature_columns": graph.num_features,
        "classes": list(graph.class_names),
        "labelled": int(graph.labelled.sum()),
        "homophily": graph.homophily,
    }
