"""Splits as a file: which nodes each run tests, validates by and may ask."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nodewise.environment import SplitSizes, TestNodes
from nodewise.environment.environment import split_arrays
from nodewise.graph import Graph
from nodewise.ground.errors import InputError
from nodewise.ground.events import told_apart
from nodewise.ground.files import write_json

__all__ = [
    "PUBLIC",
    "public_splits",
    "read_splits",
    "resolve_splits",
    "split_record",
    "write_splits",
]

PUBLIC = "public"
"""The name of the split that a data set was published with."""

_FIELDS = (("planetoid_test", "planetoid_val"), ("test_mask", "val_mask"))
"""The further fields of a graph that hold such a split: test and validation nodes, as masks or indices."""


def split_record(
    labels: npt.NDArray[np.int64], name: str, runs: int, seed: int, sizes: SplitSizes | TestNodes | None = None
) -> dict[str, Any]:
    """The splits of runs 0, 1, … of a graph as a file holds them: lists of node indices.

    Args:
        labels: the graph's, -1 where there is none. sizes: as `nodewise.evaluate` takes them.
    """
    test, validation, pool = split_arrays(labels, name, runs, seed, 0, sizes)
    same = validation is test
    return {
        "name": name,
        "nodes": len(labels),
        "labels": _digest(labels),
        "splits": [
            {
                "test": sorted(test[run].tolist()),
                **({} if same else {"validation": sorted(validation[run].tolist())}),
                "pool": np.flatnonzero(pool[run]).tolist(),
            }
            for run in range(runs)
        ],
    }


def write_splits(
    path: str | Path, graphs: Graph | Sequence[Graph], runs: int = 100, seed: int = 0, splits: SplitSizes | None = None
) -> Path:
    """Writes the splits that `nodewise.evaluate` and `nodewise.compare` draw with these runs and this seed, as JSON.

    Graphs may share a name: the second "g" is kept as "g 2", and each is found again by its name and labels.

    Example:
        >>> import nodewise as nw
        >>> from nodewise.evaluation import read_splits, write_splits
        >>> file = write_splits("splits.json", nw.load_graph("wine"), runs=3)
        >>> nw.evaluate("wine", "random", budget=5, runs=3, splits=file).micro_f1.shape
        (3,)
    """
    from nodewise.evaluation.task import default_splits

    given = [graphs] if isinstance(graphs, Graph) else list(graphs)
    for graph in given:
        if graph.y is None:
            raise InputError(f"graph {graph.name!r} has no labels: its nodes cannot be split")
    held = {
        called: split_record(
            np.asarray(graph.y, dtype=np.int64), graph.name, runs, seed, splits or default_splits(graph)
        )
        for called, graph in zip(told_apart([graph.name for graph in given]), given, strict=True)
    }
    write_json(Path(path), {"schema": 1, "kind": "splits", "seed": seed, "graphs": held})
    return Path(path)


def read_splits(path: str | Path, graph: Graph) -> TestNodes:
    """The splits of a graph that a file holds: run r uses the r-th, and begins again at the first after the last.

    Args:
        path: a file of `write_splits`, of ``Comparison.export``, or one made elsewhere: ``graphs`` holds, by a graph's
            name, ``nodes`` (how many) and ``splits``, each with ``test`` and perhaps ``validation`` and ``pool``. An
            entry may be called otherwise and have the graph's ``name``; of several, the one for its nodes and
            ``labels`` is taken.

    Raises:
        InputError: the file is none, holds no splits of this graph, or different ones that all fit it.
    """
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
        graphs: Mapping[str, Any] = dict(record["graphs"].items())
        names = list(graphs)
    except FileNotFoundError:
        raise InputError(f"there is no file of splits {str(path)!r}: give one, or {PUBLIC!r}") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path} holds no splits ({type(error).__name__}: {error}): write_splits() writes them"
        ) from None
    named = [held for key, held in graphs.items() if graph.name in (key, _name_in(held))]
    if not named:
        raise InputError(f"{path} holds splits of {', '.join(names) or 'nothing'}, none of the graph {graph.name!r}")
    try:
        fitting = [held for held in named if _fits(held, graph)]
        read = dict.fromkeys(
            tuple(_columns(list(held["splits"]), part) for part in ("test", "validation", "pool")) for held in fitting
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path} has no splits of {graph.name!r} that can be read ({error})") from None
    if not read:
        counts = " or ".join(dict.fromkeys(str(held["nodes"]) for held in named))
        raise InputError(
            f"{path} holds splits of a graph {graph.name!r} with {counts} nodes and perhaps other labels; this one has"
            f" {graph.num_nodes}: use the graph that they were made for"
        )
    if len(read) > 1:
        raise InputError(
            f"{path} holds {len(read)} different lists of splits of graphs {graph.name!r} with these nodes and labels:"
            " give each graph a name of its own, and write the splits anew"
        )
    (test, validation, pool), *_ = read
    if not test:
        raise InputError(f"{path} has no test nodes for {graph.name!r}: each split needs them")
    return TestNodes(test, graph.num_nodes, validation, pool)


def public_splits(graph: Graph) -> TestNodes:
    """The test and validation nodes that a data set was published with; all other labelled nodes may be asked.

    Raises:
        InputError: the graph does not carry them.
    """
    for test, validation in _FIELDS:
        if test in graph.extra and validation in graph.extra:
            both = [TestNodes.of(np.asarray(graph.extra[name])) for name in (test, validation)]
            return TestNodes(both[0].columns, both[0].mask_length, both[1].columns)
    raise InputError(
        f"graph {graph.name!r} carries no public split ({' or '.join(test for test, _ in _FIELDS)}): give a file of"
        " splits, or test nodes"
    )


def resolve_splits(given: SplitSizes | TestNodes | str | Path, graph: Graph) -> SplitSizes | TestNodes:
    """What a caller means by splits: sizes, nodes, a file, or ``"public"``."""
    if given == PUBLIC:
        return public_splits(graph)
    return read_splits(given, graph) if isinstance(given, (str, Path)) else given


def _name_in(held: Any) -> Any:
    """The name of the graph that an entry of a file is for, where it says one beside what it is called."""
    return held.get("name") if isinstance(held, Mapping) else None


def _fits(held: Mapping[str, Any], graph: Graph) -> bool:
    """Whether an entry of a file is for the graph's nodes and, where it says which, its labels."""
    labels = held.get("labels")
    return int(held["nodes"]) == graph.num_nodes and not (labels and graph.y is not None and labels != _digest(graph.y))


def _columns(splits: Sequence[Mapping[str, Any]], name: str) -> tuple[tuple[int, ...], ...]:
    """One part of every split; empty where no split has it."""
    if not any(name in split for split in splits):
        return ()
    for split in splits:
        for node in split[name]:
            if isinstance(node, bool) or not isinstance(node, int):
                raise ValueError(f"nodes are whole numbers, received {node!r}")
    columns = tuple(tuple(sorted(split[name])) for split in splits)
    if any(node < 0 for column in columns for node in column):
        raise ValueError("a node is negative")
    return columns


def _digest(labels: npt.NDArray[np.integer[Any]]) -> str:
    """What tells these labels from others."""
    return hashlib.blake2b(np.ascontiguousarray(labels, dtype=np.int64).tobytes(), digest_size=8).hexdigest()
