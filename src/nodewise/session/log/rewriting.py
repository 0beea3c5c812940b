"""A new session file with events that were there before: what an append-only log cannot do in its place."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from nodewise.ground.errors import InputError
from nodewise.ground.files import part_path
from nodewise.session.answers import Event
from nodewise.session.log.database import check_new_name, fill_file, insert_events, publish
from nodewise.session.log.log import chain_start, link, translated

__all__ = ["check_free", "write_file"]


def check_free(path: Path) -> None:
    """Refuse a path for a new file.

    Raises:
        InputError: there is something at the path already, or no folder for it.
    """
    if path.exists() or path.is_symlink():
        raise InputError(f"there is a file {str(path)!r} already: give the new session another name")
    if not path.absolute().parent.is_dir():
        raise InputError(f"there is no folder {str(path.absolute().parent)!r} for {path.name!r}: make it first")
    check_new_name(path)


def write_file(
    path: Path,
    settings: Mapping[str, Any],
    parts: Mapping[str, bytes],
    events: Sequence[Event],
    attachments: Mapping[str, tuple[str, bytes]],
) -> None:
    """A new file, which appears whole or not at all, never over one that is there.

    Args:
        path: where. settings, parts: what the job is begun with.
        events: all of them, numbered 1, 2, 3 …
        attachments: SHA-256 -> kind and bytes of what is attached to them.

    Raises:
        InputError: as for `check_free`.
        SessionError: the file cannot be written.
    """
    check_free(path)
    part = part_path(path)
    digests = sorted((name, hashlib.sha256(content).hexdigest()) for name, content in parts.items())
    chain, rows = chain_start(json.dumps(dict(settings), sort_keys=True), digests), []
    for event in events:
        body = json.dumps(event.body, sort_keys=True)
        chain = link(chain, event, body)
        rows.append((event.id, event.at, event.annotator, event.kind, body, chain))
    try:
        with translated(path, "made", 0.0):
            fill_file(part, settings, parts)
            with closing(sqlite3.connect(part, isolation_level=None)) as connection:
                connection.execute("PRAGMA synchronous=EXTRA")
                connection.execute("BEGIN")
                insert_events(connection, rows, attachments)
                connection.execute("COMMIT")
            publish(part, path)
    finally:
        for left in (part, part.with_name(part.name + "-journal")):
            left.unlink(missing_ok=True)
