"""Feature preprocessing by name, for any graph."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.ground.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from nodewise.graph.graph import Graph

__all__ = ["PAPER_FEATURES", "PREPROCESSING", "canonical_features", "preprocess"]

PAPER_FEATURES = {
    "citeseer": "row+center",
    "pubmed": "row+center",
    "coauthor-cs": "binary",
    "coauthor-physics": "binary+first2000",
}
"""What the paper's figures were made with, by graph; the features of every other graph stay as they are."""

PREPROCESSING = {
    "raw": "as they are",
    "paper": "what the paper did with this graph, told by the graph's name",
    "unit": "every row divided by its L2 length",
    "row": "every row divided by the sum of its absolute values",
    "center": "every column's mean subtracted",
    "binary": "1 for every value that is not 0",
    "firstN": "the first N columns, such as first2000",
    "structural": "replaced by structural features, which need only the edges",
}
"""The steps there are. Join them with + (or a comma): they are done from left to right."""

DENSE_LIMIT = 2**31
"""Bytes up to which centred sparse features are made dense, where a step after `center` needs it."""

_FIRST = re.compile(r"first([1-9][0-9]*)")


def canonical_features(spec: str, graph_name: str = "") -> str:
    """One spelling for a preprocessing: what results record.

    Args:
        spec: steps joined with ``+`` or ``,``, such as ``"row,center"``.
        graph_name: whose features; ``paper`` stands for what it means for that graph.

    Returns:
        The steps joined with ``+``, such as ``"row+center"``; ``"raw"`` where nothing is done.

    Raises:
        UnknownNameError: if a step is not known.
    """
    steps: list[str] = []
    for part in re.split(r"[+,]", spec):
        step = part.strip().lower()
        if step == "paper":
            step = PAPER_FEATURES.get(graph_name.lower(), "raw")
        elif step not in PREPROCESSING and not _FIRST.fullmatch(step):
            raise UnknownNameError("feature preprocessing", part.strip(), PREPROCESSING, "Join several with +, such as row+center.")
        steps += [step] if step != "raw" else []
    return "+".join(steps) or "raw"


def preprocess(graph: Graph, spec: str) -> Graph:
    """The graph with its features preprocessed.

    Sparse features stay sparse. `center` then keeps the column means in `Graph.x_offset` instead of subtracting them; a step that cannot
    follow it in this form (`unit`, `row`, `binary`) makes the features dense first, up to 2 GiB.
    A graph without features gets structural ones before any step other than ``raw``.

    Args:
        graph: any graph.
        spec: steps of `PREPROCESSING` joined with ``+`` or ``,``, done from left to right.

    Returns:
        A graph that shares everything but its features; the same graph where nothing is to be done.

    Raises:
        UnknownNameError: if a step is not known.
    """
    canonical = canonical_features(spec, graph.name)
    if canonical == "raw":
        return graph
    if graph.x is None and not canonical.startswith("structural"):
        canonical = f"structural+{canonical}"
    for step in canonical.split("+"):
        first = _FIRST.fullmatch(step)
        graph = _first(graph, int(first[1])) if first else _STEPS[step](graph)
    return graph


def _structural(graph: Graph) -> Graph:
    from nodewise.graph.structural import structural_features

    return replace(graph, x=structural_features(graph), x_offset=None)


def _first(graph: Graph, columns: int) -> Graph:
    assert graph.x is not None
    return replace(graph, x=graph.x[:, :columns], x_offset=None if graph.x_offset is None else graph.x_offset[:columns])


def _center(graph: Graph) -> Graph:
    x = graph.x
    if isinstance(x, np.ndarray):
        dense = graph.dense_features()
        dense -= dense.mean(axis=0, dtype=np.float64).astype(np.float32)
        return replace(graph, x=_given(dense), x_offset=None)
    assert x is not None
    mean = np.asarray(x.sum(axis=0, dtype=np.float64)).ravel() / graph.num_nodes
    return replace(graph, x_offset=mean.astype(np.float32))


def _binary(graph: Graph) -> Graph:
    x = _without_offset(graph)
    if isinstance(x, np.ndarray):
        return replace(graph, x=_given((x != 0).astype(np.float32)), x_offset=None)
    return replace(graph, x=sp.csr_matrix((np.ones_like(x.data), x.indices, x.indptr), shape=x.shape), x_offset=None)


def _row(graph: Graph) -> Graph:
    return _scaled(graph, lambda total: total, np.abs)


def _unit(graph: Graph) -> Graph:
    return _scaled(graph, np.sqrt, np.square)


def _scaled(graph: Graph, finish: Callable[..., npt.NDArray[np.float64]], measure: Callable[..., npt.NDArray[np.float64]]) -> Graph:
    """Every row divided by ``finish(sum of measure(value))``; rows of zeros stay."""
    x = _without_offset(graph)
    if isinstance(x, np.ndarray):
        size = finish(measure(x.astype(np.float64)).sum(axis=1))
        size[size == 0] = 1
        return replace(graph, x=_given((x / size[:, None]).astype(np.float32)), x_offset=None)
    rows = np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
    size = finish(np.bincount(rows, weights=measure(x.data.astype(np.float64)), minlength=x.shape[0]))
    size[size == 0] = 1
    data = (x.data / size[rows]).astype(np.float32)
    return replace(graph, x=sp.csr_matrix((data, x.indices, x.indptr), shape=x.shape), x_offset=None)


def _without_offset(graph: Graph) -> npt.NDArray[np.float32] | sp.csr_matrix[np.float32]:
    assert graph.x is not None
    if graph.x_offset is None:
        return graph.x
    if (size := 4 * graph.num_nodes * graph.num_features) > DENSE_LIMIT:
        raise InputError(
            f"features centred while sparse would take {size / 2**30:.1f} GiB as a dense array, which this step after `center` needs; "
            "put `center` last, such as unit+center"
        )
    return graph.dense_features()


def _given(array: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Marks a fresh array read-only, so that the graph takes it over without a copy."""
    array.flags.writeable = False
    return array


_STEPS: dict[str, Callable[[Graph], Graph]] = {
    "binary": _binary,
    "center": _center,
    "row": _row,
    "structural": _structural,
    "unit": _unit,
}
