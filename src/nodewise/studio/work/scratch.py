"""The folder of a running studio for what is on its way: uploads, exports, the file that opens the browser.

Its owner alone can read it. It goes with the studio; that of one that was killed goes when the next one starts.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl

__all__ = ["Scratch"]

_PREFIX = "nodewise-studio-"
_LOCK = "in-use"
"""A file that the studio holds a lock on while it lives, however it ends."""


class Scratch:
    """A folder of one's own, made at once, and the end of those that nobody holds any more.

    Args:
        root: where it is made; None: where temporary files are.

    Attributes:
        path: the folder.
    """

    def __init__(self, root: Path | None = None) -> None:
        where = Path(tempfile.gettempdir()) if root is None else root
        _remove_abandoned(where)
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=where))
        self._lock = _hold(self.path)

    def remove(self) -> None:
        """Remove the folder with all that lies in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _hold(folder: Path) -> int | None:
    """A lock on the folder, which ends with this process; None where there are no locks, so that nobody removes it."""
    if sys.platform == "win32":
        return None
    made = folder / f"{_LOCK}.new"
    handle = os.open(made, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    made.rename(folder / _LOCK)  # it has its name only once it is locked
    return handle


def _remove_abandoned(root: Path) -> None:
    """Remove the folders of studios of this user that have ended without doing so."""
    if sys.platform == "win32":
        return
    for folder in root.glob(f"{_PREFIX}*"):
        with suppress(OSError):  # it is another user's, a living studio's, or gone by now
            facts = folder.lstat()
            if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.getuid():
                continue
            handle = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(handle)
