"""From things to a graph: each thing is joined to the k nearest, for a table, texts, pictures or embeddings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.graph.graph import Graph
from nodewise.graph.io.label_studio import read_tasks, shown_column
from nodewise.graph.io.npz import read_npy
from nodewise.graph.knn.neighbours import Distances, Metric, nearest_neighbours
from nodewise.graph.preparation import Preparation
from nodewise.graph.tables.columns import column_parts, part_features
from nodewise.graph.tables.pictures import pictures_in, pixels
from nodewise.graph.tables.table import (
    ID,
    Table,
    id_column,
    label_column,
    label_columns,
    meaning,
    never_features,
    numbers,
    read_table,
)
from nodewise.graph.tables.text import encoded, encoder_name, word_features, words_of
from nodewise.graph.weights import SMALLEST
from nodewise.ground.errors import GraphError, InputError, UnknownNameError, WrongTypeError
from nodewise.ground.events import Reporter, count, listed
from nodewise.ground.files import existing_file

__all__ = [
    "graph_from_things",
    "knn_from_images",
    "knn_from_npy",
    "knn_from_table",
    "knn_from_tasks",
    "knn_from_texts",
    "knn_graph",
]

_SHOWN_COLUMNS = 40
_WORDS = 10_000
_SAMPLE = 3  # texts by which an encoder is known again


def knn_graph(
    x: Any,
    k: int = 10,
    metric: Metric = "cosine",
    *,
    weighted: bool = False,
    reporter: Reporter | None = None,
    name: str = "knn",
    notes: Iterable[str] = (),
    preparation: Preparation | None = None,
    **parts: Any,
) -> Graph:
    """The graph in which every row of a table is joined to its k nearest rows.

    Two rows are joined if either is among the k nearest of the other. The result is exact and depends on nothing but
    the values and their
    order: `nodewise.graph.knn.neighbours.nearest_neighbours` tells how equal distances are settled. Under the cosine
    metric, rows that have nothing in common (similarity 0 or less) are not joined, so a node may stay isolated; the
    graph's notes say how many do.

    Args:
        x: numbers [node, feature], dense or sparse; they become the graph's features.
        k: neighbours of each node, from 1 to the number of nodes - 1.
        metric: ``"cosine"`` (angle) or ``"euclidean"`` (distance).
        weighted: whether an edge weighs as much as its ends are alike: the cosine, or 1 / (1 + distance / the mean
            distance of all that are joined). All edges count the same otherwise.
        reporter: gets the progress.
        name: of the graph.
        notes: what the caller has changed already, in words.
        preparation: how x was made from rows; None: the rows are x itself.
        **parts: labels, names and attributes, as for `Graph.build`.

    Example:
        >>> import nodewise as nw
        >>> nw.knn_graph([[0.0, 1.0], [0.1, 0.9], [1.0, 0.0]], k=1, metric="euclidean").num_edges
        2

    Raises:
        InputError: if k or the metric is not allowed.
        GraphError: if x is not a table of finite numbers, or a part does not fit it.
    """
    if metric not in ("cosine", "euclidean"):
        raise UnknownNameError("metric", str(metric), ("cosine", "euclidean"))
    rows: Any = x if sp.issparse(x) else np.asarray(x)
    if rows.ndim == 0:
        raise WrongTypeError(
            f"a table of numbers [nodes, features] was expected, received {type(x).__name__}: give an array, one row"
            " for each node"
        )
    if rows.ndim != 2 or 0 in rows.shape:
        raise GraphError(
            f"a table must have the shape [nodes, features], with at least one of each, received {list(rows.shape)}"
        )
    size = int(rows.shape[0])
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 1 <= k < size:
        raise InputError(
            f"k must be a whole number from 1 to {size - 1}, below the {count(size, 'row')}, received {k!r}: give a"
            " smaller k or more rows"
        )
    # Checks every part, and brings the features into float32, before the search takes its time; the edge only holds the
    # place.
    vectors = Preparation("vectors", ({"kind": "vectors", "width": int(rows.shape[1])},))
    known = replace(preparation or vectors, nearest=int(k), metric=metric)
    bare = Graph.build([[0], [1]], size, x=rows, name=name, notes=notes, preparation=known, **parts)
    assert bare.x is not None
    one, other = nearest_neighbours(bare.x, int(k), metric, reporter)
    key = np.unique(np.minimum(one, other) * size + np.maximum(one, other))
    touched = np.zeros(size, dtype=bool)
    touched[one] = touched[other] = True
    remarks = list(bare.notes)
    if alone := size - int(touched.sum()):
        remarks.append(f"{count(alone, 'node')} with nothing in common with any other: isolated")
    edges = np.stack([key // size, key % size])
    weights = _likeness(bare.x, edges, metric) if weighted else None
    return replace(bare, edge_index=edges, edge_weight=weights, notes=tuple(remarks))


def knn_from_npy(
    path: str | Path, k: int = 10, metric: Metric = "cosine", *, reporter: Reporter | None = None, **parts: Any
) -> Graph:
    """The k-nearest-neighbour graph of embeddings in an .npy file: numbers [node, feature].

    Pickled objects are refused.
    """
    path = Path(path).expanduser()
    x = read_npy(path)
    if x.ndim != 2:
        raise GraphError(f"{path} must hold one array [nodes, features], received {x.shape}: save the embeddings alone")
    return knn_graph(x, k, metric, reporter=reporter, **{"name": path.stem, **parts})


def knn_from_texts(
    texts: Sequence[str],
    k: int = 10,
    metric: Metric = "cosine",
    *,
    encoder: Callable[[list[str]], Any] | None = None,
    reporter: Reporter | None = None,
    **parts: Any,
) -> Graph:
    """The k-nearest-neighbour graph of texts; each text is kept as the attribute ``text``.

    Features are what the encoder makes of the texts, see `nodewise.graph.tables.text.encoded`; without one TF-IDF.
    """
    if isinstance(texts, (str, bytes)):
        raise WrongTypeError(
            f"texts must be a list with one text for each node, received one text, {texts[:40]!r}: give [text, …]"
        )
    every = ["" if text is None or text != text else str(text) for text in texts]
    known: Preparation = parts.pop("preparation", None) or Preparation("texts", ())
    part: dict[str, Any] = {"column": parts.pop("column", None)}
    if encoder is None:
        words = words_of(every, _WORDS)
        x: Any = word_features(every, words)
        part |= {"kind": "words", "width": len(words.words), "words": words.words, "idf": "idf"}
        known = replace(known, parts=(part,), arrays={"idf": words.idf})
    else:
        x = encoded(every, encoder)
        some = sp.csr_matrix(x[:_SAMPLE], dtype=np.float32).toarray()
        part |= {"kind": "encoder", "width": int(x.shape[1]), "name": encoder_name(encoder), "texts": every[:_SAMPLE]}
        part["output"] = "output"
        known = replace(known, parts=(part,), arrays={"output": some})
    attributes = {**(parts.pop("attributes", None) or {}), "text": every}
    return knn_graph(
        x, k, metric, reporter=reporter, attributes=attributes, preparation=known, **{"name": "texts", **parts}
    )


def knn_from_images(
    source: str | Path | Sequence[str | Path],
    k: int = 10,
    metric: Metric = "cosine",
    *,
    size: int = 32,
    reporter: Reporter | None = None,
    **parts: Any,
) -> Graph:
    """The k-nearest-neighbour graph of pictures by their pixels, scaled to `size` × `size`.

    Each path is kept as the attribute ``picture``.

    Args:
        source: a folder, whose pictures (also in folders below it) become the nodes, named by their paths in it; or the
            files.
        k: neighbours of each node.
        metric: what near means.
        size: pixels along each side.
        reporter: gets the progress.
        **parts: labels, names and attributes, as for `Graph.build`. For a folder, ``y="folder"`` makes the folder that
            a picture is in its label.
    """
    if isinstance(source, (str, Path)):
        folder = Path(source).expanduser()
        if not folder.is_dir():
            raise GraphError(f"there is no folder {folder}: give a folder of pictures, or a list of files")
        paths = pictures_in(folder)
        parts = {
            "name": folder.resolve().name,
            "node_names": [path.relative_to(folder).as_posix() for path in paths],
            **parts,
        }
        if isinstance(parts.get("y"), str):
            if parts["y"] != "folder":
                raise InputError(
                    "the labels of a folder of pictures can be 'folder', the folder that each is in, received"
                    f" {parts['y']!r}"
                )
            parts["y"] = [path.parent.relative_to(folder).as_posix().removeprefix(".") for path in paths]
    else:
        paths = [Path(path).expanduser() for path in source]
    attributes = {**(parts.pop("attributes", None) or {}), "picture": [str(path.resolve()) for path in paths]}
    x = pixels(paths, size, reporter)
    part = {"kind": "pixels", "column": parts.pop("column", None), "width": x.shape[1], "size": size}
    known: Preparation = parts.pop("preparation", None) or Preparation("pictures", ())
    known = replace(known, parts=({**part, "grey": x.shape[1] == size * size},))
    return knn_graph(
        x, k, metric, reporter=reporter, attributes=attributes, preparation=known, **{"name": "pictures", **parts}
    )


def knn_from_table(
    source: str | Path | Table | Mapping[str, Sequence[Any]],
    k: int = 10,
    metric: Metric = "cosine",
    *,
    label: str | None = None,
    text: str | None = None,
    images: str | None = None,
    id: str | None = None,
    names: Sequence[str] | None = None,
    encoder: Callable[[list[str]], Any] | None = None,
    reporter: Reporter | None = None,
    name: str | None = None,
    separator: str | None = None,
    weighted: bool = False,
) -> Graph:
    """The k-nearest-neighbour graph of a table's rows.

    Features are the TF-IDF of the column `text`, or the pixels of the files that the column `images` names, or else all
    other columns: numbers standardised, categories as one column each. A column ``id``, ``name`` … without repetitions
    gives the nodes their names. Which column names mean what stands in `nodewise.graph.tables.table`. Columns that a
    person may want to see stay as attributes: all of them up to 40, beyond that those that are no numbers.

    Args:
        source: a CSV file with a heading, or column name -> cells (a pandas data frame will do).
        k: neighbours of each node.
        metric: what near means.
        label: the column of the labels, where an empty cell (or a word such as NaN) is an unlabelled node; None:
            ``label``, ``class``, ``category`` … where there is one. An empty text: there are no labels, and such a
            column is no feature either.
        text: the column of texts, if these are the features.
        images: the column of paths, relative to the file's folder, if pictures are the features.
        id: the column of the nodes' names, each another one; None: ``id``, ``node``, ``name`` … whose cells all differ.
        names: the nodes' names, where no column gives them.
        encoder: what turns the texts into an array [text, feature]; None: TF-IDF.
        reporter: gets the progress.
        name: of the graph; None: that of the file.
        separator: what parts the classes where a cell of `label` may name several; None: a row has one class.
        weighted: whether an edge weighs as much as its ends are alike, as for `knn_graph`.
    """
    table = _as_table(source)
    folder = table.path.parent
    if text is not None and images is not None:
        raise InputError(
            f"features come from texts or from pictures, received both (text {text!r}, images {images!r}): give one"
        )
    notes: list[str] = []
    label = label_column(table, label, (id, text, images), notes)
    parts: dict[str, Any] = {"name": name or table.path.stem, "y": None if label is None else table.column(label)}
    if label is not None and separator is not None:
        parts["separator"] = separator
    others = {key: cells for key, cells in table.columns.items() if key != label}
    names_in = id
    if id is not None:
        parts["node_names"] = id_column(table, id, [])[0]
        others.pop(id, None)
    for key in filter(None, (table.find([name]) for name in ID if id is None)):
        if (
            key in others
            and key not in (text, images)
            and len(set(others[key])) == len(table)
            and "" not in others[key]
        ):
            parts["node_names"], names_in = others.pop(key), key
            break
    if names is not None and "node_names" not in parts:
        parts["node_names"] = list(names)
    if parts.get("node_names") == [str(i) for i in range(len(table))]:
        del parts["node_names"]  # the nodes' indices, which need no names
    rest = {key: cells for key, cells in others.items() if key not in (text, images)}
    shared: dict[str, Any] = {"reporter": reporter, "attributes": _to_show(rest), "notes": notes, **parts}
    shared["weighted"] = weighted
    known = Preparation("table", (), label=label, id=names_in)
    if text is not None:
        shared |= {"preparation": replace(known, rows="texts"), "column": text}
        return knn_from_texts(table.column(text), k, metric, encoder=encoder, **shared)
    if images is not None:
        paths = [folder / cell.strip() for cell in table.column(images)]
        shared |= {"preparation": replace(known, rows="pictures"), "column": images}
        return knn_from_images(paths, k, metric, **shared)
    never = never_features(table.columns)
    if unused := [key for key in rest if key in label_columns(rest)]:
        notes.append(f"the columns {listed(unused)} may hold classes and are no features")
    used = {key: cells for key, cells in rest.items() if key not in never}
    columns, remarks = column_parts(used)
    notes += remarks
    known = replace(known, parts=tuple(columns))
    return knn_graph(part_features(used, columns), k, metric, preparation=known, **shared)


def knn_from_tasks(
    path: str | Path,
    k: int = 10,
    metric: Metric = "cosine",
    *,
    label: str | None = None,
    text: str | None = None,
    images: str | None = None,
    encoder: Callable[[list[str]], Any] | None = None,
    reporter: Reporter | None = None,
    separator: str | None = None,
    weighted: bool = False,
) -> Graph:
    """The k-nearest-neighbour graph of Label Studio's tasks, a node each, with the labels that were chosen.

    Where a task may have several choices, `separator` is a character that none of them holds, such as ``";"``.
    `label` is the ``name`` of the choice where there are several. The field that is the text or the picture is found by
    its usual names, or is the only one; `text` or `images` names another. See
    `nodewise.graph.io.label_studio.read_tasks`.
    """
    table = read_tasks(path, label, separator)
    fields = [field for field in table.columns if field not in ("id", "label", "annotator")]
    if text is None and images is None:
        shown = shown_column(fields) or ((fields[0], "text") if len(fields) == 1 else None)
        if shown is None:
            raise GraphError(
                f"{path} has the fields {listed(fields, 20)}, and none says that it is the text: name it (text=…,"
                " --text)"
            )
        text, images = (shown[0], None) if shown[1] == "text" else (None, shown[0])
    if images is not None and (far := next((cell for cell in table.column(images) if "://" in cell), None)) is not None:
        raise GraphError(
            f"{path} names pictures by addresses such as {far[:80]!r}: download them and name the files, or give text=…"
            " (--text)"
        )
    shown_as = {"label": "label", "text": text, "images": images, "separator": separator}
    return knn_from_table(table, k, metric, encoder=encoder, reporter=reporter, weighted=weighted, **shown_as)


def graph_from_things(
    source: Path,
    *,
    knn: int,
    text: str | None = None,
    images: str | None = None,
    label: str | None = None,
    metric: Metric = "cosine",
    reporter: Reporter | None = None,
    separator: str | None = None,
    weighted: bool = False,
) -> Graph:
    """The k-nearest-neighbour graph of a file of things, by its ending.

    .npy: embeddings; .txt: a text a line; .csv, .tsv: a table; .json: Label Studio's tasks; or a folder of pictures.
    `text`, `images` and `label` name columns of a table; for a folder of pictures ``label="folder"`` makes the folder
    that a picture is in its label; `separator` parts the classes where a table's cell or a task may name several;
    `weighted` as for `knn_graph`.
    """
    source = Path(source).expanduser()
    ending = source.suffix.lower()
    how: dict[str, Any] = {"reporter": reporter, "weighted": weighted}
    if not source.is_dir() and ending in (".csv", ".tsv"):
        named: dict[str, Any] = {"label": label, "text": text, "images": images, "separator": separator}
        return knn_from_table(source, knn, metric, **how, **named)
    if not source.is_dir() and ending == ".json":
        named = {"label": label, "text": text, "images": images, "separator": separator}
        return knn_from_tasks(source, knn, metric, **how, **named)
    given = {"text": text, "images": images, "label": None if source.is_dir() else label, "separator": separator}
    if wrong := [f"{key} {value!r}" for key, value in given.items() if value is not None]:
        raise InputError(
            f"{source} has no columns, received {', '.join(wrong)}: columns can be named for a .csv or .tsv table, or"
            " Label Studio's .json, only"
        )
    if source.is_dir():
        return knn_from_images(source, knn, metric, **how, y=label)
    existing_file(source)
    if ending == ".npy":
        return knn_from_npy(source, knn, metric, **how)
    if ending == ".txt":
        try:
            lines = source.read_text(encoding="utf-8-sig").splitlines()
        except UnicodeDecodeError as error:
            raise GraphError(
                f"{source} is not UTF-8 text ({error.reason} at byte {error.start}): save it in UTF-8"
            ) from None
        return knn_from_texts(lines, knn, metric, **how, name=source.stem)
    raise InputError(
        f"no graph can be made of {source}: give a .csv or .tsv table, a .txt file with a text a line, .npy embeddings,"
        " Label Studio's .json, or a folder of pictures"
    )


def _as_table(source: str | Path | Table | Mapping[str, Sequence[Any]]) -> Table:
    if isinstance(source, Table):
        return source
    if isinstance(source, (str, Path)):
        path = Path(source).expanduser()
        table = read_table(path, delimiter="\t" if path.suffix.lower() == ".tsv" else None)
        if not len(table):
            raise GraphError(f"{path} names columns but holds no rows: check that the table is complete")
        return table
    columns = {
        str(key): ["" if cell is None or cell is np.nan else str(cell) for cell in cells]
        for key, cells in source.items()
    }
    rows = {len(cells) for cells in columns.values()}
    if len(rows) != 1 or 0 in rows:
        raise GraphError(
            "the columns of a table must all have the same number of rows, at least one, received"
            f" {sorted(rows) or 'no columns'}"
        )
    return Table(Path("table"), columns, list(range(1, rows.pop() + 1)))


def _likeness(x: Any, edges: npt.NDArray[np.int64], metric: Metric) -> npt.NDArray[np.float32]:
    """How much alike the two ends of each edge are, above 0: float32 [edge]."""
    far = Distances(x, metric).exact(edges[0], edges[1])
    if metric == "cosine":
        return np.maximum(-far, SMALLEST).astype(np.float32)
    distance = np.sqrt(far)
    mean = float(distance.mean()) if len(distance) else 0.0
    return (1 / (1 + distance / (mean or 1.0))).astype(np.float32)


def _to_show(columns: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    """The columns kept as attributes."""
    if len(columns) <= _SHOWN_COLUMNS:
        return dict(columns)
    return {
        key: cells
        for key, cells in columns.items()
        if meaning(key) is not None or numbers([cell or "0" for cell in cells[:100]]) is None
    }
