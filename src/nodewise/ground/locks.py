"""A lock between processes that need the same thing: one makes it, the others wait for it.

Where there are no locks, each makes its own.

torch brings `filelock` along, which takes the same lock of the operating system, but does not keep what is promised
here. It leaves the lock's file in place, so that those who waited go on one after the other; where nothing could be
kept, each would make its own in turn. Its older versions, which fit the same torch, empty the file at every look, and
with it the maker's name that waiters read. Where there are no locks it takes a file's presence for one, which a
killed maker leaves behind. It would replace no more than the four short functions at the end of this file.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from nodewise.ground.events import Note, Reporter

if sys.platform == "win32":
    import errno
    import msvcrt
else:
    import fcntl

__all__ = ["held", "one_maker"]

_PAUSE = 0.1
"""Seconds between two looks at a lock: short enough for Ctrl-C and for what is made in a moment."""

_WORTH_TELLING = 0.5
"""Seconds of waiting from which a note says so."""


@contextmanager
def one_maker(path: Path, what: str, reporter: Reporter, patience: float) -> Iterator[None]:
    """Lets one process at a time make something; whoever had to wait looks first whether it is there by now.

    The lock is the operating system's, on a file that is there while it is held: it ends with its process, however that
    ends. A maker that comes to the end takes the file away, and all who waited for it go on at once, also those for
    whom it could keep nothing; one that was killed or failed leaves the file, and the next makes it in its place while
    the others wait. A folder that cannot be written to, a file system without locks and a maker that takes longer than
    the patience cost no more than the work done twice.

    Args:
        path: the lock's file.
        what: is made, in the plural, such as ``"views of 5,000 nodes"``.
        reporter: gets who is waited for.
        patience: seconds after which a maker is taken to be stopped.
    """
    handle = _acquired(path, what, reporter, patience)
    try:
        yield
        if handle is not None:
            with suppress(OSError):  # Windows keeps a file that others have open
                path.unlink()
    finally:
        if handle is not None:
            _release(handle)


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Lets one at a time, of all processes and threads, go on; its file stays. Ends with its process.

    Args:
        path: the lock's file.

    Raises:
        OSError: the file cannot be made, or the file system knows no locks.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        while not _taken(handle):
            time.sleep(_PAUSE)
        yield
    finally:
        _release(handle)


def _acquired(path: Path, what: str, reporter: Reporter, patience: float) -> int | None:
    """The lock's open file, once it is this process's; None where it goes on without."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:
        return None
    alone = False
    try:
        alone = _wait(handle, path, what, reporter, patience)
    finally:
        if not alone:
            _release(handle)
    return handle if alone else None


def _wait(handle: int, path: Path, what: str, reporter: Reporter, patience: float) -> bool:
    """Waits for the lock; whether it is this process's now, on the file that others find there."""
    began, said = time.monotonic(), False
    try:
        while not _taken(handle):
            waited = time.monotonic() - began
            if waited > patience:
                reporter(
                    Note(
                        f"{_maker(handle)} has not finished the {what} in {waited / 60:.0f} minutes: they are made here"
                        " as well"
                    )
                )
                return False
            if waited >= _WORTH_TELLING and not said:
                said = True
                reporter(
                    Note(
                        f"{_maker(handle)} is making the {what}: waiting, to use the same; should it have stopped, end"
                        " it and they are made here"
                    )
                )
            time.sleep(_PAUSE)
        if not os.path.samestat(os.fstat(handle), path.stat()):
            return False
        os.ftruncate(handle, 0)
        os.write(handle, f"{os.getpid()} {socket.gethostname()}".encode())
    except OSError:  # no locks here; the maker has come to its end and taken the file away; or the disk is full
        return False
    return True


def _maker(handle: int) -> str:
    """Who holds the lock, as it has written into the file."""
    process, host = "", ""
    with suppress(OSError):
        os.lseek(handle, 0, os.SEEK_SET)
        process, _, host = os.read(handle, 300).decode("utf-8", "replace").partition(" ")
    if not process.isdigit():
        return "another process"
    if host != socket.gethostname():
        return f"process {process} on {host}"
    return "another thread of this process" if int(process) == os.getpid() else f"process {process}"


if sys.platform == "win32":
    _BYTE = 2**30  # beyond what is written: Windows lets nobody read what is locked

    def _taken(handle: int) -> bool:
        os.lseek(handle, _BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EDEADLOCK):
                return False
            raise
        finally:
            os.lseek(handle, 0, os.SEEK_SET)
        return True

    def _release(handle: int) -> None:
        with suppress(OSError):
            os.lseek(handle, _BYTE, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)
        os.close(handle)

else:

    def _taken(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _release(handle: int) -> None:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_UN)  # also of processes that were forked meanwhile
        os.close(handle)
