"""The SQLite database that a session's file is: whether a file is one, how it is made and opened, what protects it.

It imports neither torch nor numpy.

A session may come from a stranger. SQLite does what lies in and beside a file: it rolls a hot journal back, deletes the
super-journal that the journal names, goes over to a write-ahead log that lies there, runs triggers. So, in this order:
the header is read as any file is; what lies beside is looked at; the connection is fettered; the schema must be, to the
letter, the one that nodewise writes; only then is content read.

"""

from __future__ import annotations

import errno
import functools
import hashlib
import json
import os
import sqlite3
import stat
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from nodewise.ground.errors import InputError, SessionError, SessionFileError
from nodewise.ground.files import as_path

if sys.platform != "win32":
    import fcntl

__all__ = [
    "APPLICATION_ID",
    "ATTACHMENT_LIMIT",
    "FORM",
    "NOTHING_ATTACHED",
    "check_beside",
    "check_content",
    "check_header",
    "check_new_name",
    "check_output",
    "check_schema",
    "connect",
    "copy_file",
    "damaged",
    "failure",
    "file_identity",
    "fill_file",
    "graph_files",
    "graph_path",
    "has_unfinished_journal",
    "insert_events",
    "limit_steps",
    "publish",
    "replaced",
    "session_file",
    "tables",
]

APPLICATION_ID = 0x6E6F6477  # "nodw": what SQLite's header says of the kind of file
FORM = 3
"""The newest form of the file.

1 has the events ask, tell, skip, undo, class and budget; 2 has further kinds, in the same tables; 3 has a table more,
for what is too large for an event. A file of form 1 becomes one of form 2 where it lies; to form 3 both come by a copy.
"""
ATTACHMENT_LIMIT = 256 * 2**20
"""The largest attachment of an event, in bytes."""
# the text is compared with that of files from before: its lines end where they did, and are only written in two here
_TABLES = """
CREATE TABLE session (settings TEXT NOT NULL);
CREATE TABLE parts (name TEXT PRIMARY KEY, sha256 TEXT NOT NULL, content BLOB NOT NULL);
CREATE TABLE events (
    id INTEGER PRIMARY KEY, at REAL NOT NULL, annotator TEXT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL,\
 chain BLOB NOT NULL
);
CREATE TRIGGER events_stay BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
CREATE TRIGGER events_remain BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END;
"""
_THIRD_FORM = """
CREATE TABLE attachments (sha256 TEXT PRIMARY KEY, kind TEXT NOT NULL, content BLOB NOT NULL);
CREATE TRIGGER attachments_stay BEFORE UPDATE ON attachments BEGIN\
 SELECT RAISE(ABORT, 'attachments are never changed'); END;
CREATE TRIGGER attachments_remain BEFORE DELETE ON attachments BEGIN\
 SELECT RAISE(ABORT, 'attachments are never deleted'); END;
"""
NOTHING_ATTACHED = hashlib.sha256(b"").hexdigest()
"""The first row of the attachments, which no event needs to name: a table without a row looks like any other, so its
page, written by a failing disk in the place of the events', would be read as a job in which nothing was labelled."""
_SUPER_JOURNAL = bytes.fromhex(
    "d9d505f920a163d7"
)  # ends a journal that names a super-journal, as it begins every journal
_STEPS, _STEPS_AT_ONCE = 10_000_000, 100_000
"""Steps of SQLite's machine that one operation may take beside one for each byte of the file, and how often they are
counted.
"""
_PRAGMAS = {
    "quick_check",
    "synchronous",
    "journal_mode",
    "busy_timeout",
    "schema_version",
    "user_version",
    "shrink_memory",
}
_READABLE = {"session", "parts", "events", "attachments", "sqlite_master"}
_FOLDER_FILES = ("nodes.csv", "edges.csv", "features.csv", "graph.json")


def tables(form: int) -> str:
    """The statements that make the tables of a form."""
    return _TABLES if form < 3 else _TABLES + _THIRD_FORM


def check_header(path: Path) -> None:
    """Refuse what is not a session of this version by its first 100 bytes, read as any file is.

    Raises:
        SessionFileError: it is missing, something else, or newer.
    """
    try:
        if not path.exists():
            raise SessionFileError(
                f"there is no session {str(path)!r}: check the path, or make one with 'nodewise session new'"
            )
        if not path.is_file():
            raise SessionFileError(f"{str(path)!r} is not a file: give the session's file")
        with path.open("rb") as file:
            head = file.read(100)
    except OSError as error:
        raise SessionFileError(
            f"{str(path)!r} cannot be read: {error.strerror or error}; check its permissions"
        ) from error
    if len(head) < 100 or not head.startswith(b"SQLite format 3\0"):
        raise SessionFileError(
            f"{str(path)!r} is not a session, or its beginning is damaged: nothing was changed; use a backup if it"
            " was one"
        )
    version, kind = int.from_bytes(head[60:64], "big"), int.from_bytes(head[68:72], "big")
    if kind != APPLICATION_ID:
        raise SessionFileError(
            f"{str(path)!r} is a database of another program, not a session: nothing was changed; give the session's"
            " file"
        )
    if version > FORM:
        raise SessionFileError(
            f"{str(path)!r} was written by a newer nodewise (form {version}, this one reads up to {FORM}): nothing was"
            " changed; update nodewise"
        )
    if version < 1:
        raise SessionFileError(
            f"{str(path)!r} has form {version}, which no nodewise has written: nothing was changed; use a backup"
        )
    if head[18:20] != b"\1\1":
        raise damaged(path, "its header asks for a write-ahead log, which no nodewise uses")


def check_beside(path: Path) -> None:
    """Refuse files beside a session that SQLite would act on and that no nodewise leaves.

    A journal is an ordinary file with one name, which names no super-journal: SQLite would delete that one. It would
    write into whatever the journal's name leads to, and take the pages of a write-ahead log for the session's own.

    Raises:
        SessionFileError: says which file.
    """
    for ending in ("-wal", "-shm"):
        beside = path.with_name(path.name + ending)
        if os.path.lexists(beside):
            raise _stranger(path, beside, "a write-ahead log, which nodewise never makes")
    journal = path.with_name(path.name + "-journal")
    try:
        entry = journal.lstat()
        if not stat.S_ISREG(entry.st_mode) or entry.st_nlink > 1:
            raise _stranger(
                path, journal, "not an ordinary file" if entry.st_nlink == 1 else "another name of some other file"
            )
        with journal.open("rb") as file:
            file.seek(max(0, entry.st_size - 8))
            if file.read(8) == _SUPER_JOURNAL and entry.st_size > 8:
                raise _stranger(path, journal, "a journal that names other files, which nodewise never writes")
    except FileNotFoundError:
        return
    except OSError as error:
        raise SessionFileError(
            f"{str(journal)!r} cannot be read: {error.strerror or error}; check its permissions"
        ) from error


def has_unfinished_journal(path: Path) -> bool:
    """Whether a journal lies beside it that SQLite would play, were nobody writing.

    A finished one is gone, empty or begins with zeros.
    """
    try:
        with path.with_name(path.name + "-journal").open("rb") as file:
            return file.read(1) not in (b"", b"\0")
    except FileNotFoundError:
        return False


def file_identity(path: Path) -> tuple[int, int] | None:
    """Which file lies there, whatever it is called; None where none does."""
    try:
        entry = path.stat()
    except FileNotFoundError:
        return None
    return entry.st_dev, entry.st_ino


def check_new_name(path: Path) -> None:
    """Refuse a name for a new file beside which the journal of an earlier one lies.

    SQLite would play it into the new one.

    Raises:
        InputError: says which.
    """
    for ending in ("-journal", "-wal", "-shm"):
        beside = path.with_name(path.name + ending)
        if os.path.lexists(beside):
            raise InputError(
                f"beside {str(path)!r} lies {beside.name!r} of an earlier file, which would be played into the new one:"
                " open that file once if it is still there, else move the journal away"
            )


def connect(path: Path, wait: float, *, as_it_lies: bool = False) -> sqlite3.Connection:
    """A connection that does no more than a session needs, whatever the file says.

    It reads the tables of a session, and adds events and what is attached to them.

    Args:
        path: the file, no link.
        wait: seconds to wait for others.
        as_it_lies: it reads the file without locks, and without what lies beside it; nothing may change it meanwhile.
    """
    mode = "mode=ro&immutable=1" if as_it_lies else "mode=rw"
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{mode}", uri=True, timeout=wait, isolation_level=None, check_same_thread=False
    )
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.execute("PRAGMA cell_size_check=ON")
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.setlimit(sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 0)
    if hasattr(connection, "setconfig"):  # Python 3.12
        for option, value in (("DEFENSIVE", True), ("ENABLE_TRIGGER", False), ("ENABLE_VIEW", False)):
            connection.setconfig(getattr(sqlite3, f"SQLITE_DBCONFIG_{option}"), value)
    connection.set_authorizer(_authorize)
    limit_steps(connection, path)
    return connection


def limit_steps(connection: sqlite3.Connection, path: Path) -> None:
    """Allow the next operation as many steps as a file of that size can need; beyond them it is interrupted."""
    try:
        size = path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        size = 0
    left = (_STEPS + size) // _STEPS_AT_ONCE

    def count() -> int:
        nonlocal left
        left -= 1
        return left < 0

    connection.set_progress_handler(count, _STEPS_AT_ONCE)


def check_schema(connection: sqlite3.Connection, path: Path) -> int:
    """Refuse a file whose schema is not, to the letter, the one that nodewise writes; gives the file's form.

    Raises:
        SessionFileError: says what differs.
    """
    try:
        form = int(connection.execute("PRAGMA user_version").fetchone()[0])
        schema = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
        raise damaged(path, str(error)) from error
    if not 1 <= form <= FORM:
        raise damaged(path, f"it says that it has form {form}")
    expected = _expected_schema(form)
    if sorted(map(repr, schema)) != sorted(map(repr, expected)):
        further = [f"{row[0]} {row[1]}" for row in schema if row not in expected]
        lacking = [f"{row[0]} {row[1]}" for row in expected if row not in schema]
        raise damaged(
            path,
            f"its schema is not that of a session: it has {further or 'nothing'} in place of {lacking or 'nothing'}",
        )
    return form


def check_content(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that SQLite finds to be damaged.

    Raises:
        SessionFileError: says what is wrong with it.
    """
    try:
        verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
        raise damaged(path, str(error)) from error
    if verdict != "ok":
        raise damaged(path, " ".join(str(verdict).split()))


def damaged(path: Path, how: str) -> SessionFileError:
    """The error for a file that does not hold what was written."""
    return SessionFileError(f"the session {str(path)!r} is damaged ({how}): it was left as it is; go on from a backup")


def replaced(path: Path, how: str) -> SessionFileError:
    """The error for a file that became another one while it was open."""
    return SessionFileError(
        f"the session {str(path)!r} was replaced while it was open ({how}): nothing more is written to it; "
        "close it and open it again to go on from what is there now"
    )


def failure(path: Path, done: str, wait: float, error: sqlite3.Error | OSError) -> SessionError:
    """What SQLite or the system said, as a sentence that says what to do."""
    if getattr(error, "errno", None) == errno.ENOLCK or ("locked" in str(error) and not _has_locks(path)):
        return SessionError(
            f"{str(path)!r} cannot be {done}: the file system there has no locks, so two writers could destroy it;"
            " nothing is lost; move the session to a disk of this machine"
        )
    if isinstance(error, OSError):
        return SessionError(
            f"{str(path)!r} cannot be {done}: {error.strerror or error}; check the folder, its permissions and the"
            " space left"
        )
    said = str(error)
    if "closed database" in said:
        return SessionError("this session was closed: to go on, open it again with Session.open")
    if said.startswith("Could not decode"):
        return damaged(path, "a text in it cannot be decoded")
    if "interrupted" in said:
        return damaged(path, "reading it takes more steps than a file of its size can need")
    if "not authorized" in said or "prohibited" in said:
        return damaged(path, "it asks for more than a session does")
    if "locked" in said or "busy" in said:
        return SessionError(
            f"the session {str(path)!r} is in use by another process, {wait:g} s were waited for it: try again when it"
            " has finished"
        )
    if "full" in said:
        return SessionError(
            f"{str(path)!r} cannot be {done}: the disk is full; no answer from before is lost; free some space"
            " and do it again"
        )
    if "readonly" in said or "unable to open" in said:
        return SessionError(
            f"{str(path)!r} cannot be {done}: the file or its folder is read-only ({said}); nothing is lost; change the"
            " permissions"
        )
    if any(
        word in said
        for word in ("malformed", "not a database", "no such table", "no such column", "unsupported file format")
    ):
        return damaged(path, said)
    return SessionError(
        f"{str(path)!r} cannot be {done}: {said}; no answer from before is lost; check the disk and do it again"
    )


def graph_path(session: Path, settings: Mapping[str, Any]) -> Path | None:
    """Where the graph of a session lies that is not inside its file: where it was, else beside the session.

    None where it is in neither.

    Args:
        session: the session's file.
        settings: what it was made with.
    """
    stored = settings.get("graph")
    if (
        not isinstance(stored, dict)
        or stored.get("where") == "inside"
        or not isinstance(stored.get("path"), str)
        or "\0" in stored["path"]
    ):
        return None
    path = Path(stored["path"])
    name = os.path.basename(stored["path"])  # noqa: PTH119 (the path may come from another system)
    beside = session.with_name(name or "graph")
    try:
        return next((candidate for candidate in (path, beside) if candidate.exists()), None)
    except OSError:
        return None


def graph_files(path: Path) -> list[Path]:
    """The files that a graph's path stands for: itself, or those of a folder of tables."""
    folder = path if path.is_dir() else path.parent
    tables = [folder / name for name in _FOLDER_FILES if os.path.lexists(folder / name)]
    is_table = path.name in ("nodes.csv", "edges.csv") and {"nodes.csv", "edges.csv"} <= {
        table.name for table in tables
    }
    return tables if path.is_dir() or is_table else [path]


def check_output(path: Path, session: Path, settings: Mapping[str, Any]) -> None:
    """Refuse to write over what the session is made of, by whatever path, link or spelling.

    Args:
        path: where something is to be written.
        session: the session's file.
        settings: what it was made with.

    Raises:
        InputError: the path is the session's file, a file that SQLite keeps beside it, or its graph.
    """
    graph = graph_path(session, settings)
    session = session.resolve()
    if _is_same(path, session):
        raise InputError(f"{str(path)!r} is the session itself: export to another file")
    for ending in ("-journal", "-wal", "-shm"):
        beside = session.with_name(session.name + ending)
        if _is_same(path, beside) or _is_same_name(path, beside):
            raise InputError(f"{str(path)!r} is the place of the session's journal: export to another file")
    if graph is not None and any(_is_same(path, file) for file in (graph, *graph_files(graph))):
        raise InputError(
            f"{str(path)!r} is the session's graph, without which it cannot be opened: export to another file"
        )


def _has_locks(path: Path) -> bool:
    """Whether a file beside it can be locked: SQLite says of a file system without locks that the file is in use."""
    if sys.platform == "win32":
        return True
    try:
        with tempfile.TemporaryFile(dir=path.resolve().parent) as file:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.ENOLCK, errno.ENOSYS)
    return True


def _stranger(path: Path, beside: Path, what: str) -> SessionFileError:
    return SessionFileError(
        f"beside the session {str(path)!r} lies {beside.name!r}, {what}: nothing was opened or changed; "
        "move that file away if it came with the session, then open it again"
    )


@functools.cache
def _expected_schema(form: int) -> list[tuple[str, str, str, str | None]]:
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(tables(form))
        return connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
    finally:
        connection.close()


def _authorize(action: int, first: str | None, second: str | None, database: str | None, trigger: str | None) -> int:
    """What a statement may do: asked by SQLite for each one that it prepares."""
    allowed = trigger is None and (
        action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_TRANSACTION)
        or (action == sqlite3.SQLITE_READ and first in _READABLE)
        or (action == sqlite3.SQLITE_PRAGMA and first in _PRAGMAS)
        or (action == sqlite3.SQLITE_FUNCTION and second == "length")
        or (action == sqlite3.SQLITE_INSERT and first in ("events", "attachments"))
    )
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _is_same(path: Path, other: Path) -> bool:
    try:
        return path.samefile(other)
    except OSError:
        return False


def _is_same_name(path: Path, other: Path) -> bool:
    """For a file that need not be there yet."""
    return path.name.casefold() == other.name.casefold() and _is_same(path.absolute().parent, other.parent)


def fill_file(path: Path, settings: Mapping[str, Any], parts: Mapping[str, bytes], form: int = FORM) -> None:
    """A new file without events."""
    with closing(_empty(path, form)) as connection:
        connection.execute("BEGIN")
        connection.execute("INSERT INTO session VALUES (?)", (json.dumps(dict(settings), sort_keys=True),))
        rows = [(name, hashlib.sha256(content).hexdigest(), content) for name, content in parts.items()]
        connection.executemany("INSERT INTO parts VALUES (?, ?, ?)", rows)
        connection.execute("COMMIT")


def copy_file(
    old: sqlite3.Connection, path: Path, rows: Sequence[Sequence[Any]], attachments: Mapping[str, tuple[str, bytes]]
) -> None:
    """A new file of the newest form with all that one of form 1 or 2 holds, row by row, and further events."""
    with closing(_empty(path, FORM)) as connection:
        connection.execute("BEGIN")
        for table in ("session", "parts", "events"):
            held = old.execute(f"SELECT * FROM {table}")
            marks = ", ".join("?" * len(held.description))
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", held)
        insert_events(connection, rows, attachments)
        connection.execute("COMMIT")


def insert_events(
    connection: sqlite3.Connection, rows: Sequence[Sequence[Any]], attachments: Mapping[str, tuple[str, bytes]]
) -> None:
    """Events and what is attached to them; what is there already, for another event, is not written twice."""
    connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", rows)
    for digest, (kind, content) in attachments.items():
        if connection.execute("SELECT 1 FROM attachments WHERE sha256 = ?", (digest,)).fetchone() is None:
            connection.execute("INSERT INTO attachments VALUES (?, ?, ?)", (digest, kind, content))


def publish(part: Path, path: Path, overwrite: bool = False) -> None:
    """Give a finished file its name, never over one that is there, and make the name last."""
    if overwrite:
        part.replace(path)
    else:
        try:
            os.link(part, path)
        except FileExistsError:
            raise InputError(f"there is a file {str(path)!r} already: give another name") from None
        except OSError:  # a file system without hard links
            part.rename(path)
    if os.name == "posix":
        folder = os.open(path.absolute().parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _empty(path: Path, form: int) -> sqlite3.Connection:
    """A connection to a new file that has the tables of a form and nothing in them."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous=EXTRA")
    connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version={form}")
    connection.executescript(f"BEGIN;{tables(form)}COMMIT;")
    if form >= 3:
        connection.execute("INSERT INTO attachments VALUES (?, ?, ?)", (NOTHING_ATTACHED, "nothing", b""))
    return connection


def session_file(path: str | Path, what: str) -> Path:
    """The path of a session's file; SQLite's word for no file is none."""
    if str(path) == ":memory:":
        raise InputError(
            "a session lives in a file, and ':memory:' is none: give a path, in a temporary folder if it need not stay"
        )
    return as_path(path, what)
