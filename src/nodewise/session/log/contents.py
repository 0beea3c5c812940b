"""What a session's file holds beside the events: its settings, its graph and the nodes that may be asked."""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from nodewise.graph import Graph, read_graph
from nodewise.graph.io.npz import read_npz, write_npz
from nodewise.graph.knn.growth import with_blank_rows, with_changes, with_rows
from nodewise.graph.nodes import listed_nodes, node_index
from nodewise.graph.relations import RELATIONS_VERSION
from nodewise.ground.compute import numpy_generator
from nodewise.ground.errors import GraphError, SessionError, SessionFileError
from nodewise.ground.files import scratch_folder
from nodewise.ground.plugins import code_of
from nodewise.session.answers import Event
from nodewise.session.log.database import damaged, graph_files, graph_path
from nodewise.session.log.log import Log
from nodewise.session.settings import SessionSettings

__all__ = [
    "EMBED_LIMIT",
    "Contents",
    "Growth",
    "attached_rows",
    "check_added",
    "code_on",
    "fetch_graph",
    "packed_graph",
    "store_graph",
]

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
        given: node -> the label that it had before the session; all its classes where it may have several.
        candidates: the nodes that may be asked, [node].
        free: the candidates without a given label, [node].
        audit: the nodes of the audit, in the order drawn.
        policy: the policy's file, or None.
        draws: the audit's parts: of how many rows each was drawn, and which nodes. The first is the one that the
            session was begun with, each addition of rows has its own.
        starts: the first row that each of these parts was drawn from.
        blank: rows that hold nothing, since their addition was taken back and others came after it.
    """

    settings: SessionSettings
    graph: Graph
    given: Mapping[int, str | tuple[str, ...]]
    candidates: npt.NDArray[np.bool_]
    free: npt.NDArray[np.bool_]
    audit: tuple[int, ...]
    policy: bytes | None
    draws: tuple[tuple[int, tuple[int, ...]], ...] = ()
    starts: tuple[int, ...] = (0,)
    blank: frozenset[int] = frozenset()

    def find(self, node: int | str) -> int:
        """The node of that index or name: see `nodewise.graph.nodes.node_index`.

        A row's number, as a query gives it, is the row.

        Raises:
            InputError: there is no such node.
        """
        return node if self._is_row(node) else node_index(node, self.graph)

    def find_all(self, nodes: Any) -> list[int]:
        """Several nodes one for one, by indices, names or a mask: see `nodewise.graph.nodes.listed_nodes`.

        Raises:
            InputError: there is no such node, or it is unclear which are meant.
        """
        if isinstance(nodes, list) and len(nodes) != self.graph.num_nodes and all(map(self._is_row, nodes)):
            return nodes.copy()  # as many numbers as nodes could be meant as a mask
        return [self.find(node) for node in listed_nodes(nodes, self.graph)]

    def _is_row(self, node: object) -> TypeGuard[int]:
        """Whether it is a row's number, so that there is nothing to look up."""
        return type(node) is int and 0 <= node < self.graph.num_nodes

    def name_of(self, node: int) -> str:
        """The node's name where the graph has names, else its index; so is a row whose addition was taken back."""
        names = self.graph.node_names
        return names[node] if names is not None and node < len(names) else str(node)

    @cached_property
    def first_classes(self) -> tuple[str, ...]:
        """The classes that there were before the first event, in the order of their numbers."""
        given = (name for said in self.given.values() for name in ((said,) if isinstance(said, str) else said))
        return tuple(dict.fromkeys([*self.settings.classes, *given]))

    @classmethod
    def read(cls, log: Log) -> Contents:
        """Read them from an open file.

        Raises:
            SessionFileError: they cannot be used, or the graph is gone or has changed.
        """
        settings = SessionSettings.from_dict(log.settings.get("settings", {}))
        graph = fetch_graph(log, settings.several)
        if graph.several and not settings.several:
            raise damaged(log.path, "its graph has sets of classes, and it asks for one class a node")
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
        given = _given(graph, settings)
        free = candidates.copy()
        free[list(given)] = False
        nodes = np.flatnonzero(free).tolist()
        drawn = numpy_generator(settings.seed, "audit").permutation(len(nodes))[: settings.audit]
        audit = tuple(nodes[index] for index in drawn)
        return cls(settings, graph, given, candidates, free, audit, log.part("policy"), ((len(nodes), audit),))

    def with_rows(self, log: Log, event: Event) -> Contents:
        """The same with the rows that an event has added.

        Args:
            log: the open file, for what is attached to the event.
            event: of the kind ``rows``.

        Raises:
            SessionFileError: they cannot be read, or do not fit the graph.
        """
        count, drawn = int(event.body["count"]), tuple(map(int, event.body["audit"]))
        size = self.graph.num_nodes
        try:
            rows = attached_rows(log, event)
            if rows.num_nodes != count or any(node >= size + count for node in drawn):
                raise GraphError(f"there are {rows.num_nodes} rows where {count} were added")
            graph = with_rows(self.graph, rows, self.blank)
        except GraphError as error:
            raise damaged(log.path, f"the rows of event {event.id} cannot be read: {error}") from error
        return replace(
            self,
            graph=graph,
            candidates=np.concatenate([self.candidates, np.ones(count, bool)]),
            free=np.concatenate([self.free, np.ones(count, bool)]),
            audit=(*self.audit, *drawn),
            draws=(*self.draws, (count, drawn)),
            starts=(*self.starts, size),
        )

    def with_blank_rows(self, count: int) -> Contents:
        """The same with so many rows that hold nothing: those of an addition that was taken back keep their numbers."""
        size, none = self.graph.num_nodes, np.zeros(count, bool)
        return replace(
            self,
            graph=with_blank_rows(self.graph, count),
            candidates=np.concatenate([self.candidates, none]),
            free=np.concatenate([self.free, none]),
            blank=self.blank.union(range(size, size + count)),
        )

    def with_changes(self, log: Log, event: Event) -> Contents:
        """The same with the rows that an event has changed: what it does not know, and what is blank, is passed over.

        Raises:
            SessionFileError: they cannot be read, or do not fit the graph.
        """
        try:
            rows = attached_rows(log, event)
            return replace(self, graph=with_changes(self.graph, list(event.body["nodes"]), rows, self.blank))
        except GraphError as error:
            raise damaged(log.path, f"the rows of event {event.id} cannot be read: {error}") from error

    def without(self, gone: frozenset[int]) -> Contents:
        """The same with rows taken out: nobody is asked about them."""
        candidates, free = self.candidates.copy(), self.free.copy()
        there = [node for node in gone if node < len(free)]
        candidates[there] = free[there] = False
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


def _given(graph: Graph, settings: SessionSettings) -> dict[int, str | tuple[str, ...]]:
    """The labels of the graph, where they count."""
    names = graph.class_names
    if not settings.use_labels:
        return {}
    if graph.y_sets is not None:
        rows = ((int(node), graph.y_sets[node]) for node in np.flatnonzero(graph.labelled))
        return {node: tuple(names[number] for number in np.flatnonzero(row)) for node, row in rows}
    if graph.y is None:
        return {}
    given = {int(node): names[graph.y[node]] for node in np.flatnonzero(graph.y >= 0)}
    return {node: (name,) for node, name in given.items()} if settings.several else dict(given)


class Growth:
    """What a job is about as rows are added to it and changed: what was made of the first edits is kept for the next.

    Attributes:
        first: what it was begun with.
    """

    def __init__(self, first: Contents) -> None:
        self.first = self._grown = first
        self._edits: tuple[tuple[int, bool], ...] = ()

    def check_claim(self, log: Log, nodes: int) -> None:
        """Refuse events that bring it to that many nodes where no file of that size can: see `check_added`."""
        check_added(log, nodes - self.first.graph.num_nodes)

    def with_edits(
        self,
        log: Log,
        added: Mapping[int, tuple[int, int]],
        changed: Collection[int],
        taken_back: Collection[int],
        *,
        padded: bool = False,
    ) -> Contents:
        """The contents with the rows that events have added and changed, in the order of the log.

        Rows whose addition was taken back are not there at all, and the graph is what it was before them; where others
        were added after them they are blank, since numbers are never given twice.

        Args:
            log: the open file.
            added: event -> first number and count of the rows that it added, also of those that were taken back.
            changed: the events that changed rows and count.
            taken_back: the events that do not count.
            padded: whether rows that were taken back are blank in any case: what the next addition comes after.
        """
        counted = [event for event in added if event not in taken_back]
        last = max(added if padded else counted, default=0)
        edits = tuple(
            (event, event in changed or event not in taken_back)
            for event in sorted((*added, *changed))
            if event in changed or event <= last
        )
        kept, grown = len(self._edits), self._grown
        if edits[:kept] != self._edits:
            kept, grown = 0, self.first
        for event, counts in edits[kept:]:
            if event in changed:
                grown = grown.with_changes(log, log.events[event - 1])
            elif counts:
                grown = grown.with_rows(log, log.events[event - 1])
            else:
                grown = grown.with_blank_rows(added[event][1])
        if not padded:
            self._edits, self._grown = edits, grown
        return grown


def attached_rows(log: Log, event: Event) -> Graph:
    """The rows that are attached to an event, as a small graph.

    Raises:
        GraphError: they are none.
    """
    packed = log.attachment(event, "rows")
    with scratch_folder() as folder:
        file = folder / "rows.npz"
        file.write_bytes(packed)
        return read_npz(file)


def check_added(log: Log, rows: int) -> None:
    """Refuse that many added rows where a file cannot hold them: room is made for them before they are read.

    Raises:
        SessionFileError: there are too many.
    """
    if rows > _UNWRITTEN and rows > _UNWRITTEN + log.path.stat().st_size:
        raise damaged(log.path, f"it adds {rows:,} rows, more than a file of its size can hold")


def packed_graph(graph: Graph) -> bytes:
    """A graph's bytes in the form in which it lies in a session."""
    with scratch_folder() as folder:
        file = folder / "graph.npz"
        write_npz(graph, file)
        return file.read_bytes()


def code_on(graph: Graph, classifier: object) -> str | None:
    """What the file keeps of a classifier's code: `code_of` it.

    On a graph of several node types with the version of what is made of these.
    """
    code = code_of(classifier)
    if code is None or graph.relations is None or graph.relations.one_type:
        return code
    return f"{code}, relations version {RELATIONS_VERSION}"


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


def fetch_graph(log: Log, several: bool = False) -> Graph:
    """The session's graph.

    Args:
        log: the open file.
        several: whether sets of classes count where the graph's file has one label a node as well.

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
                return read_npz(file, several=several)
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
        return read_graph(path, several=several)
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
