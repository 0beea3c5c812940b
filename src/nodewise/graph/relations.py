"""Relations between nodes of several types: what they are, and what they say of the one type that carries the labels.

A relation joins nodes of two types, or of one. It is read both ways, whatever way its name runs. What it says of the
labelled type is an **incidence**: which of its nodes reach which nodes at the other end, by one relation or by a path
of two.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import chain, islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.graph.checks import check_features, check_names, check_strings, frozen
from nodewise.graph.weights import SMALLEST
from nodewise.ground.errors import GraphError
from nodewise.ground.events import count, listed

if TYPE_CHECKING:
    from nodewise.graph.checks import Features

__all__ = [
    "DIRECTED_NOTE",
    "LEADING",
    "RELATIONS_VERSION",
    "Incidence",
    "NodeType",
    "Relation",
    "Relations",
    "direction_of",
]

LEADING = 4
"""Incidences that have views of their own and make up the edges of the plain graph, at most.

Relations of the labelled type come before paths of two, and of each those that most of its nodes take part in.
"""

_ALL = 12
"""Incidences that are looked at altogether, at most, in the same order."""

RELATIONS_VERSION = 4
"""Raised by hand when what methods make of several node types changes: what was kept of such graphs is made anew."""

DIRECTED_NOTE = "the edges lead both ways for every method; views reads their direction, too, along and against"

DIRECTED, _ONLY = "edges", "node"
"""What the only relation and the only type of a directed graph are called."""


@dataclass(frozen=True, eq=False)
class NodeType:
    """Nodes of one type.

    Attributes:
        name: such as "paper".
        count: how many nodes.
        x: float32 [node, feature], dense or CSR, or None.
        names: one unique name for each node, or None.
        attributes: name -> [node] of str, to show a person.
    """

    name: str
    count: int
    x: Features | None = None
    names: tuple[str, ...] | None = None
    attributes: Mapping[str, npt.NDArray[np.object_]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise GraphError(f"a node type needs a name, received {self.name!r}: give it one, such as 'paper'")
        if isinstance(self.count, bool) or not isinstance(self.count, (int, np.integer)) or self.count < 1:
            raise GraphError(
                f"the node type {self.name!r} has {self.count!r} nodes: it needs a whole number, at least one; leave an"
                " empty type out"
            )
        try:
            x, _ = check_features(self.x, None, int(self.count))
            names = None if self.names is None else check_names("node", self.names, int(self.count))
            attributes = {str(k): frozen(check_strings(str(k), v, int(self.count))) for k, v in self.attributes.items()}
        except GraphError as error:
            raise GraphError(f"the node type {self.name!r}: {error}") from None
        given = {"count": int(self.count), "x": x, "names": names, "attributes": MappingProxyType(attributes)}
        for key, value in given.items():
            object.__setattr__(self, key, value)

    def __reduce__(self) -> tuple[type[NodeType], tuple[Any, ...]]:
        return NodeType, (self.name, self.count, self.x, self.names, dict(self.attributes))

    def called(self, node: int) -> str:
        """What a person calls one of its nodes: its attribute "name" or "title", its name, else type and index."""
        for key in ("name", "title"):
            if key in self.attributes and self.attributes[key][node]:
                return str(self.attributes[key][node])
        return self.names[node] if self.names is not None else f"{self.name} {node}"


@dataclass(frozen=True, eq=False)
class Relation:
    """Edges of one kind.

    Attributes:
        name: such as "written by".
        source, target: the types at its two ends; the same one for a relation within a type.
        edge_index: int64 [2, edge], indices within the two types, each pair once, sorted.
        weight: float32 [edge], positive and finite, or None; all equal are None.
    """

    name: str
    source: str
    target: str
    edge_index: npt.NDArray[np.int64]
    weight: npt.NDArray[np.float32] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise GraphError(f"a relation needs a name, received {self.name!r}: give it one, such as 'written by'")
        if not (isinstance(self.source, str) and isinstance(self.target, str)):
            raise GraphError(
                f"the relation {self.name!r} joins {self.source!r} and {self.target!r}: name the node types at its two"
                " ends, such as 'paper' and 'author'"
            )
        edges, weight = _pairs(self.name, self.edge_index, self.weight)
        object.__setattr__(self, "edge_index", frozen(edges))
        object.__setattr__(self, "weight", None if weight is None else frozen(weight))

    def __reduce__(self) -> tuple[type[Relation], tuple[Any, ...]]:
        return Relation, (self.name, self.source, self.target, self.edge_index, self.weight)

    def matrix(self, rows: int, columns: int) -> sp.csr_matrix[np.float32]:
        """Which nodes of the source it joins to which of the target: float32 CSR [source node, target node]."""
        values = np.ones(self.edge_index.shape[1], np.float32)
        if self.weight is not None:
            values = np.maximum(self.weight / self.weight.mean(dtype=np.float64), SMALLEST).astype(np.float32)
        return sp.csr_matrix((values, tuple(self.edge_index)), shape=(rows, columns))


@dataclass(frozen=True, eq=False)
class Incidence:
    """Which nodes of the labelled type reach which nodes at the end of a relation or of a path of two.

    Attributes:
        name: of the relation; of a path both, with a comma between them; of a relation within the labelled type that
            is not the same both ways, with "along" or "against" behind it.
        reaches: the type at the end.
        steps: one CSR matrix for each relation on the way, the first [labelled node, node], read from there.
    """

    name: str
    reaches: str
    steps: tuple[sp.csr_matrix[np.float32], ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Labelled nodes, and nodes that can be reached."""
        return int(self.steps[0].shape[0]), int(self.steps[-1].shape[1])

    @property
    def entries(self) -> int:
        """Numbers that one product with it takes."""
        return sum(int(step.nnz) for step in self.steps)

    def spread(self) -> int:
        """Pairs that its matrix holds at most: how large it may become when it is made."""
        along: npt.NDArray[Any] = np.ones(self.steps[-1].shape[1])
        for step in reversed(self.steps):
            along = sp.csr_matrix((np.ones(step.nnz), step.indices, step.indptr), shape=step.shape) @ along
        return int(along.sum())

    @cached_property
    def matrix(self) -> sp.csr_matrix[np.float32]:
        """The number of ways, or their weight, from each labelled node to each node at the end: CSR."""
        whole = self.steps[0]
        for step in self.steps[1:]:
            whole = (whole @ step).tocsr()
        whole.sort_indices()
        return whole


@dataclass(frozen=True, eq=False, repr=False)
class Relations:
    """The node types and relations around the labelled type, as `Graph.relations` holds them.

    Of the labelled type it has the name and the number of nodes alone: what else there is of it stands in the graph.

    Attributes:
        types: the node types.
        relations: the relations.
        labelled: the name of the type that carries the labels.
    """

    types: tuple[NodeType, ...]
    relations: tuple[Relation, ...]
    labelled: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "types", tuple(self.types))
        object.__setattr__(self, "relations", tuple(self.relations))
        known = [kind.name for kind in self.types]
        for what, names in (("node types", known), ("relations", [relation.name for relation in self.relations])):
            double = next((name for at, name in enumerate(names) if name in names[:at]), None)
            if double is not None:
                raise GraphError(f"two {what} are called {double!r}: give each a name of its own")
        if self.labelled not in known:
            raise GraphError(
                f"no node type carries the labels: received {self.labelled!r}, there are"
                f" {listed(known) or 'no types'}; name one of these as the labelled type"
            )
        for relation in self.relations:
            self._check(relation)

    def _check(self, relation: Relation) -> None:
        for end, name in enumerate((relation.source, relation.target)):
            if name not in self.by_name:
                raise GraphError(
                    f"the relation {relation.name!r} names the type {name!r}, which is missing: there are"
                    f" {listed(self.by_name)}; add its nodes, or correct the name"
                )
            largest, size = int(relation.edge_index[end].max(initial=-1)), self.by_name[name].count
            if largest >= size:
                raise GraphError(
                    f"the relation {relation.name!r} leads to node {largest} of the type {name!r}, which has {size}"
                    f" nodes, numbered 0 to {size - 1}: correct the edge or add the node"
                )

    def __reduce__(self) -> tuple[type[Relations], tuple[Any, ...]]:
        return Relations, (self.types, self.relations, self.labelled)

    def __repr__(self) -> str:
        parts = [f"{kind.count:,} × {kind.name}" for kind in self.types]
        parts += [
            f"{relation.source} –{relation.name}– {relation.target}: {count(relation.edge_index.shape[1], 'edge')}"
            for relation in self.relations
        ]
        return f"Relations({'; '.join(parts)}; labelled: {self.labelled})"

    @cached_property
    def by_name(self) -> Mapping[str, NodeType]:
        """The node types by their names."""
        return MappingProxyType({kind.name: kind for kind in self.types})

    @property
    def labelled_type(self) -> NodeType:
        """The type that carries the labels."""
        return self.by_name[self.labelled]

    @property
    def one_type(self) -> bool:
        """Whether there is no other type than the labelled one, as in a directed graph."""
        return len(self.types) == 1

    @cached_property
    def directed(self) -> bool:
        """Whether it says nothing but the direction of a graph's edges: what `direction_of` gives, and no more."""
        if (self.labelled, *(relation.name for relation in self.relations)) != (_ONLY, DIRECTED) or not self.one_type:
            return False
        (relation,), size = self.relations, self.labelled_type.count
        loops = bool((relation.edge_index[0] == relation.edge_index[1]).any())
        return not loops and not _symmetric(relation.matrix(size, size))

    @cached_property
    def incidences(self) -> tuple[Incidence, ...]:
        """What the relations say of the labelled type, those that lead first (see `LEADING`), a dozen at most."""
        steps = cache(lambda start: [*self._steps(start)])
        own = sorted(steps(self.labelled), key=lambda step: -int(np.count_nonzero(np.diff(step[3].indptr))))
        single = (Incidence(name, reaches, (matrix,)) for name, _, reaches, matrix in own)
        double = (
            Incidence(f"{first}, {second}", reaches, (one, two))
            for first, way, through, one in ([] if self.one_type else own)
            for second, back, reaches, two in steps(through)
            if not (way.name == back.name or reaches == through == self.labelled)
        )
        return tuple(islice((incidence for incidence in chain(single, double) if incidence.entries), _ALL))

    def _steps(self, start: str) -> Iterator[tuple[str, Relation, str, sp.csr_matrix[np.float32]]]:
        """What leads away from a type: its name, the relation, the type at the end, and the matrix."""
        for relation in self.relations:
            if start not in (relation.source, relation.target):
                continue
            matrix = relation.matrix(self.by_name[relation.source].count, self.by_name[relation.target].count)
            if relation.source != relation.target:
                along = relation.source == start
                other = relation.target if along else relation.source
                yield relation.name, relation, other, matrix if along else matrix.T.tocsr()
            elif _symmetric(matrix):
                yield relation.name, relation, start, matrix
            else:
                yield f"{relation.name} along", relation, start, matrix
                yield f"{relation.name} against", relation, start, matrix.T.tocsr()

    def part(self, nodes: npt.NDArray[np.int64]) -> Relations:
        """The same with some of the labelled nodes alone, int64 [node], numbered anew in that order."""
        index = np.full(self.labelled_type.count, -1, np.int64)
        index[nodes] = np.arange(len(nodes))
        relations = []
        for relation in self.relations:
            ends = [
                index[end] if name == self.labelled else end
                for end, name in zip(relation.edge_index, (relation.source, relation.target), strict=True)
            ]
            stays = (ends[0] >= 0) & (ends[1] >= 0)
            weight = None if relation.weight is None else relation.weight[stays]
            relations.append(replace(relation, edge_index=np.stack(ends)[:, stays], weight=weight))
        types = [NodeType(kind.name, len(nodes)) if kind.name == self.labelled else kind for kind in self.types]
        return Relations(tuple(types), tuple(relations), self.labelled)

    def shared(self, node: int, others: Sequence[int]) -> tuple[str, int, list[str]] | None:
        """What a labelled node has in common with another: in words which relation and type, the node, and names.

        Args:
            node: of the labelled type.
            others: nodes of the labelled type to compare it with.

        Returns:
            The type, the node that shares most of that type, and what the shared nodes are called; None where nothing
            is shared. What fewer have in common counts more: of equals the type with more nodes goes first.
        """
        best: tuple[int, int, str, int, npt.NDArray[np.integer[Any]]] | None = None
        for incidence in self.incidences:
            if len(incidence.steps) > 1 or incidence.reaches == self.labelled:
                continue
            matrix, size = incidence.steps[0], self.by_name[incidence.reaches].count
            own = matrix.indices[matrix.indptr[node] : matrix.indptr[node + 1]]
            for other in others:
                both = np.intersect1d(own, matrix.indices[matrix.indptr[other] : matrix.indptr[other + 1]])
                if len(both) and (best is None or (len(both), size) > best[:2]):
                    best = (len(both), size, incidence.reaches, int(other), both)
        if best is None:
            return None
        _, _, kind, nearest, shared = best
        return kind, nearest, [self.by_name[kind].called(int(at)) for at in shared]

    @cached_property
    def fingerprint(self) -> str:
        """A digest of what a simulation reads of them: edges, weights and features."""
        version = "" if self.one_type else f"{RELATIONS_VERSION} "
        digest = hashlib.blake2b(f"{version}{self.labelled}".encode(), digest_size=8)
        for kind in self.types:
            digest.update(f"{kind.name} {kind.count}".encode())
            for array in _feature_arrays(kind.x):
                digest.update(f"{array.dtype}{array.shape}".encode())
                digest.update(np.ascontiguousarray(array).data)
        for relation in self.relations:
            digest.update(f"{relation.name} {relation.source} {relation.target}".encode())
            for part in (relation.edge_index, relation.weight):
                digest.update(b"-" if part is None else np.ascontiguousarray(part).data)
        return digest.hexdigest()

    def equals(self, other: Relations | None) -> bool:
        """Whether both hold the same: features, names and attributes included."""
        if other is None or self.labelled != other.labelled or self.fingerprint != other.fingerprint:
            return False
        return all(
            one.names == its.names
            and list(one.attributes) == list(its.attributes)
            and all(np.array_equal(one.attributes[key], its.attributes[key]) for key in one.attributes)
            for one, its in zip(self.types, other.types, strict=True)
        )


def direction_of(edges: npt.NDArray[np.integer[Any]], num_nodes: int, weight: Any = None) -> Relations | None:
    """The direction of a graph's edges as a relation of its nodes; None where each leads both ways.

    Args:
        edges: [2, edge], from row 0 to row 1, as the source has them; self loops are left out.
        num_nodes: how many nodes.
        weight: [edge], or None.
    """
    proper = edges[0] != edges[1]
    kept = None if weight is None else np.asarray(weight)[proper]
    relation = Relation(DIRECTED, _ONLY, _ONLY, edges[:, proper].astype(np.int64), kept)
    record = Relations((NodeType(_ONLY, num_nodes),), (relation,), _ONLY)
    return record if record.directed else None


def _pairs(name: str, edges: Any, weight: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32] | None]:
    """Pairs sorted and each once, with the weights of one that is given twice added up."""
    try:
        given = np.asarray(edges)
    except ValueError as error:  # rows of different lengths
        raise GraphError(
            f"the relation {name!r} needs as many ends in row 0 as in row 1 of its edges ({error}): each edge has two"
        ) from None
    given = given if given.size else np.zeros((2, 0), np.int64)
    if given.ndim != 2 or given.shape[0] != 2 or given.dtype.kind not in "iu":
        raise GraphError(
            f"the relation {name!r} needs edges as integers of the shape [2, edges], received {given.dtype} of the"
            f" shape {list(given.shape)}: row 0 holds indices of its first type, row 1 of its second"
        )
    if given.size and int(given.min()) < 0:
        raise GraphError(f"the relation {name!r} leads to node {int(given.min())}: nodes are numbered from 0")
    given = given.astype(np.int64, copy=False)
    values = None if weight is None else _weights(name, weight, given.shape[1])
    source, target = given
    if bool(((source[1:] > source[:-1]) | ((source[1:] == source[:-1]) & (target[1:] > target[:-1]))).all()):
        return given, _telling(values)
    order = np.lexsort((target, source))
    given = given[:, order]
    fresh = np.ones(given.shape[1], bool)
    fresh[1:] = (given[:, 1:] != given[:, :-1]).any(0)
    if values is not None:
        added = np.add.reduceat(values[order].astype(np.float64), np.flatnonzero(fresh))
        values = _weights(name, added, len(added))
    return given[:, fresh], _telling(values)


def _symmetric(matrix: sp.csr_matrix[np.float32]) -> bool:
    return bool(abs(matrix - matrix.T.tocsr()).nnz == 0)


def _weights(name: str, weight: Any, edges: int) -> npt.NDArray[np.float32]:
    given = np.asarray(weight)
    if given.shape != (edges,) or given.dtype.kind not in "iuf":
        raise GraphError(
            f"the relation {name!r} needs one number as the weight of each of its {edges} edges, received"
            f" {given.dtype} of the shape {list(given.shape)}"
        )
    with np.errstate(over="ignore", under="ignore"):
        values = given.astype(np.float32)
    bad = ~(np.isfinite(values) & (values > 0))
    if bad.any():
        value = given[bad.argmax()]
        raise GraphError(
            f"the weight of edge {int(bad.argmax())} of the relation {name!r} is {value}: weights must be positive and"
            + (
                " such that float32 can hold them; multiply all by one factor, which changes nothing else"
                if np.isfinite(value) and value > 0
                else " finite; give the edge one, or leave it out"
            )
        )
    return values


def _telling(values: npt.NDArray[np.float32] | None) -> npt.NDArray[np.float32] | None:
    """The weights; None where all are equal, which says nothing."""
    return None if values is None or not len(values) or (values == values[0]).all() else values


def _feature_arrays(x: Features | None) -> Sequence[npt.NDArray[Any]]:
    if x is None:
        return ()
    return (x,) if isinstance(x, np.ndarray) else (x.data, x.indices, x.indptr)
