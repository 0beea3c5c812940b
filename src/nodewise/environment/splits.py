"""Every run's own division of the labelled nodes into test, validation and pool."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError
from nodewise.ground.seeds import numpy_generator

__all__ = ["SplitSizes", "Splits", "draw_splits"]


@dataclass(frozen=True)
class SplitSizes:
    """How many nodes are held out in each run."""

    test: int
    validation: int

    @classmethod
    def default(cls, nodes: int) -> SplitSizes:
        """The protocol's sizes: 1000 and 500; a quarter each at 2250 nodes and below, 20 and 20 on the 85-node case study."""
        if nodes == 85:
            return cls(20, 20)
        return cls(1000, 500) if nodes > 2250 else cls(nodes // 4, nodes // 4)


@dataclass(frozen=True)
class Splits:
    """Test and validation nodes, int64 [run, node], and the pool, bool [run, node], on the graph's device."""

    test: torch.Tensor
    validation: torch.Tensor
    pool: torch.Tensor


def draw_splits(graph: GraphTensors, runs: int, seed: int, first_run: int = 0, sizes: SplitSizes | None = None) -> Splits:
    """Splits of the runs ``first_run`` to ``first_run + runs - 1``.

    A run's split follows from the seed and the run's number alone, so that strategies, devices and batch sizes share it.
    Nodes without a label are in none of the three.
    """
    known = np.flatnonzero(graph.y.cpu().numpy() >= 0)
    sizes = sizes or SplitSizes.default(len(known))
    if len(known) == 0:
        raise InputError(f"graph {graph.name!r} has no labels: a simulation needs them to answer queries; give labels, or use a session")
    if sizes.test < 1 or sizes.validation < 1 or sizes.test + sizes.validation >= len(known):
        raise InputError(
            f"graph {graph.name!r} has {len(known)} labelled nodes, too few for {sizes.test} test and {sizes.validation} validation nodes "
            "and a pool: use a graph with more labels, or smaller splits"
        )
    order = np.stack([numpy_generator(seed, "split", first_run + run).permutation(known) for run in range(runs)])
    middle, end = sizes.test, sizes.test + sizes.validation
    pool = np.zeros((runs, graph.num_nodes), dtype=bool)
    np.put_along_axis(pool, order[:, end:], True, axis=1)
    parts = (order[:, :middle], order[:, middle:end], pool)
    return Splits(*(torch.from_numpy(np.ascontiguousarray(part)).to(graph.device) for part in parts))
