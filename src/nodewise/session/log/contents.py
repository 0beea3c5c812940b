"""What a session's file holds beside the events: its settings, its graph and the nodes that may be asked."""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nodewise.graph import Graph, read_graph
from nodewise.graph.io.npz import read_npz, write_npz
from nodewise.graph.knn.growth import with_rows
from nodewise.graph.nodes import node_index
from nodewise.ground.compute import numpy_generator
from nodewise.ground.errors import GraphError, SessionError, SessionFileError
from nodewise.ground.files import scratch_folder
from nodewise.session.answers import Event
from nodewise.session.log.database import damaged, graph_files, graph_path
from nodewise.session.log.log import Log
from nodewise.session.settings import SessionSettings

__all__ = ["EMBED_LIMIT", "Contents", "Growth", "check_added", "fetch_graph", "packed_graph", "store_graph"]

EMBED_LIMIT = 256 * 2**20
"""The largest graph, in bytes of its npz form, that lies in the session's file."""
_UNWRITTEN = 2**20
"""Rows that a file may claim to add beside one for each of its bytes."""


@dataclass(frozen=True, eq=False)
class Contents:
    """What a job is about: settings, graph and who may be asked. It changes only where rows are added or taken out.

    Attributes:
        settings: what the session was made with.
        graph: the graph.
        given: node -> the label that it had before the session.
        candidates: the nodes that may be asked, [node].
        free: the candidates without a given label, [node].
        audit: the nodes of the audit, in the order drawn.
        policy: the policy's file, or None.
        draws: the audit's parts: of how many rows each was drawn, and which nodes. The first is the one that the
            session was begun with, each addition of rows has its own.
        starts: the first row that each of these parts was drawn from.
    """

    settings: SessionSettings
    graph: Graph
    given: Mapping[int, str]
    candidates: npt.NDArray[np.bool_]
    free: npt.NDArray[np.bool_]
    audit: tuple[int, ...]
    policy: bytes | None
    draws: tuple[tuple[int, tuple[int, ...]], ...] = ()
    starts: tuple[int, ...] = (0,)

    def find(self, node: int | str) -> int:
        """The node of that index or name: see `nodewise.graph.nodes.node_index`.

        Raises:
            InputError: there is no such node.
        """
        return node_index(node, self.graph)

    def name_of(self, node: int) -> str:
        """The node's name where the graph has names, else its index."""
        return self.graph.node_names[node] if self.graph.node_names is not None else str(node)

    @cached_property
    def first_classes(self) -> tuple[str, ...]:
        """The classes that there were before the first event, in the order of their numbers."""
        return tuple(dict.fromkeys([*self.settings.classes, *self.given.values()]))

    @classmethod
    def read(cls, log: Log) -> Contents:
        """Read them from an open file.

        Raises:
            SessionFileError: they cannot be used, or the graph is gone or has changed.
        """
        settings = SessionSettings.from_dict(log.settings.get("settings", {}))
        graph = fetch_graph(log)
        packed = log.part("candidates")
        count = graph.num_nodes
        if settings.budget > count or settings.audit > count:  # room for them is made at once
            raise damaged(
                log.path,
                f"it asks for a budget of {settings.budget:,} and an audit of {settings.audit:,} of {count:,} nodes",
            )
        candidates = (
            np.ones(count, bool)
            if packed is None
            else np.unpackbits(np.frombuffer(packed, np.uint8), count=count).astype(bool)
        )
        given: dict[int, str] = {}
        if settings.use_labels and graph.y is not None:
            given = {int(node): graph.class_names[graph.y[node]] for node in np.flatnonzero(graph.y >= 0)}
        free = candidates.copy()
        free[list(given)] = False
        nodes = np.flatnonzero(free).tolist()
        drawn = numpy_generator(settings.seed, "audit").permutation(len(nodes))[: settings.audit]
        audit = tuple(nodes[index] for index in drawn)
        return cls(settings, graph, given, candidates, free, audit, log.part("policy"), ((len(nodes), audit),))

    def with_rows(self, log: Log, event: Event, *, connected: bool) -> Contents:
        """The same with the rows that an event has added.

        Args:
            log: the open file, for what is attached to the event.
            event: of the kind ``rows``.
            connected: whether the event counts: rows whose addition was taken back keep their numbers and nothing else.

        Raises:
            SessionFileError: they cannot be read, or do not fit the graph.
        """
        count, drawn = int(event.body["count"]), tuple(map(int, event.body["audit"]))
        packed = log.attachment(event, "rows")
        with scratch_folder() as folder:
            file = folder / "rows.npz"
            file.write_bytes(packed)
            try:
                rows = read_npz(file)
                if rows.num_nodes != count or any(node >= self.graph.num_nodes + count for node in drawn):
                    raise GraphError(f"there are {rows.num_nodes} rows where {count} were added")
                graph = with_rows(self.graph, rows, connected=connected)
            except GraphError as error:
                raise damaged(log.path, f"the rows of event {event.id} cannot be read: {error}") from error
        new = np.full(count, connected)
        return replace(
            self,
            graph=graph,
            candidates=np.concatenate([self.candidates, new]),
            free=np.concatenate([self.free, new]),
            audit=(*self.audit, *drawn) if connected else self.audit,
            draws=(*self.draws, (count, drawn)) if connected else self.draws,
            starts=(*self.starts, self.graph.num_nodes) if connected else self.starts,
        )

    def without(self, gone: frozenset[int]) -> Contents:
        """The same with rows taken out: nobody is asked about them."""
        candidates, free = self.candidates.copy(), self.free.copy()
        candidates[list(gone)] = free[list(gone)] = False
        return replace(self, candidates=candidates, free=free)

    @property
    def draws_left(self) -> list[tuple[int, tuple[int, ...]]]:
        """The audit's parts, each with the number of its rows that were not taken out."""
        ends = (*self.starts[1:], len(self.free))
        return [
            (int(self.free[first:end].sum()), nodes)
            for (_, nodes), first, end in zip(self.draws, self.starts, ends, strict=True)
        ]

    def draw_share(self, count: int, event: int) -> list[int]:
        """The nodes that an addition of so many rows gives to the audit: as large a share as the first draw's.

        Args:
            count: how many rows.
            event: the number that the addition will have in the log; the draw is named by it.
        """
        size, nodes = self.draws[0]
        share = round(count * len(nodes) / size) if size else 0
        drawn = numpy_generator(self.settings.seed, "audit", event).permutation(count)[:share]
        return [self.graph.num_nodes + int(row) for row in drawn]


class Growth:
    """What a job is about as rows are added to it: what was made of the first additions is kept for the next.

    Args:
        first: what it was begun with.
    """

    def __init__(self, first: Contents) -> None:
        self._first = self._grown = first
        self._additions: tuple[tuple[int, bool], ...] = ()

    def check_claim(self, log: Log, nodes: int) -> None:
        """Refuse events that bring it to that many nodes where no file of that size can: see `check_added`."""
        check_added(log, nodes - self._first.graph.num_nodes)

    def with_additions(self, log: Log, added: Iterable[int], taken_back: Collection[int]) -> Contents:
        """The contents with the rows of some events, of which some were taken back."""
        additions = tuple((event, event not in taken_back) for event in added)
        kept, grown = len(self._additions), self._grown
        if additions[:kept] != self._additions:
            kept, grown = 0, self._first
        for event, counts in additions[kept:]:
            grown = grown.with_rows(log, log.events[event - 1], connected=counts)
        self._additions, self._grown = additions, grown
        return grown


def check_added(log: Log, rows: int) -> None:
    """Refuse that many added rows where a file cannot hold them: room is made for them before they are read.

    Raises:
        SessionFileError: there are too many.
    """
    if rows > _UNWRITTEN and rows > _UNWRITTEN + log.path.stat().st_size:
        raise damaged(log.path, f"it adds {rows:,} rows, more than a file of its size can hold")


def packed_graph(graph: Graph) -> tuple[int, bytes]:
    """How many nodes a graph has, and its bytes in the form in which it lies in a session."""
    with scratch_folder() as folder:
        file = folder / "graph.npz"
        write_npz(graph, file)
        return graph.num_nodes, file.read_bytes()


def store_graph(
    graph: Graph, session: Path, source: Path | None = None, limit: int = EMBED_LIMIT
) -> tuple[dict[str, Any], bytes | None]:
    """Where the graph is, for the settings, and its bytes if it is to lie inside.

    Args:
        graph: what to keep.
        session: the session's file.
        source: the file or folder that the graph was read from, as it is; where it is too large to lie inside, that is
            referred to. Without it, a copy is written beside the session.
        limit: the largest size in bytes that lies inside.
    """
    if (
        source is not None and zipfile.is_zipfile(source) and zipfile.Path(source, "name.npy").exists()
    ):  # in the form that it is kept in already
        if source.stat().st_size <= limit:
            return {"where": "inside"}, source.read_bytes()
    else:
        with scratch_folder() as folder:
            packed = folder / "graph.npz"
            write_npz(graph, packed)
            if packed.stat().st_size <= limit:
                return {"where": "inside"}, packed.read_bytes()
    if source is None:
        source = session.with_name(session.name + ".graph.npz")
        if source.exists():
            raise SessionError(
                f"the graph is too large for the session's file, and there is a {source.name!r} beside it already:"
                " remove that one"
            )
        write_npz(graph, source)
    return {"where": "file", "path": str(source.absolute()), "sha256": _hash(source)}, None


def fetch_graph(log: Log) -> Graph:
    """The session's graph.

    Raises:
        SessionFileError: the stored graph is damaged, or the file referred to is gone or has changed.
    """
    stored = log.settings.get("graph")
    if not isinstance(stored, dict):
        raise damaged(log.path, "it does not say where its graph is")
    if stored.get("where") == "inside":
        packed = log.part("graph")
        if packed is None:
            raise SessionFileError(f"the session {str(log.path)!r} holds no graph: go on from a backup")
        with scratch_folder() as folder:
            file = folder / "graph.npz"
            file.write_bytes(packed)
            try:
                return read_npz(file)
            except GraphError as error:
                raise SessionFileError(f"the graph in the session {str(log.path)!r} cannot be read: {error}") from error
    path = graph_path(log.path, log.settings)
    if path is None:
        raise SessionFileError(
            f"the graph of the session {str(log.path)!r} is not at {str(stored.get('path'))!r}: put it back there, or"
            " beside the session's file"
        )
    if _hash(path) != stored.get("sha256"):
        raise SessionFileError(
            f"the graph {str(path)!r} has changed since the session was made: put the old file back, or make a new"
            " session"
        )
    try:
        return read_graph(path)
    except GraphError as error:
        raise SessionFileError(f"the session's graph cannot be read: {error}") from error


def _hash(path: Path) -> str:
    """SHA-256 of a file, or of the names and hashes of the files that a folder's graph is read from."""
    files = graph_files(path)
    digests = []
    for file in files:
        if not file.is_file():  # a pipe would never end
            raise SessionFileError(
                f"the session's graph {str(file)!r} is not an ordinary file: put the old file back, or make a new"
                " session"
            )
        digest = hashlib.sha256()
        try:
            with file.open("rb") as stream:
                while block := stream.read(2**20):
                    digest.update(block)
        except OSError as error:
            raise SessionFileError(
                f"the session's graph {str(file)!r} cannot be read: {error.strerror or error}; check its permissions"
            ) from error
        digests.append(digest.hexdigest())
    if files == [path]:
        return digests[0]
    named = [f"{os.fsdecode(file.name)} {digest}" for file, digest in zip(files, digests, strict=True)]
    return hashlib.sha256("\n".join(named).encode("utf-8", "surrogateescape")).hexdigest()
