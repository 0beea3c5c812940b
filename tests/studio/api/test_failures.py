"""Which status tells which error."""

from __future__ import annotations

import errno
import sqlite3

import pytest

from nodewise.ground.errors import (
    GraphError,
    InputError,
    NodewiseError,
    SessionError,
    SessionFileError,
    UnknownNameError,
)
from nodewise.studio.api.failures import Json, status_of
from nodewise.studio.work.errors import BusyError, MissingError, NoSessionError, StoppedError, TypoError


def caused(error: BaseException, cause: BaseException) -> BaseException:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (InputError("x"), 400),
        (GraphError("x"), 400),
        (UnknownNameError("class", "x", ["y"]), 400),
        (MissingError("x"), 404),
        (NoSessionError(), 409),
        (TypoError("spm", ["spam"]), 409),
        (SessionError("x"), 409),
        (SessionFileError("x"), 409),
        (BusyError("x"), 503),
        (StoppedError("x"), 503),
        (caused(SessionError("x"), sqlite3.OperationalError("database is locked")), 503),
        (caused(SessionError("x"), sqlite3.OperationalError("database or disk is full")), 507),
        (caused(SessionError("x"), sqlite3.OperationalError("attempt to write a readonly database")), 503),
        (caused(SessionError("x"), OSError(errno.ENOSPC, "No space left on device")), 507),
        (caused(GraphError("x"), OSError(errno.EACCES, "Permission denied")), 503),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), 507),
        (NodewiseError("x"), 500),
        (ValueError("x"), 500),
    ],
)
def test_every_error_has_its_status(error: BaseException, status: int) -> None:
    assert status_of(error) == status


def test_json_holds_any_character() -> None:
    assert Json({"a": "\ud800 ü"}).body == b'{"a":"\\ud800 \\u00fc"}'
    with pytest.raises(ValueError, match="not JSON compliant"):
        Json({"a": float("nan")})
