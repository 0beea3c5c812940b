"""Graphs from data frames: pandas', polars', or anything else with named columns. None of them is imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from nodewise.ground.errors import GraphError, WrongTypeError

if TYPE_CHECKING:
    from nodewise.graph.graph import Graph
    from nodewise.graph.knn.neighbours import Metric
    from nodewise.ground.events import Reporter

__all__ = ["frame_columns", "from_dataframe"]


def from_dataframe(
    frame: Any,
    label: str | None = None,
    text: str | None = None,
    k: int = 10,
    *,
    id: str | None = None,
    images: str | None = None,
    encoder: Callable[[list[str]], Any] | None = None,
    metric: Metric = "cosine",
    name: str = "table",
    reporter: Reporter | None = None,
    separator: str | None = None,
    weighted: bool = False,
) -> Graph:
    """The graph of a data frame's rows, each joined to its k nearest: see `nodewise.graph.knn.knn.knn_from_table`.

    Args:
        frame: a pandas or polars data frame, or a dict column -> cells.
        label: the column of the classes; None: one of a usual name; an empty text: none.
        text: the column of texts, if these are the features; None: all other columns, numbers standardised, categories
            as one column each.
        k: neighbours of each row.
        id: the column of the nodes' names; None: one of a usual name, else the index of the frame where it does not
            only count the rows.
        images: the column of picture files, if pictures are the features.
        encoder: what turns a list of texts into an array [text, feature]; None: TF-IDF.
        metric: what near means.
        name: of the graph.
        reporter: gets the progress.
        separator: what parts the classes where a cell of `label` may name several; None: a row has one class.
        weighted: whether an edge weighs as much as its ends are alike, as for `knn_graph`.

    Raises:
        GraphError: if it is no table, or a column is missing or of no use.
    """
    from nodewise.graph.knn.knn import knn_from_table

    for what, column in (("label", label), ("text", text), ("id", id), ("images", images)):
        if column is not None and not isinstance(column, str):
            raise WrongTypeError(
                f"{what} names a column of the data frame, received {type(column).__name__}: give its name; a table of"
                " nodes and one of edges become a graph with Graph.from_csv(nodes, edges)"
            )
    columns, index = frame_columns(frame)
    return knn_from_table(
        columns,
        k,
        metric,
        label=label,
        text=text,
        images=images,
        id=id,
        names=index,
        encoder=encoder,
        reporter=reporter,
        name=name,
        separator=separator,
        weighted=weighted,
    )


def frame_columns(frame: Any) -> tuple[dict[str, list[Any]], list[str] | None]:
    """The columns of a data frame, and its index as texts where each is another one and they do not only count the
    rows.
    """
    if isinstance(frame, Mapping):
        return {str(key): list(cells) for key, cells in frame.items()}, None
    names = getattr(frame, "columns", None)
    if names is None or not hasattr(frame, "__getitem__"):
        raise WrongTypeError(
            f"a data frame or a dict of columns is needed, received {type(frame).__name__}: give pandas.DataFrame(…),"
            " or for an array of numbers alone use knn_graph"
        )
    keys = list(names)
    if len(set(map(str, keys))) < len(keys):
        raise GraphError(
            f"every column of the data frame needs a name of its own, received {[str(key) for key in keys][:20]}"
        )
    columns = {str(key): list(frame[key]) for key in keys}
    if not hasattr(frame, "index"):
        return columns, None
    index = [str(one) for one in frame.index]
    counts = index == [str(i) for i in range(len(index))]
    return columns, None if counts or "" in index or len(set(index)) < len(index) else index
