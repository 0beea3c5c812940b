"""Whether a file is a session that this version can use, told before anything in it is touched; and what went wrong, in words."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from nodewise.ground.errors import SessionError, SessionFileError

__all__ = ["APPLICATION_ID", "SCHEMA", "check_content", "check_header", "damaged", "failure"]

APPLICATION_ID = 0x6E6F6477  # "nodw": what SQLite's header says of the kind of file
SCHEMA = 1

_TABLES = {"session", "parts", "events"}


def check_header(path: Path) -> None:
    """Refuse what is not a session of this version by its first 100 bytes, read as any file is.

    Raises:
        SessionFileError: it is missing, something else, or newer.
    """
    try:
        if not path.exists():
            raise SessionFileError(f"there is no session {str(path)!r}: check the path, or make one with 'nodewise session new'")
        if not path.is_file():
            raise SessionFileError(f"{str(path)!r} is not a file: give the session's file")
        with path.open("rb") as file:
            head = file.read(100)
    except OSError as error:
        raise SessionFileError(f"{str(path)!r} cannot be read: {error.strerror or error}; check its permissions") from error
    if len(head) < 100 or not head.startswith(b"SQLite format 3\0"):
        raise SessionFileError(
            f"{str(path)!r} is not a session, or its beginning is damaged: nothing was changed; use a backup if it was one"
        )
    version, kind = int.from_bytes(head[60:64], "big"), int.from_bytes(head[68:72], "big")
    if kind != APPLICATION_ID:
        raise SessionFileError(
            f"{str(path)!r} is a database of another program, not a session: nothing was changed; give the session's file"
        )
    if version > SCHEMA:
        raise SessionFileError(
            f"{str(path)!r} was written by a newer nodewise (form {version}, this one reads up to {SCHEMA}): nothing was changed; update nodewise"
        )
    if version < 1:
        raise SessionFileError(f"{str(path)!r} has form {version}, which no nodewise has written: nothing was changed; use a backup")


def check_content(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that SQLite finds to be damaged.

    Raises:
        SessionFileError: says what is wrong with it.
    """
    try:
        verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if verdict != "ok":
            raise damaged(path, " ".join(str(verdict).split()))
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
        raise damaged(path, str(error)) from error
    if not tables >= _TABLES:
        raise damaged(path, f"it has the tables {sorted(tables)}, a session has {sorted(_TABLES)}")


def damaged(path: Path, how: str) -> SessionFileError:
    """The error for a file that does not hold what was written."""
    return SessionFileError(f"the session {str(path)!r} is damaged ({how}): it was left as it is; go on from a backup")


def failure(path: Path, done: str, wait: float, error: sqlite3.Error | OSError) -> SessionError:
    """What SQLite or the system said, as a sentence that says what to do."""
    if isinstance(error, OSError):
        return SessionError(
            f"{str(path)!r} cannot be {done}: {error.strerror or error}; check the folder, its permissions and the space left"
        )
    said = str(error)
    if "locked" in said or "busy" in said:
        return SessionError(
            f"the session {str(path)!r} is in use by another process, {wait:g} s were waited for it: try again when it has finished"
        )
    if "full" in said:
        return SessionError(
            f"{str(path)!r} cannot be {done}: the disk is full; nothing that was told before is lost; free some space and do it again"
        )
    if "readonly" in said or "unable to open" in said:
        return SessionError(
            f"{str(path)!r} cannot be {done}: the file or its folder is read-only ({said}); nothing is lost; change the permissions"
        )
    if "malformed" in said or "not a database" in said:
        return damaged(path, said)
    return SessionError(f"{str(path)!r} cannot be {done}: {said}; nothing that was told before is lost; check the disk and do it again")
