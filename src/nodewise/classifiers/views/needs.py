"""What views of a graph take, in time and memory, before they are made, and on a GPU."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from nodewise.classifiers.views.construction import WIDTH, view_names
from nodewise.classifiers.views.graph_views import GraphViews
from nodewise.classifiers.views.kin import SIDE_PARTS, SIDE_ROWS
from nodewise.classifiers.views.products import LARGE, NEAREST, ROWS
from nodewise.classifiers.views.reduction import REDUCED
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import cores, free_memory
from nodewise.ground.errors import InputError
from nodewise.ground.events import Note, Reporter

__all__ = ["Needs", "check_gpu", "graph_sizes", "memory_size", "tell_needs", "views_needs"]

_WORTH_TELLING = 10.0
"""Seconds from which a note says how long it will take."""

_PRODUCT, _ROW, _ENTRY, _KIN = 1e-9, 1.2e-6, 1e-6, 2e-4
"""Seconds of one core, roughly: an entry of the adjacency times a column.

A node's column in all that is done with dense rows; an entry of sparse features; a node of a large graph, whose kin are
looked for by trees in three views.
"""


@dataclass(frozen=True)
class Needs:
    """What making views takes.

    Attributes:
        seconds: roughly, on the cores that there are.
        bytes: of memory at its highest, beside the graph itself.
    """

    seconds: float
    bytes: int


def views_needs(nodes: int, edges: int, features: int, stored: int = 0) -> Needs:
    """What views of a graph take.

    Args:
        nodes, edges, features: how many.
        stored: entries of sparse features.
    """
    entries, width = 2 * edges, min(features, REDUCED)
    products = 132 if nodes < LARGE else 65  # of a large graph most have few columns
    seconds = _PRODUCT * entries * max(width, 40) * products + _ROW * nodes * max(width, 40) + _ENTRY * stored
    seconds += _KIN * nodes if features and nodes >= LARGE else 0
    # the highest of these: all views, once each and once together; of large graphs the rows, a power, the next one and
    # four sums beside the views that are there already; rows and two hops side by side, in double precision as well
    # where they are few; and of kin the views, the rows, those less their mean and their sum, and who is joined to whom
    views, double = len(view_names(features > 0, True)), 8 if nodes < ROWS else 0
    together, powers = 2 * 4 * views * WIDTH, 4 * (7 * width + 4 * WIDTH)
    hops = (4 * 4 + 3 * double) * width + 4 * 2 * WIDTH
    kin = 4 * views * WIDTH + (4 * 3 + double) * width + 48 * 2 * NEAREST
    rows = max(together, powers, hops, kin) + (8 * width if stored else 0)
    held = max(nodes * rows, nodes * kin + _beside_two_cores(nodes, views) if features else 0)
    return Needs(seconds / cores() ** 0.85, held + 24 * entries + 12 * stored)


def _beside_two_cores(nodes: int, views: int) -> int:
    """What cores beyond the two that were measured hold of views side by side, in both precisions, for kin together."""
    blocks = min(cores(), SIDE_PARTS, -(-nodes // SIDE_ROWS))
    return max(0, blocks - 2) * SIDE_ROWS * views * WIDTH * (4 + 8)


def tell_needs(graph: Graph | GraphTensors, reporter: Reporter) -> None:
    """Say how long views will take and how much memory, where it is long.

    Raises:
        InputError: the memory is not there; says what would be enough, and what would fit.
    """
    nodes, edges, features, stored = graph_sizes(graph)
    needs, free = views_needs(nodes, edges, features, stored), free_memory()
    if free is not None and needs.bytes > free:
        fitting = int(0.9 * nodes * free / needs.bytes)
        fitting -= fitting % 10 ** (len(str(fitting)) - 1)  # one digit says enough
        raise InputError(
            f"views of {nodes:,} nodes and {edges:,} edges take about {memory_size(needs.bytes)} of memory while they"
            f" are made, and {memory_size(free)} are free here: end other programs, use a machine with"
            f" {memory_size(1.2 * needs.bytes + 2e9)} or more, or label a part of the graph; about {fitting:,} of its"
            " nodes would fit"
        )
    if needs.seconds >= _WORTH_TELLING:
        beside = "" if free is None else f" of the {memory_size(free)} that are free"
        reporter(
            Note(
                f"views of {nodes:,} nodes and {edges:,} edges take about {_time(needs.seconds)} and"
                f" {memory_size(needs.bytes)}{beside}; they are made once and kept"
            )
        )


def graph_sizes(graph: Graph | GraphTensors) -> tuple[int, int, int, int]:
    """Nodes, edges, columns of features, and stored entries of sparse ones."""
    if isinstance(graph, GraphTensors):
        stored = 0 if graph.sparse_x is None else graph.sparse_x.entries
        return graph.num_nodes, graph.adjacency.entries // 2, graph.num_features if graph.has_features else 0, stored
    features = int(graph.x.shape[1]) if graph.has_features and graph.x is not None else 0
    return graph.num_nodes, graph.num_edges, features, int(getattr(graph.x, "nnz", 0)) if features else 0


def memory_size(count: float) -> str:
    """Bytes in words."""
    return f"{count / 1e9:.1f} GB" if count >= 1e8 else f"{max(1, round(count / 1e6))} MB"


def _time(seconds: float) -> str:
    return (
        f"{round(seconds / 60)} minutes"
        if seconds >= 90
        else "a minute"
        if seconds >= 45
        else f"{10 * max(1, round(seconds / 10))} seconds"
    )


def check_gpu(views: GraphViews, device: torch.device) -> None:
    """Refuse views for which a GPU has no room.

    They lie there whole, their leading columns once more, and some of a query's work beside them.

    Raises:
        InputError: says how much is missing, and what to do.
    """
    free, needed = torch.cuda.mem_get_info(device)[0], 2 * views.columns.numel() * views.columns.element_size()
    if needed > free:
        raise InputError(
            f"views of {len(views.columns):,} nodes take about {memory_size(needed)} of the GPU's memory, and"
            f" {memory_size(free)} are free: choose the device cpu, or a larger GPU"
        )
