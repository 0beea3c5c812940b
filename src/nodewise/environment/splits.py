"""Every run's own division of the labelled nodes into test, validation and pool; or test nodes that the caller names."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import numpy_generator
from nodewise.ground.errors import InputError

__all__ = ["SplitSizes", "Splits", "TestNodes", "draw_splits"]


@dataclass(frozen=True)
class SplitSizes:
    """How many nodes are held out in each run."""

    test: int
    validation: int

    @classmethod
    def default(cls, nodes: int) -> SplitSizes:
        """The protocol's sizes: 1000 and 500; a quarter each at 2250 nodes and below."""
        return cls(1000, 500) if nodes > 2250 else cls(nodes // 4, nodes // 4)

    def identity(self) -> dict[str, Any]:
        """As a chunk's key holds it."""
        return {"test": self.test, "validation": self.validation}


@dataclass(frozen=True)
class TestNodes:
    """Test nodes of one's own in place of random splits; every other labelled node may be asked.

    Attributes:
        columns: node indices, one tuple for all runs, or several: run r uses the (r mod several)-th.
    """

    __test__ = False  # no test of pytest's

    columns: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, nodes: Any) -> TestNodes:
        """From a mask [node], a mask [node, split] as PyTorch Geometric has for several splits, or node indices.

        Raises:
            InputError: it is none of these, or holds no node.
        """
        array = np.asarray(nodes.cpu() if isinstance(nodes, torch.Tensor) else nodes)
        if array.dtype == bool and array.ndim in (1, 2):
            columns = [np.flatnonzero(column) for column in np.atleast_2d(array.T)]
        elif array.ndim == 1 and (array.dtype.kind in "iu" or not len(array)):
            columns = [np.unique(array)]
        else:
            raise InputError(
                f"test nodes must be a mask [node], a mask [node, split] or node indices, got {array.dtype} of shape {list(array.shape)}"
            )
        if any(not len(column) for column in columns) or any(column[0] < 0 for column in columns):
            raise InputError("test nodes must be at least one node, by indices from 0 on: an empty or negative one was given")
        return cls(tuple(tuple(column.tolist()) for column in columns))

    def identity(self) -> dict[str, Any]:
        """As a chunk's key holds it."""
        return {"test_nodes": hashlib.blake2b(repr(self.columns).encode(), digest_size=8).hexdigest()}


@dataclass(frozen=True)
class Splits:
    """Test and validation nodes, int64 [run, node], and the pool, bool [run, node], on the graph's device."""

    test: torch.Tensor
    validation: torch.Tensor
    pool: torch.Tensor

    def rows(self, rows: Sequence[int]) -> Splits:
        """The splits of some runs, in that order; a run may come several times."""
        index = torch.tensor(list(rows), device=self.pool.device)
        return Splits(self.test[index], self.validation[index], self.pool[index])


def draw_splits(graph: GraphTensors, runs: int, seed: int, first_run: int = 0, sizes: SplitSizes | TestNodes | None = None) -> Splits:
    """Splits of the runs ``first_run`` to ``first_run + runs - 1``.

    A run's split follows from the seed and the run's number alone, so that strategies, devices and batch sizes share it.
    Nodes without a label are in none of the three.

    Args:
        sizes: how many nodes are held out, if not the protocol's; or which ones are tested. The test nodes then are the validation nodes as well:
            nothing chooses by them here.
    """
    known = np.flatnonzero(graph.y.cpu().numpy() >= 0)
    if len(known) == 0:
        raise InputError(f"graph {graph.name!r} has no labels: a simulation needs them to answer queries; give labels, or use a session")
    if isinstance(sizes, TestNodes):
        return _given(graph, known, runs, first_run, sizes)
    sizes = sizes or SplitSizes.default(len(known))
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


def _given(graph: GraphTensors, known: npt.NDArray[np.int64], runs: int, first_run: int, nodes: TestNodes) -> Splits:
    columns = [np.intersect1d(np.array(column), known) for column in nodes.columns]
    last = max(max(column) for column in nodes.columns)
    if last >= graph.num_nodes:
        raise InputError(f"test node {last} is not in graph {graph.name!r}, whose nodes are 0 to {graph.num_nodes - 1}")
    if any(len(column) == 0 for column in columns) or len({len(column) for column in columns}) > 1:
        raise InputError("every split's test nodes must have labels, and every split as many of them: give one mask, or equal ones")
    test = np.stack([columns[(first_run + run) % len(columns)] for run in range(runs)])
    pool = np.zeros((runs, graph.num_nodes), dtype=bool)
    pool[:, known] = True
    np.put_along_axis(pool, test, False, axis=1)
    held = torch.from_numpy(test).to(graph.device)
    return Splits(held, held, torch.from_numpy(pool).to(graph.device))
