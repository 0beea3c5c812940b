"""What lies around a node of a graph of several types: the nodes its relations lead to, whatever their type, and where.

As in `neighbourhood`, the cost depends on what is drawn and on a bounded look at the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nodewise.graph.relations import Relations
from nodewise.ground.errors import InputError
from nodewise.studio.layout.forces import spread
from nodewise.studio.layout.neighbourhood import ENTRIES, LINES, ROW, Neighbourhood

__all__ = ["Related", "RelatedNeighbourhood"]

Nodes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class RelatedNeighbourhood(Neighbourhood):
    """The nodes around one, of all types, to be drawn: those one relation away, then those two away.

    Attributes:
        nodes: int64 [shown], indices within the types of the nodes.
        edges: int64 [edge, 3]: the indices among those shown of its source and its target, and which relation it is of.
        types: int64 [shown], which type each is of, as an index in the record's types.
        degree: int64 [shown], edges of each in all relations.
    """

    types: Nodes
    degree: Nodes


class Related:
    """Looks around in the relations of one graph; sorts them once, and may then be asked from any thread.

    Args:
        record: the relations.
    """

    def __init__(self, record: Relations) -> None:
        counts = [kind.count for kind in record.types]
        self._first: Nodes = np.append(0, np.cumsum(counts)).astype(np.int64)  # all types behind each other
        index = {kind.name: at for at, kind in enumerate(record.types)}
        self._own = int(self._first[index[record.labelled]])
        self.num_nodes = record.labelled_type.count
        sources, targets, kinds = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for number, relation in enumerate(record.relations):
            sources.append(relation.edge_index[0] + self._first[index[relation.source]])
            targets.append(relation.edge_index[1] + self._first[index[relation.target]])
            kinds.append(np.full(relation.edge_index.shape[1], number, np.int64))
        source, target, kind = np.concatenate(sources), np.concatenate(targets), np.concatenate(kinds)
        ends, others = np.concatenate([source, target]), np.concatenate([target, source])
        order = np.lexsort((others, ends))
        self._others: Nodes = others[order]
        self._kinds: Nodes = np.concatenate([kind, kind])[order]
        self._along: npt.NDArray[np.bool_] = np.repeat([True, False], len(source))[order]
        self._starts: Nodes = np.searchsorted(ends[order], np.arange(self._first[-1] + 1)).astype(np.int64)

    def around(self, centre: int, hops: int, limit: int, labelled: npt.NDArray[np.bool_]) -> RelatedNeighbourhood:
        """The neighbourhood of a node of the labelled type, the same one each time it is asked.

        Of each hop, labelled nodes come first, since they say most about the centre, then those that are joined to most
        of the nodes shown; where there is no room for all, each type has its share of it.

        Args:
            centre: the node in the middle, by its index.
            hops: 1 or 2 relations away.
            limit: the most nodes to show, the centre included.
            labelled: which nodes of the labelled type have a label, [node].

        Raises:
            InputError: there is no such node.
        """
        if not 0 <= centre < self.num_nodes:
            raise InputError(f"there is no node {centre}: nodes are 0 to {self.num_nodes - 1}")
        middle = np.array([centre + self._own], np.int64)
        near, links, exact = self._beyond(middle)
        near, links = near[near != middle[0]], links[near != middle[0]]
        first = self._best(near, links, limit - 1, labelled)
        second, total = np.zeros(0, np.int64), 1 + len(near)
        if hops == 2:
            far, links, whole = self._beyond(np.concatenate([first, near[~np.isin(near, first)]]))
            new = ~np.isin(far, near) & (far != middle[0])
            second = self._best(far[new], links[new], limit - 1 - len(first), labelled)
            total, exact = total + int(new.sum()), exact and whole
        shown = np.concatenate([middle, first, second])
        hop = np.repeat(np.arange(3, dtype=np.int64), [1, len(first), len(second)])
        edges = self._between(shown)
        pairs = np.unique(np.sort(edges[:, :2], axis=1), axis=0)
        x, y = spread(len(shown), pairs, hop)
        kind = np.searchsorted(self._first, shown, side="right") - 1
        degree = self._starts[shown + 1] - self._starts[shown]
        inside = shown - self._first[kind]
        return RelatedNeighbourhood(centre, inside, hop, x, y, edges[:LINES], total, exact, kind, degree)

    def _beyond(self, nodes: Nodes) -> tuple[Nodes, Nodes, bool]:
        """Where the relations of some nodes lead, to how many of them each is joined, and whether that is all."""
        rows, left, exact = [np.zeros(0, np.int64)], ENTRIES, True
        for node in nodes.tolist():
            start, end = int(self._starts[node]), int(self._starts[node + 1])
            looked = min(end - start, ROW, left)
            exact, left = exact and looked == end - start, left - looked
            rows.append(np.unique(self._others[start : start + looked]))
        found, links = np.unique(np.concatenate(rows), return_counts=True)
        return found.astype(np.int64), links.astype(np.int64), exact

    def _best(self, nodes: Nodes, links: Nodes, room: int, labelled: npt.NDArray[np.bool_]) -> Nodes:
        """Those to be shown: the best of each type in turns."""
        kind = np.searchsorted(self._first, nodes, side="right") - 1
        own = (nodes >= self._own) & (nodes < self._own + self.num_nodes)
        known = np.zeros(len(nodes), bool)
        known[own] = labelled[nodes[own] - self._own]
        order = np.lexsort((nodes, -links, ~known, kind))
        turn = np.empty(len(nodes), np.int64)
        turn[order] = np.arange(len(nodes)) - np.searchsorted(kind[order], kind[order])
        return nodes[np.lexsort((nodes, ~own, turn))][: max(0, room)]

    def _between(self, nodes: Nodes) -> Nodes:
        """The edges between the given nodes, each once, from its source: [edge, 3]."""
        order = np.argsort(nodes)
        ranked, found = nodes[order], [np.zeros((0, 3), np.int64)]
        for position, node in enumerate(nodes.tolist()):
            start, end = int(self._starts[node]), int(self._starts[node + 1])
            row = self._others[start:end]
            if len(row) > ROW:  # look for the few in the many
                low, high = (np.searchsorted(row, ranked, side=side) for side in ("left", "right"))
                at = np.concatenate([np.arange(*ends) for ends in zip(low, high, strict=True)])
            else:
                at = np.flatnonzero(np.isin(row, ranked))
            at = at[self._along[start + at]].astype(np.int64)
            there = order[np.searchsorted(ranked, row[at])]
            found.append(np.stack([np.full_like(there, position), there, self._kinds[start + at]], axis=1))
        return np.concatenate(found).astype(np.int64)
