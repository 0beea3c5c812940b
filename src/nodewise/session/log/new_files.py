"""New files of a session: filled with what it begins with, or with all that an older one holds.

It imports neither torch nor numpy.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from nodewise.ground.errors import InputError
from nodewise.session.log.database import APPLICATION_ID, FORM, tables

__all__ = ["copy_file", "fill_file", "insert_events", "publish"]


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
    return connection
