"""Views that were made, as files in the user's cache.

The form is that of safetensors: a head in JSON, then the numbers as they lie in memory, so that a gigabyte of them is
mapped, not copied, and checked in blocks, on all cores. The head holds CRC-32 of each block, which finds damage, and
its own SHA-256. A file is never written to again: another one takes its place, and what was mapped stays.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from nodewise.classifiers.views.graph_views import GraphViews
from nodewise.ground.compute import in_blocks
from nodewise.ground.files import remove_dead_parts, whole_file

__all__ = ["SUFFIX", "read_views", "write_views"]

SUFFIX = ".safetensors"

_BLOCK = 2**22
"""Numbers that are checked at once."""

_MAPPED = 2**28
"""Bytes from which on numbers stay where they lie in the file: to copy a gigabyte takes longer than a first question,
but what is in memory of one's own is read faster by all that come later."""

_ALIGNED = 64
"""Bytes that the numbers begin at a multiple of, as in memory that is asked for."""

_LONGEST_HEAD = 2**22
"""Bytes that a head has at most."""

_MOST_BYTES = 4 * 2**30
"""What the cache may take; the files that were not used for longest go first."""

_Numbers = npt.NDArray[np.float32]


def read_views(path: Path, nodes: int, leading: int) -> GraphViews | None:
    """The views in a file; None where it is not there, damaged, or not of this graph: then they are made anew."""
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            head = json.loads(file.read(length)) if length <= _LONGEST_HEAD else {}
        names, sums = (json.loads(head["__metadata__"][key]) for key in ("names", "sums"))
        shapes = {"columns": (nodes, len(names), int(head["columns"]["shape"][2])), "first_gains": (len(names), nodes)}
        shapes = {name: shape for name, shape in shapes.items() if name in head}
        start, ends = 8 + length, {name: head[name]["data_offsets"][1] for name in shapes}
        if head != _head(names, shapes, sums) or path.stat().st_size != start + max(ends.values()):
            return None
        found = {}
        for name, shape in shapes.items():
            found[name] = torch.from_numpy(_checked(path, start, shape, sums[name]))
            start += found[name].nbytes
        with suppress(OSError):  # a read-only disk
            os.utime(path)
        return GraphViews(tuple(names), found["columns"], leading, found.get("first_gains"))
    except Exception:  # JSON and the system fail in a dozen ways; whatever cannot be read is made anew
        return None


def write_views(path: Path, views: GraphViews) -> None:
    """Keep views; where the disk is full or read-only they are made again next time."""
    parts = {"columns": views.columns.numpy()}
    if views.first_gains is not None:
        parts["first_gains"] = views.first_gains.numpy()
    sums = {name: _sums(part) for name, part in parts.items()}
    head = json.dumps(_head(views.names, {name: part.shape for name, part in parts.items()}, sums)).encode()
    head += b" " * (-(8 + len(head)) % _ALIGNED)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        remove_dead_parts(path.parent)
        with whole_file(path) as file:
            file.write(len(head).to_bytes(8, "little") + head)
            for part in parts.values():
                file.write(part.data)
        _bound(path.parent)
    except OSError:
        return


def _head(
    names: Sequence[str], shapes: Mapping[str, Sequence[int]], sums: Mapping[str, Sequence[int]]
) -> dict[str, Any]:
    """The head of a file with these views, tensors of these shapes and sums of their blocks."""
    tensors: dict[str, Any] = {}
    end = 0
    for name, shape in shapes.items():
        begin, end = end, end + 4 * math.prod(shape)
        tensors[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [begin, end]}
    metadata = {"names": json.dumps(names), "sums": json.dumps(sums)}
    own = hashlib.sha256(json.dumps([metadata, tensors]).encode()).hexdigest()
    return {"__metadata__": {**metadata, "head": own}, **tensors}


def _checked(path: Path, start: int, shape: Sequence[int], sums: Sequence[int]) -> _Numbers:
    """The numbers of that shape which lie in a file from a byte on; what is written to them does not reach the file.

    Raises:
        ValueError: they are not those that were written, or not finite.
    """
    mapped = np.memmap(path, np.float32, "c", start, tuple(shape))
    numbers: _Numbers = np.asarray(mapped) if mapped.nbytes >= _MAPPED else np.array(mapped)

    def check(first: int, end: int) -> None:
        for number in range(first, end):
            block = _block(numbers, number)
            with np.errstate(all="ignore"):
                finite = bool(np.isfinite(block.sum()))
            if not finite or zlib.crc32(block.data) != sums[number]:
                raise ValueError(f"block {number} of {path.name} is damaged")

    in_blocks(_blocks(numbers), 1, check)
    return numbers


def _sums(numbers: _Numbers) -> list[int]:
    """CRC-32 of each block of numbers."""
    found = [0] * _blocks(numbers)

    def fill(first: int, end: int) -> None:
        for number in range(first, end):
            found[number] = zlib.crc32(_block(numbers, number).data)

    in_blocks(len(found), 1, fill)
    return found


def _blocks(numbers: _Numbers) -> int:
    return -(-numbers.size // _BLOCK)


def _block(numbers: _Numbers, number: int) -> _Numbers:
    return numbers.reshape(-1)[number * _BLOCK : (number + 1) * _BLOCK]


def _bound(folder: Path) -> None:
    """Let the files go that are too many, those of former versions in the form of npz among them."""
    files = [file for suffix in (SUFFIX, ".npz") for file in folder.glob(f"*{suffix}")]
    total = 0
    for _, size, file in sorted(((file.stat().st_mtime, file.stat().st_size, file) for file in files), reverse=True):
        total += size
        if total > _MOST_BYTES:
            file.unlink(missing_ok=True)
