"""Finding nodes by what they are called, and by what their texts hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from nodewise.studio.work.cards import LONGEST

if TYPE_CHECKING:
    from nodewise.graph import Graph

__all__ = ["NameIndex", "NodeSearch"]

_AROUND = 40
_BETWEEN = "\x1f"


class NodeSearch:
    """The search over a graph's nodes; its indices are made when somebody first searches.

    Args:
        graph: which.
        roles: which of its attributes are titles and texts.
    """

    def __init__(self, graph: Graph, roles: Mapping[str, str]) -> None:
        self._graph, self._roles = graph, roles
        self._names: NameIndex | None = None
        self._texts: NameIndex | None = None

    def find(self, text: str, limit: int) -> list[int]:
        """Up to ``limit`` nodes whose names are, begin with or hold a text; then those whose own text holds it."""
        names, texts = self._indices()
        nodes = names.find(text, limit)
        if texts is not None and len(nodes) < limit and text.strip():
            nodes = list(dict.fromkeys([*nodes, *texts.find(text, limit)]))[:limit]
        return nodes

    def match(self, node: int, text: str) -> str | None:
        """What stands around the place where a node's own text holds another; None where it does not."""
        _, texts = self._indices()
        return None if texts is None else texts.match(node, text)

    def _indices(self) -> tuple[NameIndex, NameIndex | None]:
        graph = self._graph
        if self._names is None:
            self._names = NameIndex(graph.node_names, graph.num_nodes)
            cells = [graph.attributes[self._roles[role]] for role in ("title", "text") if role in self._roles]
            if cells:
                rows = ["\n".join(map(str, row))[:LONGEST] for row in zip(*cells, strict=True)]
                self._texts = NameIndex(rows, graph.num_nodes)
        return self._names, self._texts


class NameIndex:
    """The names of a graph's nodes in one long text, in which the interpreter's own search is quick.

    A few milliseconds for a million names.

    A graph without names is searched by the numbers of its rows, counted from 1. Any texts, one a node, can be
    searched in the same way.

    Args:
        names: of the nodes, or None.
        count: how many nodes there are.
    """

    def __init__(self, names: Sequence[str] | None, count: int) -> None:
        self._count = count
        self._text: str | None = None
        if names is not None:
            names = [_fold(name) for name in names]
            self._text = _BETWEEN + _BETWEEN.join(names) + _BETWEEN
            # where each name begins, and where one more would
            self._starts = np.cumsum([1, *(len(name) + 1 for name in names)])

    def find(self, text: str, limit: int) -> list[int]:
        """Up to ``limit`` nodes: those called exactly so, those whose name begins so, those whose name holds it."""
        wanted = _fold(text.strip())
        if not wanted:
            return list(range(min(limit, self._count)))
        if self._text is None:
            return self._by_number(wanted, limit)
        nodes: dict[int, None] = {}
        for pattern in (_BETWEEN + wanted + _BETWEEN, _BETWEEN + wanted, wanted):
            for node in self._holding(pattern):
                if len(nodes) == limit:
                    return list(nodes)
                nodes.setdefault(node)
        return list(nodes)

    def match(self, node: int, text: str) -> str | None:
        """What stands around the first place where a node's text holds another, in a line; None where it does not."""
        wanted = _fold(text.strip())
        if self._text is None or not wanted:
            return None
        start, end = int(self._starts[node]), int(self._starts[node + 1]) - 1
        at = self._text.find(wanted, start, end)
        if at < 0:
            return None
        low, high = max(start, at - _AROUND), min(end, at + len(wanted) + _AROUND)
        return f"{'…' if low > start else ''}{' '.join(self._text[low:high].split())}{'…' if high < end else ''}"

    def _holding(self, pattern: str) -> Iterator[int]:
        """The nodes whose names hold a pattern, each once."""
        assert self._text is not None
        at = self._text.find(pattern)
        while at >= 0:
            inside = at + pattern.startswith(_BETWEEN)
            node = int(np.searchsorted(self._starts, inside, side="right")) - 1
            yield node
            at = self._text.find(pattern, int(self._starts[node + 1]) - 1)

    def _by_number(self, wanted: str, limit: int) -> list[int]:
        if not wanted.isdecimal() or not wanted.isascii() or (len(wanted) > 1 and wanted[0] == "0") or len(wanted) > 12:
            return []
        first, width = int(wanted), 1
        nodes: list[int] = []
        while 0 < first <= self._count and len(nodes) < limit:  # rows 7, 70 … 79, 700 … 799, counted from 1
            nodes += range(first - 1, min(first - 1 + width, self._count, first - 1 + limit))
            first, width = first * 10, width * 10
        return nodes[:limit]


def _fold(text: str) -> str:
    return text.casefold().replace(_BETWEEN, " ")
