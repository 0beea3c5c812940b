"""From errors to answers: a status and one sentence as JSON."""

from __future__ import annotations

import errno
import json
import re
import sqlite3
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from nodewise.ground.errors import AlreadyLabelledError, InputError, NodewiseError, SessionError
from nodewise.studio.work.errors import BusyError, ConflictError, ForbiddenError, MissingError, StoppedError, TypoError

__all__ = ["Json", "answer_failures", "status_of"]

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class Json(JSONResponse):
    """JSON in ASCII: whatever characters a graph's texts hold, there is a form for them."""

    def render(self, content: Any) -> bytes:
        """The bytes to send."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


def status_of(error: BaseException) -> int:
    """The HTTP status that tells an error."""
    if isinstance(error, MissingError):
        return 404
    if isinstance(error, ForbiddenError):
        return 403
    if isinstance(error, ConflictError):
        return 409
    if isinstance(error, (BusyError, StoppedError)):
        return 503
    cause = error if isinstance(error, OSError) else error.__cause__
    if isinstance(cause, sqlite3.Error):
        return 507 if "full" in str(cause) else 503
    if isinstance(cause, OSError):
        return 507 if cause.errno in _FULL else 503
    if isinstance(error, SessionError):
        return 409
    if isinstance(error, InputError):
        return 400
    return 500


def answer_failures(app: FastAPI) -> None:
    """Makes every failure of the application an answer ``{"error": …}``."""

    async def refused(request: Request, error: Exception) -> Json:
        status = status_of(error)
        body: dict[str, Any] = {"error": _sentence(error)}
        if isinstance(error, TypoError):
            body["suggestion"] = error.suggestion
        if isinstance(error, AlreadyLabelledError):
            body |= {"labelled_by": error.annotator, "suggestion": error.label}
        return Json(body, status, headers={"Retry-After": "1"} if status == 503 else None)

    async def invalid(request: Request, error: Exception) -> Json:
        assert isinstance(error, RequestValidationError)
        return Json({"error": _invalid_sentence(error)}, 400)

    async def http(request: Request, error: Exception) -> Json:
        assert isinstance(error, HTTPException)
        if isinstance(error.__cause__, OSError):  # an upload that could not be kept
            return await refused(request, error.__cause__)
        said = {
            404: f"there is nothing at {request.url.path}",
            405: f"{request.method} is not possible at {request.url.path}",
        }
        where = ": see /api/docs for what there is" if error.status_code in said else ""
        return Json(
            {"error": f"{said.get(error.status_code, error.detail)}{where}"}, error.status_code, headers=error.headers
        )

    async def unexpected(request: Request, error: Exception) -> Json:
        # Starlette raises it again after this answer, and uvicorn writes it to the terminal.
        return Json(
            {"error": f"unexpected failure, {type(error).__name__}: see the terminal that the studio was started from"},
            500,
        )

    app.add_exception_handler(NodewiseError, refused)
    app.add_exception_handler(OSError, refused)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(Exception, unexpected)


_OF_A_TYPE = re.compile(r"[^\w]")
"""In a field's place: what pydantic adds where it may be of several types, as in "label.constrained-str"."""


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError):
        return (
            f"it cannot be read or written: {error.strerror or error}; check the folder, its permissions and the space"
            " left"
        )
    return " ".join(str(error).split())


def _invalid_sentence(error: RequestValidationError) -> str:
    """The first thing that is wrong with a request, and where."""
    first: dict[str, Any] = dict(error.errors()[0])
    named = [str(part) for part in first["loc"][1:] if not _OF_A_TYPE.search(str(part))]
    where = ".".join(named) or str(first["loc"][0])
    if first["type"] == "json_invalid":
        return f"the request's body is no JSON: {first.get('ctx', {}).get('error', first['msg'])}"
    received = "" if first["type"] == "missing" else f", received {str(first.get('input'))[:60]!r}"
    message = str(first["msg"])
    return f"{where!r} is not as it should be: {message[:1].lower()}{message[1:]}{received}; see /api/docs"
