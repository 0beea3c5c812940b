"""Files on the way to their name, and folders for the moment: named so that what a killed process leaves is removed at the next start."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import socket
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["part_path", "remove_dead_parts", "scratch_folder"]

_OLD = 24 * 3600.0
"""Seconds after which what another machine, or a process whose number is in use again, has left is taken for dead."""

_PART = re.compile(r"\..+\.([0-9a-f]{8})-(\d+)-[0-9a-f]{12}\.part(-journal)?")
_SCRATCH = re.compile(r"nodewise-([0-9a-f]{8})-(\d+)-.+")


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
