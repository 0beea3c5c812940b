"""Files that appear whole or not at all, JSON among them; what must hold of one that is read.

And where the user's cache is.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import socket
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from nodewise.ground.errors import GraphError, WrongTypeError

__all__ = [
    "UNWRITTEN",
    "as_path",
    "atomic_file",
    "atomic_folder",
    "check_claim",
    "compact_json",
    "existing_file",
    "part_path",
    "remove_dead_parts",
    "rounded",
    "scratch_folder",
    "user_cache",
    "whole_file",
    "write_json",
]

UNWRITTEN = 2**20
"""Nodes or columns that a file may claim beyond what it can spell out: nodes without edges, columns of zeros."""
_WIDTH = 160
_OLD = 24 * 3600.0
"""Seconds after which what another machine, or a process whose number is in use again, has left is taken for dead."""
_PART = re.compile(r"\..+\.([0-9a-f]{8})-(\d+)-[0-9a-f]{12}\.part(-journal)?")
_SCRATCH = re.compile(r"nodewise-([0-9a-f]{8})-(\d+)-.+")


@contextmanager
def whole_file(path: str | Path) -> Iterator[BinaryIO]:
    """A file to write to that takes its name when it is complete and on the disk.

    A reader sees the old one or the new one, never a part.
    """
    path = Path(path)
    part = part_path(path)
    try:
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """Gives a file to write bytes to, and puts it at `path` when all is written.

    After a failure what was there before is untouched.

    Raises:
        GraphError: if it cannot be written.
    """
    remove_dead_parts(path.absolute().parent)
    advice = "check that the folder exists and may be written to"
    try:
        with whole_file(path) as file:
            advice = "check the space left and the permissions"
            yield file
    except OSError as error:
        raise GraphError(f"{path} cannot be written: {error.strerror or error}; {advice}") from error


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Gives a new folder to write files to, and puts them into `path` when all are written.

    Other files that are there stay.
    """
    part = part_path(path)
    try:
        part.mkdir(parents=True)
        yield part
        if not path.exists():
            part.replace(path)
        else:
            for file in sorted(part.iterdir()):
                file.replace(path / file.name)
    except OSError as error:
        raise GraphError(
            f"the folder {path} cannot be written: {error.strerror or error}; check the path and its permissions"
        ) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def as_path(thing: object, what: str) -> Path:
    """A path that a caller gave.

    Raises:
        WrongTypeError: it is something else, such as a graph in place of its file.
    """
    if not isinstance(thing, (str, os.PathLike)):
        raise WrongTypeError(f"{what} was expected, received {type(thing).__name__}: give it as a text or a Path")
    return Path(thing)


def existing_file(path: Path) -> Path:
    """Passes a path that is a file with something in it.

    Raises:
        GraphError: if it is missing, a folder, a pipe or device, which could make the reader wait for ever, or empty.
    """
    try:
        if path.is_dir():
            raise GraphError(
                f"{path} is a folder, not a file: give the file in it, or a folder with nodes.csv and edges.csv"
            )
        if not path.exists():
            raise GraphError(f"there is no file {path}: check the path (the current folder is {Path.cwd()})")
        if not path.is_file():
            raise GraphError(f"{path} is a pipe, a socket or a device, not a file: save what it gives to a file first")
        if path.stat().st_size == 0:
            raise GraphError(
                f"{path} is empty (0 bytes): it was probably not written to the end, make or download it again"
            )
    except OSError as error:
        raise GraphError(
            f"{path} cannot be read: {error.strerror or error}; check the path and its permissions"
        ) from error
    return path


def check_claim(path: Path, number: int, what: str) -> int:
    """Passes a number of nodes or columns that a file claims without spelling all of them out.

    Raises:
        GraphError: if it is far more than a file of that size can hold.
    """
    size = path.stat().st_size
    if not 0 <= number <= UNWRITTEN + size:
        raise GraphError(
            f"{path} claims {number:,} {what}, more than a file of {size:,} bytes can hold: it is damaged, or was made"
            " to use up the memory; make or download it again"
        )
    return number


def user_cache() -> Path:
    """The folder ``nodewise`` where the platform keeps what programs can make or fetch again; it need not exist."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "nodewise"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "nodewise"
    named = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(named) if Path(named).is_absolute() else Path.home() / ".cache") / "nodewise"


def write_json(path: str | Path, record: Any, *, compact: bool = False) -> None:
    """Write a record as JSON; a reader sees the old file or the new one, never a part.

    Args:
        path: the file.
        record: what JSON can hold; numbers that are none are refused.
        compact: as `compact_json` gives it, for files that are kept and compared: a tenth of the lines.
    """
    text = compact_json(record) if compact else json.dumps(record, indent=1, allow_nan=False)
    with whole_file(path) as file:
        file.write((text + "\n").encode())


def compact_json(record: Any) -> str:
    """JSON with nine significant digits a number.

    What fits a line, and every list of plain values, stands on one line.
    """
    return _compact(rounded(record), "")


def rounded(value: Any) -> Any:
    """A record with nine significant digits a number, as `compact_json` writes it."""
    if isinstance(value, float):
        return float(
            f"{value:.9g}"
        )  # as many as float32 scores have: a mean that lies on the edge is rounded as before
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return [rounded(one) for one in value] if isinstance(value, (list, tuple)) else value


def part_path(path: Path) -> Path:
    """A name beside a path for a file that is still being written; it says which process writes it."""
    return path.with_name(f".{path.name[:80]}.{_host()}-{os.getpid()}-{uuid.uuid4().hex[:12]}.part")


def remove_dead_parts(folder: Path) -> None:
    """Remove the unfinished files in a folder whose process has ended."""
    _remove(folder, _PART)


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder that is gone afterwards; the next one that is made takes away what killed processes have left."""
    _remove(Path(tempfile.gettempdir()), _SCRATCH)
    with tempfile.TemporaryDirectory(prefix=f"nodewise-{_host()}-{os.getpid()}-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _compact(value: Any, indent: str) -> str:
    line = json.dumps(value, allow_nan=False, ensure_ascii=False)
    plain = isinstance(value, list) and not any(isinstance(one, (list, dict)) for one in value)
    if plain or not isinstance(value, (list, dict)) or len(indent) + len(line) <= _WIDTH:
        return line
    inner = indent + " "
    if isinstance(value, dict):
        parts = [
            f"{inner}{json.dumps(str(key), ensure_ascii=False)}: {_compact(one, inner)}" for key, one in value.items()
        ]
    else:
        parts = [inner + _compact(one, inner) for one in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return opening + "\n" + ",\n".join(parts) + f"\n{indent}{closing}"


def _remove(folder: Path, names: re.Pattern[str]) -> None:
    with suppress(OSError):
        for entry in list(os.scandir(folder)):
            match = names.fullmatch(entry.name)
            with suppress(OSError):
                if match and _is_dead(match[1], int(match[2][:18]), entry):
                    if entry.is_dir(follow_symlinks=False):
                        shutil.rmtree(entry.path, ignore_errors=True)
                    else:
                        Path(entry.path).unlink(missing_ok=True)


def _is_dead(host: str, process: int, entry: os.DirEntry[str]) -> bool:
    status = entry.stat(follow_symlinks=False)
    if hasattr(os, "getuid") and status.st_uid != os.getuid():
        return False  # another user's, in a folder that all share
    if time.time() - status.st_mtime > _OLD:
        return True
    if host != _host() or os.name != "posix":
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


def _host() -> str:
    return hashlib.blake2b(socket.gethostname().encode("utf-8", "replace"), digest_size=4).hexdigest()
