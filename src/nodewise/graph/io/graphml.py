"""Graphs as GraphML, the XML that Gephi, yEd, igraph and networkx read.

Each node has its label, its attributes and its non-zero features as data elements, one key for each feature column; a
key of the graph holds what they do not say (names of classes, number of columns). Files from elsewhere: attributes of
numbers become features, texts attributes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.graph.checks import are_classes
from nodewise.graph.graph import Graph
from nodewise.graph.io.assembly import (
    Head,
    assemble,
    dropped_fields,
    exact_texts,
    node_ids,
    nonzero,
    sparse_features,
    written_edges,
)
from nodewise.graph.io.graphml_parser import Document, parse
from nodewise.graph.label_sets import separator_for, set_texts
from nodewise.graph.tables.table import edge_weight, label_columns, meaning, numbers, unweighted_edges
from nodewise.ground.errors import GraphError
from nodewise.ground.events import listed
from nodewise.ground.files import atomic_file, existing_file

__all__ = ["read_graphml", "write_graphml"]

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ENTITIES = {'"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}


def read_graphml(path: str | Path) -> Graph:
    """Reads a graph from GraphML. A file with a DOCTYPE is refused before it is parsed.

    Entities could make it grow without end.

    Raises:
        GraphError: if the file is missing, damaged, not GraphML, or an edge leads to a node that it does not hold.
    """
    path = existing_file(Path(path))
    document = parse(path)
    if not document.nodes:
        raise GraphError(f"{path} holds no nodes: a graph needs at least one")
    position: dict[str, int] = {}
    for name in document.nodes:
        if name in position:
            raise GraphError(f"{path}: the node id {name!r} occurs twice; every node needs an id of its own")
        position[name] = len(position)
    ends = []
    for edge in document.edges:
        for name in edge:
            if name not in position:
                where = f"{path}: the edge from {edge[0]!r} to {edge[1]!r}"
                raise GraphError(f"{where} leads to {name!r}, a node that does not exist: add it or remove the edge")
            ends.append(position[name])
    edges = np.array(ends, dtype=np.int64).reshape(-1, 2).T
    weights = _weights(path, document)
    if document.head is not None:
        return _ours(path, document, Head.from_json(document.head, str(path)), edges, weights)
    return _foreign(path, document, edges, weights)


def write_graphml(graph: Graph, path: str | Path) -> list[str]:
    """Writes a graph as GraphML; returns what was dropped, in words.

    Raises:
        GraphError: if a name or text holds a control character, which XML cannot hold.
    """
    with atomic_file(Path(path)) as handle:
        part: list[str] = []
        for line in _lines(graph):
            part.append(line)
            if len(part) == 16384:
                handle.write(("\n".join(part) + "\n").encode())
                part = []
        handle.write(("\n".join(part) + "\n").encode())
    return dropped_fields(graph, "GraphML")


def _lines(graph: Graph) -> Iterator[str]:
    ids = [_xml(text, "the node name") for text in node_ids(graph)]
    classes = [_xml(text, "the class name") for text in graph.class_names]
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    yield '<key id="nodewise" for="graph" attr.name="nodewise" attr.type="string"/>'
    if graph.y is not None or graph.several:
        yield '<key id="label" for="node" attr.name="label" attr.type="string"/>'
    for i, name in enumerate(graph.attributes):
        yield f'<key id="a{i}" for="node" attr.name="{_xml(name, "the attribute name")}" attr.type="string"/>'
    for i in range(graph.num_features):
        yield f'<key id="x{i}" for="node" attr.name="x{i}" attr.type="float"/>'
    ends, weights = written_edges(graph)
    if weights is not None:
        yield '<key id="weight" for="edge" attr.name="weight" attr.type="float"/>'
    one_way = graph.relations is not None and graph.relations.directed
    yield f'<graph edgedefault="{"directed" if one_way else "undirected"}">'
    yield f'<data key="nodewise">{_xml(Head.of(graph).to_json(), "")}</data>'
    matrix = nonzero(graph)
    starts, columns, values = matrix.indptr.tolist(), matrix.indices.tolist(), exact_texts(matrix.data)
    labels = [""] * graph.num_nodes
    if graph.y is not None:
        labels = [[*classes, ""][number] for number in graph.y.tolist()]
    elif graph.y_sets is not None:
        labels = set_texts(graph.y_sets, classes, escape(separator_for(graph.class_names), _ENTITIES))
    texts = list(graph.attributes.values())
    for node, name in enumerate(ids):
        parts = [f'<node id="{name}">']
        if labels[node]:
            parts.append(f'<data key="label">{labels[node]}</data>')
        parts += [
            f'<data key="a{i}">{_xml(text[node], "the text")}</data>' for i, text in enumerate(texts) if text[node]
        ]
        parts += [f'<data key="x{columns[k]}">{values[k]}</data>' for k in range(starts[node], starts[node + 1])]
        yield "".join(parts) + "</node>"
    if weights is None:
        for low, high in zip(*ends.tolist(), strict=True):
            yield f'<edge source="{ids[low]}" target="{ids[high]}"/>'
    else:
        for low, high, weight in zip(*ends.tolist(), exact_texts(weights), strict=True):
            yield f'<edge source="{ids[low]}" target="{ids[high]}"><data key="weight">{weight}</data></edge>'
    yield "</graph>"
    yield "</graphml>"


def _xml(text: str, what: str) -> str:
    if bad := _ILLEGAL.search(text):
        raise GraphError(
            f"{what} {text[:60]!r} holds the character {bad[0]!r}, which XML cannot hold: remove it, or write .npz or a"
            " folder of CSV files"
        )
    return escape(text, _ENTITIES)


def _weights(path: Path, document: Document) -> list[float] | None:
    """The weights of the edges; one that has none counts what the file says, else 1."""
    if not document.weights:
        return None
    if len(document.weights) < len(document.edges) and document.weight_default == "1":
        document.notes.append(unweighted_edges(len(document.edges) - len(document.weights)))
    return [
        edge_weight(document.weights.get(at, document.weight_default), f"{path}: the edge from {one!r} to {other!r}")
        for at, (one, other) in enumerate(document.edges)
    ]


def _ours(
    path: Path, document: Document, head: Head, edges: npt.NDArray[np.int64], weights: list[float] | None
) -> Graph:
    size = len(document.nodes)
    labels: list[str] = [""] * size
    names = {key: name for key, (name, _, _) in document.keys.items() if re.fullmatch(r"a\d+", key)}
    _check_room(path, len(set(names.values())), size)
    attributes = {name: [""] * size for name in names.values()}
    rows, columns, values = [], [], []
    for node, key, text in document.data:
        if key[:1] == "x":
            number = numbers([text])
            if number is None or not key[1:].isdecimal() or int(key[1:]) >= (head.columns or 0):
                raise GraphError(
                    f"{path}: node {document.nodes[node]!r} has {text!r} as feature {key!r}, which is no number or no"
                    " column; correct it"
                )
            rows.append(node)
            columns.append(int(key[1:]))
            values.append(number[0])
        elif key == "label":
            labels[node] = text
        elif key in names:
            attributes[names[key]][node] = text
    if (head.columns or 0) > len(document.keys):
        raise GraphError(
            f"{path} claims {head.columns:,} columns of features, but declares {len(document.keys):,} keys: make it"
            " again"
        )
    features = None if head.columns is None else sparse_features(rows, columns, values, (size, head.columns), str(path))
    return assemble(
        document.nodes,
        edges,
        labels,
        attributes,
        features,
        head,
        name=path.stem,
        notes=document.notes,
        room=_room(path),
        weights=weights,
        directed=document.directed,
    )


def _foreign(path: Path, document: Document, edges: npt.NDArray[np.int64], weights: list[float] | None) -> Graph:
    size, notes = len(document.nodes), list(document.notes)
    cells: dict[str, dict[int, str]] = {key: {} for key in document.keys}
    for node, key, text in document.data:
        cells[key][node] = text
    columns = {key: _Column(name, kind, default, cells[key]) for key, (name, kind, default) in document.keys.items()}
    called: dict[str, _Column] = {}
    for key, column in columns.items():
        if column.default or any(column.cells.values()):
            called[column.name if column.name not in called else f"{column.name} ({key})"] = column
    named = [name for name in called if meaning(name) == "label" or name.strip().lower() == "x"]
    _check_room(path, len(named) + sum(bool(column.default) for column in called.values()), size)
    likely = {name: called[name].texts(size) for name in named}
    label, classes = None, set()
    for name in label_columns(likely):
        classes.add(name.strip().lower())
        if label is None and are_classes(likely[name]):
            label = name
        elif label is None:
            notes.append(
                f"the attribute {name!r} differs on every node, or holds long texts, and was not taken as classes"
            )
    numeric: dict[str, dict[int, float]] = {}
    for name, column in called.items():
        plain = name.strip().lower() not in classes and meaning(name) in (None, "label")
        if plain and column.kind in ("int", "long", "float", "double", "boolean"):
            values = column.numbers(size)
            if values is None:
                notes.append(f"the attribute {name!r} should hold numbers but does not everywhere: it was kept as text")
            else:
                numeric[name] = values
    if numeric:
        notes.append(f"the attributes {listed(numeric)} hold numbers and became features, 0 where a node has none")
    shown = {name: column for name, column in called.items() if name != label and name not in numeric}
    _check_room(path, len(shown), size)
    rest = {name: column.texts(size) for name, column in shown.items()}
    features = _attribute_features(path, list(numeric.values()), size) if numeric else None
    return assemble(
        document.nodes,
        edges,
        likely[label] if label else None,
        rest,
        features,
        None,
        name=path.stem,
        notes=notes,
        weights=weights,
        directed=document.directed,
    )


@dataclass(frozen=True)
class _Column:
    """What the nodes have under one key."""

    name: str
    kind: str
    default: str
    cells: dict[int, str]

    def texts(self, size: int) -> list[str]:
        """One text a node."""
        return [self.cells.get(node, self.default) for node in range(size)]

    def numbers(self, size: int) -> dict[int, float] | None:
        """The numbers that are not 0, by node; None if a text is no number."""
        flags = {"true": "1", "false": "0", "": "0"}
        texts = self.cells if not self.default else dict(enumerate(self.texts(size)))
        values = numbers([flags.get(text.lower(), text) for text in texts.values()])
        return None if values is None else {node: value for node, value in zip(texts, values, strict=True) if value}


def _attribute_features(
    path: Path, columns: list[dict[int, float]], size: int
) -> npt.NDArray[np.float64] | sp.csr_matrix[np.float32]:
    """[node, feature]; sparse where a dense table would be far larger than the file."""
    if len(columns) * size <= _room(path):
        dense = np.zeros((size, len(columns)))
        for i, values in enumerate(columns):
            dense[list(values), i] = list(values.values())
        return dense
    rows = [node for values in columns for node in values]
    indices = [i for i, values in enumerate(columns) for _ in values]
    return sparse_features(
        rows, indices, [value for values in columns for value in values.values()], (size, len(columns)), str(path)
    )


def _room(path: Path) -> int:
    """How many values a table of all nodes may hold: few files fill less than one in ten."""
    return 2**21 + 2 * path.stat().st_size


def _check_room(path: Path, attributes: int, nodes: int) -> None:
    if attributes * nodes > _room(path):
        raise GraphError(
            f"{path} has {attributes:,} attributes for {nodes:,} nodes and spells few of them out: the table would be"
            " far larger than the file; remove attributes that few nodes have"
        )
