"""The parts of a GraphML document, read as a stream.

networkx's `read_graphml` in its place takes 1.8 times the time and 4.6 times the memory on Cora, and expands the
entities of a stranger's DOCTYPE (`benchmarks/libraries.py`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO
from xml.parsers import expat

from nodewise.graph.tables.table import WEIGHTS, dropped_of_edges
from nodewise.ground.errors import GraphError

__all__ = ["Document", "parse"]

_ENCODINGS = {"utf-8", "utf8", "us-ascii", "ascii", "iso-8859-1", "latin-1", "latin1", "windows-1252"}
_DEEPEST = 100
_PIECE, _TOKEN = 2**18, 2**22
_DOCTYPE = (
    "it has a DOCTYPE, which a graph needs not and which could name other files or grow without end: remove that part"
    " of the file"
)


@dataclass
class Document:
    """What a GraphML document holds.

    Attributes:
        nodes: ids, in order.
        edges: ids of both ends.
        keys: id of a key for nodes -> its name, type and default.
        data: (index of the node, id of the key, text), in order.
        weights: index of an edge -> the text of its weight.
        weight_default: of edges that do not spell theirs out; 1 as in networkx unless the file says otherwise.
        head: the text under the graph's key "nodewise", where the file was written here.
        notes: what was dropped, in words.
    """

    nodes: list[str] = field(default_factory=list)
    edges: list[tuple[str, str]] = field(default_factory=list)
    keys: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    data: list[tuple[int, str, str]] = field(default_factory=list)
    weights: dict[int, str] = field(default_factory=dict)
    weight_default: str = "1"
    head: str | None = None
    notes: list[str] = field(default_factory=list)
    directed: bool = False


def parse(path: Path) -> Document:
    """Reads the parts of a GraphML file.

    Raises:
        GraphError: if it has a DOCTYPE, is no XML or no GraphML, or is cut off.
    """
    try:
        with path.open("rb") as handle:
            refuse_doctype(path, handle.read(2**16))
            handle.seek(0)
            handler = _Handler(path)
            _feed(path, handler.parser, handle)
    except expat.ExpatError as error:
        raise GraphError(
            f"{path} cannot be read as XML ({error}): it may be cut off or no GraphML file; make or download it again"
        ) from error
    except OSError as error:
        raise GraphError(f"{path} cannot be read: {error.strerror or error}; check its permissions") from error
    return handler.finished()


def _feed(path: Path, parser: expat.XMLParserType, handle: BinaryIO) -> None:
    """Parse a file piece by piece.

    What is not at its end yet, a tag with a long attribute or a comment, is read again with every further piece by the
    parsers of older systems, so it may not be long.

    Raises:
        GraphError: a tag or comment does not come to its end.
    """
    fed = 0
    while piece := handle.read(_PIECE):
        parser.Parse(piece, False)
        fed += len(piece)
        if fed - parser.CurrentByteIndex > _TOKEN:
            raise GraphError(
                f"{path}, line {parser.CurrentLineNumber}: a tag or comment is longer than {_TOKEN // 2**20} MB: put"
                " long texts into <data> elements"
            )
    parser.Parse(b"", True)


def refuse_doctype(path: Path, start: bytes) -> None:
    """Looks at the beginning of a file, up to its first element, without parsing it.

    Raises:
        GraphError: if there is a DOCTYPE (the only place for entities), or an encoding in which one could hide.
    """
    text = start.removeprefix(b"\xef\xbb\xbf")
    if b"\0" in text[:4] or text[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise GraphError(f"{path} is encoded as UTF-16 or is no text: save it as UTF-8")
    declared = re.match(rb"""<\?xml[^>]*?encoding\s*=\s*["']([^"']*)["']""", text)
    if declared and declared[1].decode("latin-1").lower() not in _ENCODINGS:
        raise GraphError(f"{path} is encoded as {declared[1].decode('latin-1')!r}: save it as UTF-8")
    while True:
        text = text.lstrip(b" \t\r\n")
        for opening, closing in ((b"<?", b"?>"), (b"<!--", b"-->")):
            if text.startswith(opening):
                end = text.find(closing, len(opening))
                if end < 0:
                    raise GraphError(f"{path} begins with a comment that does not end within 64 KiB: remove it")
                text = text[end + len(closing) :]
                break
        else:
            break
    if text.startswith(b"<!"):
        raise GraphError(f"{path} was not read: {_DOCTYPE}")
    if not text.startswith(b"<"):
        raise GraphError(
            f"{path} is no GraphML file: it does not begin with an XML element; check that its ending is right"
        )


class _Handler:
    """Takes the events of one document."""

    def __init__(self, path: Path) -> None:
        self.path, self.document = path, Document()
        self.open: list[tuple[str, int | None]] = []  # element and, within a node, its index
        self.text: list[str] | None = None
        self.key: str = ""
        self.hyperedges = self.directed = False
        self.edge_keys: dict[str, str] = {}
        self.of_edges: set[str] = set()
        self.weight_rank, self.weight_keys = len(WEIGHTS), set[str]()  # the likeliest name of weights so far
        self.head_key: str | None = None
        self.edge_default = "false"
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.StartDoctypeDeclHandler = self.refuse
        self.parser.EntityDeclHandler = self.refuse

    def refuse(self, *_: Any) -> None:
        raise GraphError(f"{self.path} was not read: {_DOCTYPE}")

    def need(self, tag: str, attributes: dict[str, str], name: str) -> str:
        if name not in attributes:
            line = self.parser.CurrentLineNumber
            raise GraphError(f"{self.path}, line {line}: <{tag}> has no {name!r}; every {tag} needs one")
        return attributes[name]

    def start(self, element: str, attributes: dict[str, str]) -> None:
        tag = element.rpartition(" ")[2]
        document = self.document
        if not self.open and tag != "graphml":
            raise GraphError(
                f"{self.path} is XML but no GraphML: its first element is <{tag}>; export the graph as GraphML"
            )
        node = self.open[-1][1] if self.open else None
        if tag == "node":
            document.nodes.append(self.need(tag, attributes, "id"))
            node = len(document.nodes) - 1
        elif tag == "edge":
            document.edges.append((self.need(tag, attributes, "source"), self.need(tag, attributes, "target")))
            self.directed |= attributes.get("directed", self.edge_default) == "true"
        elif tag == "graph":
            self.edge_default = "true" if attributes.get("edgedefault") == "directed" else "false"
        elif tag == "hyperedge":
            self.hyperedges = True
        elif tag == "key":
            self.start_key(attributes)
        elif tag in ("data", "default"):
            self.key = self.need(tag, attributes, "key") if tag == "data" else self.key
            self.text = []
        self.open.append((tag, node))
        if len(self.open) > _DEEPEST:
            raise GraphError(
                f"{self.path}, line {self.parser.CurrentLineNumber}: elements lie more than {_DEEPEST} deep in each"
                " other; correct it"
            )

    def start_key(self, attributes: dict[str, str]) -> None:
        self.key = self.need("key", attributes, "id")
        name = attributes.get("attr.name", self.key)
        if attributes.get("for", "all") in ("node", "all"):
            self.document.keys[self.key] = (name, attributes.get("attr.type", "string").lower(), "")
        if attributes.get("for", "all") in ("edge", "all"):
            self.edge_keys[self.key] = name
            if (lower := name.strip().lower()) in WEIGHTS:
                rank = WEIGHTS.index(lower)
                if rank < self.weight_rank:
                    self.weight_rank, self.weight_keys = rank, set()
                if rank == self.weight_rank:  # networkx declares a key for each type: whole numbers, fractions
                    self.weight_keys.add(self.key)
        if attributes.get("for") == "graph" and name == "nodewise":
            self.head_key = self.key

    def characters(self, text: str) -> None:
        if self.text is not None:
            self.text.append(text)

    def end(self, element: str) -> None:
        tag, node = self.open.pop()
        if self.text is None or tag not in ("data", "default"):
            return
        text, self.text = "".join(self.text), None
        document = self.document
        if tag == "default" and self.key in self.weight_keys:
            document.weight_default = text
        if tag == "default" and self.key in document.keys:
            name, kind, _ = document.keys[self.key]
            document.keys[self.key] = (name, kind, text)
        elif tag == "data":
            around = self.open[-1][0] if self.open else ""
            if around == "node" and node is not None:
                if self.key not in document.keys:
                    raise GraphError(
                        f"{self.path}: a node has data under the key {self.key!r}, which is not declared: add a <key>"
                        " for it"
                    )
                document.data.append((node, self.key, text))
            elif around == "graph" and self.key == self.head_key:
                document.head = text
            elif around == "edge":
                if self.key in self.weight_keys:
                    document.weights[len(document.edges) - 1] = text
                else:
                    self.of_edges.add(self.edge_keys.get(self.key, self.key))

    def finished(self) -> Document:
        notes = ["hyperedges were dropped: an edge joins two nodes"] if self.hyperedges else []
        self.document.notes = notes + dropped_of_edges(sorted(self.of_edges))
        self.document.directed = self.directed
        return self.document
