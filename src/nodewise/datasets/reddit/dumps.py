"""A dump as chunks of whole lines, counted here and not by whoever parses them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nodewise.datasets.reddit.decompress import decompressed

__all__ = ["MAX_LINE", "TOO_LONG", "Chunk", "read_chunks"]

MAX_LINE = 8_000_000  # bytes; Reddit's own limit on a text is 40,000 characters
TOO_LONG = b'"this line was too long"'  # stands in for such a line, so that the lines keep their numbers

_SLICE = 1 << 20
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Chunk:
    """Some whole lines of one file.

    Attributes:
        number: 0 for the file's first chunk. The same file and size give the same chunks each time.
        data: the lines, each ended by a newline.
        lines: how many.
        read_bytes: how far into the file, in its own bytes, the reader was.
    """

    number: int
    data: bytes
    lines: int
    read_bytes: int


def read_chunks(path: Path, size: int) -> Iterator[Chunk]:
    """The file's lines in chunks of about `size` decompressed bytes.

    A last line without a newline gets one; a line of more than `MAX_LINE` bytes is replaced by `TOO_LONG`.

    Raises:
        InputError: if the file's packed data are damaged or end too early.
    """
    read_bytes = [0]
    ready: list[bytes] = []  # whole lines
    held, number = 0, 0
    for lines in _whole_lines(decompressed(path, lambda done: read_bytes.__setitem__(0, done))):
        rest = lines
        while held + len(rest) >= size:  # cut at the first newline from there on, wherever the pieces happened to end
            cut = rest.find(b"\n", max(size - held - 1, 0)) + 1
            yield _chunk(number, [*ready, rest[:cut]], read_bytes[0])
            rest, number, held, ready = rest[cut:], number + 1, 0, []
        if rest:
            ready.append(rest)
            held += len(rest)
    if ready:
        yield _chunk(number, ready, read_bytes[0])


def _chunk(number: int, parts: list[bytes], read_bytes: int) -> Chunk:
    data = b"".join(parts)
    return Chunk(number, data, data.count(b"\n"), read_bytes)


def _whole_lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Pieces that end at a newline, from pieces that end anywhere."""
    tail: list[bytes] = []  # the beginning of the line that the next slice goes on with
    length, first = 0, True
    for piece in _slices(pieces):
        if first:
            piece, first = piece.removeprefix(_BOM), False
        start = piece.find(b"\n")
        if start < 0:
            length += len(piece)
            if length <= MAX_LINE:
                tail.append(piece)
            else:
                tail.clear()
            continue
        stop = piece.rfind(b"\n") + 1
        opening = TOO_LONG if length + start > MAX_LINE else b"".join([*tail, piece[:start]])
        yield opening + piece[start:stop]
        tail, length = [piece[stop:]], len(piece) - stop
    if length > MAX_LINE:
        yield TOO_LONG + b"\n"
    elif length:
        yield b"".join([*tail, b"\n"])


def _slices(pieces: Iterator[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        if len(piece) <= _SLICE:
            yield piece
        else:
            yield from (piece[start : start + _SLICE] for start in range(0, len(piece), _SLICE))
