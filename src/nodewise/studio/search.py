"""Finding nodes by what they are called."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nodewise.graph import Graph

__all__ = ["NameIndex"]


class NameIndex:
    """The names of a graph's nodes in one long text, so that a search is one pass of the interpreter's own.

    A graph without names is searched by its numbers.
    """

    def __init__(self, graph: Graph) -> None:
        self._count = graph.num_nodes
        self._folded = None if graph.node_names is None else [_fold(name) for name in graph.node_names]

    def find(self, text: str, limit: int) -> list[int]:
        """Up to ``limit`` nodes: the one called exactly so, those whose name begins so, those whose name holds it."""
        wanted = _fold(text.strip())
        if self._folded is None:
            return self._by_number(wanted, limit)
        if not wanted:
            return list(range(min(limit, self._count)))
        names = self._folded
        exact = [node for node, name in enumerate(names) if name == wanted]
        begins = islice((node for node, name in enumerate(names) if name.startswith(wanted) and name != wanted), limit)
        found = [*exact, *begins]
        if len(found) < limit:
            found += islice((node for node, name in enumerate(names) if wanted in name and not name.startswith(wanted)), limit - len(found))
        return found[:limit]

    def _by_number(self, wanted: str, limit: int) -> list[int]:
        if not wanted:
            return list(range(min(limit, self._count)))
        if not wanted.isdecimal() or not wanted.isascii() or (len(wanted) > 1 and wanted[0] == "0") or len(wanted) > 12:
            return []
        start, width = int(wanted), 1
        found: list[int] = []
        while start < self._count and len(found) < limit:  # 7, 70 … 79, 700 … 799
            found += list(range(start, min(start + width, self._count, start + limit)))
            if start == 0:
                break
            start, width = start * 10, width * 10
        return found[:limit]


def _fold(text: str) -> str:
    return text.casefold()
