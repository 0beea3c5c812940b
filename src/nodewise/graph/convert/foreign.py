"""Graphs of other libraries, told by what they are; nothing is imported to look."""

from __future__ import annotations

from typing import Any

from nodewise.graph.graph import Graph
from nodewise.ground.errors import InputError

__all__ = ["from_foreign"]


def from_foreign(thing: Any) -> Graph:
    """The graph of a PyTorch Geometric `Data` or a networkx graph; a `Graph` is passed as it is.

    Raises:
        InputError: if it is none of these; says what to do with what it is.
    """
    if isinstance(thing, Graph):
        return thing
    kinds = {f"{kind.__module__}.{kind.__qualname__}" for kind in type(thing).__mro__}
    rooms = {kind.__module__.partition(".")[0] for kind in type(thing).__mro__}
    if "networkx.classes.graph.Graph" in kinds:
        return Graph.from_networkx(thing)
    if "torch_geometric" in rooms and hasattr(thing, "edge_index") and not hasattr(thing, "node_types"):
        return Graph.from_pyg(thing)
    raise InputError(f"a graph was expected, received {_called(thing)}: {_hint(thing, rooms)}")


def _called(thing: Any) -> str:
    shape = getattr(thing, "shape", None)
    return f"{type(thing).__name__}" + (f" of shape {list(shape)}" if isinstance(shape, tuple) else "")


def _hint(thing: Any, rooms: set[str]) -> str:
    if thing is None:
        return "give a Graph, a data set's name or a file"
    if "torch_geometric" in rooms:
        return "pass dataset[0], or the to_homogeneous() of a graph with several kinds of nodes"
    if "dgl" in rooms:
        return "turn it into a networkx graph first (graph.to_networkx())"
    if rooms & {"pandas", "polars"}:
        return "make a graph of a table with Graph.from_dataframe(…), or of nodes and edges with Graph.from_csv(…)"
    if "scipy" in rooms:
        return "make a graph of an adjacency matrix with Graph.from_scipy(matrix, x, y)"
    if rooms & {"numpy", "torch"}:
        return "make a graph of features with knn_graph(x), of edges [2, edge] with Graph.build(edge_index), of a matrix with Graph.from_scipy(…)"
    if isinstance(thing, (list, tuple)):
        return "give one graph, not a list; texts become one with Graph.from_texts(…), edges with Graph.build(edge_index)"
    return "give a Graph, a data set's name, a file, a PyTorch Geometric Data or a networkx graph"
