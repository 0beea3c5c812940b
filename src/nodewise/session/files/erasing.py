"""A new file of a job in which nothing is left of some rows but their numbers, and what its log loses by that."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from nodewise.graph import Graph
from nodewise.graph.knn.growth import chosen_rows, parted_rows, without_rows
from nodewise.ground.errors import InputError
from nodewise.session.answers import Event, numbers_of, said_of
from nodewise.session.log.contents import Contents, attached_rows, packed_graph, store_graph
from nodewise.session.log.log import Log
from nodewise.session.log.rewriting import check_free, write_file
from nodewise.session.meaning.history import History
from nodewise.session.meaning.suggestions import without_nodes

__all__ = ["Erased", "erase_rows"]

_BESIDE_NODES = ("labels", "classes", "annotators", "times", "bulk")
"""Lists of an event that have an entry for each of its nodes."""


@dataclass(frozen=True)
class Erased:
    """What a new file lacks that the old one has.

    Attributes:
        rows: the numbers of the rows.
        events: events of which nothing is left but when they were, by whom and of which kind.
        shortened: events that went on without these rows.
        answers: labels among both, of people and of models.
        reasons: reasons of other questions that named one of the rows.
        words: words and values that no other row has, which the features no longer know.
        mentioned: where a text or name of the rows still stands, since it belongs to something else.
    """

    rows: tuple[int, ...]
    events: int
    shortened: int
    answers: int
    reasons: int
    words: int
    mentioned: tuple[str, ...]


def erase_rows(log: Log, first: Contents, history: History, nodes: Collection[int], path: Path, last: Event) -> Erased:
    """Write the new file.

    Args:
        log: the open file, which stays as it is.
        first: what the job was begun with.
        history: what the log means.
        nodes: the rows that are to go.
        path: the new file.
        last: the event that says so, which comes after all others.

    Raises:
        InputError: the graph has relations, or there is something at the path.
    """
    if first.graph.relations is not None:
        raise InputError(
            f"the graph {first.graph.name!r} has several relations, and rows cannot be erased from such a job yet: make"
            " the graph without the row, and a new session"
        )
    check_free(path)  # before a graph is written beside it
    work = _Erasing(log, first, history, frozenset(nodes))
    events = [*map(work.event, log.events), last]
    settings, parts = work.beginning(path)
    write_file(path, settings, parts, events, work.attachments)
    return Erased(
        tuple(sorted(nodes)),
        work.events,
        work.shortened,
        work.answers,
        work.reasons,
        work.words,
        tuple(work.mentioned(events)),
    )


@dataclass
class _Erasing:
    """The parts of a new file, one after the other, and what was left out of them so far."""

    log: Log
    first: Contents
    history: History
    nodes: frozenset[int]
    attachments: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    events: int = 0
    shortened: int = 0
    answers: int = 0
    reasons: int = 0
    words: int = 0

    def __post_init__(self) -> None:
        size = self.first.graph.num_nodes
        self._own = sorted(node for node in self.nodes if node < size)
        self._ever = size + sum(count for _, count in self.history.added.values())
        self._rows = {
            event.id: attached_rows(self.log, event) for event in self.log.events if event.kind in ("rows", "change")
        }
        self._graph = without_rows(self.first.graph, self._own)
        self._used = _used(self._graph)
        self._texts = set(self._said(self.first.graph, self._own))
        for event in self.log.events:
            if event.id in self._rows:
                rows, own = self._rows[event.id], self._local(event)
                self._texts.update(self._said(rows, own))
                self._used = self._used | _used(without_rows(rows, own))
        names = sorted((text for text in self._texts if text.strip()), key=len, reverse=True)
        self._named = re.compile("|".join(rf"(?<!\w){re.escape(name[:200])}(?!\w)" for name in names) or r"(?!)")

    def event(self, event: Event) -> Event:
        """The same event without what it says of the rows; what is attached to it is kept beside."""
        body, kept = dict(event.body), {}
        if event.kind == "rows":
            own, rows = self._local(event), self._rows[event.id]
            kept["rows"] = packed_graph(parted_rows(without_rows(rows, own, int(body["first"])), own, self.nodes))
        elif event.kind == "change":
            own = [row for row, node in enumerate(body["nodes"]) if node not in self.nodes]
            if not own:
                return self._blank(event, {})
            kept["rows"] = packed_graph(parted_rows(chosen_rows(self._rows[event.id], own), (), self.nodes))
            body["nodes"] = [body["nodes"][row] for row in own]
            self.shortened += len(own) < len(event.body["nodes"])
        elif event.kind == "suggest":
            left, kept["suggestions"] = without_nodes(self.log, event, self.nodes, self._ever)
            self.answers += int(body["answers"]) - left
            self.shortened += 0 < left < int(body["answers"])
            if not left:
                return self._blank(event, dict(zip(body["classes"], body["labels"], strict=True)))
            body["answers"] = left
        elif event.kind == "erase":
            return event
        elif "node" in body and body["node"] in self.nodes:
            self.answers += event.kind == "tell"
            return self._blank(event, self._classes(event, body))
        elif "nodes" in body and event.kind != "remove" and not self.nodes.isdisjoint(body["nodes"]):
            return self._shortened(event)
        elif event.kind == "ask":
            why = [reason for reason in body.get("why", ()) if not self._named.search(str(reason))]
            self.reasons += len(body.get("why", ())) - len(why)
            body.update({"why": why} if "why" in body else {})
        for kind, content in kept.items():
            digest = hashlib.sha256(content).hexdigest()
            self.attachments[digest] = kind, content
            body["attached"] = {kind: digest}
        return replace(event, body=body)

    def beginning(self, path: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
        """The settings and parts of the new file."""
        graph, first = self._graph, self.first
        notes = tuple(note for note in graph.notes if not self._named.search(note))
        preparation = graph.preparation
        if preparation is not None:
            held = preparation.without(self._used, self._texts)
            self.words = sum(
                word != other
                for one, two in zip(preparation.parts, held.parts, strict=True)
                for key in ("words", "values")
                for word, other in zip(one.get(key, ()), two.get(key, ()), strict=True)
            )
            preparation = held
        graph = replace(graph, notes=notes, preparation=preparation)
        where, packed = store_graph(graph, path)
        parts = {"graph": packed} if packed is not None else {}
        parts |= {name: part for name in ("policy", "candidates") if (part := self.log.part(name)) is not None}
        settings = {**self.log.settings, "graph": {**where, "nodes": graph.num_nodes}}
        if given := [node for node in self._own if node in first.given]:
            # they stay out of what the audit was drawn from, and classes keep their numbers
            allowed = first.candidates.copy()
            allowed[given] = False
            parts["candidates"] = np.packbits(allowed).tobytes()
            settings["settings"] = {**settings["settings"], "classes": list(first.first_classes)}
        return settings, parts

    def mentioned(self, events: list[Event]) -> Iterator[str]:
        """Where a text or name of the rows still stands."""
        for event in events:
            said = [str(event.body[key]) for key in ("text", "name", "label") if key in event.body]
            if any(map(self._named.search, said)):
                yield f"event {event.id} ({event.kind})"
        graphs: list[tuple[Graph, Sequence[int]]] = [(self._graph, range(self._graph.num_nodes))]
        for event in self.log.events:
            if event.id in self._rows:
                rows = self._rows[event.id]
                start = int(event.body.get("first", 0))
                graphs.append((rows, event.body.get("nodes", range(start, start + rows.num_nodes))))
        for graph, numbers in graphs:
            for name, cells in graph.attributes.items():
                for node, cell in zip(numbers, cells, strict=True):
                    if node not in self.nodes and self._named.search(str(cell)):
                        yield f"{name} of row {node}"

    def _local(self, event: Event) -> list[int]:
        """Which of the rows that are attached to an event are to go."""
        if event.kind == "change":
            return [row for row, node in enumerate(event.body["nodes"]) if node in self.nodes]
        start, count = int(event.body["first"]), int(event.body["count"])
        return [node - start for node in sorted(self.nodes) if start <= node < start + count]

    def _said(self, graph: Graph, own: Collection[int]) -> Iterator[str]:
        """Texts and names of some rows."""
        for node in own:
            if graph.node_names is not None:
                yield graph.node_names[node]
            for cells in graph.attributes.values():
                if len(str(cells[node]).strip()) > 3:  # a shorter one, such as yes or 17, tells nothing of a row
                    yield str(cells[node])

    def _shortened(self, event: Event) -> Event:
        """An event about several rows without these."""
        body = dict(event.body)
        kept = [index for index, node in enumerate(body["nodes"]) if node not in self.nodes]
        lost = self._classes(event, {key: body[key] for key in ("labels", "classes") if key in body})
        if event.kind in ("bulk", "join"):
            self.answers += len(body["nodes"]) - len(kept)
        if not kept:
            return self._blank(event, lost)
        for key in ("nodes", *_BESIDE_NODES):
            if key in body:
                body[key] = [body[key][index] for index in kept]
        self.shortened += 1
        return replace(event, body={**body, **_naming(lost)})

    def _blank(self, event: Event, classes: Mapping[int, str]) -> Event:
        """What is left of an event about these rows alone."""
        self.events += 1
        return replace(event, kind="erased", body={"was": event.kind, **_naming(classes)})

    def _classes(self, event: Event, body: Mapping[str, Any]) -> dict[int, str]:
        """The classes that an event names, by number; one that has none written has that of its name."""
        if "labels" in body:
            said = [said_of(number, name) for number, name in zip(body["classes"], body["labels"], strict=True)]
        elif "label" not in body or event.kind not in ("tell", "settle"):
            return {}
        elif "class" in body:
            said = [said_of(body["class"], body["label"])]
        else:
            first = {name: number for number, name in sorted(self.history.classes.first_names.items(), reverse=True)}
            said = [(first[str(body["label"])], (str(body["label"]),))]
        return {number: name for answer, names in said for number, name in zip(numbers_of(answer), names, strict=True)}


def _naming(classes: Mapping[int, str]) -> dict[str, Any]:
    return {"erased": {"classes": list(classes), "labels": list(classes.values())}} if classes else {}


def _used(graph: Graph) -> Any:
    """Which columns of the features some row has: bool [feature]."""
    x: Any = graph.x
    return np.zeros(0, bool) if x is None else np.asarray((x != 0).sum(0)).ravel() > 0
