"""An uploaded folder: several files, or a zip of them, put into a folder of ours under checked names, in bounds."""

from __future__ import annotations

import errno
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from nodewise.graph.io.npz import UNPACKING
from nodewise.ground.errors import GraphError
from nodewise.ground.events import listed

__all__ = ["FILES", "is_part_of_graph", "is_zip", "put_files", "put_zip"]

FILES = 64
"""Files that a folder may hold."""
_UNPACKED = 2**29
_ENTRIES = 1000
"""Bytes that a zip may grow to, and what it may list, folders and hidden files included."""
_NAME = re.compile(r"(?:(?:nodes|edges|features)(?:-[^/\\\x00-\x1f]{1,100})?\.csv|graph\.json)\Z")
_BYTES = 200

Copy = Callable[[str, BinaryIO, BinaryIO], None]
"""Copies a file of a name from one handle to another, or refuses it."""


def is_zip(name: str) -> bool:
    """Whether a file's name says that it is a zip."""
    return Path(name).suffix.lower() == ".zip"


def is_part_of_graph(name: str) -> bool:
    """Whether a file is called as one of those that make a graph together."""
    return _NAME.fullmatch(PurePosixPath(name.replace("\\", "/")).name) is not None


def put_files(files: Sequence[tuple[str, BinaryIO]], folder: Path, copy: Copy) -> None:
    """Put uploaded files into a folder.

    Args:
        files: what each was called, and its content.
        folder: ours, empty.
        copy: copies one, within the bounds of a table.

    Raises:
        GraphError: there are too many, or one is none of a graph's; says which there may be.
    """
    if len(files) > FILES:
        raise GraphError(
            f"{len(files)} files were given, at most {FILES} make a graph: leave out what is not part of it"
        )
    for name, content in files:
        with _new_file(folder, name) as target:
            content.seek(0)
            copy(name, content, target)


def put_zip(name: str, content: BinaryIO, folder: Path, copy: Copy) -> None:
    """Put what a zip holds into a folder: its files alone, wherever they lie in it, and only as much as can be read.

    Raises:
        GraphError: it is no zip, is encrypted, holds too much, or something that is no part of a graph.
    """
    called = name[:100]
    content.seek(0)
    try:
        with zipfile.ZipFile(content) as packed:
            entries = packed.infolist()
            if len(entries) > _ENTRIES:
                raise GraphError(
                    f"{called} lists {len(entries):,} files, at most {FILES} make a graph: leave out others"
                )
            files = [entry for entry in entries if not entry.is_dir() and not _hidden(entry.filename)]
            if not files or len(files) > FILES:
                raise GraphError(
                    f"{called} holds {len(files):,} files, and a graph has from 1 to {FILES}: nodes-TYPE.csv for each"
                    " type, edges-RELATION.csv for each relation"
                )
            if sum(entry.file_size for entry in files) > _UNPACKED:
                raise _too_large(called)
            left = _UNPACKED
            for entry in files:
                inside = PurePosixPath(entry.filename.replace("\\", "/")).name
                if entry.flag_bits & 1:
                    raise GraphError(f"{inside[:100]} in {called} is encrypted: pack the files without a password")
                with _new_file(folder, inside) as target, packed.open(entry) as source:
                    bounded = _Bounded(source, left, called)
                    copy(inside, bounded, target)  # type: ignore[arg-type]
                    left = bounded.left
    except GraphError:
        raise
    except UNPACKING as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise  # the disk's, not the zip's: one whose list lies before its beginning asks for an invalid place
        raise GraphError(
            f"{called} cannot be unpacked ({error or type(error).__name__}): pack the files again"
        ) from error


class _Bounded:
    """A handle that ends the reading once more comes out than a zip may hold, whatever it claimed."""

    def __init__(self, source: object, left: int, called: str) -> None:
        self._source, self.left, self._called = source, left, called

    def read(self, size: int) -> bytes:
        piece: bytes = self._source.read(size)  # type: ignore[attr-defined]
        self.left -= len(piece)
        if self.left < 0:
            raise _too_large(self._called)
        return piece


def _too_large(called: str) -> GraphError:
    return GraphError(
        f"{called} grows to more than {_UNPACKED // 2**20:,} MB when it is unpacked: leave out columns or rows, or make"
        " the session on the command line, nodewise session new"
    )


def _hidden(name: str) -> bool:
    """Whether a system put it there for itself."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    return not parts or parts[0] == "__MACOSX" or parts[-1].startswith(".")


@contextmanager
def _new_file(folder: Path, name: str) -> Iterator[BinaryIO]:
    """A file of that name in the folder, opened; the name is one that a graph's files have, and new."""
    plain = PurePosixPath(name.replace("\\", "/")).name
    if not _NAME.fullmatch(plain) or len(plain.encode("utf-8", "replace")) > _BYTES:
        raise GraphError(
            f"{name[:100]!r} is no file of a graph: there may be"
            f" {listed(['nodes-TYPE.csv', 'edges-RELATION.csv', 'features-TYPE.csv', 'graph.json'])}; or tables of the"
            " same columns, which are put together"
        )
    path = folder / plain
    if path.exists():
        raise GraphError(f"there are two files called {plain!r}: give each type and relation a name of its own")
    with path.open("xb") as target:
        yield target
