"""Which nodes are meant, one or several, by index, name or mask: told apart by type and length, else refused."""

from __future__ import annotations

import difflib
import operator
import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nodewise.graph.graph import Graph
from nodewise.ground.errors import InputError

__all__ = ["Nodes", "are_several", "listed_nodes", "node_index", "node_indices"]

Nodes = Iterable[int] | Iterable[str]
"""Several nodes: indices, names, or a mask of True and False."""

Kind = Literal["indices", "names", "mask", "others"]
_KINDS: dict[str, Kind] = {"b": "mask", "i": "indices", "u": "indices", "U": "names", "T": "names"}
_NEAR = 20_000  # names among which the nearest are looked for


def node_index(node: Any, graph: Graph) -> int:
    """The node of that index or name: a whole number is an index, a text a name.

    Where the nodes have no names, they are called by their indices, and a text is one.

    Raises:
        InputError: there is no such node.
    """
    if isinstance(node, str):
        return _named(node, graph)
    try:
        index = -1 if isinstance(node, (bool, np.bool_)) else operator.index(node)
    except TypeError:
        hint = f"a {type(node).__name__}: give its .node" if hasattr(node, "node") else f"{node!r:.80}"
        raise InputError(f"a node is given by its index or its name, got {hint}") from None
    if not 0 <= index < graph.num_nodes:
        raise InputError(f"there is no node {node!r}: the graph {graph.name!r} has nodes 0 to {graph.num_nodes - 1}")
    return index


def node_indices(nodes: Nodes, graph: Graph, what: str = "nodes") -> npt.NDArray[np.int64]:
    """The indices of several nodes, each once, in the order given; of a mask in their own order: int64 [chosen].

    Args:
        nodes: whole numbers are indices, texts names; True and False are a mask, one for each node of the graph. Lists,
            sets, arrays, tensors and columns of a data frame will do.
        graph: whose nodes.
        what: these nodes are called in messages.

    Raises:
        InputError: it is none of these, mixed, or a mask of zeros and ones, which could be indices as well; or there is
            no such node.
    """
    array = _array(nodes, what)
    kind = _kind(array, what)
    if kind == "mask":
        return _masked(array, graph, what)
    if kind == "names" and array.ndim == 1:
        return np.array(list(dict.fromkeys(node_index(str(name), graph) for name in array.tolist())), dtype=np.int64)
    if kind != "indices" or array.ndim != 1:
        raise InputError(
            f"{what} must be indices of nodes, from 0 to {graph.num_nodes - 1}, names, or a mask of True and False,"
            f" received {array.dtype} of shape {list(array.shape)}"
        )
    _refuse_ambiguous(array, graph, what)
    indices = [int(index) for index in dict.fromkeys(array.tolist())]
    wrong = next((index for index in indices if not 0 <= index < graph.num_nodes), None)
    if wrong is not None:
        raise InputError(
            f"{what}: there is no node {wrong}, the graph {graph.name!r} has nodes 0 to {graph.num_nodes - 1}"
        )
    return np.array(indices, dtype=np.int64)


def are_several(node: Any) -> bool:
    """Whether a list or an array was given, and not one node."""
    return not isinstance(node, str) and (isinstance(node, Sequence) or np.ndim(node) == 1)


def listed_nodes(nodes: Any, graph: Graph, what: str = "nodes") -> list[Any]:
    """Several nodes one for one as they were given, indices and names side by side; of a mask the nodes that it says.

    Raises:
        InputError: it is no list, a mask of another length, or one of zeros and ones, see `node_indices`.
    """
    array = _array(nodes, what)
    listed: list[Any] = array.tolist()
    if listed and all(isinstance(one, (bool, np.bool_)) for one in array.ravel().tolist()):
        return list(map(int, _masked(array, graph, what)))
    _refuse_ambiguous(array, graph, what)
    return listed


def _masked(mask: npt.NDArray[Any], graph: Graph, what: str) -> npt.NDArray[np.int64]:
    if mask.shape != (graph.num_nodes,):
        raise InputError(
            f"{what}: a mask needs one True or False for each of the {graph.num_nodes} nodes, received"
            f" {list(mask.shape)}"
        )
    return np.flatnonzero(mask)


def _refuse_ambiguous(array: npt.NDArray[Any], graph: Graph, what: str) -> None:
    """Refuse zeros and ones, one for each node."""
    if array.shape != (graph.num_nodes,):
        return
    values = array.tolist()
    if all(isinstance(one, (int, np.integer)) and one in (0, 1) for one in values) and len(set(values)) < len(values):
        raise InputError(
            f"{what} are {len(values)} zeros and ones, one for each node: as indices they would be nodes 0 and 1 alone;"
            " give a mask as True and False (mask.astype(bool)), or each index once"
        )


def _array(nodes: Any, what: str) -> npt.NDArray[Any]:
    """The nodes as an array; what is no array is kept as objects, of which numpy would make one type."""
    if isinstance(nodes, (str, bytes)) or not (hasattr(nodes, "__array__") or isinstance(nodes, Iterable)):
        raise InputError(f"{what} must be several nodes, received {nodes!r}: give a list, [{nodes!r}]")
    if hasattr(nodes, "detach"):
        nodes = nodes.detach().cpu().numpy()
    return np.asarray(nodes) if hasattr(nodes, "__array__") else np.asarray(list(nodes), dtype=object)


def _kind(array: npt.NDArray[Any], what: str) -> Kind:
    if not array.size:
        return "indices"
    if array.dtype.kind != "O":
        return _KINDS.get(array.dtype.kind, "others")
    values = array.ravel().tolist()
    kinds = [_KINDS.get(np.asarray(one).dtype.kind, "others") for one in values]
    if len(set(kinds)) > 1:
        other = next(one for one, kind in zip(values, kinds, strict=True) if kind != kinds[0])
        raise InputError(
            f"{what} must be all indices, all names or all True and False, received {values[0]!r} and {other!r}"
        )
    return kinds[0]


def _named(name: str, graph: Graph) -> int:
    if graph.node_names is not None:
        if name in graph.index_of_name:
            return graph.index_of_name[name]
        near = difflib.get_close_matches(name, graph.node_names, n=3) if graph.num_nodes <= _NEAR else []
        meant = (
            f"did you mean {' or '.join(map(repr, near))}?" if near else f"give a name such as {graph.node_names[0]!r}"
        )
        raise InputError(f"the graph {graph.name!r} has no node named {name!r}: {meant}")
    if not re.fullmatch(r"[0-9]{1,18}", name):
        raise InputError(
            f"node {name!r} is not an index: the graph's nodes have no names, give a number from 0 to"
            f" {graph.num_nodes - 1}"
        )
    if int(name) >= graph.num_nodes:
        raise InputError(f"there is no node {name!r}: the graph {graph.name!r} has nodes 0 to {graph.num_nodes - 1}")
    return int(name)
