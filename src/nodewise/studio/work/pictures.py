"""Which picture of a node may be shown, and its bytes.

A graph may come from anybody, and so may the paths in it: only files inside the one folder that the person who started
the studio named are opened, and only what is a picture by its first bytes is given out, whatever it is called. SVG is
none: it can hold a program.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path

from nodewise.graph import Graph
from nodewise.graph.tables.table import PICTURE
from nodewise.ground.errors import InputError

__all__ = ["Picture", "Pictures"]

_URI = re.compile(r"data:image/(?:png|jpe?g|gif|webp);base64,", re.IGNORECASE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_PATH_LIMIT = 4096


@dataclass(frozen=True)
class Picture:
    """A picture as it may be sent: its content type, by its first bytes, and its bytes."""

    kind: str
    data: bytes = field(repr=False)


class Pictures:
    """Fetches the pictures of a graph's nodes.

    Args:
        folder: the only folder whose files may be shown; None: only pictures that lie in the graph itself as ``data:``
            addresses.
        limit: bytes that a picture may have.

    Raises:
        InputError: there is no such folder.
    """

    def __init__(self, folder: str | Path | None = None, limit: int = 8 * 2**20) -> None:
        self.folder = None if folder is None else Path(folder).resolve()
        self.limit = limit
        if self.folder is not None and not self.folder.is_dir():
            raise InputError(f"there is no folder {str(folder)!r}: give the folder of the pictures with --pictures DIR")

    @staticmethod
    def attribute(graph: Graph) -> str | None:
        """The attribute that holds pictures, or None."""
        folded = {name.casefold(): name for name in reversed(list(graph.attributes))}
        return next((folded[name] for name in PICTURE if name in folded), None)

    def shows(self, graph: Graph, node: int) -> bool:
        """Whether there is a picture of the node that may be shown; reads no more than its beginning."""
        return self._find(graph, node, whole=False) is not None

    def fetch(self, graph: Graph, node: int) -> Picture | None:
        """The picture of the node, or None where there is none that may be shown."""
        return self._find(graph, node, whole=True)

    def _find(self, graph: Graph, node: int, *, whole: bool) -> Picture | None:
        name = self.attribute(graph)
        value = "" if name is None else str(graph.attributes[name][node]).strip()
        data = self._from_uri(value) if _URI.match(value) else self._from_file(value, whole=whole)
        kind = None if data is None or len(data) > self.limit else _kind(data)
        return None if kind is None or data is None else Picture(kind, data)

    def _from_uri(self, value: str) -> bytes | None:
        coded = value[value.index(",") + 1 :]
        if len(coded) > 4 * (self.limit + 3) // 3 + 4:
            return None
        try:
            return base64.b64decode(coded, validate=True)
        except (binascii.Error, ValueError):
            return None

    def _from_file(self, value: str, *, whole: bool) -> bytes | None:
        """The bytes of a file in the folder; None for what is elsewhere, no plain file, or too large."""
        if (
            self.folder is None
            or not value
            or len(value) > _PATH_LIMIT
            or _SCHEME.match(value)
            or value.startswith(("//", "\\\\"))
        ):
            return None  # an address that is no path, or one that would ask another machine for the file
        try:
            path = (self.folder / value).resolve(strict=True)
            if not path.is_relative_to(self.folder):
                return None
            flags = (
                os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
            )
            with os.fdopen(os.open(path, flags), "rb") as file:
                facts = os.fstat(file.fileno())
                if not stat.S_ISREG(facts.st_mode) or facts.st_size > self.limit:
                    return None
                return file.read(self.limit + 1 if whole else 16)
        except (OSError, ValueError, RuntimeError):  # missing, forbidden, a name that cannot be one, links in a circle
            return None


def _kind(data: bytes) -> str | None:
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return None
