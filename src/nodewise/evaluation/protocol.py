"""The protocol's numbers, where a caller gives none: nodes held out, queries; and which numbers make no sense."""

from __future__ import annotations

import numpy as np

from nodewise.datasets import default_budget
from nodewise.datasets.load import find_info
from nodewise.environment import SplitSizes, TestNodes
from nodewise.graph import Graph
from nodewise.ground.errors import InputError

__all__ = ["check_counts", "default_splits", "simulated_budget"]


def default_splits(graph: Graph) -> SplitSizes | None:
    """The sizes that the protocol has for this graph alone, told by its name; None.

    Those that follow from the number of nodes.
    """
    info = find_info(graph.name)
    return (
        SplitSizes(*info.splits)
        if info is not None and info.splits is not None and info.nodes == graph.num_nodes
        else None
    )


def simulated_budget(graph: Graph, held_out: SplitSizes | TestNodes | None = None) -> int:
    """The default budget of a graph.

    Where a caller says what is held out, at most half of the pool that this leaves.
    """
    if not graph.num_classes:
        return 1  # the splits refuse such a graph, and say more
    budget = default_budget(graph, simulated=True)
    if held_out is None or graph.y is None:
        return budget
    labelled = np.flatnonzero(graph.y >= 0)
    pool = (
        held_out.pool_size(labelled)
        if isinstance(held_out, TestNodes)
        else len(labelled) - held_out.test - held_out.validation
    )
    return max(1, min(budget, pool // 2))


def check_counts(runs: int, budget: int | None, seed: int) -> None:
    """Refuses numbers that are none: a run count or budget below 1 or not whole, a seed that is None."""
    for name, value, least in (("number of runs", runs, 1), ("budget", budget, 1), ("seed", seed, 0)):
        if name == "budget" and value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise InputError(f"the {name} must be a whole number, at least {least}, got {value!r}")
