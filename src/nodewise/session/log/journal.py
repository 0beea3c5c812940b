"""The journal that a killed writer leaves beside a session: whether it is this file's own, and may be played.

SQLite writes the old pages of a transaction into a journal first, and plays a journal that nobody finished into
whatever file bears the name: also into a backup that was put there, and of any size that the journal claims. So the
file is looked at as it lies there before SQLite may do so, under the lock that SQLite itself would need:

- a file that is whole without the journal stays as it is, and the journal goes: nothing that was acknowledged is in it;
- a file that is not whole is the journal's own where the page size, the number of pages and the count of changes agree
  and a copy of it becomes whole by the journal; then SQLite plays it;
- anything else is refused, and both files stay byte for byte.

Where there are no locks of this kind (Windows), SQLite decides alone. It imports neither torch nor numpy.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import struct
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from nodewise.ground.errors import SessionError, SessionFileError
from nodewise.ground.files import scratch_folder
from nodewise.session.log.database import connect, has_unfinished_journal

if sys.platform != "win32":
    import fcntl

__all__ = ["Examination", "settle_journal"]

_MAGIC = bytes.fromhex("d9d505f920a163d7")
_HEADER = struct.Struct(">8sIIIII")
"""Magic, number of records, nonce of the checksums, pages of the file before, bytes of a sector, bytes of a page."""
_PENDING, _LOCK_BYTES = 2**30, 512
"""Where in a file SQLite locks: one byte each for a writer that waits and one that writes, the rest for readers."""
_PAUSE = 0.003


@dataclass(frozen=True)
class Examination:
    """What a session's file holds.

    Attributes:
        chain: the hash of each event, up to the first that is not as it was written.
        whole: whether everything else is, too.
    """

    chain: tuple[bytes, ...]
    whole: bool


def settle_journal(path: Path, wait: float, examine: Callable[[Path, sqlite3.Connection], Examination]) -> None:
    """Remove a journal that the file does not need; one that is left afterwards may be played.

    The caller holds no lock on the file, nor does anybody else in this process.

    Args:
        path: the session's file, no link.
        wait: seconds to wait for whoever is using the file.
        examine: reads all of a file by a connection to it.

    Raises:
        SessionFileError: the file is damaged and the journal does not make it whole; both stay as they are.
        SessionError: others have used the file all the while.
    """
    journal = path.with_name(path.name + "-journal")
    deadline = time.monotonic() + wait
    while sys.platform != "win32" and has_unfinished_journal(path):
        with _locked(path) as file:
            if file is not None:
                if has_unfinished_journal(path):
                    _settle(path, file, journal, examine)
                return
        if time.monotonic() > deadline:
            raise SessionError(
                f"the session {str(path)!r} is in use by another process, {wait:g} s were waited for it: try again when"
                " it has finished"
            )
        time.sleep(_PAUSE)


def _settle(path: Path, file: int, journal: Path, examine: Callable[[Path, sqlite3.Connection], Examination]) -> None:
    # Closing any connection to the file lets go of its lock: so this one stays open to the end.
    with closing(connect(path, 0.0, as_it_lies=True)) as connection:
        present = examine(path, connection)
        head = os.pread(file, 100, 0)
        changes = int.from_bytes(head[24:28], "big")
        fits, changes_before = _claims(journal, head, os.fstat(file).st_size)
        is_own = fits and changes_before in (None, changes, (changes - 1) % 2**32)
        if present.whole and not (is_own and changes_before == changes):
            _remove(journal)
            return
        before = _played(file, journal, examine) if is_own else None
        if present.whole:
            # Where the power failed, pages may have come to the disk in any order: then a part of what was to be
            # written together can look whole. The first page still says what it said before.
            started = before is not None and before.whole and len(before.chain) < len(present.chain)
            if not (started and before is not None and present.chain[: len(before.chain)] == before.chain):
                _remove(journal)
        elif before is None or not before.whole:
            raise SessionFileError(
                f"the session {str(path)!r} is damaged, and the journal {journal.name!r} beside it does not make it"
                f" whole, so it was not played: both were left as they are; the first {len(present.chain)} events can"
                " still be read; go on from a backup, put in its place or elsewhere"
            )


def _claims(journal: Path, head: bytes, size: int) -> tuple[bool, int | None]:
    """Whether a journal can be of a file with that head and size; its count of changes before, where it is there."""
    content = journal.open("rb")
    with content:
        start = content.read(_HEADER.size)
        if len(start) < _HEADER.size:
            return False, None
        magic, records, nonce, pages, sector, page_size = _HEADER.unpack(start)
        own_size = int.from_bytes(head[16:18], "big")
        own_size = 65536 if own_size == 1 else own_size
        if magic != _MAGIC or page_size != own_size or not 0 < pages * page_size <= size:
            return False, None
        if not 32 <= sector <= 65536 or sector & (sector - 1):
            return False, None
        content.seek(sector)
        for _ in range(records):
            record = content.read(page_size + 8)
            if len(record) < page_size + 8:
                break
            page = record[4:-4]
            expected = (nonce + sum(page[index] for index in range(page_size - 200, 0, -200))) % 2**32
            if expected != int.from_bytes(record[-4:], "big"):
                break
            if int.from_bytes(record[:4], "big") == 1:
                return True, int.from_bytes(page[24:28], "big")
    return True, None


def _played(file: int, journal: Path, examine: Callable[[Path, sqlite3.Connection], Examination]) -> Examination | None:
    """What a copy of the file becomes when SQLite plays the journal into it; None where it cannot be opened."""
    with scratch_folder() as folder:
        copy = folder / "session"
        with copy.open("wb") as out:
            offset = 0
            while block := os.pread(file, 2**20, offset):
                out.write(block)
                offset += len(block)
        shutil.copyfile(journal, folder / "session-journal")
        try:
            with closing(connect(copy, 0.0)) as connection:
                return examine(copy, connection)
        except sqlite3.Error:
            return None


def _remove(journal: Path) -> None:
    journal.unlink()
    folder = os.open(journal.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@contextmanager
def _locked(path: Path) -> Iterator[int | None]:
    """The open file, which nobody reads or writes by SQLite meanwhile; None where somebody does."""
    file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, _LOCK_BYTES, _PENDING)
        except (BlockingIOError, PermissionError):
            yield None
        else:
            yield file
    finally:
        os.close(file)
