"""Decompressed bytes of a file, whatever it was packed with, and a loud failure where a packed file ends too early.

DuckDB would read some of these forms itself, but for others it returns a few rows and no error; so nothing but plain
lines reaches it.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

from nodewise.ground.errors import InputError, MissingExtraError

__all__ = ["READ_BYTES", "decompressed", "packing_of"]

READ_BYTES = 1 << 17  # packed bytes fed at once: small, since one megabyte can unpack to hundreds

_MAGIC = {"bz2": b"BZh", "xz": b"\xfd7zXZ\x00", "gz": b"\x1f\x8b", "zst": b"\x28\xb5\x2f\xfd", "zip": b"PK\x03\x04"}
_ENDINGS = {".bz2": "bz2", ".xz": "xz", ".gz": "gz", ".zst": "zst", ".zip": "zip"}


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


def packing_of(path: Path) -> str | None:
    """How the file is packed, read off its first bytes.

    ``"bz2"``, ``"xz"``, ``"gz"``, ``"zst"``, ``"zip"``, or None for a plain file.

    Raises:
        InputError: if the file's ending promises a packing that its first bytes do not show.
    """
    with path.open("rb") as file:
        head = file.read(8)
    packing = next((name for name, magic in _MAGIC.items() if head.startswith(magic)), None)
    if packing is None and head[1:4] == b"\x2a\x4d\x18" and 0x50 <= head[0] <= 0x5F:
        packing = "zst"  # a zstandard file may open with a skippable frame
    promised = _ENDINGS.get(path.suffix.lower())
    if promised and packing != promised:
        what = "is empty" if not head else f"begins with {head!r}"
        raise InputError(
            f"{path.name} is named like a {promised} file but {what}: the download is broken or the ending wrong"
        )
    return packing


def decompressed(path: Path, on_read: Callable[[int], None] | None = None) -> Iterator[bytes]:
    """The file's bytes in pieces, unpacked.

    Args:
        path: a plain, bz2, xz, gz or zst file; several streams after each other are one file.
        on_read: gets how many bytes of the file itself have been read so far.

    Raises:
        InputError: if the packed data are damaged or end too early.
    """
    packing = packing_of(path)
    if packing == "zip":
        raise InputError(f"{path.name} is a zip archive: unpack it first")
    with path.open("rb") as file:
        if packing is None:
            yield from _raw(file, 1 << 20, on_read)
        else:
            yield from _unpack(path, _factory(packing), _raw(file, READ_BYTES, on_read))


def _raw(file: BinaryIO, size: int, on_read: Callable[[int], None] | None) -> Iterator[bytes]:
    done = 0
    while piece := file.read(size):
        done += len(piece)
        if on_read is not None:
            on_read(done)
        yield piece


def _unpack(path: Path, make: Callable[[], _Decompressor], pieces: Iterator[bytes]) -> Iterator[bytes]:
    stream = make()
    failures = (OSError, EOFError, lzma.LZMAError, zlib.error, _zstd_error())
    for piece in pieces:
        rest = piece
        while rest:
            if stream.eof:
                rest = rest.lstrip(b"\x00")  # gz and xz files may be padded between streams
                if not rest:
                    break
                stream = make()
            try:
                out = stream.decompress(rest)
            except failures as error:
                raise InputError(f"{path.name} is damaged: {error}. Download it again") from None
            rest = stream.unused_data if stream.eof else b""
            if out:
                yield out
    if not stream.eof:
        raise InputError(f"{path.name} is truncated: it ends in the middle of its packed data. Download it again")


def _factory(packing: str) -> Callable[[], _Decompressor]:
    if packing == "bz2":
        return bz2.BZ2Decompressor
    if packing == "xz":
        return lzma.LZMADecompressor
    if packing == "gz":
        return lambda: zlib.decompressobj(wbits=31)
    try:
        import zstandard
    except ImportError:
        raise MissingExtraError("zstandard", "reddit") from None
    context = zstandard.ZstdDecompressor(max_window_size=2**31)  # the archives are packed with a window of 2 GB
    return context.decompressobj


def _zstd_error() -> type[Exception]:
    try:
        import zstandard
    except ImportError:
        return EOFError
    return zstandard.ZstdError
