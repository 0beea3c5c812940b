"""Word vectors from a GloVe text file, of the words that are needed and no others."""

from __future__ import annotations

import math
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from nodewise.datasets.reddit.decompress import decompressed, packing_of
from nodewise.ground.errors import InputError
from nodewise.ground.events import Progress, Reporter

__all__ = ["check_glove", "read_glove"]

_PIECE = 1 << 22


def check_glove(path: Path, width: int) -> None:
    """Looks at the file's first line only.

    Raises:
        InputError: if the file is not there, is empty, or its vectors have another width.
    """
    if not path.is_file():
        raise InputError(
            f"no GloVe file at {str(path)!r}: give the text file of word vectors, such as glove.840B.300d.txt, plain,"
            " .gz or .zip"
        )
    first = next((line for line in _lines(path, width, lambda done: None) if line), None)
    if first is None:
        raise InputError(f"{path.name} is empty: a GloVe file has a word and its vector on each line")
    actual = _width_of(first)
    if actual != width:
        raise InputError(
            f"{path.name} has vectors of {actual} numbers (line 1 has {first.count(b' ') + 1} fields), but {width} are"
            f" asked for: give a file of that width, or ask for width {actual}"
        )


def read_glove(
    path: Path, words: set[str], width: int, reporter: Reporter
) -> tuple[list[str], npt.NDArray[np.float32]]:
    """The needed words that the file has, in its order, and their vectors, float32 [word, width].

    Lines are split at single spaces and read from the right: the last `width` fields are the vector, and what stands
    before them is the word, which may hold spaces or be empty.

    Raises:
        InputError: if a line has another width or something that is not a number; the message names the line.
    """
    check_glove(path, width)
    needed = {word.encode(): word for word in words}
    known: list[str] = []
    vectors: list[npt.NDArray[np.float32]] = []
    total, read_bytes = path.stat().st_size, [0]
    reported = 0
    for number, line in enumerate(_lines(path, width, lambda done: read_bytes.__setitem__(0, done)), start=1):
        spaces = line.count(b" ")
        if not line:
            continue
        if spaces != width:
            _check_long(path, number, line, spaces, width)
            continue  # a word with a space in it is never asked for
        word = needed.pop(line[: line.index(b" ")], None)
        if word is not None:
            known.append(word)
            vectors.append(_vector(path, number, line, width))
        if read_bytes[0] - reported >= 50_000_000:
            reported = read_bytes[0]
            reporter(
                Progress("read GloVe (MB)", reported // 1_000_000, total // 1_000_000, {"words": float(len(known))})
            )
    reporter(Progress("read GloVe (MB)", -(-total // 1_000_000), -(-total // 1_000_000), {"words": float(len(known))}))
    return known, np.stack(vectors) if vectors else np.zeros((0, width), dtype=np.float32)


def _check_long(path: Path, number: int, line: bytes, spaces: int, width: int) -> None:
    """A line of more fields is fine when they belong to the word, as in ``. . .``; not when they are numbers."""
    word = line.split(b" ")[1 : spaces - width + 1]
    if spaces < width or all(map(_is_number, word)):
        raise InputError(
            f"{path.name} line {number:,} has {spaces if spaces >= width else _width_of(line)} numbers, the lines"
            f" before it {width}: the file is damaged or put together from several; download it again"
        )


def _vector(path: Path, number: int, line: bytes, width: int) -> npt.NDArray[np.float32]:
    try:
        vector = np.array([float(field) for field in line.split(b" ")[-width:]], dtype=np.float32)
    except ValueError as error:
        raise InputError(f"{path.name} line {number:,} is no word vector: {error}; download the file again") from None
    if not np.isfinite(vector).all():
        raise InputError(f"{path.name} line {number:,} holds a number that is not finite; download the file again")
    return vector


def _width_of(line: bytes) -> int:
    """How many numbers a line ends with; its first field is always the word, even if it is a number."""
    fields = line.split(b" ")[1:]
    return next((index for index, field in enumerate(reversed(fields)) if not _is_number(field)), len(fields))


def _is_number(field: bytes) -> bool:
    try:
        return math.isfinite(float(field))
    except ValueError:
        return False


def _lines(path: Path, width: int, on_read: Callable[[int], None]) -> Iterator[bytes]:
    """The file's lines without their ends."""
    pieces = _unzipped(path, width, on_read) if packing_of(path) == "zip" else decompressed(path, on_read)
    tail = b""
    for piece in pieces:
        *lines, tail = (tail + piece).split(b"\n")
        for line in lines:
            yield line.removesuffix(b"\r").rstrip(b" ")
    if tail:
        yield tail.removesuffix(b"\r").rstrip(b" ")


def _unzipped(path: Path, width: int, on_read: Callable[[int], None]) -> Iterator[bytes]:
    """The one text in the archive; of several, the one whose name tells the width, as in ``glove.6B.300d.txt``."""
    try:
        with zipfile.ZipFile(path) as archive:
            texts = [name for name in archive.namelist() if not name.endswith("/")]
            named = [name for name in texts if f".{width}d." in name]
            chosen = texts if len(texts) == 1 else named
            if len(chosen) != 1:
                raise InputError(
                    f"{path.name} holds {', '.join(texts) or 'nothing'}: pack the one GloVe text that is meant, or give"
                    " it unpacked"
                )
            with archive.open(chosen[0]) as file:
                size = max(archive.getinfo(chosen[0]).file_size, 1)
                done = 0
                while piece := file.read(_PIECE):
                    done += len(piece)
                    on_read(path.stat().st_size * done // size)
                    yield piece
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise InputError(f"{path.name} is damaged: {error}. Download it again") from None
