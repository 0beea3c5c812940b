"""Reading and writing a graph in any form: a file by its ending, another library's object by what it is.

Files come from strangers. What a file claims of its size is compared with what it can hold before anything is
allocated, so that reading takes at most 64 MiB and `MEMORY` times the file's size (of a folder: of its files together),
whatever it holds.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from nodewise.graph.graph import Graph
from nodewise.graph.label_sets import label_sets, look_like_sets, split_sets
from nodewise.graph.relational import RelationalGraph
from nodewise.ground.errors import GraphError, WrongTypeError
from nodewise.ground.files import existing_file

__all__ = ["FORMS", "MEMORY", "from_foreign", "parted_labels", "read_graph", "write_graph"]

FORMS = {
    ".npz": "everything, compressed",
    ".graphml": "everything but further fields, as XML that Gephi, yEd and networkx read",
    ".edges, .edgelist, .txt, .csv, .tsv": "edges alone, two columns",
    "a folder": "everything but further fields, as nodes.csv, edges.csv, features.csv, or one a type and relation",
}
MEMORY = 320
"""Bytes of memory that reading a file takes for each of its bytes, at most."""
_EDGES = (".edges", ".edgelist", ".txt", ".csv", ".tsv")


def read_graph(
    path: str | Path,
    *,
    labelled: str | None = None,
    directed: bool = False,
    several: bool = False,
    separator: str | None = None,
) -> Graph:
    """Reads a graph; the ending says how.

    .npz, .graphml, .edges (.edgelist, .txt, .csv, .tsv: two columns), or a folder of CSV files.

    Args:
        path: the file or folder.
        labelled: of a graph of several node types the one that is labelled; None: what the file says.
        directed: whether an edge of tables or lists leads from its first end to its second alone; npz and GraphML say
            so themselves.
        several: whether sets of classes count where the file has one label a node as well; see `read_npz`.
        separator: what parts the classes where a label may name several, such as ``";"`` in ``"a;b"``; alone it means
            none of them. None: a label is one class, unless the file says that it is a set.

    Raises:
        GraphError: if there is no such file, its form is not known, or it does not hold a graph; the message says what
            to do.
    """
    path = Path(path).expanduser()
    try:
        graph = _read(path, labelled, directed, several)
    except OSError as error:
        raise GraphError(
            f"{path} cannot be read: {error.strerror or error}; check the path and its permissions"
        ) from error
    if labelled is not None and graph.relations is None:
        raise GraphError(f"{path} has one type of nodes, so no type {labelled!r} can be labelled: leave this out")
    if labelled is not None and graph.relations is not None and graph.relations.labelled != labelled:
        graph = RelationalGraph.of(graph).with_labelled(labelled).to_graph()
    if separator is None:
        return graph
    if not graph.labelled.any():
        raise GraphError(f"{path} has no labels that {separator!r} could part: leave the separator out")
    if graph.several:
        raise GraphError(f"{path} says itself which classes a node has, several of them: leave the separator out")
    return parted_labels(graph, separator)


def parted_labels(graph: Graph, separator: str) -> Graph:
    """The graph with sets of classes, where its labels name several with a separator between them: ``"a;b"``.

    Raises:
        GraphError: the separator is no text, or nothing but it is in the labels.
    """
    if graph.y is None:
        return graph
    texts = [graph.class_names[label] if label >= 0 else None for label in graph.y.tolist()]
    sets, names, _ = label_sets(split_sets(graph.class_names, separator), None, graph.num_classes)
    table = np.concatenate([sets, np.full((1, len(names)), -1, np.int8)])[graph.y]  # without a label: the last row
    notes = [note for note in graph.notes if note not in look_like_sets(texts)]
    return replace(graph, y=None, y_sets=table, class_names=names, notes=tuple(notes))


def write_graph(graph: Graph, path: str | Path) -> list[str]:
    """Writes a graph in the form that the ending of `path` says; a path without ending becomes a folder of CSV files.

    A file appears whole or not at all: it is written beside its place and moved there when complete.

    Returns:
        What the form cannot hold and was therefore dropped, in words; empty for npz.

    Raises:
        GraphError: if the form is not known, or cannot hold a name or text of this graph.
    """
    path = Path(path).expanduser()
    ending = path.suffix.lower()
    if path.is_dir() or not ending:
        if graph.relations is not None and not graph.relations.directed:
            from nodewise.graph.io.relational_folder import write_relational_folder

            return write_relational_folder(graph, path)
        from nodewise.graph.io.folder import write_folder

        return write_folder(graph, path)
    if ending == ".npz":
        from nodewise.graph.io.npz import write_npz

        return write_npz(graph, path)
    if ending == ".graphml":
        from nodewise.graph.io.graphml import write_graphml

        return write_graphml(graph, path)
    if ending in _EDGES:
        from nodewise.graph.io.edgelist import write_edgelist

        return write_edgelist(graph, path)
    raise _unknown_ending(path, "written")


def from_foreign(thing: Any) -> Graph:
    """The graph of a PyTorch Geometric `Data` or `HeteroData`, a networkx graph or a `RelationalGraph`.

    A `Graph` is passed as it is.

    Raises:
        InputError: if it is none of these; says what to do with what it is.
    """
    if isinstance(thing, Graph):
        return thing
    if isinstance(thing, RelationalGraph):
        return thing.to_graph()
    kinds = {f"{kind.__module__}.{kind.__qualname__}" for kind in type(thing).__mro__}
    rooms = {kind.__module__.partition(".")[0] for kind in type(thing).__mro__}
    if "networkx.classes.graph.Graph" in kinds:
        return Graph.from_networkx(thing)
    if "torch_geometric.data.hetero_data.HeteroData" in kinds:
        return RelationalGraph.from_pyg(thing).to_graph()
    if "torch_geometric" in rooms and hasattr(thing, "edge_index") and not hasattr(thing, "node_types"):
        return Graph.from_pyg(thing)
    raise WrongTypeError(f"a graph was expected, received {_called(thing)}: {_hint(thing, rooms)}")


def _read(path: Path, labelled: str | None, directed: bool, several: bool) -> Graph:
    ending = path.suffix.lower()
    pair = (
        path.name in ("nodes.csv", "edges.csv")
        and path.with_name("nodes.csv").exists()
        and path.with_name("edges.csv").exists()
    )
    if path.is_dir():
        from nodewise.graph.io.relational_folder import is_relational_folder, read_relational_folder

        if is_relational_folder(path):
            return read_relational_folder(path, labelled)
    if path.is_dir() or pair:
        from nodewise.graph.io.folder import read_folder

        return read_folder(path.parent if pair else path, directed=directed)
    existing_file(path)
    if ending == ".npz":
        from nodewise.graph.io.npz import read_npz

        return read_npz(path, several=several)
    if ending == ".graphml":
        from nodewise.graph.io.graphml import read_graphml

        return read_graphml(path)
    if ending in _EDGES:
        from nodewise.graph.io.edgelist import read_edgelist

        return read_edgelist(path, directed=directed)
    raise _unknown_ending(path, "read")


def _unknown_ending(path: Path, done: str) -> GraphError:
    forms = "; ".join(f"{ending} ({what})" for ending, what in FORMS.items())
    hint = " An array of embeddings becomes a graph with `nodewise convert --knn`." if path.suffix == ".npy" else ""
    return GraphError(f"{path} cannot be {done}: the ending {path.suffix!r} is not known. Known forms: {forms}.{hint}")


def _called(thing: Any) -> str:
    shape = getattr(thing, "shape", None)
    return f"{type(thing).__name__}" + (f" of shape {list(shape)}" if isinstance(shape, tuple) else "")


def _hint(thing: Any, rooms: set[str]) -> str:
    if thing is None:
        return "give a Graph, a data set's name or a file"
    if "torch_geometric" in rooms:
        return "pass dataset[0]"
    if "dgl" in rooms:
        return "turn it into a networkx graph first (graph.to_networkx())"
    if rooms & {"pandas", "polars"}:
        return "make a graph of a table with Graph.from_dataframe(…), or of nodes and edges with Graph.from_csv(…)"
    if "scipy" in rooms:
        return "make a graph of an adjacency matrix with Graph.from_scipy(matrix, x, y)"
    if rooms & {"numpy", "torch"}:
        return (
            "make a graph of features with knn_graph(x), of edges [2, edge] with Graph.build(edge_index), of a matrix"
            " with Graph.from_scipy(…)"
        )
    if isinstance(thing, (list, tuple)):
        return (
            "give one graph, not a list; texts become one with Graph.from_texts(…), edges with Graph.build(edge_index)"
        )
    return "give a Graph, a data set's name, a file, a PyTorch Geometric Data or a networkx graph"
