"""What is known about a data set before it is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["DatasetInfo", "Origin"]

Origin = Literal["download", "included", "generated", "folder"]


@dataclass(frozen=True)
class DatasetInfo:
    """A data set by name.

    Attributes:
        name: what it is called here; also the name of its file in the data folder.
        description: nodes, edges and classes in words. nodes, edges: how many; None where it is not known before the
        graph is there. Each undirected edge counts once.
        features: columns; 0: it has none.
        classes: how many.
        origin: ``"download"`` (fetched once, then kept in the data folder), ``"included"`` (comes with a dependency,
            needs no network), ``"generated"`` (from a seed) or ``"folder"`` (only where the data folder holds it;
            `remark` says where it is to be had).
        source: who publishes it.
        citation: where it was published first.
        licence: as its source states it; empty where the source states none.
        remark: what is special, or different from other copies.
        aliases: further names it goes by.
        files: further names, without .npz, that its file may have in the data folder.
        budget: the paper's number of labels, for its graphs.
        splits: test and validation nodes, where the paper's protocol has its own for it.
        paper: whether it is one of the ten graphs of the paper's tables.
        extra: the extra of nodewise that it needs, such as ``"ogb"``.
        loader: the function that makes it, and its argument.
        holds: what its edges and labels have beyond those of a plain graph, in words: weights, direction, several
            labels a node, relations.
    """

    name: str
    description: str
    nodes: int | None
    edges: int | None
    features: int
    classes: int
    origin: Origin
    source: str
    citation: str = ""
    licence: str = ""
    remark: str = ""
    aliases: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    budget: int | None = None
    splits: tuple[int, int] | None = None
    paper: bool = False
    extra: str = ""
    loader: tuple[str, str] = ("", "")
    holds: tuple[str, ...] = ()
