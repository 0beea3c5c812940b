"""Nodes and classes as people call them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence

from nodewise.graph import Graph
from nodewise.graph.checks import class_name
from nodewise.ground.errors import InputError, UnknownNameError
from nodewise.session.log.events import is_text

__all__ = ["find_node", "node_name", "probable_typo", "valid_class", "valid_person", "valid_text"]

_LONGEST = 200


def node_name(graph: Graph, node: int) -> str:
    """The node's name where the graph has names, else its index."""
    return graph.node_names[node] if graph.node_names is not None else str(node)


def find_node(graph: Graph, given: int | str, index: Mapping[str, int]) -> int:
    """The node of that index, or of that name.

    Args:
        graph: the session's graph.
        given: an integer is an index; a text is a name where the graph has names, else an index.
        index: name -> node; empty for a graph without names.

    Raises:
        InputError: there is no such node.
    """
    if isinstance(given, str):
        if graph.node_names is not None:
            if given not in index:
                near = difflib.get_close_matches(given, graph.node_names, n=3) if graph.num_nodes <= 20_000 else []
                meant = f"did you mean {' or '.join(map(repr, near))}?" if near else f"give a name such as {graph.node_names[0]!r}"
                raise InputError(f"the graph {graph.name!r} has no node named {given!r}: {meant}")
            return index[given]
        if not re.fullmatch(r"\d{1,18}", given):
            raise InputError(
                f"node {given!r} is not an index: the graph's nodes have no names, give a number from 0 to {graph.num_nodes - 1}"
            )
    try:
        node = given.__index__() if not isinstance(given, str) else int(given)
    except AttributeError:
        raise InputError(f"a node is given by its index or its name, got {given!r}") from None
    if isinstance(given, bool) or not 0 <= node < graph.num_nodes:
        raise InputError(f"there is no node {given!r}: the graph {graph.name!r} has nodes 0 to {graph.num_nodes - 1}")
    return node


def valid_class(name: object) -> str:
    """A class's name as it is kept, by the rule that graphs keep theirs by: see `nodewise.graph.checks.class_name`.

    Raises:
        InputError: it is empty or very long.
    """
    return class_name(name)


def valid_person(name: object) -> str:
    """An annotator's name, checked in the same way."""
    text = str(name).strip()
    if not text or len(text) > _LONGEST or not text.isprintable():
        raise InputError(f"an annotator needs a name of 1 to {_LONGEST} printable characters, got {text[:40]!r}")
    return text


def valid_text(text: object) -> str:
    """A note or a guideline: any text of up to 20,000 characters, without blanks at its ends.

    Raises:
        InputError: it is longer, or not a text.
    """
    if not isinstance(text, str) or not is_text(text):
        raise InputError(f"a note or a guideline must be a text of at most 20,000 characters, got {str(text)[:40]!r}")
    return text.strip()


def probable_typo(label: str, classes: Sequence[str]) -> UnknownNameError | None:
    """The error for a label that looks like a known class misspelt; None where it looks like a class of its own.

    Names that differ in their numbers, such as ``year 1`` and ``year 2``, are classes of their own.
    """
    folded = {name.casefold(): name for name in classes}
    near = [folded[name] for name in difflib.get_close_matches(label.casefold(), folded, n=3, cutoff=0.75)]
    near = [name for name in near if re.findall(r"\d+", name) == re.findall(r"\d+", label)]
    if not near:
        return None
    return UnknownNameError("class", label, near, "If it is a new class, say so: --new-class, or new_class=True.")
