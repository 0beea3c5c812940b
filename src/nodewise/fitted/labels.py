"""Labels in whatever form: a dict, an array with gaps, a Series; one class a node or several; as names and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from nodewise.graph import Graph
from nodewise.graph.checks import is_missing, natural_order
from nodewise.graph.label_sets import answered_nodes, are_sets, label_sets
from nodewise.graph.nodes import node_index
from nodewise.ground.errors import InputError, nearest_names
from nodewise.ground.events import listed

__all__ = ["Label", "are_several", "numbers_of", "read_labels", "read_sets"]

Label = int | tuple[int, ...]
"""The number of a node's class; all their numbers, in order, where it may have several."""


def numbers_of(label: Label) -> tuple[int, ...]:
    """The numbers of a label's classes."""
    return label if isinstance(label, tuple) else (label,)


def are_several(labels: Any) -> bool:
    """Whether labels hold sets of classes, in whatever form they come."""
    if isinstance(labels, Mapping):
        return are_sets(list(labels.values()))
    if hasattr(labels, "index") and hasattr(labels, "to_numpy"):
        return are_sets(labels.to_numpy().tolist())
    return are_sets(labels.detach().cpu().numpy() if hasattr(labels, "detach") else labels)


def read_sets(
    labels: Any, graph: Graph, classes: Sequence[str] | None = None
) -> tuple[dict[int, tuple[int, ...]], tuple[str, ...]]:
    """Node -> the numbers of its classes, in the order of the nodes, and the classes' names.

    Args:
        labels: node (name or index) -> classes, in a list or set of names, or of numbers of the graph's classes; or one
            for each node, None where it is not known; or a Series; or zeros and ones, [node, class], −1 in the whole
            row of a node that is not known.
        graph, classes: as for `read_labels`.

    Raises:
        InputError: a node is not there, a class is not among those given, or something is no set.
    """
    known: tuple[str, ...] = tuple(map(str, classes)) if classes is not None else graph.class_names
    given = labels.detach().cpu().numpy() if hasattr(labels, "detach") else labels
    if not hasattr(given, "items") and (hasattr(given, "toarray") or getattr(given, "ndim", 1) == 2):
        table, names, _ = label_sets(given, known or None, graph.num_nodes)
    else:
        by_node = _by_node(given, graph)
        every = [by_node.get(node) for node in range(graph.num_nodes)]
        held = [
            one for each in every if isinstance(each, Iterable) and not isinstance(each, (str, bytes)) for one in each
        ]
        if not known and not held and not any(isinstance(each, str) for each in every):
            raise InputError("there is no label, and no class is named: give labels, or classes=[…]")
        named = list({one for one in held if isinstance(one, str)})
        table, names, _ = label_sets(every, _with_new(known, named, classes is not None) or None, graph.num_nodes)
    answered = np.flatnonzero(answered_nodes(table)).tolist()
    return {node: tuple(np.flatnonzero(table[node]).tolist()) for node in answered}, names


def read_labels(
    labels: Any, graph: Graph, classes: Sequence[str] | None = None
) -> tuple[dict[int, int], tuple[str, ...]]:
    """Node -> class number, in the order of the nodes, and the classes' names.

    Args:
        labels: node (name or index) -> class (name, or number of a class of the graph); or one for each node, None,
            NaN, −1 or an empty text where it is not known; or a pandas Series, whose index names the nodes.
        graph: whose nodes.
        classes: every class, in the order wanted; None: the graph's and those of the labels.

    Raises:
        InputError: a node is not there, a class is not among those given, or there are not as many labels as nodes.
    """
    named = {node: _class_name(label, graph) for node, label in _by_node(labels, graph).items()}
    answered = {node: name for node, name in sorted(named.items()) if name is not None}
    known = tuple(map(str, classes)) if classes is not None else graph.class_names
    every = _with_new(known, list(set(answered.values())), classes is not None)
    number = {name: i for i, name in enumerate(every)}
    return {node: number[name] for node, name in answered.items()}, every


def _with_new(known: tuple[str, ...], named: list[str], is_all: bool) -> tuple[str, ...]:
    """The classes that are known, and behind them those that labels name.

    Raises:
        InputError: `is_all` says that there are no others.
    """
    new = [name for name in natural_order(named) if name not in known]
    if is_all and new:
        near = listed(nearest_names(new[0], known))
        raise InputError(
            f"the labels name {listed(new)}, and the classes are {listed(known)}: add it, or correct it"
            f"{near and f'; did you mean {near}?'}"
        )
    return (*known, *new)


def _by_node(labels: Any, graph: Graph) -> dict[int, Any]:
    if labels is None:
        return {}
    if isinstance(labels, Mapping):
        pairs = list(labels.items())
    elif hasattr(labels, "index") and hasattr(labels, "to_numpy"):
        keys, values = list(labels.index), labels.to_numpy().tolist()
        if len(keys) == graph.num_nodes and keys == list(range(len(keys))):
            pairs = list(enumerate(values))
        else:
            pairs = list(zip(keys, values, strict=True))
    else:
        if hasattr(labels, "detach"):
            labels = labels.detach().cpu().numpy()
        if isinstance(labels, (str, list, tuple)):
            every = [labels] if isinstance(labels, str) else list(labels)
        else:
            every = np.asarray(labels, dtype=object).ravel().tolist()
        if len(every) != graph.num_nodes:
            raise InputError(
                f"labels need one entry for each of the {graph.num_nodes} nodes, None where it is not known, received"
                f" {len(every)}: give as many, or a dict node -> class"
            )
        return dict(enumerate(every))
    found: dict[int, Any] = {}
    for node, label in pairs:
        index = node_index(node, graph)
        if index in found and found[index] != label:
            raise InputError(f"node {node!r} has two labels, {found[index]!r} and {label!r}: keep one")
        found[index] = label
    return found


def _class_name(label: Any, graph: Graph) -> str | None:
    """The class that a label means; None where it is a gap."""
    if label is None or (isinstance(label, float) and label != label):
        return None
    if isinstance(label, (str, np.str_)):
        text = str(label).strip()
        return None if text not in graph.class_names and is_missing(text) else text
    if hasattr(label, "__iter__") and not isinstance(label, bytes):
        raise InputError(
            f"one label a node was expected, received several, {str(label)[:80]}: give one class's name, or"
            " several=True and a list for every node"
        )
    if isinstance(label, (float, np.floating)) and float(label).is_integer():
        label = int(label)
    if isinstance(label, (bool, np.bool_)) or not isinstance(label, (int, np.integer)):
        return str(label)
    if label < 0:
        return None
    if graph.class_names and label < len(graph.class_names):
        return graph.class_names[label]
    if graph.class_names and str(label) not in graph.class_names:
        raise InputError(
            f"there is no class number {label}: the graph's classes are {listed(graph.class_names)}, numbered from 0"
        )
    return str(label)
