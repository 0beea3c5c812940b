"""Feature preprocessing by name, for any graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.graph.graph import FIRST_COLUMNS, PAPER_FEATURES, Graph, canonical_features, recorded_steps
from nodewise.ground.errors import InputError

__all__ = ["gcn_features", "prepared", "preprocess"]

DENSE_LIMIT = 2**31
"""Bytes up to which centred sparse features are made dense, where a step after `center` needs it."""


def gcn_features(graph: Graph) -> str:
    """What a GCN does with features unless something else is said: ``paper`` for the paper's graphs, by name.

    Elsewhere ``unit``.

    A graph without features stays ``raw``: its structural features, which stand in for them, are used as they are.
    """
    if graph.name.lower() in PAPER_FEATURES:
        return "paper"
    return "unit" if graph.has_features else "raw"


def prepared(graph: Graph, wanted: str | None, default: str) -> Graph:
    """The graph with the features that a caller wants.

    The one rule on what is done to them, the same in Python and on the command line.

    Args:
        graph: any graph; `Graph.features` says what was done already.
        wanted: what the caller asked for. None: features that were preprocessed are left alone, others get `default`.
            ``"raw"`` changes nothing.
        default: what is done where nobody asked.

    Returns:
        The graph; the same one where nothing is to be done.

    Raises:
        UnknownNameError: if a step is not known.
        InputError: if something else was done to the features already.
    """
    done = graph.features
    if wanted is None:
        return graph if done != "raw" else preprocess(graph, default)
    asked = canonical_features(wanted, graph.name)
    if asked == "raw" or done in (asked, f"structural+{asked}"):
        return graph
    if done != "raw":
        raise InputError(
            f"the features of {graph.name!r} were preprocessed already ({done}), so {asked} can no longer be done to"
            f" the raw ones: load the graph with features='raw' and ask for {asked} then, or ask for 'raw' to use them"
            " as they are"
        )
    return preprocess(graph, asked)


def preprocess(graph: Graph, spec: str) -> Graph:
    """The graph with its features preprocessed.

    Sparse features stay sparse. `center` then keeps the column means in `Graph.x_offset` instead of subtracting them; a
    step that cannot follow it in this form (`unit`, `row`, `binary`) makes the features dense first, up to 2 GiB. A
    graph without features gets structural ones before any step other than ``raw``.

    Args:
        graph: any graph.
        spec: steps of `PREPROCESSING` joined with ``+`` or ``,``, done from left to right.

    Returns:
        A graph that shares everything but its features; the same graph where nothing is to be done. `Graph.features`
        tells the steps, those done before first.

    Raises:
        UnknownNameError: if a step is not known.
    """
    canonical = canonical_features(spec, graph.name)
    if canonical == "raw":
        return graph
    if graph.x is None and not canonical.startswith("structural"):
        canonical = f"structural+{canonical}"
    done = graph.features
    for step in canonical.split("+"):
        first = FIRST_COLUMNS.fullmatch(step)
        graph = _first_columns(graph, int(first[1])) if first else _STEPS[step](graph)
    return replace(graph, features=recorded_steps(f"{done}+{canonical}".split("+")))


def _structural(graph: Graph) -> Graph:
    from nodewise.graph.structural import structural_features

    return replace(graph, x=structural_features(graph), x_offset=None)


def _first_columns(graph: Graph, columns: int) -> Graph:
    assert graph.x is not None
    return replace(graph, x=graph.x[:, :columns], x_offset=None if graph.x_offset is None else graph.x_offset[:columns])


def _center(graph: Graph) -> Graph:
    x = graph.x
    if isinstance(x, np.ndarray):
        dense = graph.dense_features()
        dense -= dense.mean(axis=0, dtype=np.float64).astype(np.float32)
        return replace(graph, x=_read_only(dense), x_offset=None)
    assert x is not None
    mean = np.asarray(x.sum(axis=0, dtype=np.float64)).ravel() / graph.num_nodes
    return replace(graph, x_offset=mean.astype(np.float32))


def _binary(graph: Graph) -> Graph:
    x = _without_offset(graph)
    if isinstance(x, np.ndarray):
        return replace(graph, x=_read_only((x != 0).astype(np.float32)), x_offset=None)
    return replace(graph, x=sp.csr_matrix((np.ones_like(x.data), x.indices, x.indptr), shape=x.shape), x_offset=None)


def _row(graph: Graph) -> Graph:
    return _scaled(graph, lambda total: total, np.abs)


def _unit(graph: Graph) -> Graph:
    return _scaled(graph, np.sqrt, np.square)


def _scaled(
    graph: Graph, finish: Callable[..., npt.NDArray[np.float64]], measure: Callable[..., npt.NDArray[np.float64]]
) -> Graph:
    """Every row divided by ``finish(sum of measure(value))``; rows of zeros stay."""
    x = _without_offset(graph)
    if isinstance(x, np.ndarray):
        size = finish(measure(x.astype(np.float64)).sum(axis=1))
        size[size == 0] = 1
        return replace(graph, x=_read_only((x / size[:, None]).astype(np.float32)), x_offset=None)
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
            f"features centred while sparse would take {size / 2**30:.1f} GiB as a dense array, which this step after"
            " `center` needs; put `center` last, such as unit+center"
        )
    return graph.dense_features()


def _read_only(array: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
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
