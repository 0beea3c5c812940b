"""Rows that were not in the graph: their features, made as the graph's own were, and the nodes nearest to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.graph.graph import FIRST_COLUMNS, Graph
from nodewise.graph.preparation import Part, Preparation
from nodewise.graph.tables.columns import part_features
from nodewise.graph.tables.pictures import pixels
from nodewise.graph.tables.table import Table, read_table
from nodewise.graph.tables.text import Words, new_encoded, word_features
from nodewise.ground.errors import GraphError, InputError
from nodewise.ground.events import count, listed

__all__ = [
    "Nearest",
    "NodeSearch",
    "needs_preparation",
    "new_features",
    "reach_of",
    "rows_as_columns",
    "vector_features",
]

Rows = Any  # float32 [row, feature], dense or CSR
Encoder = Callable[[list[str]], Any]

_ALIKE = 1e-3
"""By how much an encoder may differ from itself, as a share: another machine or another batch rounds otherwise."""

_MORE = 6
"""Nodes beyond the nearest whose distances are computed exactly, so that rounding does not choose among them."""

_ROUNDING = np.float32(1e-5)
"""By how much a row's cosine must be above a node's reach: ties are the rule where rows are there twice, and products
of one row round otherwise than those of many.
"""

_SCORES = 2**24
"""Scores of rows with nodes that are held at once: 64 MB."""


def needs_preparation(graph: Graph) -> Preparation:
    """The graph's preparation.

    Raises:
        GraphError: it has none, so that nobody knows how a new row would become features.
    """
    if graph.preparation is None:
        raise GraphError(
            f"the graph {graph.name!r} does not say how its rows became features, so new rows cannot: make it again"
            " from its texts, table or pictures (Graph.from_texts, Graph.from_dataframe, `nodewise convert --knn`) and"
            " keep it as .npz, or give the new rows as vectors with the graph's own columns"
        )
    return graph.preparation


def new_features(graph: Graph, rows: Any, *, encoder: Encoder | None = None, folder: str | Path | None = None) -> Rows:
    """The features of new rows, made as the graph's own were: float32 [row, feature], dense or CSR as the graph's are.

    The rows that the graph was made from get the features that it has.

    Args:
        graph: one that was made from rows.
        rows: what the graph was made from: a list of texts; a table (a file, a data frame, column -> cells, a list of
            dicts); pictures' files; or numbers [row, feature]. Texts and pictures may be given as a table, too, whose
            column has the name that it had.
        encoder: the one that the graph was made with, where it was.
        folder: that paths of pictures are relative to.

    Raises:
        GraphError: the graph does not know how its rows became features, or the rows do not have the columns.
        InputError: the encoder is missing or another one.
    """
    preparation = needs_preparation(graph)
    if preparation.rows == "vectors":
        return vector_features(graph, rows)
    given = _Given(rows, folder)
    parts = [
        _part(part, preparation, given, encoder)
        for part in preparation.parts
        if part["kind"] not in ("number", "category")
    ]
    if cells := [part for part in preparation.parts if part["kind"] in ("number", "category")]:
        columns = {part["column"]: given.column(part["column"], preparation) for part in cells}
        parts.insert(0, part_features(columns, cells))  # numbers stand before words
    x = parts[0] if len(parts) == 1 else sp.hstack([sp.csr_matrix(part) for part in parts], format="csr")
    return _finished(graph, x)


def vector_features(graph: Graph, rows: Any) -> Rows:
    """Numbers [row, feature] in the columns that the graph's rows had, brought into the form that its features have.

    Raises:
        GraphError: there are other columns, or something is no finite number.
    """
    x: Any = rows.tocsr() if _is_sparse(rows) else np.asarray(rows)
    if x.ndim != 2 or (not _is_sparse(x) and x.dtype.kind not in "biuf"):
        raise GraphError(
            f"the graph's rows are numbers [row, feature], received {x.dtype} of shape {list(x.shape)}: give an array"
            " with one row for each"
        )
    first = next((int(step[1]) for part in graph.features.split("+") if (step := FIRST_COLUMNS.fullmatch(part))), None)
    wanted = graph.num_features if graph.preparation is None else graph.preparation.width
    if x.shape[1] != wanted and (first is None or x.shape[1] < first):
        raise GraphError(
            f"the rows have {count(x.shape[1], 'column')} and the graph's features {wanted}: give the same columns in"
            " the same order"
        )
    x = x.astype(np.float32)
    if not np.isfinite(x.data if _is_sparse(x) else x).all():
        raise GraphError("the rows hold a value that is no finite number: fill in what is missing")
    return _finished(graph, x)


def rows_as_columns(rows: Any) -> dict[str, list[str]] | None:
    """The columns of a table in any form, cells as texts; None where the rows are no table."""
    if isinstance(rows, Table):
        return dict(rows.columns)
    if isinstance(rows, (str, Path)):
        path = Path(rows).expanduser()
        return dict(read_table(path, delimiter="\t" if path.suffix.lower() == ".tsv" else None).columns)
    if isinstance(rows, Mapping) or hasattr(rows, "columns"):
        return {
            str(key): [_cell(cell) for cell in rows[key]]
            for key in (rows if isinstance(rows, Mapping) else rows.columns)
        }
    if isinstance(rows, Sequence) and len(rows) and all(isinstance(row, Mapping) for row in rows):
        names = dict.fromkeys(str(key) for row in rows for key in row)
        return {name: [_cell(row.get(name)) for row in rows] for name in names}
    return None


class Nearest(NamedTuple):
    """The nodes nearest to rows.

    Attributes:
        nodes: int64 [row, k], the nearest first; -1 where there are fewer.
        near: float64 [row, k], the cosine, or minus the distance; -inf where there is none.
    """

    nodes: npt.NDArray[np.int64]
    near: npt.NDArray[np.float64]


class NodeSearch:
    """Finds the nodes that rows are nearest to: exact, of equally near ones the first.

    Under the cosine metric only nodes with a positive similarity are near, as in a graph of nearest neighbours.

    Args:
        x: the nodes' features, float32 [node, feature], dense or CSR.
        metric: ``"cosine"`` or ``"euclidean"``.
    """

    def __init__(self, x: Rows, metric: str = "cosine") -> None:
        self._cosine, self.count = metric == "cosine", int(x.shape[0])
        self._x = x
        self._square = _squares(x)
        self._turned = self._scaled(x, self._square).T
        if _is_sparse(self._turned):
            self._turned = self._turned.tocsr()

    @classmethod
    def of(cls, graph: Graph) -> NodeSearch:
        """Among a graph's nodes, by its own features and metric.

        Raises:
            GraphError: it has no features.
        """
        if graph.x is None or not graph.has_features:
            raise GraphError(f"the graph {graph.name!r} has no features, so no row is near to any of its nodes")
        return cls(graph.x, "cosine" if graph.preparation is None else graph.preparation.metric)

    def nearest(self, rows: Rows, k: int) -> Nearest:
        """The k nearest nodes of each row."""
        k = min(k, self.count)
        nodes = np.full((rows.shape[0], k), -1, np.int64)
        near = np.full((rows.shape[0], k), -np.inf)
        step = max(1, _SCORES // self.count)
        for first in range(0, rows.shape[0], step):
            some = slice(first, first + step)
            nodes[some], near[some] = self._nearest(rows[some], k)
        return Nearest(nodes, near)

    def _nearest(
        self, rows: Rows, k: int, scores: npt.NDArray[np.float32] | None = None
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        import torch  # its largest few are found in a tenth of the time of numpy's

        scores = self.scores(rows) if scores is None else scores
        wider = min(k + _MORE, self.count)
        chosen: npt.NDArray[np.int64] = torch.from_numpy(scores).topk(wider, 1, sorted=False).indices.numpy()
        near = self._exact(rows, chosen)
        order = np.lexsort((chosen, -near), axis=1)[:, :k]
        nodes, near = np.take_along_axis(chosen, order, 1), np.take_along_axis(near, order, 1)
        if self._cosine:
            nodes[near <= 0], near[near <= 0] = -1, -np.inf
        return nodes, near

    def joined(self, rows: Rows, k: int, reach: npt.NDArray[np.float64] | None = None) -> sp.csr_matrix[np.float32]:
        """The nodes that rows are joined to, if either is among the k nearest of the other: 0 and 1, [row, node].

        Args:
            rows: their features.
            k: how many of a row's nearest nodes.
            reach: how similar a row must be to each node to be among the nearest of that: see `reach_of`; None: a
                node's own nearest stay as they are.
        """
        blocks = []
        step = max(1, _SCORES // self.count)
        for first in range(0, max(1, rows.shape[0]), step):
            some = rows[first : first + step]
            scores = self.scores(some)
            near = self._nearest(some, min(k, self.count), scores)[0]
            row, column = np.nonzero(near >= 0)[0], near[near >= 0]
            if reach is not None:
                if not self._cosine:
                    scores = scores - (_squares(some) / 2).astype(np.float32)[:, None]
                least = reach.astype(np.float32) + (_ROUNDING if self._cosine else 0)
                more, other = np.nonzero(scores > least)
                row, column = np.concatenate([row, more]), np.concatenate([column, other])
            block = sp.csr_matrix((np.ones(len(row), np.float32), (row, column)), shape=(some.shape[0], self.count))
            block.data[:] = 1  # a pair that is there twice
            blocks.append(block)
        whole: sp.csr_matrix[np.float32] = sp.vstack(blocks, format="csr")
        return whole

    def scores(self, rows: Rows) -> npt.NDArray[np.float32]:
        """The cosine, or x·z − |z|²/2, whose order along a row is that of the distances: float32 [row, node]."""
        product = self._scaled(rows, _squares(rows)) @ self._turned
        scores: npt.NDArray[np.float32] = np.asarray(product.toarray() if _is_sparse(product) else product)
        if not self._cosine:
            scores = scores - (self._square / 2).astype(np.float32)
        return scores

    def _scaled(self, x: Rows, square: npt.NDArray[np.float64]) -> Any:
        if not self._cosine:
            return x
        scale = (1 / np.sqrt(np.where(square > 0, square, 1))).astype(np.float32)
        return (_diagonal(scale) @ x).tocsr() if _is_sparse(x) else x * scale[:, None]

    def _exact(self, rows: Rows, nodes: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Cosines or minus distances in float64, rounded so that equal ones are equal: [row, chosen]."""
        number, chosen = nodes.shape
        result = np.empty((number, chosen))
        step = max(1, 2**21 // (chosen * max(1, min(self._x.shape[1], 256))))
        for first in range(0, number, step):
            some = nodes[first : first + step]
            others = self._x[some.ravel()].astype(np.float64)
            own = rows[first : first + step].astype(np.float64)
            if _is_sparse(others):
                own = sp.csr_matrix(own)[np.repeat(np.arange(len(some)), chosen)]
                inner = np.asarray(others.multiply(own).sum(1)).reshape(some.shape)
            else:
                own = own.toarray() if _is_sparse(own) else own
                inner = (others.reshape(*some.shape, -1) @ own[:, :, None])[..., 0]
            square = _squares(rows[first : first + step])[:, None]
            if self._cosine:
                length = np.sqrt(square * self._square[some])
                result[first : first + step] = np.divide(
                    inner, length, out=np.zeros_like(inner), where=length > 0
                ).round(11)
            else:
                distance = np.sqrt(np.maximum(square + self._square[some] - 2 * inner, 0))
                result[first : first + step] = -distance.round(9)
        return result


def reach_of(x: Rows, joined: sp.csr_matrix[Any], k: int, metric: str = "cosine") -> npt.NDArray[np.float64]:
    """How similar each node is to its k-th nearest, of those that it is joined to: float64 [node].

    The cosine, or minus half the squared distance. With fewer than k, anything with something in common would be near.
    """
    pairs = joined.tocoo()
    square = _squares(x)
    similar = np.empty(len(pairs.row))
    step = max(1, 2**22 // max(1, min(x.shape[1], 256)))
    for first in range(0, len(similar), step):
        row, column = pairs.row[first : first + step], pairs.col[first : first + step]
        one, other = x[row].astype(np.float64), x[column].astype(np.float64)
        inner = np.asarray(one.multiply(other).sum(1)).ravel() if _is_sparse(one) else np.einsum("rf,rf->r", one, other)
        if metric == "cosine":
            length = np.sqrt(square[row] * square[column])
            inner = np.divide(inner, length, out=np.zeros_like(inner), where=length > 0)
        else:
            inner = inner - (square[row] + square[column]) / 2
        similar[first : first + step] = inner
    order = np.lexsort((-similar, pairs.row))
    number = np.bincount(pairs.row, minlength=joined.shape[0])
    reach = np.full(joined.shape[0], 0.0 if metric == "cosine" else -np.inf)
    full = number >= k
    reach[full] = similar[order][(np.cumsum(number) - number + k - 1)[full]]
    return reach


class _Given:
    """Rows in whatever form, as columns of texts or as one list of things."""

    def __init__(self, rows: Any, folder: str | Path | None) -> None:
        if isinstance(rows, (str, Path)) and folder is None:
            folder = Path(rows).expanduser().parent
        self._columns = rows_as_columns(rows)
        self._things = None if self._columns is not None else list(rows)
        self._folder = Path() if folder is None else Path(folder)

    def things(self, column: str | None, preparation: Preparation) -> list[str]:
        if self._things is not None:
            wrong = [thing for thing in self._things if not isinstance(thing, (str, Path, type(None), float))]
            if wrong:
                kind = type(wrong[0]).__name__
                raise GraphError(
                    f"the graph was made from {preparation.rows}, received {kind} among the rows: give a list of texts"
                    + (f", or a table with the column {column!r}" if column else "")
                )
            return [_cell(thing) for thing in self._things]
        assert self._columns is not None
        if column is None:
            usual = "text" if preparation.rows == "texts" else "picture"
            column = usual if usual in self._columns or len(self._columns) > 1 else next(iter(self._columns), usual)
        return self.column(column, preparation)

    def column(self, name: str, preparation: Preparation) -> list[str]:
        if self._columns is None:
            raise GraphError(
                f"the graph was made from a table with the columns {listed(preparation.columns, 20)}, received a list:"
                " give a table (a .csv file, a data frame, column -> cells, or a list of dicts)"
            )
        if (cells := preparation.cells(name, self._columns)) is None:
            raise GraphError(
                f"the rows have no column {name!r}, of which the graph's features were made; their columns are"
                f" {listed(self._columns, 20)}: give rows with the columns {listed(preparation.columns or [name], 20)}"
            )
        return cells

    def path(self, text: str) -> Path:
        return self._folder / Path(text.strip()).expanduser()


def _part(part: Part, preparation: Preparation, given: _Given, encoder: Encoder | None) -> Rows:
    things = given.things(part.get("column"), preparation)
    if part["kind"] == "pixels":
        return pixels([given.path(text) for text in things], int(part["size"]), as_grey=bool(part["grey"]))
    if part["kind"] == "words":
        return word_features(things, Words(list(part["words"]), preparation.arrays[part["idf"]]))
    return _by_encoder(part, preparation, things, encoder)


def _by_encoder(part: Part, preparation: Preparation, texts: list[str], encoder: Encoder | None) -> Rows:
    name = part["name"]
    if encoder is None:
        raise InputError(f"the graph's texts were encoded by {name!r}, which is not kept: give it (encoder=…)")
    if not part["texts"]:  # they were erased, and nothing is left to compare
        return new_encoded(texts, encoder) if texts else np.zeros((0, part["width"]), np.float32)
    known = new_encoded(list(part["texts"]), encoder)
    known = known.toarray() if _is_sparse(known) else np.asarray(known)
    output = preparation.arrays[part["output"]]
    if known.shape != output.shape or np.abs(known - output).max() > _ALIKE * max(np.abs(output).max(), 1e-9):
        raise InputError(
            f"this is not the encoder that the graph's texts were encoded by, {name!r}: it makes something else of the"
            f" graph's first {count(len(part['texts']), 'text')}; give the same encoder, or make a graph of all texts"
            " with this one"
        )
    return new_encoded(texts, encoder) if texts else np.zeros((0, part["width"]), np.float32)


def _finished(graph: Graph, x: Any) -> Rows:
    """The rows' features after the steps that were done to the graph's, in the graph's form."""
    for step in graph.features.split("+"):
        if first := FIRST_COLUMNS.fullmatch(step):
            x = x[:, : int(first[1])]
        elif step in ("unit", "row"):
            size = np.sqrt(_squares(x)) if step == "unit" else np.asarray(abs(x).sum(1), dtype=np.float64).ravel()
            scale = 1 / np.where(size > 0, size, 1)
            x = (_diagonal(scale) @ x).tocsr() if _is_sparse(x) else x * scale[:, None]
        elif step == "binary":
            x = (x != 0).astype(np.float32)
        elif step == "structural" or (step == "center" and graph.x_offset is None):
            raise GraphError(
                f"the graph's features were changed by {graph.features!r}, which cannot be done to rows alone: use a"
                " graph with raw features"
            )
    if x.shape[1] != graph.num_features:
        raise GraphError(
            f"new rows would have {count(x.shape[1], 'column')} and the graph's features have {graph.num_features}:"
            " they were replaced since the graph was made from its rows; make it again"
        )
    x = x.astype(np.float32)
    if _is_sparse(graph.x):
        return sp.csr_matrix(x)
    return np.ascontiguousarray(x.toarray() if _is_sparse(x) else x)


def _squares(x: Any) -> npt.NDArray[np.float64]:
    if _is_sparse(x):
        return np.asarray(x.multiply(x).sum(1), dtype=np.float64).ravel()
    squares: npt.NDArray[np.float64] = np.einsum("rf,rf->r", x, x, dtype=np.float64)
    return squares


def _diagonal(values: npt.NDArray[Any]) -> Any:
    return sp.diags(values)


def _is_sparse(x: Any) -> bool:
    return bool(sp.issparse(x))


def _cell(cell: Any) -> str:
    return "" if cell is None or cell != cell else str(cell)
