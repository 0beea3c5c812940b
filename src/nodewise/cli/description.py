"""A graph in figures, for a table or for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nodewise.cli.screen import Cell
    from nodewise.graph import Graph

__all__ = ["describe"]


def describe(graph: Graph) -> dict[str, Cell]:
    """What the graph holds, by name; None where it has no such thing."""
    labelled = None if graph.y is None else int((graph.y >= 0).sum())
    return {
        "name": graph.name,
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "mean degree": round(2 * graph.num_edges / graph.num_nodes, 2),
        "isolated nodes": int((graph.degree == 0).sum()),
        "features": graph.num_features,
        "classes": graph.num_classes,
        "labelled nodes": labelled,
        "homophily": None if graph.homophily is None else round(graph.homophily, 3),
    }
