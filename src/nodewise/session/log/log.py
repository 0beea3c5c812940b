"""The session's file: one SQLite database with an append-only log of events. It imports neither torch nor numpy.

    session       one row: the settings as JSON, never changed
    parts         what the job was begun with beside them: the graph, the policy; with their SHA-256, never changed
    events        id, time, annotator, kind, body as JSON, and a chained hash of all that came before
    attachments   what is too large for an event, by its SHA-256, which the event names; written with the event

An event is there when `append` has returned: rollback journal, ``synchronous=EXTRA``. The journal file is kept between
two appends, its header zeroed (``journal_mode=PERSIST``), which saves two syncs of the folder each; it is removed when
the log is closed. The chain shows a damaged row, which SQLite's own check does not; and, looked at inside each
transaction that appends, a file that another was copied over.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from nodewise.ground.errors import InputError, SessionError, SessionFileError
from nodewise.ground.files import part_path, remove_dead_parts
from nodewise.session.answers import Draft, Event, attached, form_needed
from nodewise.session.log.database import (
    ATTACHMENT_LIMIT,
    NOTHING_ATTACHED,
    check_beside,
    check_content,
    check_header,
    check_new_name,
    check_output,
    check_schema,
    connect,
    copy_file,
    damaged,
    failure,
    file_identity,
    fill_file,
    has_unfinished_journal,
    insert_events,
    limit_steps,
    publish,
    replaced,
)
from nodewise.session.log.journal import Examination, settle_journal

__all__ = ["Log", "MovedOnError", "chain_start", "link", "translated"]

_EVENTS = "SELECT id, at, annotator, kind, body, chain FROM events WHERE id >= ? ORDER BY id"
_OPEN: weakref.WeakSet[Log] = weakref.WeakSet()
"""The logs that this process has open."""


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
        self._chain = self._start = b""
        self._schema_version, self._form, self._identity = 0, 0, file_identity(path)
        self._real = path.resolve()  # beside it SQLite keeps the connection's journal, wherever a link leads later
        self._replaced: SessionError | None = None
        self._lock = threading.RLock()

    @classmethod
    def create(
        cls, path: str | Path, settings: Mapping[str, Any], parts: Mapping[str, bytes] | None = None, **options: Any
    ) -> Log:
        """A new file, which appears whole or not at all.

        Raises:
            InputError: there is something at the path already, or no folder for it.
            SessionError: the file cannot be written.
        """
        path = Path(path)
        if path.exists() or path.is_symlink():
            raise InputError(
                f"there is a file {str(path)!r} already: a new session needs a new name; to go on with it, open it"
            )
        if not path.absolute().parent.is_dir():
            raise InputError(
                f"there is no folder {str(path.absolute().parent)!r} for the session {path.name!r}: make it first"
            )
        check_new_name(path)
        part = part_path(path)
        try:
            with translated(path, "made", 0.0):
                fill_file(part, settings, parts or {})
                publish(part, path)
        finally:
            for left in (part, part.with_name(part.name + "-journal")):
                left.unlink(missing_ok=True)
        return cls.open(path, **options)

    @classmethod
    def open(cls, path: str | Path, *, wait: float = 10.0, clock: Callable[[], float] = time.time) -> Log:
        """Open a file and read all of its log.

        Args:
            wait: seconds to wait for another process that is writing.
            clock: gives the time of events.

        Raises:
            SessionFileError: there is no such file, or it is damaged, of another kind or from a newer version; it is
                left as it is.
        """
        path = Path(path)
        # Closing a file lets go of all locks that this process has on it, also those of another log in the middle of a
        # write: then it is not read as a file, and need not be, since it was when that one was opened.
        alone = not any(each._identity == file_identity(path) for each in list(_OPEN))
        if alone:
            check_header(path)
        # SQLite keeps the journal beside the file that a link leads to
        real = path.resolve()
        remove_dead_parts(real.parent)
        check_beside(real)
        with translated(path, "opened", wait):
            if alone and has_unfinished_journal(real):
                settle_journal(real, wait, _examine)
            connection = connect(real, wait)
        try:
            with translated(path, "read", wait):
                log = cls(path, connection, wait, clock)
                log._load()
                connection.execute("PRAGMA synchronous=EXTRA")
                _OPEN.add(log)
        except BaseException:
            connection.close()
            raise
        return log

    @property
    def last(self) -> int:
        """The number of the last event read."""
        return self.events[-1].id if self.events else 0

    @property
    def in_place(self) -> bool:
        """Whether the path still leads to the file that was opened, or to the copy that it was brought to."""
        with self._lock, translated(self.path, "read", self._wait):
            return file_identity(self.path) == self._identity or self._follow_copy()

    def part(self, name: str) -> bytes | None:
        """A stored part, checked against its hash; None if there is none of that name."""
        with self._lock, translated(self.path, "read", self._wait):
            row = self._connection.execute("SELECT sha256, content FROM parts WHERE name = ?", (name,)).fetchone()
        if row is None:
            return None
        if not isinstance(row[1], bytes) or not isinstance(row[0], str):
            raise damaged(self.path, f"the stored {name} is not of the kind that is stored")
        if hashlib.sha256(row[1]).hexdigest() != row[0]:
            raise damaged(self.path, f"the stored {name} does not have the hash that it was stored with")
        return bytes(row[1])

    def attachment(self, event: Event, kind: str) -> bytes:
        """A part that is attached to an event, checked against the hash that the event names.

        Raises:
            SessionFileError: it is not there, or not what was written.
        """
        digest = attached(event.body).get(kind, "")
        with self._lock, translated(self.path, "read", self._wait):
            limit_steps(self._connection, self.path)
            return self._attachment(digest, f"the {kind} of event {event.id}")

    def refresh(self) -> Sequence[Event]:
        """Read what others have written since; gives the new events.

        Raises:
            SessionFileError: the file is no longer the one that was opened.
        """
        with self._lock, translated(self.path, "read", self._wait):
            limit_steps(self._connection, self.path)
            self._follow_copy()
            self._settle_journal()
            return self._read_on()

    def append(
        self,
        drafts: Sequence[Draft] | Callable[[], Sequence[Draft]],
        seen: int | None = None,
        wrong: Callable[[Event], str] | None = None,
    ) -> list[Event]:
        """Write events, all or none. When this returns they are on the disk.

        Args:
            drafts: what happened; or a function that gives it, called when all events have been read and nobody else
                can write.
            seen: the last event that the caller knew of when deciding.
            wrong: says what is wrong with an event that could not be read again; empty where nothing is.

        Raises:
            MovedOnError: there are events after ``seen``; nothing was written.
            SessionFileError: the file is no longer the one that was opened: another was put in its place, or copied
                over it. Nothing was written to that one.
            SessionError: the file cannot be written, or an event is wrong; nothing of it is in the log.
        """
        with self._lock, translated(self.path, "written", self._wait):
            self._follow_copy()
            try:
                events = self._append(drafts, seen, wrong)
            except SessionFileError:
                # while it waited for the lock, another process may have brought the file to its third form
                if not self._follow_copy():
                    raise
                events = self._append(drafts, seen, wrong)
            try:
                self._check_name("another file took its name, or none has it, so what was just said is not in it")
            except SessionFileError:
                # or right after this was written: then it is in the copy, and not to be written again
                if not self._follow_copy():
                    raise
                self._read_on()
            return events

    def _append(
        self,
        drafts: Sequence[Draft] | Callable[[], Sequence[Draft]],
        seen: int | None,
        wrong: Callable[[Event], str] | None,
    ) -> list[Event]:
        with self._lock:
            connection = self._connection
            limit_steps(connection, self.path)
            # what lies on the disk counts: a copy of the same number of changes looks to SQLite as if its own pages
            # were still right
            connection.execute("PRAGMA shrink_memory")
            self._check_name()
            self._settle_journal()
            if connection.execute("PRAGMA journal_mode").fetchone()[0] != "persist":
                connection.execute("PRAGMA journal_mode=PERSIST")
            connection.execute("BEGIN IMMEDIATE")
            try:
                self._check_same()
                self._read_on()
                if seen is not None and self.last != seen:
                    raise MovedOnError(
                        f"the session {self.path.name!r} has moved on from event {seen} to {self.last}: read on and"
                        " decide again"
                    )
                drafts = drafts() if callable(drafts) else drafts
                chain, events, rows = self._chain, [], []
                attachments: dict[str, tuple[str, bytes]] = {}
                for number, draft in enumerate(drafts, self.last + 1):
                    body = json.dumps(_body(draft, attachments), sort_keys=True)
                    event = Event(number, float(self._clock()), draft.annotator, draft.kind, json.loads(body))
                    if wrong is not None and (fault := wrong(event)):
                        raise SessionError(
                            f"nothing was written to the session {self.path.name!r}: what was to be could not be read"
                            f" again, {fault}"
                        )
                    chain = link(chain, event, body)
                    events.append(event)
                    rows.append((event.id, event.at, event.annotator, event.kind, body, chain))
                form, needed = self._read_form(), max(map(form_needed, drafts), default=1)
                if form < 3 <= needed:
                    self._move_to_copy(rows, attachments)
                else:
                    insert_events(connection, rows, attachments)
                    if form < needed:
                        connection.execute(f"PRAGMA user_version={needed}")
                    connection.execute("COMMIT")
            except BaseException as error:
                with suppress(sqlite3.Error):
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error):
                    self._check_name()  # SQLite calls a file that lost its name read-only
                raise
            self.events.extend(events)
            self._chain = chain
            return events

    def check_output(self, path: Path) -> None:
        """Refuse a path that is the session's own file, what lies beside it, or its graph, by whatever name.

        Raises:
            InputError: says what it is.
        """
        check_output(path, self.path, self.settings)

    def backup(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Copy the file as it is at one moment, also while others write; the copy appears whole or not at all.

        Raises:
            InputError: there is something at the path already.
        """
        path = Path(path)
        if os.path.lexists(path) and (not overwrite or path.is_dir() or (path.exists() and path.samefile(self.path))):
            raise InputError(f"there is a file {str(path)!r} already: give the backup another name, or remove that one")
        self.check_output(path)
        if not path.absolute().parent.is_dir():
            raise InputError(
                f"there is no folder {str(path.absolute().parent)!r} for the backup {path.name!r}: make it first"
            )
        check_new_name(path)
        part = part_path(path)
        try:
            with self._lock, translated(path, "written", self._wait):
                self._follow_copy()  # what was said since another process copied the file is in that copy alone
                copy = sqlite3.connect(part, isolation_level=None)
                try:
                    copy.execute("PRAGMA synchronous=EXTRA")
                    # all pages in one step: a shared lock is held meanwhile, so writers wait, and it is one moment's
                    self._connection.backup(copy, pages=-1)
                finally:
                    copy.close()
                publish(part, path, overwrite)
        finally:
            for left in (part, part.with_name(part.name + "-journal")):
                left.unlink(missing_ok=True)

    def close(self) -> None:
        """Let go of the file, and of its journal where nobody else is using it."""
        with self._lock, suppress(sqlite3.Error, OSError):
            self._connection.execute("PRAGMA busy_timeout=0")
            # the journal of another file that took the name is not this one's to remove
            own = file_identity(self.path) in (None, self._identity)
            if own and self._connection.execute("PRAGMA journal_mode").fetchone()[0] == "persist":
                self._connection.execute("PRAGMA journal_mode=DELETE")
        self._connection.close()
        _OPEN.discard(self)

    def __enter__(self) -> Log:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _load(self) -> None:
        connection = self._connection
        connection.execute("BEGIN")  # one moment for all of it
        try:
            self._schema_version = connection.execute("PRAGMA schema_version").fetchone()[0]
            self._form = check_schema(connection, self.path)
            check_content(connection, self.path)
            settings, self._chain = self._read_start()
            self._start = self._chain
            try:
                self.settings = json.loads(settings)
            except (ValueError, RecursionError):
                raise damaged(self.path, "its settings are not readable") from None
            if not isinstance(self.settings, dict):
                raise damaged(self.path, "its settings are not a record")
            self._read_on()
            self._check_attachments()
        finally:
            with suppress(sqlite3.Error):
                connection.execute("COMMIT")

    def _read_start(self) -> tuple[str, bytes]:
        """The settings as they are written, and where the chain begins: at them and the parts."""
        rows = self._connection.execute("SELECT settings FROM session").fetchall()
        parts = self._connection.execute("SELECT name, sha256 FROM parts ORDER BY name").fetchall()
        if len(rows) != 1 or not isinstance(rows[0][0], str):
            raise damaged(self.path, f"it holds {len(rows)} settings instead of one")
        if not all(isinstance(text, str) for part in parts for text in part):
            raise damaged(self.path, "the names of its parts are not readable")
        return rows[0][0], chain_start(rows[0][0], parts)

    def _read_form(self) -> int:
        return int(self._connection.execute("PRAGMA user_version").fetchone()[0])

    def _attachment(self, digest: str, what: str) -> bytes:
        row = None
        if self._form >= 3:
            bounded = "SELECT content FROM attachments WHERE sha256 = ? AND length(content) <= ?"
            row = self._connection.execute(bounded, (digest, ATTACHMENT_LIMIT)).fetchone()
        if row is None or not isinstance(row[0], bytes):
            raise damaged(self.path, f"{what} is not there")
        if hashlib.sha256(row[0]).hexdigest() != digest:
            raise damaged(self.path, f"{what} does not have the hash that it was stored with")
        return row[0]

    def _check_attachments(self) -> None:
        """Whether what is attached to the events read is there, and nothing else; their bytes are checked when read."""
        try:
            named = {digest for event in self.events for digest in attached(event.body).values()}
        except ValueError as error:
            raise damaged(self.path, str(error)) from None
        there = set()
        if self._form >= 3:
            there = {digest for (digest,) in self._connection.execute("SELECT sha256 FROM attachments")}
        if not named <= there <= named | {NOTHING_ATTACHED}:
            raise damaged(self.path, "what is attached to its events is not what they name")

    def _move_to_copy(self, rows: Sequence[Sequence[Any]], attachments: Mapping[str, tuple[str, bytes]]) -> None:
        """Go on in a copy of the third form, which holds what is to be appended and takes the file's name at once.

        Inside a transaction: nobody else can write to the old file, and whoever waits to finds another of its name.
        """
        old, real = self._connection, self.path.resolve()
        if real.stat().st_nlink > 1:
            raise SessionError(
                f"the session {str(self.path)!r} has a second name (a hard link), and must be copied to a newer form"
                " to take this in: remove one of the two names first"
            )
        part = part_path(real)
        try:
            copy_file(old, part, rows, attachments)
            shutil.copymode(real, part)
            publish(part, real, overwrite=True)
        finally:
            for left in (part, part.with_name(part.name + "-journal")):
                left.unlink(missing_ok=True)
        old.execute("ROLLBACK")
        self._go_over()

    def _follow_copy(self) -> bool:
        """Go on in the copy that another process has made of this file to bring it to its third form; whether it did.

        The copy begins as this file does, up to the last event that was read: `_read_on` looks at that.
        """
        if self._form >= 3 or file_identity(self.path) in (None, self._identity):
            return False
        kept = self._connection, self._form, self._identity, self._schema_version, self._real
        try:
            if not any(each._identity == file_identity(self.path) for each in list(_OPEN)):
                check_header(self.path)  # see `open`
            self._go_over(close=False)
            if self._form < 3 or self._read_start()[1] != self._start:
                raise damaged(self.path, "it is another session")
        except (SessionError, sqlite3.Error, OSError):  # then it is no copy: the old file is left to say so
            if self._connection is not kept[0]:
                self._connection.close()
            self._connection, self._form, self._identity, self._schema_version, self._real = kept
            return False
        kept[0].close()
        self._replaced = None
        return True

    def _go_over(self, close: bool = True) -> None:
        """Use the file that now has the name."""
        old, self._real = self._connection, self.path.resolve()
        check_beside(self._real)
        self._connection = connect(self._real, self._wait)
        self._identity = file_identity(self.path)
        self._schema_version = self._connection.execute("PRAGMA schema_version").fetchone()[0]
        self._form = check_schema(self._connection, self.path)
        self._connection.execute("PRAGMA synchronous=EXTRA")
        if close:
            old.close()

    def _settle_journal(self) -> None:
        """Between two transactions: a journal that another process left, beside a file that is still the same.

        Another log of this process may be in the middle of a write, whose locks would be let go: then it is left alone.
        """
        same = [each for each in list(_OPEN) if each._identity == self._identity]
        in_place = same == [self] and file_identity(self.path) == self._identity
        if in_place and has_unfinished_journal(self._real):
            check_beside(self._real)
            settle_journal(self._real, self._wait, _examine)

    def _check_name(self, how: str = "there is another file of that name now, or none") -> None:
        """Refuse to write to a file that its name no longer leads to."""
        if self._replaced is None and file_identity(self.path) != self._identity:
            self._replaced = replaced(self.path, how)
        if self._replaced is not None:
            raise self._replaced

    def _check_same(self) -> None:
        """Refuse a file that is no longer the one that was read.

        Inside a transaction, so that it stays so until the end of it.
        """
        self._check_name()
        version = self._connection.execute("PRAGMA schema_version").fetchone()[0]
        if version != self._schema_version:  # a backup has another one with the same schema
            try:
                self._form = check_schema(self._connection, self.path)
            except SessionFileError:
                self._replaced = replaced(self.path, "its schema has changed")
                raise self._replaced from None
            self._schema_version = version
        if self.last == 0 and self._read_start()[1] != self._start:
            self._replaced = replaced(self.path, "it is another session now")
        if self._replaced is not None:
            raise self._replaced

    def _read_on(self) -> list[Event]:
        if self._replaced is not None:
            raise self._replaced
        new: list[Event] = []
        rows = self._connection.execute(_EVENTS, (self.last or -(2**63),)).fetchall()
        if self.last and (not rows or rows[0][0] != self.last or rows[0][5] != self._chain):
            self._replaced = replaced(
                self.path, f"its event {self.last} is not the one that was there: another copy was put over it"
            )
            raise self._replaced
        chain = self._chain
        for number, at, annotator, kind, body, written in rows[1:] if self.last else rows:
            try:
                event = Event(number, at, annotator, kind, json.loads(body))
                chain = link(chain, event, body)
            except (TypeError, ValueError, RecursionError):
                raise damaged(self.path, f"event {number} is not readable") from None
            if chain != written or number != self.last + len(new) + 1:
                raise damaged(
                    self.path, f"event {number} is not the one that was written after event {self.last + len(new)}"
                )
            texts = isinstance(annotator, str) and isinstance(kind, str)
            if not (texts and isinstance(at, float) and math.isfinite(at) and isinstance(event.body, dict)):
                raise damaged(self.path, f"event {number} is not of the form that events have")
            new.append(event)
        self.events.extend(new)
        self._chain = chain
        return new


def _examine(path: Path, connection: sqlite3.Connection) -> Examination:
    """What a file holds, and whether all of it is as it was written, its parts too."""
    faults = (SessionError, sqlite3.Error, UnicodeDecodeError, ValueError, TypeError, RecursionError)
    log = Log(path, connection, 0.0, time.time)
    chain: list[bytes] = []
    whole = True
    try:
        log._load()
        for (name,) in connection.execute("SELECT name FROM parts").fetchall():
            log.part(name)
        for event in log.events:
            for kind in attached(event.body):
                log.attachment(event, kind)
    except faults:
        whole = False
    with suppress(*faults):
        last = log._read_start()[1]
        for number, at, annotator, kind, body, written in connection.execute(_EVENTS, (-(2**63),)):
            last = link(last, Event(number, at, annotator, kind, {}), body)
            if last != written or number != len(chain) + 1:
                break
            chain.append(last)
    return Examination(tuple(chain), whole)


def chain_start(settings: str, parts: Sequence[tuple[str, str]]) -> bytes:
    """Where the chain begins: at the settings as they are written, and the names and digests of the parts."""
    return hashlib.blake2b(json.dumps([settings, [list(part) for part in parts]]).encode(), digest_size=16).digest()


def link(chain: bytes, event: Event, body: str) -> bytes:
    """The chain with one more event, its body as it is written."""
    text = json.dumps([event.id, event.at, event.annotator, event.kind, body]).encode()
    return hashlib.blake2b(chain + text, digest_size=16).digest()


def _body(draft: Draft, attachments: dict[str, tuple[str, bytes]]) -> dict[str, Any]:
    """What the log keeps of a draft; its attachments are added to those of the others: SHA-256 -> kind, bytes.

    Raises:
        InputError: an attachment is too large.
    """
    named = {}
    for kind, content in draft.attachments.items():
        if len(content) > ATTACHMENT_LIMIT:
            raise InputError(
                f"the {kind} take {len(content) / 2**20:.0f} MiB, and a session takes in at most"
                f" {ATTACHMENT_LIMIT // 2**20} at once: give fewer at a time"
            )
        named[kind] = hashlib.sha256(content).hexdigest()
        attachments[named[kind]] = kind, content
    return {**draft.body, "attached": named} if named else dict(draft.body)


@contextmanager
def translated(path: Path, done: str, wait: float) -> Iterator[None]:
    """Turns what SQLite and the system say into a sentence."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise failure(path, done, wait, error) from error
    except UnicodeDecodeError as error:  # SQLite repeats damaged text in what it says of it
        raise damaged(path, "a text in it cannot be decoded") from error
