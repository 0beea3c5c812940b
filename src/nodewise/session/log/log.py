"""The session's file: one SQLite database with an append-only log of events. It imports neither torch nor numpy.

    session   one row: the settings as JSON, never changed
    parts     what the job needs beside the log: the graph, the policy; with their SHA-256, never changed
    events    id, time, annotator, kind, body as JSON, and a chained hash of all that came before

An event is there when `append` has returned: rollback journal, ``synchronous=EXTRA``. The journal file is kept between two appends, its header
zeroed (``journal_mode=PERSIST``), which saves two syncs of the folder each; it is removed when the log is closed. The chain tells
a damaged row, which SQLite's own check does not.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from nodewise.ground.errors import InputError, SessionError
from nodewise.session.log.checks import APPLICATION_ID, SCHEMA, check_content, check_header, damaged, failure

__all__ = ["Draft", "Event", "Log", "MovedOnError"]

_TABLES = """
CREATE TABLE session (settings TEXT NOT NULL);
CREATE TABLE parts (name TEXT PRIMARY KEY, sha256 TEXT NOT NULL, content BLOB NOT NULL);
CREATE TABLE events (
    id INTEGER PRIMARY KEY, at REAL NOT NULL, annotator TEXT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL, chain BLOB NOT NULL
);
CREATE TRIGGER events_stay BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
CREATE TRIGGER events_remain BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END;
"""


@dataclass(frozen=True)
class Draft:
    """An event before it is in the log."""

    kind: str
    annotator: str
    body: Mapping[str, Any]


@dataclass(frozen=True)
class Event:
    """One thing that happened.

    Attributes:
        id: 1, 2, 3 … in the order of the log.
        at: seconds since 1970.
    """

    id: int
    at: float
    annotator: str
    kind: str
    body: Mapping[str, Any]


class MovedOnError(SessionError):
    """Somebody else has written since; read on and decide again."""


class Log:
    """An open session file. Several processes may hold one at a time; a thread may use it after another, not with it.

    Attributes:
        path: the file.
        settings: what the session was made with.
        events: all events that have been read so far.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, wait: float, clock: Callable[[], float]) -> None:
        self.path, self._connection, self._wait, self._clock = path, connection, wait, clock
        self.settings: dict[str, Any] = {}
        self.events: list[Event] = []
        self._chain = b""
        self._lock = threading.RLock()

    @classmethod
    def create(cls, path: str | Path, settings: Mapping[str, Any], parts: Mapping[str, bytes] | None = None, **options: Any) -> Log:
        """A new file, which appears whole or not at all.

        Raises:
            InputError: there is something at the path already, or no folder for it.
            SessionError: the file cannot be written.
        """
        path = Path(path)
        if path.exists() or path.is_symlink():
            raise InputError(f"there is a file {str(path)!r} already: a new session needs a new name; to go on with it, open it")
        if not path.absolute().parent.is_dir():
            raise InputError(f"there is no folder {str(path.absolute().parent)!r} for the session {path.name!r}: make it first")
        part = path.with_name(f".{path.name[:100]}.{uuid.uuid4().hex}.part")
        try:
            with _translated(path, "made", 0.0):
                _fill(part, settings, parts or {})
                _publish(part, path)
        finally:
            for left in (part, part.with_name(part.name + "-journal")):
                left.unlink(missing_ok=True)
        return cls.open(path, **options)

    @classmethod
    def open(cls, path: str | Path, *, wait: float = 10.0, clock: Callable[[], float] = time.time) -> Log:
        """Open a file and read all of its log.

        Args:
            wait: seconds to wait for another process that is writing.
            clock: tells the time of events.

        Raises:
            SessionFileError: there is no such file, or it is damaged, of another kind or from a newer version; it is left as it is.
        """
        path = Path(path)
        check_header(path)
        with _translated(path, "opened", wait):
            connection = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=wait, isolation_level=None, check_same_thread=False
            )
        log = cls(path, connection, wait, clock)
        try:
            with _translated(path, "read", wait):
                check_content(connection, path)
                connection.execute("PRAGMA synchronous=EXTRA")
                log._load()
        except BaseException:
            connection.close()
            raise
        return log

    @property
    def last(self) -> int:
        """The number of the last event read."""
        return self.events[-1].id if self.events else 0

    def part(self, name: str) -> bytes | None:
        """A stored part, checked against its hash; None if there is none of that name."""
        with self._lock, _translated(self.path, "read", self._wait):
            row = self._connection.execute("SELECT sha256, content FROM parts WHERE name = ?", (name,)).fetchone()
        if row is None:
            return None
        if hashlib.sha256(row[1]).hexdigest() != row[0]:
            raise damaged(self.path, f"the stored {name} does not have the hash that it was stored with")
        return bytes(row[1])

    def refresh(self) -> Sequence[Event]:
        """Read what others have written since; gives the new events."""
        with self._lock, _translated(self.path, "read", self._wait):
            return self._read_on()

    def append(self, drafts: Sequence[Draft], seen: int | None = None) -> list[Event]:
        """Write events, all or none. When this returns they are on the disk.

        Args:
            drafts: what happened.
            seen: the last event that the caller knew of when deciding.

        Raises:
            MovedOnError: there are events after ``seen``; nothing was written.
            SessionError: the file cannot be written; nothing of it is in the log.
        """
        with self._lock, _translated(self.path, "written", self._wait):
            connection = self._connection
            if connection.execute("PRAGMA journal_mode").fetchone()[0] != "persist":
                connection.execute("PRAGMA journal_mode=PERSIST")
            connection.execute("BEGIN IMMEDIATE")
            try:
                self._read_on()
                if seen is not None and self.last != seen:
                    raise MovedOnError(
                        f"the session {self.path.name!r} has moved on from event {seen} to {self.last}: read on and decide again"
                    )
                chain, events, rows = self._chain, [], []
                for number, draft in enumerate(drafts, self.last + 1):
                    body = json.dumps(dict(draft.body), sort_keys=True)
                    event = Event(number, float(self._clock()), draft.annotator, draft.kind, json.loads(body))
                    chain = _link(chain, event, body)
                    events.append(event)
                    rows.append((event.id, event.at, event.annotator, event.kind, body, chain))
                connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", rows)
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                raise
            self.events.extend(events)
            self._chain = chain
            return events

    def backup(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Copy the file as it is at one moment, also while others write; the copy appears whole or not at all.

        Raises:
            InputError: there is something at the path already.
        """
        path = Path(path)
        if (path.exists() or path.is_symlink()) and (not overwrite or path.is_dir() or path.resolve() == self.path.resolve()):
            raise InputError(f"there is a file {str(path)!r} already: give the backup another name, or remove that one")
        if not path.absolute().parent.is_dir():
            raise InputError(f"there is no folder {str(path.absolute().parent)!r} for the backup {path.name!r}: make it first")
        part = path.with_name(f".{path.name[:100]}.{uuid.uuid4().hex}.part")
        try:
            with self._lock, _translated(path, "written", self._wait):
                copy = sqlite3.connect(part, isolation_level=None)
                try:
                    copy.execute("PRAGMA synchronous=EXTRA")
                    # All pages in one step: a shared lock is held meanwhile, so writers wait and the copy is one moment's.
                    self._connection.backup(copy, pages=-1)
                finally:
                    copy.close()
                _publish(part, path, overwrite)
        finally:
            for left in (part, part.with_name(part.name + "-journal")):
                left.unlink(missing_ok=True)

    def close(self) -> None:
        """Let go of the file, and of its journal where nobody else is using it."""
        with self._lock, suppress(sqlite3.Error):
            self._connection.execute("PRAGMA busy_timeout=0")
            if self._connection.execute("PRAGMA journal_mode").fetchone()[0] == "persist":
                self._connection.execute("PRAGMA journal_mode=DELETE")
        self._connection.close()

    def __enter__(self) -> Log:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _load(self) -> None:
        connection = self._connection
        connection.execute("BEGIN")  # one moment for all three tables
        try:
            rows = connection.execute("SELECT settings FROM session").fetchall()
            parts = connection.execute("SELECT name, sha256 FROM parts ORDER BY name").fetchall()
            if len(rows) != 1:
                raise damaged(self.path, f"it holds {len(rows)} settings instead of one")
            self._chain = _chain_start(rows[0][0], parts)
            try:
                self.settings = json.loads(rows[0][0])
            except ValueError:
                raise damaged(self.path, "its settings are not readable") from None
            self._read_on()
        finally:
            connection.execute("COMMIT")

    def _read_on(self) -> list[Event]:
        new: list[Event] = []
        query = "SELECT id, at, annotator, kind, body, chain FROM events WHERE id > ? ORDER BY id"
        chain = self._chain
        for number, at, annotator, kind, body, written in self._connection.execute(query, (self.last,)).fetchall():
            try:
                event = Event(number, at, annotator, kind, json.loads(body))
                chain = _link(chain, event, body)
            except (TypeError, ValueError):
                raise damaged(self.path, f"event {number} is not readable") from None
            if chain != written or number != self.last + len(new) + 1:
                raise damaged(self.path, f"event {number} is not the one that was written after event {self.last + len(new)}")
            new.append(event)
        self.events.extend(new)
        self._chain = chain
        return new


def _chain_start(settings: str, parts: Sequence[tuple[str, str]]) -> bytes:
    return hashlib.blake2b(json.dumps([settings, [list(part) for part in parts]]).encode(), digest_size=16).digest()


def _link(chain: bytes, event: Event, body: str) -> bytes:
    text = json.dumps([event.id, event.at, event.annotator, event.kind, body]).encode()
    return hashlib.blake2b(chain + text, digest_size=16).digest()


def _fill(path: Path, settings: Mapping[str, Any], parts: Mapping[str, bytes]) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA synchronous=EXTRA")
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version={SCHEMA}")
        connection.executescript(f"BEGIN;{_TABLES}COMMIT;")
        connection.execute("BEGIN")
        connection.execute("INSERT INTO session VALUES (?)", (json.dumps(dict(settings), sort_keys=True),))
        rows = [(name, hashlib.sha256(content).hexdigest(), content) for name, content in parts.items()]
        connection.executemany("INSERT INTO parts VALUES (?, ?, ?)", rows)
        connection.execute("COMMIT")
    finally:
        connection.close()


def _publish(part: Path, path: Path, overwrite: bool = False) -> None:
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


@contextmanager
def _translated(path: Path, done: str, wait: float) -> Iterator[None]:
    """Turns what SQLite and the system say into a sentence."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise failure(path, done, wait, error) from error
