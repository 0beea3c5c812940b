"""How many labels to ask for unless told otherwise."""

from __future__ import annotations

from pathlib import Path

from nodewise.datasets.load import load_graph
from nodewise.datasets.registry import find_info
from nodewise.graph import Graph
from nodewise.ground.errors import InputError

__all__ = ["LABELS_PER_CLASS", "default_budget"]

LABELS_PER_CLASS = 5


def default_budget(graph: Graph | str | Path, data_dir: str | Path | None = None, *, simulated: bool = False) -> int:
    """The paper's budget for its graphs (Cora 35, Citeseer 30, Pubmed 15, Physics 25, CS 75, Reddit 50, its case study 15), else five a class.

    Five a class are never more than half the pool, the nodes that the protocol holds out neither for the test nor for validation.

    Args:
        graph: a graph, or what `load_graph` takes. A graph counts as the paper's if it has the name and, but for the
            Reddit graphs, whose builder may find other classes, as many classes.
        data_dir: where a name's file may lie, if the graph must be read to count its classes.
        simulated: whether only nodes whose label is known can be asked, as where nobody is there to answer; they alone are counted then.

    Raises:
        InputError: if the graph has no classes, so that nothing can be told.
    """
    if not isinstance(graph, Graph):
        info = find_info(graph) if isinstance(graph, str) else None
        if info is not None:
            return info.budget or _five_a_class(info.classes, info.nodes)
        graph = load_graph(graph, data_dir=data_dir)
    info = find_info(graph.name)
    if info is not None and info.budget and (graph.num_classes == info.classes or info.name.startswith("reddit")):
        return info.budget
    if not graph.num_classes:
        raise InputError(
            f"the graph {graph.name!r} has no classes, so there is no default budget: give one, such as five labels for each class you expect"
        )
    nodes = int((graph.y >= 0).sum()) if simulated and graph.y is not None else graph.num_nodes
    return _five_a_class(graph.num_classes, nodes)


def _five_a_class(classes: int, nodes: int | None) -> int:
    if nodes is None:
        return LABELS_PER_CLASS * classes
    held_out = 1500 if nodes > 2250 else 2 * (nodes // 4)
    return max(1, min(LABELS_PER_CLASS * classes, (nodes - held_out) // 2))
