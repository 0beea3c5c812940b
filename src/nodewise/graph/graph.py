"""The graph that everything else works on: an immutable, checked record; how it is said what was done to features."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.graph.checks import (
    check_canonical_edges,
    check_features,
    check_labels,
    check_names,
    check_strings,
    frozen,
    label_ids,
    undirected_edges,
    unscaled,
    valid_class_names,
)
from nodewise.graph.label_sets import (
    answered_nodes,
    are_sets,
    check_label_sets,
    homophily_of_sets,
    label_sets,
    look_like_sets,
)
from nodewise.graph.relations import DIRECTED_NOTE, Relations, direction_of
from nodewise.graph.weights import added_weights, check_weights, relative_weights
from nodewise.ground.errors import GraphError, InputError, UnknownNameError

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import Data

    from nodewise.graph.checks import Features
    from nodewise.graph.preparation import Preparation

__all__ = [
    "FIRST_COLUMNS",
    "PAPER_FEATURES",
    "PREPROCESSING",
    "Graph",
    "canonical_features",
    "fingerprint",
    "recorded_steps",
]

PAPER_FEATURES = {
    "cora": "raw",
    "citeseer": "row+center",
    "pubmed": "row+center",
    "coauthor-cs": "binary",
    "coauthor-physics": "binary+first2000",
    **{f"reddit{i}": "raw" for i in range(1, 6)},
    "reddit-case-study": "raw",
}
"""What the figures of the paper's ten graphs and of its case study were made with.

For any other graph ``paper`` changes nothing.
"""

PREPROCESSING = {
    "raw": "as they are",
    "paper": "what the paper did with this graph, by the graph's name",
    "unit": "every row divided by its L2 length",
    "row": "every row divided by the sum of its absolute values",
    "center": "every column's mean subtracted",
    "binary": "1 for every value that is not 0",
    "firstN": "the first N columns, such as first2000",
    "structural": "replaced by structural features, which need only the edges",
}
"""The steps there are. Join them with + (or a comma): they are done from left to right."""

FIRST_COLUMNS = re.compile(r"first([1-9][0-9]*)")
"""The step ``firstN``."""


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """An undirected graph without self loops, with features, labels and things to show a person where there are any.

    Example:
        >>> import nodewise as nw
        >>> nw.Graph.build([[0, 1], [1, 2]], x=[[1.0], [0.5], [0.0]], y=["a", None, "b"])
        Graph('graph': 3 nodes, 2 edges, 1 dense feature, 2 classes, 1 unlabelled)

    `Graph.build` takes input of any form and brings it into this one; the constructor itself only accepts what is in
    this form already. Arrays are read-only.

    Attributes:
        edge_index: int64 [2, edge], each undirected edge once, row 0 < row 1, sorted by (row 0, row 1).
        num_nodes: how many nodes, isolated ones included.
        x: float32 [node, feature], dense or CSR, or None.
        y: int64 [node], a class in 0 … C-1 or -1 for an unlabelled node; None without any labels.
        class_names: the C names; ids with gaps are compacted, and the id in the source becomes the name.
        node_names: one unique name for each node, or None: then a node is called by its index.
        attributes: name -> [node] of str, to show a person: title, text, link, picture.
        name: what the graph is called.
        extra: fields of a file that are not known here; they survive npz to npz.
        notes: what construction dropped or changed, in words.
        x_offset: float32 [feature] or None. The features that count are ``x - x_offset``: so sparse features can be
            centred and stay sparse. `dense_features` gives them as one array.
        features: what was done to the features, in the spelling of `canonical_features`, such as
            ``"row+center"``; ``"raw"`` where nothing was, where there are none, or where nobody knows.
        edge_weight: float32 [edge], positive and finite, as they were given; None where there are none or all are
            equal, which says the same. Only their ratios count: they are used divided by their mean.
        preparation: how rows (texts, tables, pictures, vectors) became the features, so that new rows can; None where
            nobody knows.
        relations: the node types and relations that the edges were made of, or their direction; None for a plain graph.
            See `nodewise.graph.relational`.
        y_sets: int8 [node, class] where a node may have several classes, 1 for each that it has; a row of zeros is an
            answer, none of them, a row of -1 an unlabelled node. None otherwise; `y` is None then.
    """

    edge_index: npt.NDArray[np.int64]
    num_nodes: int
    x: Features | None = None
    y: npt.NDArray[np.int64] | None = None
    class_names: tuple[str, ...] = ()
    node_names: tuple[str, ...] | None = None
    attributes: Mapping[str, npt.NDArray[np.object_]] = field(default_factory=dict)
    name: str = "graph"
    extra: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    x_offset: npt.NDArray[np.float32] | None = None
    features: str = "raw"
    edge_weight: npt.NDArray[np.float32] | None = None
    preparation: Preparation | None = None
    relations: Relations | None = None
    y_sets: npt.NDArray[np.int8] | None = None

    def __post_init__(self) -> None:
        size = self.num_nodes
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
            raise GraphError(
                f"a graph needs at least one node, num_nodes is {size!r}: check that the source is not empty"
            )
        if self.y is not None and self.y_sets is not None:
            raise GraphError("both y and y_sets are given: a node has one class, or it may have several; drop one")
        given = {
            "num_nodes": int(size),
            "edge_index": frozen(check_canonical_edges(self.edge_index, int(size))),
            "y": None if self.y is None else frozen(check_labels(self.y, int(size), len(self.class_names))),
            "class_names": check_names("class", valid_class_names(self.class_names), None),
            "node_names": None if self.node_names is None else check_names("node", self.node_names, int(size)),
            "attributes": MappingProxyType(
                {str(k): frozen(check_strings(str(k), v, int(size))) for k, v in self.attributes.items()}
            ),
            "name": str(self.name),
            "extra": MappingProxyType({str(k): frozen(np.asarray(v)) for k, v in self.extra.items()}),
            "notes": tuple(map(str, self.notes)),
        }
        weights = self.edge_weight if self.edge_weight is None else check_weights(self.edge_weight, self.edge_index)
        given["edge_weight"] = None if weights is None else frozen(weights)
        if self.y_sets is not None:
            given["y_sets"] = frozen(check_label_sets(self.y_sets, int(size), len(self.class_names)))
        given["x"], given["x_offset"] = check_features(self.x, self.x_offset, int(size))
        given["features"] = canonical_features(self.features, str(self.name)) if given["x"] is not None else "raw"
        if self.relations is not None and self.relations.labelled_type.count != int(size):
            raise GraphError(
                f"the relations are of {self.relations.labelled_type.count} nodes of the type"
                f" {self.relations.labelled!r}, the graph has {int(size)}: give those of the same nodes"
            )
        for key, value in given.items():
            object.__setattr__(self, key, value)

    @classmethod
    def build(
        cls,
        edge_index: npt.ArrayLike,
        num_nodes: int | None = None,
        x: Any = None,
        y: Any = None,
        class_names: Sequence[str] | None = None,
        node_names: Sequence[str] | None = None,
        attributes: Mapping[str, Sequence[str]] | None = None,
        name: str = "graph",
        extra: Mapping[str, Any] | None = None,
        *,
        x_offset: Any = None,
        notes: Iterable[str] = (),
        features: str = "raw",
        edge_weight: Any = None,
        preparation: Preparation | None = None,
        relations: Relations | None = None,
        directed: bool = False,
        separator: str | None = None,
    ) -> Graph:
        """Builds a graph from whatever form the parts have.

        Args:
            edge_index: integers [2, edge]; duplicates, both directions and self loops are fine, `notes` says what was
                dropped.
            num_nodes: how many nodes; by default what the other parts say, else the largest index + 1.
            x: [node, feature], dense, scipy sparse, or None.
            y: [node] of integers (-1: unlabelled) or strings (empty, None or a word such as NaN: unlabelled), or None.
                Without `class_names`, the classes are those that occur, in order of their id or name; ids with gaps are
                compacted and become the names. Where nodes may have several classes: 0 or 1 [node, class], a list or
                set of classes for each node, or texts with a `separator`; an empty set is an answer, None is none.
            class_names: names of the classes 0 … C-1, or, for labels given as strings, all classes in the order wanted.
            node_names: unique names.
            attributes: name -> one string a node.
            name: what the graph is called.
            extra: arrays to keep along.
            x_offset: [feature], subtracted from every row of `x`.
            notes: what the caller has dropped or changed already.
            features: what the caller has done to the features already, such as ``"unit"``.
            edge_weight: [edge], a positive, finite number for each edge of `edge_index`, or None. Those of an edge that
                is given twice, or in both directions, add up; all equal are the same as none.
            preparation: how rows became the features, where they did.
            relations: what the edges were made of; see `nodewise.graph.relational`.
            directed: whether each edge leads from row 0 to row 1 alone. Their direction is kept as a relation, along
                and against, which `views` reads; what a method needs undirected it gets so.
            separator: what parts the classes where a text in `y` may name several, such as ``";"`` in ``"a;b"``.

        Raises:
            GraphError: if the parts do not fit together; the message says which and what to do.
        """
        remarks = list(notes)
        lengths = {
            "x": _rows(x),
            "y": _rows(y),
            "node_names": _rows(node_names),
            **{k: _rows(v) for k, v in (attributes or {}).items()},
        }
        size = next((n for n in (num_nodes, *lengths.values()) if n is not None), None)
        given = np.asarray(edge_index)
        given = given if given.size else np.zeros((2, 0), dtype=np.int64)
        edges_fit = given.ndim == 2 and given.shape[0] == 2 and given.dtype.kind in "iu"
        weights = check_weights(edge_weight, given) if edges_fit and edge_weight is not None else None
        edges, size, dropped = undirected_edges(given, size, weighted=weights is not None)
        remarks += dropped
        if directed and relations is None:
            relations = direction_of(given, size, weights)
            if relations is not None:  # what was given twice is added up there already
                given, weights = relations.relations[0].edge_index, relations.relations[0].weight
                remarks.append(DIRECTED_NOTE)
        ids: npt.NDArray[np.int64] | None = None
        names = valid_class_names(() if class_names is None else class_names)
        sets: npt.NDArray[np.int8] | None = None
        numbers = isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "iu"  # one class a node, as most have
        if y is not None and (separator is not None or (not numbers and are_sets(y, class_names))):
            sets, names, changed = label_sets(y, class_names, size, separator)
            remarks += changed
        elif y is not None:
            ids, names, changed = label_ids(y, class_names, size)
            remarks += changed + (look_like_sets(y) if class_names is None else [])
        graph = cls(
            edge_index=edges,
            num_nodes=size,
            x=x,
            y=ids,
            class_names=names,
            node_names=None if node_names is None else tuple(node_names),
            attributes={k: np.asarray(v, dtype=object) for k, v in (attributes or {}).items()},
            name=name,
            extra=dict(extra or {}),
            notes=tuple(remarks),
            x_offset=x_offset,
            features=features,
            edge_weight=None if weights is None else added_weights(weights, given, edges, size),
            preparation=preparation,
            relations=relations,
            y_sets=sets,
        )
        scales = unscaled(graph.x, graph.x_offset, graph.features)
        return graph if scales is None else replace(graph, notes=(*graph.notes, scales))

    @property
    def num_edges(self) -> int:
        """Undirected edges."""
        return int(self.edge_index.shape[1])

    @property
    def num_features(self) -> int:
        """Feature columns; 0 without features."""
        return 0 if self.x is None else int(self.x.shape[1])

    @property
    def num_classes(self) -> int:
        """Classes that have a name here, whether or not a node is labelled with them."""
        return len(self.class_names)

    @property
    def has_features(self) -> bool:
        """Whether there is at least one feature column."""
        return self.num_features > 0

    @property
    def several(self) -> bool:
        """Whether a node may have several classes, which `y_sets` holds."""
        return self.y_sets is not None

    @cached_property
    def labelled(self) -> npt.NDArray[np.bool_]:
        """Which nodes have an answer, none of the classes among them: bool [node]."""
        if self.y_sets is not None:
            return frozen(answered_nodes(self.y_sets))
        return frozen(np.zeros(self.num_nodes, bool) if self.y is None else np.asarray(self.y >= 0))

    @cached_property
    def degree(self) -> npt.NDArray[np.int64]:
        """Neighbours of each node, int64 [node]."""
        ends = [np.bincount(end, minlength=self.num_nodes) for end in self.edge_index]
        return frozen((ends[0] + ends[1]).astype(np.int64))

    @cached_property
    def homophily(self) -> float | None:
        """Share of the edges between two labelled nodes that join nodes of one class.

        Where a node may have several, of those that join nodes with a class in common, or two without any. None where
        there is no such edge.
        """
        if self.y_sets is not None:
            return homophily_of_sets(self.y_sets, self.edge_index)
        if self.y is None:
            return None
        one, other = self.y[self.edge_index[0]], self.y[self.edge_index[1]]
        both = (one >= 0) & (other >= 0)
        return float((one == other)[both].mean()) if both.any() else None

    @cached_property
    def index_of_name(self) -> Mapping[str, int]:
        """The nodes' indices by their names; empty where they have none."""
        return MappingProxyType({name: index for index, name in enumerate(self.node_names or ())})

    @cached_property
    def fingerprint(self) -> str:
        """A digest of what a simulation reads of the graph: edges, features and labels."""
        return fingerprint(self)

    def adjacency(self, *, weighted: bool = False) -> sp.csr_matrix[np.float32]:
        """The symmetric 0/1 adjacency matrix, float32 CSR [node, node], made anew at each call.

        Args:
            weighted: with the edges' weights divided by their mean in place of ones, where there are any.
        """
        kind = np.int32 if max(2 * self.num_edges, self.num_nodes) < 2**31 else np.int64
        low, high = self.edge_index.astype(kind)
        values = np.ones(self.num_edges, dtype=np.float32)
        if weighted and self.edge_weight is not None:
            values = relative_weights(self.edge_weight)
        upper = sp.csr_matrix((values, (low, high)), shape=(self.num_nodes, self.num_nodes))
        whole: sp.csr_matrix[np.float32] = (upper + upper.T).tocsr()
        whole.sort_indices()
        return whole

    def dense_features(self) -> npt.NDArray[np.float32]:
        """The features that count, ``x - x_offset``, as one new dense array, float32 [node, feature].

        No columns without features.
        """
        if self.x is None:
            return np.zeros((self.num_nodes, 0), dtype=np.float32)
        dense: npt.NDArray[np.float32] = self.x.toarray() if sp.issparse(self.x) else np.array(self.x)
        if self.x_offset is not None:
            dense -= self.x_offset
        return dense

    def equals(self, other: Graph) -> bool:
        """Whether both hold the same values in every field but `notes`.

        Sparse and dense storage of the same values are equal.
        """
        from nodewise.graph.differences import differences

        return not differences(self, other)

    def __reduce__(self) -> tuple[Callable[..., Graph], tuple[Any, ...]]:
        parts = (
            self.edge_index,
            self.num_nodes,
            self.x,
            self.y,
            self.class_names,
            self.node_names,
            dict(self.attributes),
        )
        more = (self.name, dict(self.extra), self.notes, self.x_offset, self.features, self.edge_weight)
        return Graph, (*parts, *more, self.preparation, self.relations, self.y_sets)

    def __repr__(self) -> str:
        from nodewise.graph.show import as_line

        return as_line(self)

    def _repr_html_(self) -> str:
        from nodewise.graph.show import as_html

        return as_html(self)

    @classmethod
    def from_pyg(cls, data: Data, name: str | None = None, *, directed: bool = False) -> Graph:
        """The graph of a PyTorch Geometric `Data`; see `nodewise.graph.convert.pyg.from_pyg`."""
        from nodewise.graph.convert.pyg import from_pyg

        return from_pyg(data, name, directed=directed)

    def to_pyg(self, *, sparse: bool = False) -> Data:
        """A PyTorch Geometric `Data` with every edge in both directions; see `nodewise.graph.convert.pyg.to_pyg`."""
        from nodewise.graph.convert.pyg import to_pyg

        return to_pyg(self, sparse=sparse)

    @classmethod
    def from_networkx(
        cls,
        graph: nx.Graph[Any],
        *,
        label: str | None = None,
        features: str | Sequence[str] | None = None,
        name: str | None = None,
    ) -> Graph:
        """The graph of a networkx one; see `nodewise.graph.convert.networks.from_networkx`."""
        from nodewise.graph.convert.networks import from_networkx

        return from_networkx(graph, label=label, features=features, name=name)

    def to_networkx(self) -> nx.Graph[Any]:
        """A `networkx.Graph`, or a `DiGraph`, with names, labels, features and attributes.

        See `nodewise.graph.convert.networks.to_networkx`.
        """
        from nodewise.graph.convert.networks import to_networkx

        return to_networkx(self)

    @classmethod
    def from_scipy(cls, adjacency: Any, x: Any = None, y: Any = None, **parts: Any) -> Graph:
        """The graph whose edges are the non-zero entries of a square matrix; further parts as for `build`.

        Stored entries of 0 are no edges, and noted; see `nodewise.graph.convert.matrices.from_scipy`.
        """
        from nodewise.graph.convert.matrices import from_scipy

        return from_scipy(adjacency, x, y, **parts)

    def to_scipy(self) -> tuple[sp.csr_matrix[np.float32], Features | None, npt.NDArray[Any] | None]:
        """Adjacency matrix, features that count and labels; see `nodewise.graph.convert.matrices.to_scipy`."""
        from nodewise.graph.convert.matrices import to_scipy

        return to_scipy(self)

    @classmethod
    def from_csv(cls, nodes: str | Path, edges: str | Path | None = None, **columns: Any) -> Graph:
        """The graph of a table of nodes and a table of edges, CSV with any usual delimiter.

        Args:
            nodes: one row a node; the first row names the columns.
            edges: one row an edge, two of its columns naming the ends.
            **columns: which column is what, where its name does not tell: `id`, `label`, `text` (becomes TF-IDF
                features), `features` (a list), `source`, `target`; further `delimiter`, `encoding`, `max_words`,
                `name`. See `nodewise.graph.io.tables.read_tables`.
        """
        from nodewise.graph.io.tables import read_tables

        return read_tables(nodes, edges, **columns)

    @classmethod
    def from_dataframe(
        cls, frame: Any, label: str | None = None, text: str | None = None, k: int = 10, **options: Any
    ) -> Graph:
        """The graph of a data frame's rows, each joined to its k nearest.

        Args:
            frame: a pandas or polars data frame, or a dict column -> cells.
            label: the column of the classes; None: one called label, class, category …; an empty text: none.
            text: the column of texts, if these are the features; None: all other columns, numbers standardised,
                categories as one column each.
            k: neighbours of each row.
            **options: `id`, `images`, `encoder`, `metric`, `name`, `reporter`, `separator`, `weighted`; see
                `nodewise.graph.convert.frames.from_dataframe`.

        Example:
            >>> table = {"title": ["a cat", "a dog", "the stock", "the bond"], "size": [1, 2, 8, 9], "label": ["pet",
            ...     None, "money", None]}
            >>> Graph.from_dataframe(table, k=1)
            Graph('table': 4 nodes, 2 edges, 1 dense feature, 2 classes, 2 unlabelled)
        """
        from nodewise.graph.convert.frames import from_dataframe

        return from_dataframe(frame, label, text, k, **options)

    @classmethod
    def from_texts(
        cls,
        texts: Sequence[str],
        labels: Any = None,
        encoder: Callable[[list[str]], Any] | None = None,
        k: int = 10,
        **options: Any,
    ) -> Graph:
        """The graph of texts, each joined to its k nearest.

        Args:
            texts: one for each node; they are kept to be shown.
            labels: one for each node, None or an empty text where it is not known; None: no labels.
            encoder: a function from a list of texts to an array [text, feature], such as a sentence encoder's `encode`;
                None: TF-IDF.
            k: neighbours of each text.
            **options: `metric`, `weighted`, `name`, `reporter`, and the parts of `build`, such as `class_names` or
                `node_names`.

        Example:
            >>> Graph.from_texts(["a cat sat", "the cat ran", "stocks fell", "stocks rose"], ["pet", None, "money",
            ...     None], k=1)
            Graph('texts': 4 nodes, 2 edges, 7 sparse features, 2 classes, 2 unlabelled)
        """
        from nodewise.graph.knn.knn import knn_from_texts

        return knn_from_texts(texts, k, encoder=encoder, y=labels, **options)


def fingerprint(graph: Graph) -> str:
    """A digest of what a simulation reads of a graph: edges, features and labels; weights where there are any."""
    digest = hashlib.blake2b(str(graph.num_nodes).encode(), digest_size=8)
    for array in _arrays(graph):
        digest.update(f"{array.dtype}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    if graph.relations is not None:
        digest.update(graph.relations.fingerprint.encode())
    return digest.hexdigest()


def canonical_features(spec: str, graph_name: str = "") -> str:
    """One spelling for a preprocessing: what results record.

    Args:
        spec: steps joined with ``+`` or ``,``, such as ``"row,center"``.
        graph_name: whose features; ``paper`` stands for what it means for that graph.

    Returns:
        The steps joined with ``+``, such as ``"row+center"``; ``"raw"`` where nothing is done. What ``structural``
        replaces is not told.

    Raises:
        UnknownNameError: if a step is not known.
        InputError: if it is no text.
    """
    if not isinstance(spec, str):
        raise InputError(
            f"features must be the name of a preprocessing, such as 'unit' or 'row+center', received {spec!r}"
        )
    steps: list[str] = []
    for part in re.split(r"[+,]", spec):
        step = part.strip().lower()
        if step == "paper":
            step = PAPER_FEATURES.get(graph_name.lower(), "raw")
        elif step not in PREPROCESSING and not FIRST_COLUMNS.fullmatch(step):
            raise UnknownNameError(
                "feature preprocessing", part.strip(), PREPROCESSING, "Join several with +, such as row+center."
            )
        steps += step.split("+") if step != "raw" else []
    return recorded_steps(steps)


def recorded_steps(steps: list[str]) -> str:
    """The steps as they are recorded.

    Without those that change nothing, or whose features were replaced by structural ones.
    """
    last = max((i for i, step in enumerate(steps) if step == "structural"), default=0)
    return "+".join(step for step in steps[last:] if step != "raw") or "raw"


def _rows(part: Any) -> int | None:
    if part is None:
        return None
    shape = getattr(part, "shape", None)
    if shape is None:
        return len(part)
    return int(shape[0]) if len(shape) else None


def _arrays(graph: Graph) -> Iterator[npt.NDArray[Any]]:
    yield graph.edge_index
    x = graph.x
    if isinstance(x, np.ndarray):
        yield x
    elif x is not None:
        yield from (x.data, x.indices, x.indptr)
    for array in (graph.x_offset, graph.y, graph.y_sets, graph.edge_weight):
        if array is not None:
            yield array
