"""A graph of several node types and named relations, one type carrying the labels: checked, immutable, printable.

Everything else works on a `Graph`. `RelationalGraph.to_graph` gives the one of the labelled type: its edges are the
union of the paths that lead from it to other types and back, and `Graph.relations` keeps the relations themselves, from
which the classifier `views` makes its views.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.graph.checks import frozen, label_ids, valid_class_names
from nodewise.graph.graph import Graph
from nodewise.graph.label_sets import are_sets, label_sets, look_like_sets
from nodewise.graph.relations import DIRECTED_NOTE, LEADING, Incidence, NodeType, Relation, Relations
from nodewise.ground.errors import GraphError
from nodewise.ground.events import count, html_table, listed

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import HeteroData

__all__ = ["RelationalGraph", "plain_edges"]

_NEAREST = 16
"""Nodes of the labelled type that each is joined to for each relation or path: those it has most in common with."""

_TOGETHER = 64
"""Nodes that are compared with each other because they share one node of another type.

Those of a larger circle, such as all papers of one subject, are drawn into circles of this size, from a fixed seed.
"""

_PAIRS = 2**25
"""Pairs that a path of two may have at most to be part of the union."""

_ROWS = 2048


@dataclass(frozen=True, eq=False, repr=False)
class RelationalGraph:
    """A graph of several node types and named relations.

    Example:
        >>> from nodewise.graph import NodeType, Relation, RelationalGraph
        >>> papers, authors = NodeType("paper", 3), NodeType("author", 2)
        >>> written = Relation("written by", "paper", "author", [[0, 1, 1, 2], [0, 0, 1, 1]])
        >>> RelationalGraph((papers, authors), (written,), "paper", y=["a", None, "b"])
        RelationalGraph('graph': 3 papers (labelled: 2 classes), 2 authors; written by: 4 edges)

    Attributes:
        types: the node types, with features, names and attributes where there are any.
        relations: the relations, each between two of the types.
        labelled: the name of the type that carries the labels.
        y: int64 [node of the labelled type], -1 for an unlabelled one; None without any labels. Given as integers or
            as texts, as for `Graph.build`; sets of classes become `y_sets`.
        class_names: the names of the classes.
        name: what the graph is called.
        extra: fields of a file that are not known here.
        notes: what a reader dropped or changed, in words.
        y_sets: int8 [node of the labelled type, class] where a node may have several classes, as in `Graph`; `y` is
            None then.
    """

    types: tuple[NodeType, ...]
    relations: tuple[Relation, ...]
    labelled: str
    y: Any = None
    class_names: Sequence[str] = ()
    name: str = "graph"
    extra: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    y_sets: Any = None

    def __post_init__(self) -> None:
        for several, kind in ((self.types, NodeType), (self.relations, Relation)):
            if not isinstance(several, (tuple, list)) or not all(isinstance(each, kind) for each in several):
                name, got = kind.__name__, type(several).__name__
                raise GraphError(f"a list of {name} was expected, received {got}: give [{name}(…), …]")
        record = Relations(tuple(self.types), tuple(self.relations), self.labelled)
        ids, sets, names = None, None, valid_class_names(self.class_names)
        if self.y is not None and self.y_sets is not None:
            raise GraphError("both y and y_sets are given: a node has one class, or it may have several; drop one")
        if self.y_sets is not None or are_sets(self.y, self.class_names):
            given_sets = self.y if self.y_sets is None else np.asarray(self.y_sets)
            sets, names, changed = label_sets(given_sets, self.class_names or None, record.labelled_type.count)
            object.__setattr__(self, "notes", (*self.notes, *changed))
            sets = frozen(sets)
        elif self.y is not None:
            ids, names, changed = label_ids(self.y, self.class_names or None, record.labelled_type.count)
            changed += [] if self.class_names else look_like_sets(self.y)
            object.__setattr__(self, "notes", (*self.notes, *changed))
            ids = frozen(ids)
        given: dict[str, Any] = {"types": record.types, "relations": record.relations, "y": ids, "class_names": names}
        given |= {"extra": MappingProxyType({str(k): frozen(np.asarray(v)) for k, v in self.extra.items()})}
        given |= {"y_sets": sets, "name": str(self.name), "notes": tuple(map(str, self.notes))}
        for key, value in given.items():
            object.__setattr__(self, key, value)

    @classmethod
    def of(cls, graph: Graph) -> RelationalGraph:
        """The whole of a graph that has relations, its own parts as those of the labelled type.

        Raises:
            GraphError: it has none.
        """
        record = graph.relations
        if record is None:
            raise GraphError(f"the graph {graph.name!r} has one type of nodes and no relations: use it as it is")
        x = graph.x if graph.x_offset is None else graph.dense_features()
        own = NodeType(record.labelled, graph.num_nodes, x, graph.node_names, graph.attributes)
        types = tuple(own if kind.name == record.labelled else kind for kind in record.types)
        return cls(
            types,
            record.relations,
            record.labelled,
            graph.y,
            graph.class_names,
            graph.name,
            graph.extra,
            tuple(note for note in graph.notes if note != plain_edges(record)),
            graph.y_sets,
        )

    @classmethod
    def from_pyg(cls, data: HeteroData, labelled: str | None = None, name: str | None = None) -> RelationalGraph:
        """The graph of a PyTorch Geometric `HeteroData`; see `nodewise.graph.convert.hetero.from_hetero`."""
        from nodewise.graph.convert.hetero import from_hetero

        return from_hetero(data, labelled, name)

    def to_pyg(self) -> HeteroData:
        """A PyTorch Geometric `HeteroData`; see `nodewise.graph.convert.hetero.to_hetero`."""
        from nodewise.graph.convert.hetero import to_hetero

        return to_hetero(self)

    @classmethod
    def from_networkx(cls, graph: nx.Graph[Any], labelled: str | None = None, **attributes: Any) -> RelationalGraph:
        """The graph of a networkx one whose attributes name types, relations and classes (`type`, `relation`, `label`).

        See `nodewise.graph.convert.typed_networks.from_typed_networkx`.
        """
        from nodewise.graph.convert.typed_networks import from_typed_networkx

        return from_typed_networkx(graph, labelled, **attributes)

    def to_networkx(self) -> nx.MultiDiGraph[Any]:
        """A `networkx.MultiDiGraph`; see `nodewise.graph.convert.typed_networks.to_typed_networkx`."""
        from nodewise.graph.convert.typed_networks import to_typed_networkx

        return to_typed_networkx(self)

    @property
    def record(self) -> Relations:
        """What `Graph.relations` holds: the labelled type by its name and number alone."""
        types = tuple(NodeType(kind.name, kind.count) if kind.name == self.labelled else kind for kind in self.types)
        return Relations(types, self.relations, self.labelled)

    def to_graph(self) -> Graph:
        """The plain graph of the labelled type, with the relations beside it.

        Its edges are those of relations within the type, and pairs of nodes that share a node of another type, by one
        relation or by a path of two: for each of these the 16 that a node has most in common with, where what a node
        shares with few counts more. All have the same total weight, and weights of a pair add up.
        """
        own, record = next(kind for kind in self.types if kind.name == self.labelled), self.record
        edges, weights = _union(record)
        return Graph(
            edges,
            own.count,
            own.x,
            self.y,
            tuple(self.class_names),
            own.names,
            own.attributes,
            self.name,
            self.extra,
            (*self.notes, plain_edges(record)),
            edge_weight=weights,
            relations=record,
            y_sets=self.y_sets,
        )

    def with_labelled(self, name: str) -> RelationalGraph:
        """The same with another type to be labelled, which has no labels yet; further fields are left out."""
        return RelationalGraph(self.types, self.relations, name, name=self.name, notes=self.notes)

    def equals(self, other: RelationalGraph) -> bool:
        """Whether both hold the same, `notes` left out."""
        return self.to_graph().equals(other.to_graph())

    def __reduce__(self) -> tuple[type[RelationalGraph], tuple[Any, ...]]:
        parts = (self.types, self.relations, self.labelled, self.y, self.class_names, self.name)
        return RelationalGraph, (*parts, dict(self.extra), self.notes, self.y_sets)

    def __repr__(self) -> str:
        types = []
        for kind in self.types:
            labelled = f" (labelled: {count(len(self.class_names), 'class', 'classes')})"
            types.append(count(kind.count, kind.name) + (labelled if kind.name == self.labelled else ""))
        relations = [f"{relation.name}: {count(relation.edge_index.shape[1], 'edge')}" for relation in self.relations]
        return f"RelationalGraph({self.name!r}: {', '.join(types)}; {', '.join(relations) or 'no relations'})"

    def _repr_html_(self) -> str:
        """A small table for notebooks: types and relations."""
        types = {kind.name: count(kind.count, "node") for kind in self.types}
        relations = {
            f"{each.name} ({each.source}, {each.target})": count(each.edge_index.shape[1], "edge")
            for each in self.relations
        }
        return html_table(f"{self.name}, labelled: {self.labelled}", {**types, **relations})


def plain_edges(record: Relations) -> str:
    """What the edges of the plain graph are, in a note's words."""
    if record.directed:
        return DIRECTED_NOTE
    within, shared = [part.name for part in _within(record)], [part.name for part in _shared(record)]
    names = listed(dict.fromkeys([*within, *shared])) or "no relation"
    return (
        f"the edges are the union of the paths from {record.labelled} to {record.labelled} by {names}, weighted;"
        " methods other than views see these alone"
    )


def _union(record: Relations) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32] | None]:
    """The edges among the labelled nodes that all relations together give, and their weights: [2, edge], [edge].

    Of a directed graph these are its edges.
    """
    size = record.labelled_type.count
    if record.directed:
        plain = Graph.build(record.relations[0].edge_index, size, edge_weight=record.relations[0].weight)
        return plain.edge_index, plain.edge_weight
    total: sp.csr_matrix[np.float64] = sp.csr_matrix((size, size))
    for relation in _within(record):
        matrix = relation.matrix(size, size).astype(np.float64)
        total = total + _of_one_weight(matrix + matrix.T)
    for incidence in _shared(record):
        total = total + _of_one_weight(_in_common(incidence))
    upper = sp.triu(total, 1).tocsr()
    upper.sort_indices()
    whole = upper.tocoo()
    return np.stack([whole.row, whole.col]).astype(np.int64), whole.data.astype(np.float32)


def _within(record: Relations) -> list[Relation]:
    """The relations that join labelled nodes to each other."""
    return [relation for relation in record.relations if relation.source == relation.target == record.labelled]


def _shared(record: Relations) -> list[Incidence]:
    """Those that lead to another type and that are part of the union: not what would join almost all to almost all."""
    leading = (incidence for incidence in record.incidences[:LEADING] if incidence.reaches != record.labelled)
    return [incidence for incidence in leading if incidence.spread() <= _PAIRS]


def _of_one_weight(matrix: sp.csr_matrix[np.float64]) -> sp.csr_matrix[np.float64]:
    total = matrix.sum()
    return matrix * (matrix.shape[0] / total) if total else matrix


def _in_common(incidence: Incidence) -> sp.csr_matrix[np.float64]:
    """What each node has in common with those it shares most with: symmetric, float64 CSR [node, node].

    Σ_j b_ij b_kj / n_j over the nodes j at the end, n_j how many reach j.
    """
    draws = np.random.default_rng(0)
    shared = _small_circles(incidence.matrix, draws).astype(np.float64)
    circle = np.maximum(np.asarray(shared.sum(0)).ravel(), 1e-12)
    across = (sp.diags(1 / circle) @ shared.T).tocsr()
    rows, columns, values = [], [], []
    for first in range(0, shared.shape[0], _ROWS):
        block = (shared[first : first + _ROWS] @ across).tocoo()
        keep = block.row + first != block.col
        row, column, value = block.row[keep] + first, block.col[keep], block.data[keep]
        falling = np.lexsort((-value * (1 + 1e-3 * draws.random(len(value))), row))  # equals are drawn
        row, column, value = row[falling], column[falling], value[falling]
        starts = np.searchsorted(row, row)
        most = np.arange(len(row)) - starts < _NEAREST
        rows.append(row[most])
        columns.append(column[most])
        values.append(value[most])
    ends = (np.concatenate(rows), np.concatenate(columns))
    matrix = sp.csr_matrix((np.concatenate(values), ends), shape=(shared.shape[0],) * 2)
    return matrix.maximum(matrix.T).tocsr()


def _small_circles(matrix: sp.csr_matrix[np.float32], draws: np.random.Generator) -> sp.csr_matrix[np.float32]:
    """The incidence with every column of more than 64 nodes split into several."""
    columns = matrix.tocsc()
    sizes = np.diff(columns.indptr)
    order = np.lexsort((draws.random(columns.nnz), np.repeat(np.arange(len(sizes)), sizes)))
    within = np.arange(columns.nnz) - np.repeat(columns.indptr[:-1], sizes)
    parts = np.maximum(1, -(-sizes // _TOGETHER))
    first = np.cumsum(parts) - parts
    circle = np.repeat(first, sizes) + within // _TOGETHER
    return sp.csr_matrix(
        (columns.data[order], (columns.indices[order], circle)), shape=(matrix.shape[0], int(parts.sum()))
    )
