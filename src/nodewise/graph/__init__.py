"""Graphs: the immutable record, its readers and writers, feature preprocessing, and graphs made from tables, texts and
images.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodewise.graph.graph import Graph
from nodewise.ground.lazy import lazy_names

if TYPE_CHECKING:
    from nodewise.graph.features import preprocess
    from nodewise.graph.io.files import read_graph, write_graph
    from nodewise.graph.knn.knn import knn_graph
    from nodewise.graph.relational import RelationalGraph
    from nodewise.graph.relations import NodeType, Relation
    from nodewise.graph.structural import structural_features

__all__ = [
    "Graph",
    "NodeType",
    "Relation",
    "RelationalGraph",
    "knn_graph",
    "preprocess",
    "read_graph",
    "structural_features",
    "write_graph",
]

# a start that needs none of them stays light
__getattr__ = lazy_names(
    __name__,
    {
        "NodeType": "relations",
        "Relation": "relations",
        "RelationalGraph": "relational",
        "knn_graph": "knn.knn",
        "preprocess": "features",
        "read_graph": "io.files",
        "structural_features": "structural",
        "write_graph": "io.files",
    },
)
